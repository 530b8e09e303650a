//! Sending what no typed client would send, and seeing everything that comes back.

use std::time::Duration;

use http::{HeaderName, HeaderValue};
use tokio::time::Instant;

use crate::endpoint::Headers;
use crate::error::{Error, Fault};
use crate::router::Incoming;
use crate::session::Session;

/// Bytes to send, and how long to listen.
#[derive(Debug, Clone)]
pub struct Raw {
    /// Sent as they are: one line over stdio (the newline is added), one POST body over HTTP.
    pub body: Vec<u8>,
    /// Headers that replace ours of the same name; only over HTTP.
    pub headers: Headers,
    /// Stops listening after this many messages. Notifications count, noise does not.
    pub messages: usize,
    /// Stops listening after this time in any case.
    pub within: Duration,
}

impl Raw {
    /// Bytes, and one message awaited for 5 s.
    pub fn new(body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), headers: Headers::default(), messages: 1, within: Duration::from_secs(5) }
    }
}

/// What came in, and how long after sending.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// Since the bytes were sent.
    pub after: Duration,
    /// What it was.
    pub what: Incoming,
}

/// The outcome of a raw exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct RawExchange {
    /// Everything that came, in order.
    pub received: Vec<Received>,
    /// Status of the POST; none over stdio.
    pub http_status: Option<u16>,
    /// Whether as many messages came as were awaited.
    pub complete: bool,
}

impl Session {
    /// Everything that comes in from now on, until the receiver is dropped.
    pub fn incoming(&self) -> tokio::sync::mpsc::UnboundedReceiver<Incoming> {
        self.router.tap()
    }

    /// Sends bytes as they are and collects what comes back: answers (whatever their IDs), notifications,
    /// questions of the server (which are answered, too), noise, the end of the connection. Silence is not an
    /// error here.
    ///
    /// # Errors
    /// Stage `request raw`, if the bytes could not be sent.
    pub async fn raw(&self, raw: Raw) -> Result<RawExchange, Error> {
        let mut tap = self.router.tap();
        let started = Instant::now();
        let end = started + raw.within;
        let headers: Vec<(HeaderName, HeaderValue)> =
            raw.headers.map().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut exchange = RawExchange { received: Vec::new(), http_status: None, complete: raw.messages == 0 };
        let mut messages = 0;
        let send = self.wire.raw(raw.body, headers);
        tokio::pin!(send);
        let mut sent = false;
        loop {
            tokio::select! {
                biased;
                outcome = &mut send, if !sent => {
                    exchange.http_status = outcome.map_err(|fault| Error::request("raw", fault))?;
                    sent = true;
                }
                incoming = tap.recv(), if !exchange.complete => {
                    let Some(what) = incoming else { break };
                    let closed = matches!(what, Incoming::Closed(_));
                    messages += usize::from(matches!(what, Incoming::Message(_)));
                    exchange.received.push(Received { after: started.elapsed(), what });
                    exchange.complete = messages >= raw.messages;
                    if closed {
                        break;
                    }
                }
                () = tokio::time::sleep_until(end) => {
                    if !sent {
                        let limit = raw.within;
                        return Err(Error::request("raw", Fault::Timeout { limit, odd: None }));
                    }
                    break;
                }
            }
            if sent && exchange.complete {
                break;
            }
        }
        Ok(exchange)
    }
}
