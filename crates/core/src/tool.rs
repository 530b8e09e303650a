//! The object-safe form of an operation.

use crate::{Call, Confirm, Effect, Gate, Lazy, Output, Spellings, Stop, schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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

/// The argument by which a caller says that it does not wait for a job.
pub const WAIT: &str = "wait";

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
    /// Set by [`as_job`](Self::as_job).
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

    /// The same, running as a job where it changes something; its callers may say `wait: false`, people `--no-wait`.
    #[must_use]
    pub fn as_job(mut self, on_eof: OnEof) -> Self {
        let input = self.input.clone();
        self.input = Lazy::new(move || {
            let mut input = (*input).clone();
            // Agents are told once what it means, in the instructions of their door.
            let wait = json!({
                "type": "boolean", "default": true, "description": "Wait for its end, or get a job id at once",
                schema::FOR_PEOPLE: {schema::COMMON: true},
            });
            if let Some(input) = input.as_object_mut() {
                let properties = input.entry("properties").or_insert_with(|| json!({}));
                if let Some(properties) = properties.as_object_mut() {
                    properties.insert(WAIT.to_owned(), wait);
                }
            }
            input
        });
        self.job = Some(on_eof);
        self
    }
}

/// An operation as the dispatcher sees it.
pub trait Tool: Send + Sync {
    /// All that is known of it without running it.
    fn spec(&self) -> &Spec;

    /// Runs it with validated arguments. Whatever changes something asks the gate first.
    fn call<'a>(&'a self, arguments: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>>;
}
