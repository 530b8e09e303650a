//! What a running operation sees of its call.

use crate::Events;
use pintle_core::{
    BoxFuture, CallPort, Failure, InputKind, InputRequest, InputResponse, LogLevel, Notice, Redactor, Scope, Stop,
};
use serde_json::Value;
use std::{
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// The call's port: everything that passes it outward is redacted.
pub(crate) struct Port {
    pub(crate) cancel: CancellationToken,
    pub(crate) deadline: Option<Instant>,
    pub(crate) redactor: RwLock<Redactor>,
    pub(crate) events: Arc<dyn Events>,
    judge: Judge,
    asking: Mutex<Asking>,
    answered: Mutex<Vec<InputResponse>>,
}

/// Says whether policy lets the call read somewhere.
pub(crate) type Judge = Box<dyn Fn(&Scope) -> Result<(), Failure> + Send + Sync>;

/// How long the call has waited for answers: that time is the person's, not the operation's.
#[derive(Default)]
struct Asking {
    over: Duration,
    since: Option<Instant>,
    open: usize,
}

/// Counts the time until it is dropped.
struct Waiting<'a>(&'a Mutex<Asking>);

impl<'a> Waiting<'a> {
    fn begin(asking: &'a Mutex<Asking>) -> Self {
        let mut held = asking.lock().unwrap_or_else(PoisonError::into_inner);
        held.open += 1;
        held.since.get_or_insert_with(Instant::now);
        Self(asking)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.open -= 1;
        if held.open == 0
            && let Some(since) = held.since.take()
        {
            held.over += since.elapsed();
        }
    }
}

impl Port {
    pub(crate) fn new(
        cancel: CancellationToken,
        deadline: Option<Instant>,
        events: Arc<dyn Events>,
        judge: Judge,
    ) -> Self {
        Self {
            cancel,
            deadline,
            redactor: RwLock::default(),
            events,
            judge,
            asking: Mutex::default(),
            answered: Mutex::default(),
        }
    }

    /// A copy of what is known now, ready for much text.
    pub(crate) fn redactor(&self) -> Redactor {
        self.ready().clone()
    }

    /// What is known now; its machine is built once for as long as nothing is added.
    fn ready(&self) -> RwLockWriteGuard<'_, Redactor> {
        let mut redactor = self.redactor.write().unwrap_or_else(PoisonError::into_inner);
        redactor.prepare();
        redactor
    }

    /// How long the call has waited for answers so far.
    pub(crate) fn asked_for(&self) -> Duration {
        let asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        asking.over + asking.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// What was asked and answered so far.
    pub(crate) fn answered(&self) -> Vec<InputResponse> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn masked(&self, mut value: Value) -> Value {
        self.ready().value(&mut value);
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
        Some(self.deadline? + self.asked_for())
    }

    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let message = self.ready().text(message).into_owned();
        self.events.progress(done, total, &message);
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

    fn ask(&self, mut requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        let redactor = self.redactor();
        for request in &mut requests {
            match &mut request.kind {
                InputKind::Form { message, .. } | InputKind::Url { message, .. } => {
                    *message = redactor.text(message).into_owned();
                }
                InputKind::Sample(params) => redactor.value(params),
                InputKind::Roots => {}
            }
        }
        Box::pin(async move {
            let _waiting = Waiting::begin(&self.asking);
            let answers = self.events.ask(requests).await?;
            self.answered.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&answers);
            Ok(answers)
        })
    }

    fn notify(&self, notice: Notice) {
        self.events.notice(notice);
    }

    fn allows(&self, scope: &Scope) -> Result<(), Failure> {
        (self.judge)(scope)
    }
}
