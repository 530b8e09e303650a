//! The one path: every call of every tool, through whichever door, goes through [`Catalog::call`].
//!
//! Alias, look-up, old spellings, validation, policy on the tool, `prepare`, policy on the scopes, confirmation, permit,
//! lanes, `commit` with deadline and cancellation, redaction, bounds, audit: in that order, and nothing goes round it.
//! The process's only [`Authority`](pintle_core::Authority) lives here, so a permit can come from nowhere else.

mod approvals;
mod audit;
mod authority;
mod bounds;
mod catalog;
mod gate;
mod jobs;
mod lanes;
mod names;
mod policy;
mod port;
mod request;
mod running;
mod seal;
mod settings;
mod spill;
mod state;
mod validate;

pub use approvals::{Approval, Approvals, Decision};
pub use audit::{AuditBreak, verify_audit};
pub use catalog::{Catalog, Hints, Listed};
pub use jobs::{JobLog, JobProgress, JobStarter, JobState, JobStatus, JobWatch, Jobs, LocalJobs, SpawnedJobs};
pub use names::NameStyle;
pub use policy::{Policy, PolicyError};
pub use request::{Events, Request, Silent};
pub use settings::{ReadOnly, Settings};
pub use spill::Spilling;
pub use state::StateFolder;
pub use validate::Validator;
