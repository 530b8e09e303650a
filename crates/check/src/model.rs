//! What people write: plans, steps and servers, read from the span tree.
//!
//! Reading never stops at the first mistake: every reader takes a [`Sink`](sink::Sink), tells it what is wrong and
//! where, and goes on. Nothing is run while a problem is known.

pub(crate) mod capture;
pub(crate) mod check;
pub(crate) mod copy;
pub(crate) mod duration;
pub(crate) mod expect;
pub(crate) mod fields;
pub(crate) mod load;
pub(crate) mod modifiers;
pub(crate) mod places;
pub(crate) mod plan;
pub(crate) mod server;
pub(crate) mod sink;
pub(crate) mod step;
pub(crate) mod template;

pub use capture::Capture;
pub use load::{LoadError, load, load_bytes};
pub use modifiers::{Context, Modifiers, Skip};
pub use plan::{Plan, PlanSet};
pub use server::{Address, Server, Tls};
pub use step::{Keyword, Step};

use serde::{Deserialize, Serialize};

/// Where a step is written, which decides what is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// A plan of its own: `context` is ignored, variables must be defined.
    Plan,
    /// A box or candy file: live verbs need the deploy context; a target brings variables of its own.
    Candy,
}
