//! How plans are run, and why they cannot be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pintle_core::Exit;

use crate::model::Server;
use crate::outcome::{RunOutcome, Status, StepOutcome};
use crate::registry::Registry;
use crate::target::{HostTarget, Target};

/// How plans are run.
#[derive(Clone)]
pub struct RunOptions {
    /// The server of the command line: for every `mcp` step without `mcp_name`.
    pub server: Option<Server>,
    /// Verbs, or globs on step IDs: only steps that fit one of them run.
    pub filter: Vec<String>,
    /// Only steps of this part of a box.
    pub section: Option<String>,
    /// How many steps may run at once; 1 keeps the order of the plan.
    pub jobs: usize,
    /// Steps share a session per server.
    pub reuse_sessions: bool,
    /// Limit for the whole run.
    pub deadline: Option<Duration>,
    /// Variables; they win over those of a plan.
    pub vars: BTreeMap<String, String>,
    /// Snapshots are written instead of compared.
    pub update_snapshots: bool,
    /// A skipped step counts as failed for the exit code.
    pub fail_on_skip: bool,
    /// Fewer passed steps than this count as failed for the exit code.
    pub require: usize,
    /// What the steps are run against.
    pub target: Arc<dyn Target>,
    /// Who carries out which verb.
    pub registry: Arc<Registry>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            server: None,
            filter: Vec::new(),
            section: None,
            jobs: 1,
            reuse_sessions: false,
            deadline: None,
            vars: BTreeMap::new(),
            update_snapshots: false,
            fail_on_skip: false,
            require: 0,
            target: Arc::new(HostTarget::new()),
            registry: Arc::new(Registry::new()),
        }
    }
}

impl RunOptions {
    /// What a run means to a shell: 130 interrupted; 2 when a step was judged and failed, or fewer passed than
    /// required; 1 when something could not be judged, or nothing was; else 0.
    #[must_use]
    pub fn exit(&self, outcome: &RunOutcome) -> Exit {
        let has = |status: Status| outcome.steps().any(|step| step.status == status);
        let passed = outcome.steps().filter(|step| step.status == Status::Passed).count();
        if outcome.interrupted {
            Exit::Interrupted
        } else if has(Status::Failed) {
            Exit::Checks
        } else if has(Status::Error) {
            Exit::Failed
        } else if (self.fail_on_skip && has(Status::Skipped)) || passed < self.require {
            Exit::Checks
        } else if passed == 0 {
            Exit::Failed
        } else {
            Exit::Ok
        }
    }
}

/// Why nothing was run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// What was asked for makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The filter fits no step.
    #[error("no step fits the filter {0}")]
    NothingFits(String),
}

impl RunError {
    /// 64, or 1 when nothing fits.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } => Exit::Usage,
            Self::NothingFits(_) => Exit::Failed,
        }
    }

    /// What to do.
    #[must_use]
    pub fn hint(&self) -> &str {
        match self {
            Self::Usage { hint, .. } => hint,
            Self::NothingFits(_) => "a filter is a verb or a glob on step ids",
        }
    }
}

/// What a run tells while it goes on.
#[derive(Clone, Debug)]
pub enum Event {
    /// So many steps will run.
    Began {
        /// Their number.
        total: usize,
    },
    /// A step has started.
    Started {
        /// Its ID.
        id: String,
    },
    /// A step will be tried again.
    Retried {
        /// Its ID.
        id: String,
        /// Attempts so far.
        attempts: u32,
    },
    /// A step has ended. Secrets are masked.
    Ended(Box<StepOutcome>),
    /// Nothing more will come, also after an interrupt.
    Finished,
}

/// Called with every event, in order, from one task at a time.
pub type Events = Arc<dyn Fn(&Event) + Send + Sync>;
