//! Streamable HTTP, in both eras.

use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::Response;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Outgoing;
use super::http::{Body, Connection, body_kind, content_type, fault, header_map, read, refusal};
use crate::close::Closed;
use crate::error::Fault;
use crate::event_stream::{Decoder, Event};
use crate::router::{Question, Router};

pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Wait before a stream is resumed where the server gave no time, and the most we wait.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// How often in a row a stream is resumed without a single event.
const RESUMPTIONS: usize = 5;
/// How long the rest of a stream is read after its answer, so that the connection can be used again.
const REST: Duration = Duration::from_millis(5);

/// How long the handshake waits for the server's own stream.
const OPENING: Duration = Duration::from_millis(200);

type Chunks = Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>;

/// The header that names the protocol version; it came with 2025-06-18.
pub(crate) fn version_header(version: &str) -> Option<HeaderValue> {
    (version >= "2025-06-18").then(|| HeaderValue::from_str(version).ok()).flatten()
}

#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    legacy: bool,
}

/// A server behind one URL.
pub(crate) struct Streamable {
    connection: Connection,
    router: Arc<Router>,
    state: Mutex<State>,
    closing: CancellationToken,
}

impl Streamable {
    pub(crate) fn new(connection: Connection, router: Arc<Router>) -> Arc<Self> {
        Arc::new(Self { connection, router, state: Mutex::default(), closing: CancellationToken::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what `initialize` found: session and version go with every request from now on.
    pub(crate) fn settled(&self, version: &str) {
        let mut state = self.lock();
        state.legacy = true;
        state.version = version_header(version);
    }

    /// Whether a request that is refused gets an authorization by itself, within its own deadline.
    pub(crate) fn authorize_in_requests(&self, does: bool) {
        self.connection.authorizes.store(does, Ordering::Relaxed);
    }

    /// Headers of the era with `initialize`, as far as they are known.
    fn session_headers(&self) -> HeaderMap {
        let state = self.lock();
        let mut headers = HeaderMap::new();
        if let Some(session) = &state.session {
            headers.insert(SESSION_HEADER, session.clone());
        }
        if let Some(version) = &state.version {
            headers.insert(VERSION_HEADER, version.clone());
        }
        headers
    }

    async fn post(&self, body: Vec<u8>, headers: Vec<(HeaderName, HeaderValue)>) -> Result<Response, Fault> {
        let mut all = self.session_headers();
        all.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.extend(header_map(headers));
        self.connection.send(Method::POST, &self.connection.url, all, Some(body)).await
    }

    /// Sends a request and reads its stream up to the answer.
    pub(crate) async fn exchange(self: &Arc<Self>, out: &Outgoing<'_>) -> Result<(), Fault> {
        let response = self.post(out.message.to_string().into_bytes(), out.headers.clone()).await?;
        if out.message["method"] == "initialize" {
            self.lock().session = response.headers().get(SESSION_HEADER).cloned();
        }
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        match body_kind(&response) {
            Body::Json => self.take_json(response).await,
            Body::Events => self.follow(response, out.id).await,
            Body::Other if response.status() == StatusCode::ACCEPTED => Err(Fault::BadAnswer(
                "the server took the request as a notification (HTTP 202) and gave no answer".into(),
            )),
            Body::Other => {
                let kind = content_type(&response);
                Err(Fault::BadAnswer(format!("content type {kind:?} instead of application/json or text/event-stream")))
            }
        }
    }

    async fn refused(&self, response: Response) -> Fault {
        let gone = response.status() == StatusCode::NOT_FOUND && self.lock().session.is_some();
        let fault = refusal(response, &self.connection.url).await;
        match fault {
            // 404 for a session that was there before: it has expired.
            Fault::Http { .. } if gone => {
                Fault::Closed("the server does not know the session any more (HTTP 404)".into())
            }
            other => other,
        }
    }

    async fn take_json(self: &Arc<Self>, response: Response) -> Result<(), Fault> {
        let body = read(response, self.connection.limit, &self.connection.url).await?;
        match serde_json::from_slice::<Value>(&body) {
            Ok(message) => {
                self.take(message, body.len());
                Ok(())
            }
            Err(error) => Err(Fault::BadAnswer(format!("the answer is no JSON: {error}"))),
        }
    }

    fn take(self: &Arc<Self>, message: Value, bytes: usize) {
        for question in self.router.deliver(message, bytes) {
            tokio::spawn(self.clone().reply(question));
        }
    }

    async fn reply(self: Arc<Self>, question: Question) {
        let closing = self.closing.clone();
        let work = async {
            let reply = self.router.reply(question).await;
            // A server that does not take the answer will answer the request accordingly.
            drop(self.post(reply.to_string().into_bytes(), Vec::new()).await);
        };
        tokio::select! {
            () = closing.cancelled() => {}
            () = work => {}
        }
    }

    /// Reads a stream of events until the request `id` is answered; resumes it where the server lets us.
    async fn follow(self: &Arc<Self>, response: Response, id: u64) -> Result<(), Fault> {
        let mut decoder = Decoder::new(self.connection.limit);
        let mut chunks: Chunks = Box::pin(response.bytes_stream());
        let mut idle = 0;
        loop {
            let broke = loop {
                match chunks.next().await {
                    Some(Ok(chunk)) => {
                        idle = 0;
                        self.take_events(&mut decoder, &chunk)?;
                        if !self.router.waits(id) {
                            self.read_rest(decoder, chunks).await;
                            return Ok(());
                        }
                    }
                    Some(Err(error)) => break Some(fault(error, &self.connection.url)),
                    None => break None,
                }
            };
            let resumable = self.lock().legacy && decoder.last_id.is_some();
            idle += 1;
            if !resumable || idle > RESUMPTIONS {
                return Err(broke.unwrap_or_else(|| Fault::BadAnswer("the stream ended before the answer".into())));
            }
            tokio::time::sleep(decoder.retry.unwrap_or(RETRY.0).min(RETRY.1)).await;
            let response = self.get(decoder.last_id.as_deref()).await?;
            if body_kind(&response) != Body::Events || !response.status().is_success() {
                return Err(Fault::BadAnswer(format!(
                    "the stream ended before the answer and was not resumed (HTTP {})",
                    response.status().as_u16()
                )));
            }
            decoder = decoder.resumed();
            chunks = Box::pin(response.bytes_stream());
        }
    }

    fn take_events(self: &Arc<Self>, decoder: &mut Decoder, chunk: &[u8]) -> Result<(), Fault> {
        let mut events = Vec::new();
        let whole = decoder.push(chunk, &mut events);
        for event in events {
            self.take_event(&event);
        }
        whole.map_err(|_| Fault::TooLarge { limit: self.connection.limit })
    }

    fn take_event(self: &Arc<Self>, event: &Event) {
        // Events without data only carry an ID; other kinds are not of this protocol.
        if event.data.is_empty() || !matches!(event.kind.as_str(), "" | "message") {
            return;
        }
        match serde_json::from_str::<Value>(&event.data) {
            Ok(message) => self.take(message, event.data.len()),
            Err(_) => self.router.noise(event.data.as_bytes()),
        }
    }

    /// Reads a stream to its end after the answer, for a moment, so that the connection can be used again.
    async fn read_rest(self: &Arc<Self>, mut decoder: Decoder, mut chunks: Chunks) {
        let rest = async {
            while let Some(Ok(chunk)) = chunks.next().await {
                if self.take_events(&mut decoder, &chunk).is_err() {
                    return;
                }
            }
        };
        // A server that keeps the stream open loses it.
        let _ = tokio::time::timeout(REST, rest).await;
    }

    async fn get(&self, last_event: Option<&str>) -> Result<Response, Fault> {
        let mut headers = self.session_headers();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_event.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        self.connection.send(Method::GET, &self.connection.url, headers, None).await
    }

    /// Opens the server's own stream, in the era with `initialize`, and holds it open. Servers need not have
    /// one. What a server sends there before it is open may be lost, so this waits a moment for it.
    pub(crate) async fn listen(self: &Arc<Self>) {
        let (open, opened) = oneshot::channel();
        let wire = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = wire.closing.cancelled() => {}
                () = wire.listen_on(open) => {}
            }
        });
        // Some servers send no header before the first event: they are not waited for.
        let _ = tokio::time::timeout(OPENING, opened).await;
    }

