//! The object-safe form of an operation.

use crate::{Call, Confirm, Effect, Gate, Lazy, Output, Spellings, Stop};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{future::Future, pin::Pin, time::Duration};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Through which doors a tool can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doors {
    /// Both.
    Both,
    /// Commands only.
    People,
    /// MCP only.
    Agents,
}

/// What becomes of a job when the client that asked for it is gone: it closed the connection and cancelled nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnEof {
    /// It ends, as if it had been cancelled.
    Kill,
    /// It goes on by itself.
    Detach,
}

/// All that is known of a tool without running it.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its name: `find_pod_issues`, `box.build`.
    pub name: String,
    /// What it does, from the doc comment of its type.
    pub description: Lazy<String>,
    /// JSON Schema of the arguments, normalised, with the hints for people under `x-cli`.
    pub input: Lazy<Value>,
    /// JSON Schema of the answer, if it has one.
    pub output: Lazy<Option<Value>>,
    /// The worst it can do.
    pub worst: Effect,
    /// Through which doors.
    pub doors: Doors,
    /// Older names.
    pub aliases: &'static [&'static str],
    /// Older spellings of arguments.
    pub spellings: Spellings,
    /// Whether it stands on its seed's list of mutating tools; absent where there is no such list.
    pub mutating: Option<bool>,
    /// What it needs before it runs, where that differs from its toolset's other changes.
    pub confirm: Option<Confirm>,
    /// Whether it takes a `cursor`.
    pub paged: bool,
    /// How long it may take.
    pub deadline: Duration,
    /// How long it may take to end after a cancel, before it is dropped.
    pub grace: Duration,
    /// Whether a call of it that changes something runs as a job, in a process of its own that outlives its client and
    /// its server: and then, what becomes of it when the client is gone. Reads of such a tool run where they are asked.
    pub job: Option<OnEof>,
    /// Whether the schema must be shown exactly as it is.
    pub raw_schema: bool,
}

impl Spec {
    /// A specification with the usual limits; description and schemas must already be what is to be shown.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<Lazy<String>>,
        input: impl Into<Lazy<Value>>,
        worst: Effect,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input: input.into(),
            output: None.into(),
            worst,
            doors: Doors::Both,
            aliases: &[],
            spellings: Spellings::NONE,
            mutating: None,
            confirm: None,
            paged: false,
            deadline: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            job: None,
            raw_schema: false,
        }
    }
}

/// An operation as the dispatcher sees it.
pub trait Tool: Send + Sync {
    /// All that is known of it without running it.
    fn spec(&self) -> &Spec;

    /// Runs it with validated arguments. Whatever changes something asks the gate first.
    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>>;
}
