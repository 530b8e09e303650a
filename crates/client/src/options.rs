//! How a session is held.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::auth::Authorizer;
use crate::handler::{Handler, NoHandler};

/// Which era a session is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EraChoice {
    /// Probe with `server/discover`, then `initialize`.
    #[default]
    Auto,
    /// 2026-07-28 only.
    Modern,
    /// `initialize` only, offering this version; the newest with `initialize` if none.
    Legacy(Option<&'static str>),
    /// No handshake at all: for sending raw messages from the first byte on.
    Bare,
}

/// How a session is held. [`Options::default`] suits most callers.
#[derive(Clone)]
pub struct Options {
    /// Our name, as the server sees it.
    pub client_name: String,
    /// Our version, as the server sees it.
    pub client_version: String,
    /// The era.
    pub era: EraChoice,
    /// How long `server/discover` may stay unanswered before `initialize` is sent. 2 s.
    pub probe_limit: Duration,
    /// Limit for starting or reaching the server and the whole handshake. 30 s. It starts anew after an
    /// authorization, which people may take their time for.
    pub connect_timeout: Duration,
    /// Limit for a request that does not bring its own. 30 s. An authorization that turns out to be needed
    /// after the handshake counts.
    pub request_timeout: Duration,
    /// How long a child may take to end after its input has ended, and again after TERM. 2 s.
    pub close_grace: Duration,
    /// Answers are cut beyond this many bytes. 4 MiB.
    pub answer_limit: usize,
    /// Bytes kept of a child's standard error. 64 KiB.
    pub stderr_limit: usize,
    /// How often one call may come back asking for input. 16.
    pub input_rounds: usize,
    /// Answers the server's questions.
    pub handler: Arc<dyn Handler>,
    /// Gets authorizations for servers on the network.
    pub authorizer: Option<Arc<dyn Authorizer>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client_name: "pintle".into(),
            client_version: env!("CARGO_PKG_VERSION").into(),
            era: EraChoice::Auto,
            probe_limit: Duration::from_secs(2),
            connect_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            close_grace: Duration::from_secs(2),
            answer_limit: 4 * 1024 * 1024,
            stderr_limit: 64 * 1024,
            input_rounds: 16,
            handler: Arc::new(NoHandler),
            authorizer: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options")
            .field("era", &self.era)
            .field("probe_limit", &self.probe_limit)
            .field("connect_timeout", &self.connect_timeout)
            .field("request_timeout", &self.request_timeout)
            .field("answer_limit", &self.answer_limit)
            .finish_non_exhaustive()
    }
}

/// How far a call has come, as the server tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Grows with every report.
    pub progress: f64,
    /// What `progress` will be at the end, if known.
    pub total: Option<f64>,
    /// The server's words: foreign text.
    pub message: Option<String>,
}

/// Called with every progress report of one request.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// What one request brings of its own.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Limit for this request, all rounds and pages together; [`Options::request_timeout`] if none.
    pub timeout: Option<Duration>,
    /// Ends the request, and tells the server so.
    pub cancel: Option<CancellationToken>,
    /// Wants progress reports.
    pub progress: Option<ProgressSink>,
    /// Additional members of `_meta`.
    pub meta: Map<String, Value>,
}

impl CallOptions {
    /// A limit and nothing else.
    pub fn within(limit: Duration) -> Self {
        Self { timeout: Some(limit), ..Self::default() }
    }

    /// Returns when the caller cancels; never if it cannot.
    pub(crate) async fn cancelled(&self) {
        match &self.cancel {
            Some(cancel) => cancel.cancelled().await,
            None => std::future::pending().await,
        }
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("progress", &self.progress.is_some())
            .finish_non_exhaustive()
    }
}