    async fn listen_on(self: &Arc<Self>, open: oneshot::Sender<()>) {
        let mut open = Some(open);
        let mut decoder = Decoder::new(self.connection.limit);
        let mut idle = 0;
        while idle <= RESUMPTIONS {
            let Ok(response) = self.get(decoder.last_id.as_deref()).await else {
                return;
            };
            if !response.status().is_success() || body_kind(&response) != Body::Events {
                return;
            }
            if let Some(open) = open.take() {
                // Whoever waited may have gone on.
                let _ = open.send(());
            }
            decoder = decoder.resumed();
            idle += 1;
            let mut chunks = response.bytes_stream();
            while let Some(Ok(chunk)) = chunks.next().await {
                idle = 0;
                if self.take_events(&mut decoder, &chunk).is_err() {
                    return;
                }
            }
            tokio::time::sleep(decoder.retry.unwrap_or(RETRY.0).min(RETRY.1)).await;
        }
    }

    pub(crate) async fn notify(&self, message: &Value, headers: Vec<(HeaderName, HeaderValue)>) -> Result<(), Fault> {
        let response = self.post(message.to_string().into_bytes(), headers).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(self.refused(response).await)
    }

    /// In the era with `initialize` a request is given up by a notification; later, by closing its stream,
    /// which has happened already.
    pub(crate) fn give_up(self: Arc<Self>, message: Value) {
        if self.lock().legacy
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                let grace = self.connection.close_grace;
                // Telling is a courtesy; nobody waits for it.
                let _ = tokio::time::timeout(grace, self.notify(&message, Vec::new())).await;
            });
        }
    }

    /// Sends a body as it is; everything that comes back is seen by taps.
    pub(crate) async fn raw(
        self: &Arc<Self>,
        body: Vec<u8>,
        headers: Vec<(HeaderName, HeaderValue)>,
    ) -> Result<u16, Fault> {
        let response = self.post(body, headers).await?;
        let status = response.status().as_u16();
        if body_kind(&response) == Body::Events {
            let wire = self.clone();
            tokio::spawn(async move {
                let mut decoder = Decoder::new(wire.connection.limit);
                let mut chunks = response.bytes_stream();
                let work = async {
                    while let Some(Ok(chunk)) = chunks.next().await {
                        if wire.take_events(&mut decoder, &chunk).is_err() {
                            return;
                        }
                    }
                };
                tokio::select! {
                    () = wire.closing.cancelled() => {}
                    () = work => {}
                }
            });
            return Ok(status);
        }
        let body = read(response, self.connection.limit, &self.connection.url).await?;
        match serde_json::from_slice::<Value>(&body) {
            Ok(message @ (Value::Object(_) | Value::Array(_))) => self.take(message, body.len()),
            _ if body.is_empty() => {}
            _ => self.router.noise(&body),
        }
        Ok(status)
    }

    pub(crate) async fn close(&self) -> Result<Closed, Fault> {
        self.closing.cancel();
        self.router.close(Fault::Closed("the session has been closed".into()));
        let headers = self.session_headers();
        if self.lock().session.take().is_none() {
            return Ok(Closed::Network { session_deleted: false });
        }
        let delete = self.connection.send(Method::DELETE, &self.connection.url, headers, None);
        let limit = self.connection.close_grace;
        let response = tokio::time::timeout(limit, delete).await.map_err(|_| Fault::Timeout { limit, odd: None })??;
        let session_deleted = response.status().is_success();
        match response.status() {
            // 405: the server ends sessions by itself; 404: it already has.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND => {}
            _ if session_deleted => {}
            _ => return Err(refusal(response, &self.connection.url).await),
        }
        Ok(Closed::Network { session_deleted })
    }

    pub(crate) fn abandon(self: Arc<Self>) {
        self.closing.cancel();
        if self.lock().session.is_some()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            // Whoever dropped the session does not want to know how its end went.
            runtime.spawn(async move { drop(self.close().await) });
        }
    }
}
