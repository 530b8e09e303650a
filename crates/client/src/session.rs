//! An open session.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::close::Closed;
use crate::era::{Era, MODERN};
use crate::error::{Error, Fault, Stage};
use crate::headers::{self, ParameterHeader};
use crate::message;
use crate::options::{CallOptions, Options};
use crate::router::{Answer, Expected, Noise, Notification, Oddity, Router};
use crate::wire::streamable::VERSION_HEADER;
use crate::wire::{Outgoing, Wire};

/// What a server said about itself in the handshake.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Server {
    /// `serverInfo` as it came; `null` if there was none.
    pub info: Value,
    /// `capabilities` as they came.
    pub capabilities: Value,
    /// `instructions`: foreign text.
    pub instructions: Option<String>,
}

impl Server {
    /// The server's name: foreign text.
    pub fn name(&self) -> Option<&str> {
        self.info.get("name").and_then(Value::as_str)
    }

    /// The server's version: foreign text.
    pub fn version(&self) -> Option<&str> {
        self.info.get("version").and_then(Value::as_str)
    }

    pub(crate) fn of(result: &Value) -> Self {
        let info = result
            .get("serverInfo")
            // In the era without `initialize` it is metadata of every result.
            .or_else(|| result.get("_meta")?.get("io.modelcontextprotocol/serverInfo"))
            .cloned()
            .unwrap_or(Value::Null);
        Self {
            info,
            capabilities: result.get("capabilities").cloned().unwrap_or(json!({})),
            instructions: result.get("instructions").and_then(Value::as_str).map(str::to_owned),
        }
    }
}

/// An open session with a server. All methods may be called at the same time from many tasks.
///
/// Dropping it ends it: a child sees the end of its input, then TERM, then KILL; a session over HTTP is
/// deleted. [`close`](Self::close) does the same and waits.
pub struct Session {
    pub(crate) wire: Wire,
    pub(crate) router: Arc<Router>,
    pub(crate) options: Options,
    pub(crate) era: Era,
    pub(crate) server: Server,
    /// Parameters that travel as headers, by tool, as far as tools have been listed.
    pub(crate) parameters: Mutex<HashMap<String, Vec<ParameterHeader>>>,
    closed: bool,
}

