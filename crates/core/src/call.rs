//! What an operation may ask of the call it serves.

use crate::{BoxFuture, Code, Failure, Page, Scope, Secret, Stop};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{sync::Arc, time::Instant};

/// Through which door a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Door {
    /// A command.
    People,
    /// An MCP client.
    Agents,
}

/// Who calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caller {
    /// Through which door.
    pub door: Door,
    /// Who, as far as the door can tell; plan tokens and cursors are bound to it.
    pub principal: String,
}

/// Severity of a log message to the client, as the protocol names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words of RFC 5424")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// Something an operation needs from the person or client behind the call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputRequest {
    /// Unique within the call; the same question keeps its key when the call is repeated.
    pub key: String,
    /// What is asked.
    pub kind: InputKind,
}

/// Kinds of questions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// A form: `schema` is a flat JSON Schema object.
    Form {
        /// What to tell the person.
        message: String,
        /// Requested schema.
        schema: Value,
    },
    /// A page to open.
    Url {
        /// What to tell the person.
        message: String,
        /// Where.
        url: String,
    },
    /// A completion by the client's model: parameters of `sampling/createMessage`.
    Sample(Value),
    /// The client's roots.
    Roots,
}

/// The answer to one question: the protocol's result object, such as `{"action": "accept", "content": {…}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputResponse {
    /// Key of the question.
    pub key: String,
    /// Result as the client sent it.
    pub value: Value,
}

/// What the dispatcher offers to a running operation; the narrow face of everything outside.
pub trait CallPort: Send + Sync {
    /// Resolves when the caller has given up.
    fn cancelled(&self) -> BoxFuture<'_, ()>;
    /// Whether the caller has given up.
    fn is_cancelled(&self) -> bool;
    /// When the time is up.
    fn deadline(&self) -> Option<Instant>;
    /// Tells how far it is.
    fn progress(&self, done: f64, total: Option<f64>, message: &str);
    /// Streams a row ahead of the answer.
    fn emit(&self, row: Value);
    /// Logs to the client.
    fn log(&self, level: LogLevel, logger: &str, data: Value);
    /// Makes a secret known to the redactor.
    fn register_secret(&self, name: &str, value: &str);
    /// Asks the client or person.
    fn ask(&self, requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>>;
    /// Tells the door that something it listed has changed.
    fn notify(&self, notice: Notice);
    /// Whether policy lets this call read there; a failure of code `denied` otherwise.
    fn allows(&self, scope: &Scope) -> Result<(), Failure> {
        let _ = scope;
        Ok(())
    }
}

/// Things that a door passes on to its clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The list of tools.
    ToolsChanged,
    /// The list of prompts.
    PromptsChanged,
    /// The list of resources.
    ResourcesChanged,
    /// One resource.
    ResourceUpdated(String),
    /// Ends the event stream of this call early; a client of the older protocol reconnects and resumes.
    ReleaseStream,
}

/// The call that an operation serves.
#[derive(Clone)]
pub struct Call {
    port: Arc<dyn CallPort>,
    caller: Caller,
    page: Option<Page>,
    budget: Option<usize>,
}

impl Call {
    /// A call as the dispatcher makes it. `budget` bounds the answer in bytes; absent means no bound.
    #[must_use]
    pub fn new(port: Arc<dyn CallPort>, caller: Caller, page: Option<Page>, budget: Option<usize>) -> Self {
        Self { port, caller, page, budget }
    }

    /// A call from nobody, for tests of operations by themselves.
    #[must_use]
    pub fn detached() -> Self {
        let caller = Caller { door: Door::People, principal: "detached".to_owned() };
        Self::new(Arc::new(Nobody), caller, None, None)
    }

    /// Who calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Where the page before this one ended, if this is not the first.
    #[must_use]
    pub fn page(&self) -> Option<&Page> {
        self.page.as_ref()
    }

    /// How many bytes the answer may have, if bounded.
    #[must_use]
    pub fn budget(&self) -> Option<usize> {
        self.budget
    }

    /// Resolves when the caller has given up.
    pub async fn cancelled(&self) {
        self.port.cancelled().await;
    }

    /// Fails once the caller has given up or the time is up; loops call it.
    ///
    /// # Errors
    /// Code `cancelled` or `timed_out`.
    pub fn check(&self) -> Result<(), Failure> {
        if self.port.is_cancelled() {
            return Err(Failure::new(Code::Cancelled, "cancelled by the caller"));
        }
        if self.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Failure::new(Code::TimedOut, "the time for this call was up").retryable());
        }
        Ok(())
    }

    /// When the time is up.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.port.deadline()
    }

    /// Tells how far it is; `done` only grows.
    pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.port.progress(done, total, message);
    }

    /// Streams a row ahead of the answer: people see it at once.
    pub fn emit(&self, row: &impl Serialize) {
        if let Ok(row) = serde_json::to_value(row) {
            self.port.emit(row);
        }
    }

    /// Logs to the client.
    pub fn log(&self, level: LogLevel, logger: &str, data: Value) {
        self.port.log(level, logger, data);
    }

    /// A secret that this call's redactor knows from now on.
    #[must_use]
    pub fn secret(&self, name: impl Into<String>, value: impl Into<String>) -> Secret {
        let secret = Secret::new(name, value);
        self.port.register_secret(secret.name(), secret.expose());
        secret
    }

    /// Asks the person or client. Where the protocol cannot ask within a call, the call ends with the questions and
    /// comes again with the answers: so ask before anything is changed, and with stable keys.
    ///
    /// # Errors
    /// [`Stop::Asked`], or code `needs_input` where nobody can be asked.
    pub async fn ask(&self, requests: Vec<InputRequest>) -> Result<Vec<InputResponse>, Stop> {
        self.port.ask(requests).await
    }

    /// Whether policy lets this call read there. A [`Query`](crate::Query) finds its scopes only while it runs, so it
    /// asks for each: what was named is refused, what a glob brought in is left out and told.
    ///
    /// # Errors
    /// Code `denied`, with the reason.
    pub fn allows(&self, scope: &Scope) -> Result<(), Failure> {
        self.port.allows(scope)
    }

    /// Tells clients that something listed has changed.
    pub fn notify(&self, notice: Notice) {
        self.port.notify(notice);
    }
}

struct Nobody;

impl CallPort for Nobody {
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
    fn is_cancelled(&self) -> bool {
        false
    }
    fn deadline(&self) -> Option<Instant> {
        None
    }
    fn progress(&self, _: f64, _: Option<f64>, _: &str) {}
    fn emit(&self, _: Value) {}
    fn log(&self, _: LogLevel, _: &str, _: Value) {}
    fn register_secret(&self, _: &str, _: &str) {}
    fn ask(&self, _: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        Box::pin(async { Err(Failure::new(Code::NeedsInput, "nobody is there to be asked").into()) })
    }
    fn notify(&self, _: Notice) {}
}
