//! Starts and stops sets of real Kubernetes control planes, for tests.
//!
//! The Go module in this folder is one program that is etcd, kube-apiserver, kube-controller-manager, kube-scheduler and
//! kwok, and the supervisor of whole sets of clusters. This crate talks with the supervisor; the workspace's commands and
//! the test helper use it alike.
//!
//! A set is [`Set::held`] by a value and ends with it, or it is started [`detached`](Plan::detached) and ended by
//! [`stop`], which finds it by the state file in its folder. Either way the parts end with the supervisor, however that
//! ends: the kernel kills them.

mod plan;
mod process;
mod set;
mod state;

use std::path::{Path, PathBuf};

pub use plan::Plan;
pub use process::Process;
pub use set::{Set, stop};
pub use state::{Component, State};

/// Names that contexts really have and that careless code cannot carry: an ARN, a user at a host with a port and a
/// namespace, one with a space and a letter outside ASCII.
pub const HOSTILE: [&str; 3] =
    ["arn:aws:eks:eu-west-1:123456789012:cluster/prod", "admin@host.example:6443/team-a", "büro 2"];

/// Names for that many contexts: the hostile ones, then `cluster-4`, `cluster-5`, …
pub fn contexts(count: usize) -> Vec<String> {
    (0..count).map(|i| HOSTILE.get(i).map_or_else(|| format!("cluster-{}", i + 1), ToString::to_string)).collect()
}

/// Where the built program is found in the folder of the tools: a link to the newest.
#[must_use]
pub fn program(tools: &Path) -> PathBuf {
    tools.join("testcluster")
}

/// Why clusters could not be started, found or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder or a file in it.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// What was tried: `read`, `make`, …
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The state file holds something else.
    #[error("`{}` is no state of clusters: {source}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// Where it breaks.
        source: serde_json::Error,
    },
    /// The folder belongs to a set that runs.
    #[error("clusters run already in `{}`", .0.display())]
    Running(PathBuf),
    /// The supervisor does not start.
    #[error("cannot start `{}`: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The supervisor ended, or was ended, before all was ready.
    #[error("clusters did not become ready: {reason}\n{log}")]
    NotReady {
        /// How the wait ended.
        reason: String,
        /// What the supervisor said.
        log: String,
    },
    /// A signal did not reach its process.
    #[error("cannot signal process {pid}: {source}")]
    Signal {
        /// The process.
        pid: i32,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Something outlived even SIGKILL.
    #[error("process {0} does not end")]
    Lingers(i32),
    /// No such cluster or component in the set.
    #[error("no {component} of context `{context}` in this set")]
    Unknown {
        /// Which part.
        component: &'static str,
        /// Of which cluster.
        context: String,
    },
}

impl Error {
    fn file(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }
}