impl fmt::Debug for Session {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Session").field("era", &self.era).field("server", &self.server.info).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(wire: Wire, router: Arc<Router>, options: Options) -> Self {
        Self {
            wire,
            router,
            options,
            era: Era::Bare,
            server: Server::default(),
            parameters: Mutex::default(),
            closed: false,
        }
    }

    /// The era that was found.
    pub fn era(&self) -> &Era {
        &self.era
    }

    /// What the server said about itself.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Notifications from now on. A reader that is 1,024 behind loses the oldest, and is told.
    pub fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.router.notifications()
    }

    /// What the server wrote to its standard output besides messages, so far.
    pub fn noise(&self) -> Noise {
        self.router.noise_so_far()
    }

    /// Messages that the server should not have sent, so far (the last 64).
    pub fn oddities(&self) -> Vec<Oddity> {
        self.router.oddities()
    }

    /// Sends a request and waits for its result. The result is taken as it is: one that asks for input is
    /// returned, too (the typed methods answer it).
    ///
    /// # Errors
    /// Stage `request METHOD`.
    pub async fn request(&self, method: &str, params: Option<Value>, options: &CallOptions) -> Result<Value, Error> {
        let params = object(method, params)?;
        let deadline = self.deadline(options);
        self.ask(method, params, options, deadline)
            .await
            .map(|answer| answer.result)
            .map_err(|fault| Error::request(method, fault))
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// Stage `request METHOD`.
    pub async fn notify(&self, method: &str, params: Option<Value>) -> Result<(), Error> {
        let params = object(method, params)?;
        let headers = self.headers(method, &params);
        let message = message::notification(method, params);
        let limit = self.options.request_timeout;
        tokio::time::timeout(limit, self.wire.notify(&message, headers))
            .await
            .unwrap_or(Err(Fault::Timeout { limit, odd: None }))
            .map_err(|fault| Error::request(method, fault))
    }

    /// Ends the session and waits until the server's child is gone or the session is deleted.
    ///
    /// # Errors
    /// Stage `close`. The session has ended all the same.
    pub async fn close(mut self) -> Result<Closed, Error> {
        let outcome = self.wire.close().await;
        self.closed = true;
        outcome.map_err(|fault| Error::new(Stage::Close, fault))
    }

    /// The point in time and the limit for one call.
    pub(crate) fn deadline(&self, options: &CallOptions) -> Deadline {
        Deadline::after(options.timeout.unwrap_or(self.options.request_timeout))
    }

    /// One request, one answer.
    pub(crate) async fn ask(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        options: &CallOptions,
        deadline: Deadline,
    ) -> Result<Answer, Fault> {
        let mut expected = self.router.expect(options.progress.clone())?;
        self.dress(&mut params, options, expected.id);
        let headers = self.headers(method, &params);
        let message = message::request(expected.id, method, params);
        let out = Outgoing { id: expected.id, message: &message, headers };
        let mut given_up = GivenUp {
            session: self,
            id: expected.id,
            // The handshake has no cancellation.
            armed: method != "initialize",
        };
        let limit = deadline.limit;
        let outcome = tokio::select! {
            biased;
            answer = self.exchange(&out, &mut expected) => answer,
            () = options.cancelled() => Err(Fault::Cancelled),
            () = tokio::time::sleep_until(deadline.at) => {
                expected.ready().unwrap_or_else(|| Err(Fault::Timeout { limit, odd: expected.odd() }))
            }
        };
        given_up.armed &= matches!(outcome, Err(Fault::Timeout { .. } | Fault::Cancelled));
        outcome
    }

    async fn exchange(&self, out: &Outgoing<'_>, expected: &mut Expected) -> Result<Answer, Fault> {
        let in_exchange = self.wire.answers_in_exchange();
        let sent = tokio::select! {
            biased;
            sent = self.wire.exchange(out) => sent,
            // Where the answer is part of the exchange, that goes on to the end of its stream.
            answer = expected.answer(), if !in_exchange => return answer,
        };
        if let Err(fault) = sent {
            // An answer that is here counts more than how its stream ended.
            return expected.ready().unwrap_or(Err(fault));
        }
        if in_exchange {
            return expected.ready().unwrap_or_else(|| {
                Err(Fault::BadAnswer(match expected.odd() {
                    Some(odd) => format!("the request was not answered ({odd})"),
                    None => "the request was not answered".into(),
                }))
            });
        }
        expected.answer().await
    }

    /// Adds to `_meta` what this era and these options need.
    fn dress(&self, params: &mut Map<String, Value>, options: &CallOptions, id: u64) {
        if self.era == Era::Modern {
            self.describe_client(params);
        }
        if options.progress.is_none() && options.meta.is_empty() {
            return;
        }
        let mut meta = options.meta.clone();
        if options.progress.is_some() {
            meta.insert("progressToken".into(), json!(id));
        }
        add_meta(params, meta);
    }

    /// Every request of the era without `initialize` says who asks, and in which version.
    fn describe_client(&self, params: &mut Map<String, Value>) {
        let mut meta = Map::new();
        let mut add = |name: &str, value| meta.insert(format!("io.modelcontextprotocol/{name}"), value);
        add("protocolVersion", json!(MODERN));
        add("clientCapabilities", self.router.handler().capabilities());
        add("clientInfo", self.client_info());
        add_meta(params, meta);
    }

    pub(crate) fn client_info(&self) -> Value {
        json!({"name": self.options.client_name, "version": self.options.client_version})
    }

    /// Headers that go with a message.
    fn headers(&self, method: &str, params: &Map<String, Value>) -> Vec<(HeaderName, HeaderValue)> {
        if self.era != Era::Modern || !self.wire.has_headers() {
            return Vec::new();
        }
        let mut all = headers::standard(method, params);
        all.push((VERSION_HEADER, HeaderValue::from_static(MODERN)));
        if method == "tools/call"
            && let Some(tool) = params.get("name").and_then(Value::as_str)
        {
            let parameters = self.parameters.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(parameters) = parameters.get(tool) {
                let arguments = params.get("arguments").unwrap_or(&Value::Null);
                all.extend(headers::of_arguments(parameters, arguments));
            }
        }
        all
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.closed {
            self.wire.abandon();
        }
    }
}

/// Adds members to `_meta`.
fn add_meta(params: &mut Map<String, Value>, members: Map<String, Value>) {
    match params.get_mut("_meta") {
        Some(Value::Object(meta)) => meta.extend(members),
        _ => {
            params.insert("_meta".into(), Value::Object(members));
        }
    }
}

/// Parameters as members.
pub(crate) fn object(method: &str, params: Option<Value>) -> Result<Map<String, Value>, Error> {
    match params {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members),
        Some(other) => Err(Error::request(
            method,
            Fault::Usage(format!("parameters must be an object, not {}", message::brief(&other))),
        )),
    }
}

/// A limit, and when it is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) limit: std::time::Duration,
    pub(crate) at: Instant,
}

impl Deadline {
    pub(crate) fn after(limit: std::time::Duration) -> Self {
        Self { limit, at: Instant::now() + limit }
    }

    /// An earlier end, if `limit` from now is earlier.
    pub(crate) fn sooner(self, limit: std::time::Duration) -> Self {
        let other = Self::after(limit);
        if other.at < self.at { other } else { self }
    }
}

/// Tells the server that a request was given up when it ends without an answer, also by being dropped.
struct GivenUp<'a> {
    session: &'a Session,
    id: u64,
    armed: bool,
}

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        if self.armed && self.session.router.closed().is_none() {
            let mut params = Map::new();
            params.insert("requestId".into(), json!(self.id));
            params.insert("reason".into(), json!("no longer wanted"));
            self.session.wire.give_up(message::notification("notifications/cancelled", params));
        }
    }
}
