//! Incoming messages find who waits for them.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::error::Fault;
use crate::handler::{Handler, ServerRequest};
use crate::message::{self, Message, brief};
use crate::options::{Progress, ProgressSink};

/// IDs remembered after their request has ended.
const REMEMBERED: usize = 256;
/// Oddities kept; more are counted.
const ODDITIES: usize = 64;
/// Notifications kept for a slow reader.
const NOTIFICATIONS: usize = 1024;
/// Lines of noise kept, and bytes of each.
const NOISE: (usize, usize) = (20, 200);

/// A notification of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The method.
    pub method: String,
    /// Its parameters; `null` if there are none.
    pub params: Value,
}

/// Something a server should not have sent. None of them ends a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oddity {
    /// An answer to nothing we asked; its ID as JSON.
    UnknownId(String),
    /// A second answer to the same request.
    SecondAnswer(u64),
    /// No JSON-RPC.
    Malformed(String),
}

impl fmt::Display for Oddity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownId(id) => write!(out, "an answer with the unknown id {id} came"),
            Self::SecondAnswer(id) => write!(out, "a second answer to request {id} came"),
            Self::Malformed(why) => write!(out, "{why} came"),
        }
    }
}

/// What a child wrote to its standard output besides messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noise {
    /// Number of lines.
    pub lines: u64,
    /// The first of them, each cut: foreign text.
    pub first: Vec<String>,
}

/// Something that came in, for raw exchanges.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// A message, as it came.
    Message(Value),
    /// A line that is no JSON.
    Noise(String),
    /// The server ended or closed the connection.
    Closed(String),
}

/// The result of a request, and its size on the wire in bytes.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) result: Value,
    pub(crate) bytes: usize,
}

/// A request of the server that wants an answer.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) id: Value,
    pub(crate) request: ServerRequest,
}

struct Pending {
    answer: oneshot::Sender<Result<Answer, Fault>>,
    progress: Option<ProgressSink>,
}

#[derive(Default)]
struct State {
    next_id: u64,
    pending: HashMap<u64, Pending>,
    answered: VecDeque<u64>,
    abandoned: VecDeque<u64>,
    oddities: Vec<Oddity>,
    odd_total: u64,
    noise: Noise,
    taps: Vec<mpsc::UnboundedSender<Incoming>>,
    closed: Option<Fault>,
}

/// Knows who waits for what.
pub(crate) struct Router {
    state: Mutex<State>,
    notifications: broadcast::Sender<Notification>,
    handler: Arc<dyn Handler>,
}

