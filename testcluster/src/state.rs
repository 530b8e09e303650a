//! The state file, which the supervisor keeps true while it runs.

use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::{Error, Process};

/// What runs in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct State {
    /// Whether every cluster can be used.
    pub ready: bool,
    /// The process that all others end with.
    pub supervisor: Process,
    /// The contexts, in the order they were asked for. The first is the current one.
    pub contexts: Vec<String>,
    /// Nodes of each cluster.
    pub nodes: usize,
    /// The children that were started, ended ones included.
    pub components: Vec<Component>,
}

/// One child of the supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Component {
    /// `etcd`, `apiserver`, `controller-manager`, `scheduler` or `kwok`.
    pub name: String,
    /// The context of its cluster; empty for etcd, which serves all.
    #[serde(default)]
    pub context: String,
    /// Its process.
    pub process: Process,
}

impl State {
    /// Reads the state of a folder; none where no set was started.
    ///
    /// # Errors
    /// The file cannot be read or is something else.
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join("state.json");
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|source| Error::State { path, source }),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(Error::file("read", &path)(why)),
        }
    }

    /// Whether the supervisor still runs.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.supervisor.runs()
    }

    /// The supervisor and all its children.
    pub fn processes(&self) -> impl Iterator<Item = Process> {
        std::iter::once(self.supervisor).chain(self.components.iter().map(|component| component.process))
    }
}
