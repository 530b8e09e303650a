//! A call as a door makes it.

use pintle_core::{BoxFuture, Caller, Failure, InputRequest, InputResponse, LogLevel, Notice, Plan, Stop};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// What a door offers to a running call. Every method has a default that does nothing or says no.
pub trait Events: Send + Sync {
    /// How far the call is; `done` only grows.
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let _ = (done, total, message);
    }
    /// A row ahead of the answer, already redacted.
    fn row(&self, row: Value) {
        let _ = row;
    }
    /// A log message, already redacted.
    fn log(&self, level: LogLevel, logger: &str, data: Value) {
        let _ = (level, logger, data);
    }
    /// Something listed has changed.
    fn notice(&self, notice: Notice) {
        let _ = notice;
    }
    /// Asks the client: returns its answers, or [`Stop::Asked`] where the client must send the call again with them.
    fn ask(&self, requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        let _ = requests;
        Box::pin(async { Err(Failure::new(pintle_core::Code::NeedsInput, "this client cannot be asked").into()) })
    }
    /// Whether [`ask`](Self::ask) can ask a person with a form.
    fn can_ask(&self) -> bool {
        false
    }
    /// Asks the person at the terminal for a yes to a plan: `None` where nobody is there.
    fn confirm<'a>(&'a self, plan: &'a Plan) -> BoxFuture<'a, Option<bool>> {
        let _ = plan;
        Box::pin(async { None })
    }
}

/// Events of a door that listens to none.
#[derive(Debug, Default)]
pub struct Silent;

impl Events for Silent {}

/// One call.
#[derive(Clone)]
pub struct Request {
    /// Name, alias, or name in the other style.
    pub tool: String,
    /// Arguments as they came.
    pub arguments: Map<String, Value>,
    /// Who calls.
    pub caller: Caller,
    /// What the client calls itself, for the audit: anybody can call themselves anything.
    pub client: Option<String>,
    /// Cancelled when the caller gives up.
    pub cancel: CancellationToken,
    /// Cancelled when the caller is gone and has said nothing: its connection ended, or the server does. Where both are
    /// cancelled, this one counts. It decides what becomes of a job, and of nothing else.
    pub gone: CancellationToken,
    /// Whether to wait for a job; the argument `wait` where nothing is said here.
    pub wait: Option<bool>,
    /// The door.
    pub events: Arc<dyn Events>,
    /// A shorter or longer time limit than the tool's own.
    pub deadline: Option<Duration>,
    /// Most bytes of text and of value; `None` for no bound.
    pub budget: Option<usize>,
    /// The job that this call is.
    pub(crate) job: Option<Arc<crate::jobs::Running>>,
}

impl Request {
    /// Bound of an answer to an agent: 25 KB.
    pub const AGENT_BUDGET: usize = 25_000;

    /// A call with nobody listening.
    #[must_use]
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>, caller: Caller) -> Self {
        let budget = (caller.door == pintle_core::Door::Agents).then_some(Self::AGENT_BUDGET);
        Self {
            tool: tool.into(),
            arguments,
            caller,
            client: None,
            cancel: CancellationToken::new(),
            gone: CancellationToken::new(),
            wait: None,
            events: Arc::new(Silent),
            deadline: None,
            budget,
            job: None,
        }
    }
}
