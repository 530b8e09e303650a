//! Everything that can go wrong with a server, and at which stage.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pintle_process::SpawnError;
use serde_json::Value;

/// Where in the life of a session something went wrong. Every message starts with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Starting the server's program.
    Spawn,
    /// Reaching the server over the network.
    Connect,
    /// `server/discover` or `initialize`.
    Handshake,
    /// A request with this method.
    Request(String),
    /// Ending the session.
    Close,
}

impl fmt::Display for Stage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn => out.write_str("spawn"),
            Self::Connect => out.write_str("connect"),
            Self::Handshake => out.write_str("handshake"),
            Self::Request(method) => write!(out, "request {method}"),
            Self::Close => out.write_str("close"),
        }
    }
}

/// A failure of this client: a stage and what happened there.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{stage}: {fault}")]
pub struct Error {
    /// Where it happened.
    pub stage: Stage,
    /// What happened.
    pub fault: Fault,
}

impl Error {
    pub(crate) fn new(stage: Stage, fault: Fault) -> Self {
        Self { stage, fault }
    }

    pub(crate) fn request(method: &str, fault: Fault) -> Self {
        Self::new(Stage::Request(method.to_owned()), fault)
    }

    /// The JSON-RPC error of the server, if that is what this is.
    pub fn rpc(&self) -> Option<&RpcError> {
        match &self.fault {
            Fault::Rpc(error) => Some(error),
            _ => None,
        }
    }
}

/// A JSON-RPC error as the server sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// For example `-32602`.
    pub code: i64,
    /// The server's words: foreign text.
    pub message: String,
    /// The server's data, if any.
    pub data: Option<Value>,
    /// The HTTP status it came with, if not 200 and not over stdio.
    pub http_status: Option<u16>,
}

impl RpcError {
    /// An error as this side sends it.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, http_status: None }
    }

    /// `-32601`, what a request gets that nobody handles.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(-32601, format!("method {method} is not handled by this client"))
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error {}: {}", self.code, self.message)?;
        if let Some(status) = self.http_status {
            write!(out, " (HTTP {status})")?;
        }
        Ok(())
    }
}

/// What went wrong. Texts of servers are kept as they are: foreign.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Fault {
    /// The program did not start.
    #[error("{0}")]
    Spawn(Arc<SpawnError>),
    /// The server answered with a JSON-RPC error.
    #[error("{0}")]
    Rpc(Box<RpcError>),
    /// No answer in time.
    #[error("no answer within {}{}", Span(*limit), note(.odd))]
    Timeout {
        /// The time it had.
        limit: Duration,
        /// What came instead, if anything did.
        odd: Option<String>,
    },
    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The server ended, or closed the connection.
    #[error("{0}")]
    Closed(String),
    /// An answer was cut while it was being read.
    #[error("the answer is larger than {} and was cut while reading", Size(*limit))]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// An HTTP status that is not an answer.
    #[error("HTTP status {status}{}", excerpt(.body))]
    Http {
        /// The status code.
        status: u16,
        /// The beginning of the body: foreign text.
        body: String,
    },
    /// The server wants an authorization that we do not have.
    #[error("HTTP status {status}: the server wants an authorization")]
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// The `WWW-Authenticate` header, if any.
        challenge: Option<String>,
    },
    /// Getting an authorization failed.
    #[error("authorization failed: {0}")]
    Authorization(String),
    /// The server sent us elsewhere; we did not go.
    #[error("HTTP status {status}: redirected to {to}, which is not followed")]
    Redirect {
        /// The status code.
        status: u16,
        /// Where to, without query.
        to: String,
    },
    /// No connection.
    #[error("{0}")]
    Unreachable(String),
    /// A connection without trust.
    #[error("TLS: {0}")]
    Tls(String),
    /// An answer that breaks the protocol.
    #[error("{0}")]
    BadAnswer(String),
    /// A list that would never end.
    #[error("the server returned the cursor {cursor:?} again after {pages} pages")]
    RepeatedCursor {
        /// The cursor.
        cursor: String,
        /// Pages read until then.
        pages: usize,
    },
    /// A transport we do not have.
    #[error("unsupported mcp transport {0:?} (expected http or sse)")]
    Transport(String),
    /// The server does not offer what the request needs.
    #[error("the server does not offer {0}")]
    Capability(&'static str),
    /// The server needs input that the handler did not give.
    #[error("the server asked for input ({method}): {error}")]
    Input {
        /// For example `elicitation/create`.
        method: String,
        /// What our side answers.
        error: Box<RpcError>,
    },
    /// Reading or writing failed.
    #[error("{0}")]
    Io(String),
    /// What the caller gave cannot be used.
    #[error("{0}")]
    Usage(String),
}

fn note(odd: &Option<String>) -> String {
    odd.as_ref().map(|odd| format!(" ({odd})")).unwrap_or_default()
}

fn excerpt(body: &str) -> String {
    let line = body.lines().find(|line| !line.trim().is_empty());
    match line {
        Some(line) => format!(": {}", line.trim().chars().take(200).collect::<String>()),
        None => String::new(),
    }
}

/// A number of bytes as people write it: `4 MiB`, `1000 bytes`.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: usize = 1024 * 1024;
        match self.0 {
            whole if whole > 0 && whole.is_multiple_of(MIB) => write!(out, "{} MiB", whole / MIB),
            bytes => write!(out, "{bytes} bytes"),
        }
    }
}

/// A duration as people write it: `2s`, `500ms`, `1m30s`.
pub(crate) struct Span(pub(crate) Duration);

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let (minutes, seconds, rest) = (millis / 60_000, millis / 1000 % 60, millis % 1000);
        if minutes > 0 {
            write!(out, "{minutes}m")?;
        }
        if seconds > 0 {
            write!(out, "{seconds}s")?;
        }
        if rest > 0 || millis == 0 {
            write!(out, "{rest}ms")?;
        }
        Ok(())
    }
}

impl From<SpawnError> for Fault {
    fn from(error: SpawnError) -> Self {
        Self::Spawn(Arc::new(error))
    }
}

impl Fault {
    /// Whether this means that no server was reached at all.
    pub(crate) fn is_connect(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Tls(_) | Self::Redirect { .. } | Self::Transport(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_start_with_the_stage_and_state_the_limit() {
        let error = Error::request("tools/call", Fault::Timeout { limit: Duration::from_millis(1500), odd: None });
        assert_eq!(error.to_string(), "request tools/call: no answer within 1s500ms");
    }

    #[test]
    fn spans_read_as_people_write_them() {
        for (millis, text) in [(0, "0ms"), (500, "500ms"), (30_000, "30s"), (90_000, "1m30s")] {
            assert_eq!(Span(Duration::from_millis(millis)).to_string(), text);
        }
    }
}
