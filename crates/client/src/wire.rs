//! The ways a message can travel.

pub(crate) mod http;
pub(crate) mod sse;
pub(crate) mod stdio;
pub(crate) mod streamable;

use std::sync::Arc;

use ::http::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::close::Closed;
use crate::error::Fault;
use sse::LegacySse;
use stdio::StdioWire;
use streamable::Streamable;

/// A message on its way out.
pub(crate) struct Outgoing<'a> {
    /// The request's ID.
    pub(crate) id: u64,
    /// The whole message.
    pub(crate) message: &'a Value,
    /// Headers that go with it where there are headers.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// An open way to a server.
pub(crate) enum Wire {
    Stdio(StdioWire),
    Streamable(Arc<Streamable>),
    Sse(Arc<LegacySse>),
}

impl Wire {
    /// Sends a request. Returns once it is sent (stdio, SSE) or once its own stream has ended (Streamable
    /// HTTP); the answer itself goes to the router.
    pub(crate) async fn exchange(&self, out: &Outgoing<'_>) -> Result<(), Fault> {
        match self {
            Self::Stdio(wire) => wire.send(out.message).await,
            Self::Streamable(wire) => wire.exchange(out).await,
            Self::Sse(wire) => wire.send(out.message).await,
        }
    }

    /// Whether the answer can only come while [`exchange`](Self::exchange) runs.
    pub(crate) fn answers_in_exchange(&self) -> bool {
        matches!(self, Self::Streamable(_))
    }

    /// Whether the wire carries headers.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self, Self::Streamable(_))
    }

    /// Sends a notification.
    pub(crate) async fn notify(&self, message: &Value, headers: Vec<(HeaderName, HeaderValue)>) -> Result<(), Fault> {
        match self {
            Self::Stdio(wire) => wire.send(message).await,
            Self::Streamable(wire) => wire.notify(message, headers).await,
            Self::Sse(wire) => wire.send(message).await,
        }
    }

    /// Tells the server, without waiting, that a request was given up.
    pub(crate) fn give_up(&self, message: Value) {
        match self {
            Self::Stdio(wire) => wire.send_now(&message),
            Self::Streamable(wire) => wire.clone().give_up(message),
            Self::Sse(wire) => wire.clone().send_later(message),
        }
    }

    /// Takes over what `initialize` found.
    pub(crate) fn settled(&self, version: &str) {
        match self {
            Self::Stdio(_) => {}
            Self::Streamable(wire) => wire.settled(version),
            Self::Sse(wire) => wire.settled(version),
        }
    }

    /// Whether a request that is refused gets an authorization by itself, within its own deadline.
    pub(crate) fn authorize_in_requests(&self, does: bool) {
        if let Self::Streamable(wire) = self {
            wire.authorize_in_requests(does);
        }
    }

    /// Opens the server's own stream where the transport has one besides the answers.
    pub(crate) async fn listen(&self) {
        if let Self::Streamable(wire) = self {
            wire.listen().await;
        }
    }

    /// Sends bytes as they are. Streamable HTTP returns the status once the body has been read.
    pub(crate) async fn raw(
        &self,
        body: Vec<u8>,
        headers: Vec<(HeaderName, HeaderValue)>,
    ) -> Result<Option<u16>, Fault> {
        match self {
            Self::Stdio(wire) => wire.send_bytes(body).await.map(|()| None),
            Self::Streamable(wire) => wire.raw(body, headers).await.map(Some),
            Self::Sse(wire) => wire.raw(body).await.map(Some),
        }
    }

    /// Ends the session and waits until it has ended.
    pub(crate) async fn close(&self) -> Result<Closed, Fault> {
        match self {
            Self::Stdio(wire) => wire.close().await,
            Self::Streamable(wire) => wire.close().await,
            Self::Sse(wire) => wire.close().await,
        }
    }

    /// Ends the session without waiting.
    pub(crate) fn abandon(&self) {
        match self {
            Self::Stdio(wire) => wire.abandon(),
            Self::Streamable(wire) => wire.clone().abandon(),
            Self::Sse(wire) => wire.abandon(),
        }
    }
}
