//! What is measured, in the order in which it is printed.

mod checks;
mod fleet;
mod load;
mod packs;
mod servers;
mod start;

use super::{Bench, Line};
use crate::Trouble;

type Measure = fn(&Bench<'_>) -> Result<Vec<Line>, Trouble>;

/// Every measure under the word that `--only` looks at.
pub const ALL: [(&str, Measure); 24] = [
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
    ("check calls stdio", checks::calls_in_one_session),
    ("check calls http", checks::calls_over_http),
    ("check validate", checks::validate),
    ("check probe silent", checks::silent),
    ("check memory", checks::memory),
    ("fleet pods", fleet::pods),
    ("fleet discovery", fleet::discovery),
    ("fleet growth", fleet::growth),
    ("fleet dead", fleet::dead),
    ("pack calls", packs::calls),
    ("pack jobs", packs::jobs),
    ("register", packs::register),
];
