//! What the operator decides about a server.

use pintle_dispatch::Request;
use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

/// What is the same on every transport.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Version in `serverInfo`.
    pub version: String,
    /// Whether tools are listed with the schemas of their answers.
    pub output_schemas: bool,
    /// Most items of one page of a list; absent means that every list is one page.
    pub page_size: Option<usize>,
    /// Longest silence of a running call whose client asked for progress.
    pub heartbeat: Duration,
    /// Most bytes of text and of value in one answer; absent means no bound.
    pub budget: Option<usize>,
    /// Tools that are refused to clients which take no tasks: they would give up long before the answer.
    pub only_as_tasks: Vec<String>,
    /// Hears of clients.
    pub newcomers: Option<Newcomers>,
}

/// Hears what clients call themselves: at `initialize`, and with each request of the newer era. It must not block.
#[derive(Clone)]
pub struct Newcomers(Arc<dyn Fn(&str) + Send + Sync>);

impl Newcomers {
    /// With what is to hear the name, which is foreign text.
    #[must_use]
    pub fn new(hear: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(crate) fn tell(&self, name: &str) {
        (self.0)(name);
    }
}

impl fmt::Debug for Newcomers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Newcomers")
    }
}

impl ServerOptions {
    /// The usual ones.
    #[must_use]
    pub fn new(version: impl Into<String>) -> Self {
        Self {
            version: version.into(),
            output_schemas: true,
            page_size: None,
            heartbeat: Duration::from_secs(10),
            budget: Some(Request::AGENT_BUDGET),
            only_as_tasks: Vec::new(),
            newcomers: None,
        }
    }
}

/// What concerns HTTP alone.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// `HOST:PORT`; `:PORT` means every interface, port 0 any free one.
    pub listen: String,
    /// Path of the endpoint; everything else is 404.
    pub path: String,
    /// File with the bearer tokens, one a line.
    pub token_file: Option<PathBuf>,
    /// More names by which clients may address the server: `HOST`, `HOST:PORT` or `HOST:*`.
    pub allowed_hosts: Vec<String>,
    /// More origins of web pages that may call: `https://HOST`, with `:PORT` or `:*`.
    pub allowed_origins: Vec<String>,
    /// Whether an address beyond loopback may be served without a token: the surroundings are known to be isolated.
    pub insecure: bool,
    /// How long a session of the older protocol may be idle.
    pub session_idle: Duration,
    /// Most sessions of the older protocol at once; the one unused for longest gives way.
    pub sessions: usize,
    /// How long running calls may go on after the signal to end.
    pub drain: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:18765".to_owned(),
            path: "/mcp".to_owned(),
            token_file: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            insecure: false,
            session_idle: Duration::from_secs(30 * 60),
            sessions: 256,
            drain: Duration::from_secs(5),
        }
    }
}

/// Most bytes of one message, on either transport.
pub(crate) const MESSAGE_LIMIT: usize = 8 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ch_099_cw_07_the_defaults_are_the_documented_ones_but_on_loopback() {
        let http = HttpOptions::default();
        assert_eq!((http.listen.as_str(), http.path.as_str()), ("127.0.0.1:18765", "/mcp"));
        assert!(!http.insecure && http.token_file.is_none());
        assert!(ServerOptions::new("1").output_schemas);
    }
}
