//! Running plans: which steps, in which order, how often, and what became of them.

mod attempt;
pub(crate) mod options;
mod order;
mod outcome;
mod schedule;
mod scope;
mod select;
pub(crate) mod sessions;

pub use options::{Event, Events, RunError, RunOptions};
pub use schedule::run;
pub(crate) use scope::resolve;
