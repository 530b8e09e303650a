//! What a running operation sees of its call.

use crate::Events;
use pintle_core::{BoxFuture, CallPort, InputRequest, InputResponse, LogLevel, Notice, Redactor, Stop};
use serde_json::Value;
use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

/// The call's port: everything that passes it outward is redacted.
pub(crate) struct Port {
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
    pub(crate) redactor: RwLock<Redactor>,
    pub(crate) events: Arc<dyn Events>,
}

impl Port {
    pub(crate) fn new(cancel: CancellationToken, deadline: Option<Instant>, events: Arc<dyn Events>) -> Self {
        Self { cancel, deadline, redactor: RwLock::default(), events }
    }

    /// A copy of what is known now, ready for much text.
    pub(crate) fn redactor(&self) -> Redactor {
        let mut redactor = self.redactor.read().unwrap_or_else(PoisonError::into_inner).clone();
        redactor.prepare();
        redactor
    }

    fn masked(&self, mut value: Value) -> Value {
        self.redactor.read().unwrap_or_else(PoisonError::into_inner).value(&mut value);
        value
    }
}

impl CallPort for Port {
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.cancel.cancelled())
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let redactor = self.redactor.read().unwrap_or_else(PoisonError::into_inner);
        self.events.progress(done, total, &redactor.text(message));
    }

    fn emit(&self, row: Value) {
        self.events.row(self.masked(row));
    }

    fn log(&self, level: LogLevel, logger: &str, data: Value) {
        self.events.log(level, logger, self.masked(data));
    }

    fn register_secret(&self, name: &str, value: &str) {
        self.redactor.write().unwrap_or_else(PoisonError::into_inner).add(name, value);
    }

    fn ask(&self, requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        self.events.ask(requests)
    }

    fn notify(&self, notice: Notice) {
        self.events.notice(notice);
    }
}
