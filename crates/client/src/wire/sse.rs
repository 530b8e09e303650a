//! HTTP+SSE of 2024-11-05: one stream of events comes, messages go by POST to the endpoint it names.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::http::{Body, Connection, body_kind, content_type, fault, refusal};
use super::streamable::{VERSION_HEADER, version_header};
use crate::close::Closed;
use crate::endpoint::shown;
use crate::error::Fault;
use crate::event_stream::{Decoder, Event};
use crate::router::{Question, Router};

/// What the stream said about where messages go.
type Place = Option<Result<Url, Fault>>;

/// A server with an event stream and an endpoint beside it.
pub(crate) struct LegacySse {
    connection: Connection,
    router: Arc<Router>,
    endpoint: Url,
    version: Mutex<Option<HeaderValue>>,
    closing: CancellationToken,
}

impl LegacySse {
    /// Opens the stream and waits for the endpoint.
    pub(crate) async fn open(connection: Connection, router: Arc<Router>) -> Result<Arc<Self>, Fault> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let response = connection.send(Method::GET, &connection.url, headers, None).await?;
        if !response.status().is_success() {
            return Err(refusal(response, &connection.url).await);
        }
        if body_kind(&response) != Body::Events {
            let kind = content_type(&response);
            return Err(Fault::BadAnswer(format!("content type {kind:?} instead of text/event-stream")));
        }
        let closing = CancellationToken::new();
        // Ends the reader if we are dropped before the endpoint is known.
        let opening = closing.clone().drop_guard();
        let (place, mut known) = watch::channel(None);
        let (ask, questions) = mpsc::unbounded_channel();
        tokio::spawn(read(Reading {
            response,
            home: connection.url.clone(),
            limit: connection.limit,
            router: router.clone(),
            closing: closing.clone(),
            place,
            ask,
        }));
        let endpoint = match known.wait_for(Option::is_some).await {
            Ok(place) => place.clone(),
            Err(_) => None,
        };
        let endpoint =
            endpoint.unwrap_or_else(|| Err(Fault::BadAnswer("the stream ended before it named an endpoint".into())))?;
        opening.disarm();
        let wire = Arc::new(Self { connection, router, endpoint, version: Mutex::default(), closing });
        wire.answer_questions(questions);
        Ok(wire)
    }

    /// Takes over what `initialize` found.
    pub(crate) fn settled(&self, version: &str) {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = version_header(version);
    }

    async fn post(&self, body: Vec<u8>) -> Result<reqwest::Response, Fault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let version = self.version.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(version) = version {
            headers.insert(VERSION_HEADER, version);
        }
        self.connection.send(Method::POST, &self.endpoint, headers, Some(body)).await
    }

    pub(crate) async fn send(&self, message: &Value) -> Result<(), Fault> {
        if let Some(fault) = self.router.closed() {
            return Err(fault);
        }
        let response = self.post(message.to_string().into_bytes()).await?;
        if response.status().is_success() {
            return Ok(());
        }
        Err(refusal(response, &self.connection.url).await)
    }

    pub(crate) async fn raw(&self, body: Vec<u8>) -> Result<u16, Fault> {
        Ok(self.post(body).await?.status().as_u16())
    }

    pub(crate) fn send_later(self: Arc<Self>, message: Value) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let grace = self.connection.close_grace;
                // Telling is a courtesy; nobody waits for it.
                let _ = tokio::time::timeout(grace, self.send(&message)).await;
            });
        }
    }

    /// Answers questions of the server. They come on the stream, which knows no way back.
    fn answer_questions(self: &Arc<Self>, mut questions: mpsc::UnboundedReceiver<Question>) {
        let wire = self.clone();
        tokio::spawn(async move {
            let closing = wire.closing.clone();
            let work = async {
                while let Some(question) = questions.recv().await {
                    let wire = wire.clone();
                    tokio::spawn(async move {
                        let reply = wire.router.reply(question).await;
                        // A server that does not take the answer will answer the request accordingly.
                        drop(wire.send(&reply).await);
                    });
                }
            };
            tokio::select! {
                () = closing.cancelled() => {}
                () = work => {}
            }
        });
    }

    pub(crate) async fn close(&self) -> Result<Closed, Fault> {
        self.abandon();
        Ok(Closed::Network { session_deleted: false })
    }

    pub(crate) fn abandon(&self) {
        self.closing.cancel();
        self.router.close(Fault::Closed("the session has been closed".into()));
    }
}

struct Reading {
    response: reqwest::Response,
    home: Url,
    limit: usize,
    router: Arc<Router>,
    closing: CancellationToken,
    place: watch::Sender<Place>,
    ask: mpsc::UnboundedSender<Question>,
}

/// Reads the stream to its end.
async fn read(reading: Reading) {
    let Reading { response, home, limit, router, closing, place, ask } = reading;
    let mut decoder = Decoder::new(limit);
    let mut chunks = response.bytes_stream();
    let why = loop {
        let chunk = tokio::select! {
            () = closing.cancelled() => return,
            chunk = chunks.next() => chunk,
        };
        let chunk = match chunk {
            Some(Ok(chunk)) => chunk,
            Some(Err(error)) => break fault(error, &home),
            None => break Fault::Closed("the server ended its event stream".into()),
        };
        let mut events = Vec::new();
        let whole = decoder.push(&chunk, &mut events);
        for event in events {
            take(&event, &home, &router, &place, &ask);
        }
        if whole.is_err() {
            break Fault::TooLarge { limit };
        }
    };
    router.close(why);
}

fn take(
    event: &Event,
    home: &Url,
    router: &Router,
    place: &watch::Sender<Place>,
    ask: &mpsc::UnboundedSender<Question>,
) {
    match event.kind.as_str() {
        "endpoint" => {
            place.send_replace(Some(endpoint(home, &event.data)));
        }
        "" | "message" if !event.data.is_empty() => {
            match serde_json::from_str::<Value>(&event.data) {
                Ok(message) => {
                    for question in router.deliver(message, event.data.len()) {
                        // Nobody answers any more once the session has ended.
                        let _ = ask.send(question);
                    }
                }
                Err(_) => router.noise(event.data.as_bytes()),
            }
        }
        _ => {}
    }
}

/// Where messages go: a place within the stream's own origin.
fn endpoint(home: &Url, data: &str) -> Result<Url, Fault> {
    let url = home
        .join(data.trim())
        .map_err(|error| Fault::BadAnswer(format!("the endpoint event names no URL: {error}")))?;
    if url.origin() != home.origin() {
        return Err(Fault::BadAnswer(format!("the endpoint event names another origin: {}", shown(&url))));
    }
    Ok(url)
}
