//! The vocabulary of pintle: what an operation is, what it may do, and what it answers.
//!
//! Nothing here does I/O. An operation is a type that implements [`Query`] (reads) or [`Change`] (everything else, in
//! two halves with a [`Gate`] between them); [`query`] and [`change`] turn it into a [`Tool`], the object-safe form
//! that the dispatch crate calls and that both doors show. Programs described by data implement [`Tool`] directly.

mod answer;
mod call;
mod digest;
mod effect;
mod failure;
mod foreign;
mod gate;
mod lazy;
mod operation;
mod permit;
mod redact;
mod reply;
mod rows;
pub mod schema;
mod scope;
mod secret;
mod spelling;
mod suggest;
mod tool;
mod toolset;
mod view;

pub use answer::{Answer, Exact};
pub use call::{Call, CallPort, Caller, Door, InputKind, InputRequest, InputResponse, LogLevel, Notice};
pub use digest::Digest;
pub use effect::Effect;
pub use failure::{Code, Exit, Failure, Problem};
pub use foreign::Foreign;
pub use gate::{Admission, Ask, Gate, Plan, Stop};
pub use lazy::Lazy;
pub use operation::{Change, Prepared, Query, change, query};
pub use permit::{Authority, Permit};
pub use redact::{MASK_MINIMUM, Redactor};
pub use reply::{Attach, Outcome, Output, PageEnd, Part, Reply, envelope_schema};
pub use rows::{CutRows, Page, Row, Rows};
pub use scope::{Lane, Scope};
pub use secret::Secret;
pub use spelling::Spellings;
pub use suggest::{nearest, one_of};
pub use tool::{BoxFuture, Doors, OnEof, Spec, Tool, WAIT};
pub use toolset::{
    Completions, Confirm, Contents, Prompt, PromptArgument, PromptMessage, Reference, Render, Resource,
    ResourceTemplate, Resources, Toolset,
};
pub use view::{Block, Table, View};