impl Router {
    pub(crate) fn new(handler: Arc<dyn Handler>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), notifications: broadcast::channel(NOTIFICATIONS).0, handler })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.notifications.subscribe()
    }

    pub(crate) fn handler(&self) -> &Arc<dyn Handler> {
        &self.handler
    }

    /// Opens a place for an answer.
    pub(crate) fn expect(self: &Arc<Self>, progress: Option<ProgressSink>) -> Result<Expected, Fault> {
        let mut state = self.lock();
        if let Some(fault) = &state.closed {
            return Err(fault.clone());
        }
        state.next_id += 1;
        let id = state.next_id;
        let (sender, answer) = oneshot::channel();
        state.pending.insert(id, Pending { answer: sender, progress });
        Ok(Expected { router: self.clone(), id, odd_before: state.odd_total, answer })
    }

    /// Whether a request still waits.
    pub(crate) fn waits(&self, id: u64) -> bool {
        self.lock().pending.contains_key(&id)
    }

    /// Takes a message in. Questions of the server are handed back: the caller knows the way to answer.
    pub(crate) fn deliver(&self, message: Value, bytes: usize) -> Vec<Question> {
        // 2025-03-26 had batches; a server that still sends them is understood.
        if let Value::Array(batch) = message {
            return batch.into_iter().flat_map(|one| self.deliver_one(one, bytes)).collect();
        }
        self.deliver_one(message, bytes).into_iter().collect()
    }

    fn deliver_one(&self, message: Value, bytes: usize) -> Option<Question> {
        self.lock().taps.retain(|tap| tap.send(Incoming::Message(message.clone())).is_ok());
        match message::classify(message) {
            Ok(Message::Answer { id, outcome }) => {
                self.answered(id, outcome.map_err(|error| Fault::Rpc(Box::new(error))), bytes);
                None
            }
            Ok(Message::Request { id, method, params }) => {
                Some(Question { id, request: ServerRequest { method, params } })
            }
            Ok(Message::Notification { method, params }) => {
                self.notified(method, params);
                None
            }
            Err(why) => {
                self.odd(Oddity::Malformed(why));
                None
            }
        }
    }

    fn answered(&self, id: Value, outcome: Result<Value, Fault>, bytes: usize) {
        let mut state = self.lock();
        let known = match id.as_u64() {
            Some(id) => Some(id),
            // An error whose request could not be read has no ID: it is clear whose it is if only one waits.
            None if id.is_null() && outcome.is_err() && state.pending.len() == 1 => {
                state.pending.keys().next().copied()
            }
            None => None,
        };
        if let Some(id) = known {
            if let Some(pending) = state.pending.remove(&id) {
                remember(&mut state.answered, id);
                // Whoever waited may just have left.
                let _ = pending.answer.send(outcome.map(|result| Answer { result, bytes }));
                return;
            }
            if let Some(place) = state.abandoned.iter().position(|gone| *gone == id) {
                state.abandoned.remove(place);
                remember(&mut state.answered, id);
                return;
            }
            if state.answered.contains(&id) {
                state.odd(Oddity::SecondAnswer(id));
                return;
            }
        }
        // A raw exchange has IDs of its own.
        if state.taps.is_empty() {
            state.odd(Oddity::UnknownId(brief(&id)));
        }
    }

    fn notified(&self, method: String, params: Value) {
        if method == "notifications/progress"
            && let Some(token) = params.get("progressToken").and_then(Value::as_u64)
        {
            let sink = self.lock().pending.get(&token).and_then(|pending| pending.progress.clone());
            if let Some(sink) = sink {
                sink(Progress {
                    progress: params["progress"].as_f64().unwrap_or_default(),
                    total: params["total"].as_f64(),
                    message: params["message"].as_str().map(str::to_owned),
                });
            }
        }
        // Nobody needs to listen.
        let _ = self.notifications.send(Notification { method, params });
    }

    /// Ends one request with a fault.
    pub(crate) fn fail(&self, id: u64, fault: Fault) {
        let mut state = self.lock();
        if let Some(pending) = state.pending.remove(&id) {
            remember(&mut state.answered, id);
            // Whoever waited may just have left.
            let _ = pending.answer.send(Err(fault));
        }
    }

    /// Ends every request that waits with a fault.
    pub(crate) fn fail_all(&self, fault: &Fault) {
        let ids: Vec<u64> = self.lock().pending.keys().copied().collect();
        for id in ids {
            self.fail(id, fault.clone());
        }
    }

    /// Nothing will come any more.
    pub(crate) fn close(&self, fault: Fault) {
        {
            let mut state = self.lock();
            if state.closed.is_some() {
                return;
            }
            state.closed = Some(fault.clone());
            state.taps.retain(|tap| tap.send(Incoming::Closed(fault.to_string())).is_ok());
        }
        self.fail_all(&fault);
    }

    /// Why nothing will come any more, if so.
    pub(crate) fn closed(&self) -> Option<Fault> {
        self.lock().closed.clone()
    }

    pub(crate) fn odd(&self, oddity: Oddity) {
        self.lock().odd(oddity);
    }

    pub(crate) fn noise(&self, line: &[u8]) {
        let shown: String =
            String::from_utf8_lossy(&line[..line.len().min(NOISE.1 * 4)]).chars().take(NOISE.1).collect();
        let mut state = self.lock();
        state.noise.lines += 1;
        if state.noise.first.len() < NOISE.0 {
            state.noise.first.push(shown.clone());
        }
        state.taps.retain(|tap| tap.send(Incoming::Noise(shown.clone())).is_ok());
    }

    pub(crate) fn noise_so_far(&self) -> Noise {
        self.lock().noise.clone()
    }

    pub(crate) fn oddities(&self) -> Vec<Oddity> {
        self.lock().oddities.clone()
    }

    /// Lets everything that comes in be seen, until the receiver is dropped.
    pub(crate) fn tap(&self) -> mpsc::UnboundedReceiver<Incoming> {
        let (tap, incoming) = mpsc::unbounded_channel();
        let mut state = self.lock();
        if let Some(fault) = &state.closed {
            // The receiver is still here.
            let _ = tap.send(Incoming::Closed(fault.to_string()));
        }
        state.taps.push(tap);
        incoming
    }

    /// Finds the answer to a question of the server.
    pub(crate) async fn reply(&self, question: Question) -> Value {
        let Question { id, request } = question;
        let outcome = match request.method.as_str() {
            "ping" => Ok(json!({})),
            _ => self.handler.answer(request).await,
        };
        message::reply(&id, outcome)
    }
}

impl State {
    fn odd(&mut self, oddity: Oddity) {
        self.odd_total += 1;
        if self.oddities.len() == ODDITIES {
            self.oddities.remove(0);
        }
        self.oddities.push(oddity);
    }
}

fn remember(ids: &mut VecDeque<u64>, id: u64) {
    if ids.len() == REMEMBERED {
        ids.pop_front();
    }
    ids.push_back(id);
}

/// A place for an answer. Dropping it gives the request up.
pub(crate) struct Expected {
    router: Arc<Router>,
    pub(crate) id: u64,
    odd_before: u64,
    answer: oneshot::Receiver<Result<Answer, Fault>>,
}

impl Expected {
    /// Waits for the answer. May be cancelled and called again until it has answered once.
    pub(crate) async fn answer(&mut self) -> Result<Answer, Fault> {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            Err(_) => Err(Fault::Closed("the session has ended".into())),
        }
    }

    /// The answer, if it is here.
    pub(crate) fn ready(&mut self) -> Option<Result<Answer, Fault>> {
        self.answer.try_recv().ok()
    }

    /// What oddity came since the request was sent, as a note.
    pub(crate) fn odd(&self) -> Option<String> {
        let state = self.router.lock();
        (state.odd_total > self.odd_before).then(|| state.oddities.last().map(ToString::to_string)).flatten()
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        let mut state = self.router.lock();
        if state.pending.remove(&self.id).is_some() {
            remember(&mut state.abandoned, self.id);
        }
    }
}
