//! The verbs: one file each, with its fields, how it is read and what it does.
//!
//! A verb reads its part of a step into a [`Probe`]; the probe observes, and [`judge`](crate::judge) compares what it
//! saw with what the step asserts.

pub(crate) mod addr;
pub(crate) mod attribute;
pub(crate) mod command;
pub(crate) mod dns;
pub(crate) mod file;
pub(crate) mod http;
pub(crate) mod mcp;
pub(crate) mod needs;
pub(crate) mod port;
pub(crate) mod process;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use pintle_yaml::Node;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::model::sink::Sink;
use crate::outcome::Mismatch;
use crate::registry::Snapshot;
use crate::runner::sessions::Sessions;
use crate::target::Target;

/// A verb: its word, its fields, and how they are read.
pub(crate) trait Verb: Sync {
    /// The key in a step.
    fn word(&self) -> &'static str;

    /// Fields beside those that every step may have.
    fn fields(&self) -> &'static [&'static str];

    /// Reads the verb's value and fields. `None` when something was wrong and told.
    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read>;

    /// Whether it needs a box that runs.
    fn is_live(&self) -> bool {
        false
    }

    /// Whether it changes something and asserts nothing.
    fn is_action(&self) -> bool {
        false
    }

    /// Whether fields are left to whoever provides the verb.
    fn takes_any_field(&self) -> bool {
        false
    }
}

/// A verb's part of a step.
pub(crate) struct Read {
    pub(crate) method: Option<String>,
    pub(crate) probe: Arc<dyn Probe>,
}

impl Read {
    pub(crate) fn new(probe: impl Probe + 'static) -> Self {
        Self { method: None, probe: Arc::new(probe) }
    }
}

/// Looks and tells what it saw.
pub(crate) trait Probe: fmt::Debug + Send + Sync {
    /// Looks once. Ends within the time of `scene`.
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation>;
}

/// Everything a probe may use.
pub(crate) struct Scene<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) target: &'a dyn Target,
    /// Sessions that steps share; none when each step has its own.
    pub(crate) sessions: Option<&'a Sessions>,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) time: Allowance,
}

/// The time of one attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// As people wrote it.
    pub(crate) limit: Duration,
    pub(crate) end: Instant,
}

impl Allowance {
    pub(crate) fn of(limit: Duration) -> Self {
        Self { limit, end: Instant::now() + limit }
    }

    /// What is left, at least a millisecond so that limits of zero mean nothing special anywhere.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }
}

/// What a probe saw.
#[derive(Debug, Default)]
pub(crate) struct Observation {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// 0 on success, 1 on failure; of a command its own.
    pub(crate) exit_status: i64,
    /// Why the method failed.
    pub(crate) failure: Option<String>,
    /// The result, where there is structure.
    pub(crate) result: Option<Value>,
    /// The tool said that it failed, with this text.
    pub(crate) tool_error: Option<String>,
    /// The answer was an error.
    pub(crate) error: Option<ErrorAnswer>,
    /// From asking to the answer.
    pub(crate) took: Option<Duration>,
    /// Lines on the standard output of a server that are no messages: their number and the first.
    pub(crate) noise: Option<(u64, String)>,
    /// Attributes of the verb itself that are not as expected.
    pub(crate) mismatches: Vec<Mismatch>,
    pub(crate) warnings: Vec<String>,
    /// The one endpoint it talked to.
    pub(crate) endpoint: Option<String>,
    /// The failure counts even if the exit status is as expected.
    pub(crate) fatal: bool,
    /// Why nothing could be judged.
    pub(crate) unable: Option<String>,
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ErrorAnswer {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl Observation {
    /// The method failed.
    pub(crate) fn failed(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { exit_status: 1, stderr: why.clone(), failure: Some(why), ..Self::default() }
    }

    /// Nothing could be judged.
    pub(crate) fn unable(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { exit_status: 1, stderr: why.clone(), unable: Some(why), ..Self::default() }
    }
}

/// Every verb, in the order of the manual.
pub(crate) const ALL: &[&dyn Verb] = &[
    &mcp::Mcp,
    &http::Http,
    &addr::Addr,
    &dns::Dns,
    &command::Command,
    &file::File,
    &port::Port,
    &process::Process,
    &needs::SERVICE,
    &needs::PACKAGE,
    &needs::KUBE,
    &needs::CDP,
    &needs::WL,
    &needs::DBUS,
    &needs::VNC,
    &needs::TMUX,
    &needs::RECORD,
    &needs::ADB,
    &needs::APPIUM,
    &needs::SPICE,
    &needs::LIBVIRT,
    &needs::CMD,
    &needs::MKDIR,
    &needs::COPY,
    &needs::WRITE,
    &needs::LINK,
    &needs::DOWNLOAD,
    &needs::SETCAP,
    &needs::BUILD,
];

/// The verb of a word.
pub(crate) fn find(word: &str) -> Option<&'static dyn Verb> {
    ALL.iter().find(|verb| verb.word() == word).copied()
}

/// The part of a step whose verb only a provider knows.
pub(crate) fn foreign(value: Node<'_>, word: &str) -> Read {
    let method = value.as_str().map(str::to_owned);
    Read { method, probe: Arc::new(needs::Needs { what: format!("a provider for `{word}`"), word: word.to_owned() }) }
}
