//! What is measured, in the order in which it is printed.

mod load;
mod servers;
mod start;

use super::{Bench, Line};
use crate::Trouble;

type Measure = fn(&Bench<'_>) -> Result<Vec<Line>, Trouble>;

/// Every measure under the word that `--only` looks at.
pub const ALL: [(&str, Measure); 12] = [
    ("first answer", start::first_answer),
    ("memory idle", start::memory),
    ("tools list", start::tools_list),
    ("exit", start::exit),
    ("binary", start::binary),
    ("quickstart", start::quickstart),
    ("ping", load::ping),
    ("cancel", load::cancel),
    ("http", load::http),
    ("growth", load::growth),
    ("many tools", load::many_tools),
    ("validation", load::validation),
];
