//! Which servers of this program run: each writes down who it is, and takes that out when it ends.
//!
//! Nobody is ever found by the text of a command line. A process counts only if its number, its start, the boot and the
//! file that it runs are those that it wrote down itself, and a signal goes to a descriptor of that very process.

mod end;
mod place;
mod registration;
mod running;

pub(crate) use end::{Ended, end};
pub(crate) use registration::Registration;
pub(crate) use running::{Running, running};

use pintle_process::Identity;
use serde::{Deserialize, Serialize};

/// What a server writes down of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(flatten)]
    pub(crate) identity: Identity,
    /// The machine, since a home may be one of several.
    pub(crate) host: String,
    /// Words of `--toolset`.
    pub(crate) toolsets: Vec<String>,
    pub(crate) transport: Transport,
    /// Names that clients gave themselves, as they came.
    #[serde(default)]
    pub(crate) clients: Vec<String>,
    /// When it started, RFC 3339.
    pub(crate) started: String,
}

/// How clients reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    Stdio,
    Http,
}

impl Record {
    /// Whether it serves that toolset.
    pub(crate) fn serves(&self, toolset: &str) -> bool {
        self.toolsets.iter().any(|known| known == toolset)
    }
}

/// The name of this machine.
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
