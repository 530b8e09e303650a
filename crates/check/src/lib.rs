//! Declarative checks: a plan of steps, run against a target, with reports.

mod outcome;
pub mod report;

pub use outcome::{Mismatch, PlanOutcome, RunOutcome, Status, StepOutcome, Summary};
