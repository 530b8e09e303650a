//! What checks are made against: the host, later also containers.

pub(crate) mod host;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

pub use host::HostTarget;

/// A system that can be looked at. Implementations touch nothing until they are asked.
pub trait Target: Send + Sync {
    /// What it is, for people: `host`, `container charly-web`.
    fn name(&self) -> String;

    /// The words by which `exclude_distro` knows it: `debian`, `debian:12`.
    fn distro(&self) -> Vec<String>;

    /// A variable of the target: `${HOST_PORT:80}`. `None` when it has none of that name.
    fn variable(&self, name: &str, argument: Option<&str>) -> Option<Result<String, String>>;

    /// Runs a program to its end.
    ///
    /// # Errors
    /// When it could not be started.
    fn execute<'a>(&'a self, execution: Execution<'a>) -> BoxFuture<'a, Result<Executed, String>>;

    /// What is at a path, links followed unless they are the last; `None` when nothing is.
    ///
    /// # Errors
    /// When that cannot be told.
    fn stat<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<Option<FileFacts>, String>>;

    /// The first `limit` bytes of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read<'a>(&'a self, path: &'a Path, limit: usize) -> BoxFuture<'a, Result<Vec<u8>, String>>;

    /// Addresses on which something listens at a port: empty when nothing does.
    ///
    /// # Errors
    /// When that cannot be told.
    fn listeners<'a>(&'a self, port: PortName) -> BoxFuture<'a, Result<Vec<std::net::IpAddr>, String>>;

    /// Process IDs of a name.
    ///
    /// # Errors
    /// When that cannot be told.
    fn processes<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Vec<u32>, String>>;

    /// Ends what was started in the background and waits for it.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Program and arguments.
    Words(Vec<String>),
    /// Text for the shell of a box.
    Text(String),
}

/// A program to run.
pub struct Execution<'a> {
    /// What to run.
    pub line: &'a Line,
    /// On the host, although the target is a container.
    pub outside: bool,
    /// Only start it; it ends with the run.
    pub background: bool,
    /// Added to its environment.
    pub env: &'a BTreeMap<String, String>,
    /// Its standard input.
    pub input: &'a [u8],
    /// It is ended after this time.
    pub limit: Duration,
    /// Ends it.
    pub cancel: &'a CancellationToken,
}

/// How a program ended.
#[derive(Clone, Debug, Default)]
pub struct Executed {
    /// Exit status; 128 and the number for a signal.
    pub status: i64,
    /// Standard output, bounded.
    pub stdout: String,
    /// Standard error, bounded.
    pub stderr: String,
    /// From start to end.
    pub took: Duration,
    /// It had to be ended.
    pub timed_out: bool,
    /// What was left out, and bytes that were no UTF-8.
    pub warnings: Vec<String>,
}

/// What is known of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// `file`, `directory`, `symlink`, `socket`, `fifo`, `block` or `char`.
    pub kind: &'static str,
    /// Permission bits.
    pub mode: u32,
    /// Name of the owner, else its number.
    pub owner: String,
    /// Name of the group, else its number.
    pub group: String,
    /// Bytes.
    pub size: u64,
}

/// A port and its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortName {
    /// UDP instead of TCP.
    pub udp: bool,
    /// Its number.
    pub number: u16,
}
