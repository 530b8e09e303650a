//! Declarative checks: a plan of steps, run against a target, with reports.
//!
//! [`load`] reads plans and tells everything that is wrong with them at once; [`run`] carries their steps out and
//! answers with plain data, a [`RunOutcome`]; the reports read nothing else. Each stage of a step has its file: a verb
//! observes, a query finds, a predicate compares and returns data, and one file owns every sentence.

mod author;
mod fmt;
mod init;
mod json;
mod judge;
mod matchers;
mod model;
mod outcome;
mod pattern;
mod progress;
mod provider;
mod registry;
pub mod report;
mod runner;
mod single;
mod target;
mod text;
mod verbs;

pub use author::{read_labelled_step, read_step, refuse_step_list, validate_step};
pub use fmt::format;
pub use init::init;
pub use model::step::{box_skip_text, is_step};
pub use model::{
    Address, Capture, Context, Dialect, Keyword, LoadError, Modifiers, Plan, PlanSet, Server, Skip, Step, Tls, load,
    load_bytes,
};
pub use outcome::{Mismatch, PlanOutcome, RunOutcome, Status, StepOutcome, Summary};
pub use progress::progress_bar;
pub use provider::{OutOfProcess, Request, WrittenStep, serve};
pub use registry::{BuiltIn, Invocation, Provider, Registry, Snapshot, Verdict, VerdictStatus};
pub use runner::{Event, Events, RunError, RunOptions, run};
pub use single::{endpoint, printed, resolve};
pub use target::{Executed, Execution, FileFacts, HostTarget, Line, PortName, Target};
