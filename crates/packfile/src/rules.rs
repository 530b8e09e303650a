//! What holds for one call of a verb: effects, privilege, confirmation, limits, and how success is known.

use std::time::Duration;

use crate::{Effects, Pattern, Template};

/// Whether a verb runs as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Elevate {
    /// Through the helper, unless the caller is root.
    Always,
    /// As the caller.
    Never,
    /// As the caller, and not at all when the caller is root.
    RefuseRoot,
}

/// Who must say yes where the operator's policy says nothing. Ordered: a person is more than a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confirm {
    /// Nobody.
    Nothing,
    /// The first call answers with a plan, the second carries its token.
    Plan,
    /// A person.
    Human,
}

/// What becomes of a job when its client goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnEof {
    /// It is ended.
    Kill,
    /// It goes on.
    Detach,
}

/// What holds for one call of a verb.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// What it may do.
    pub effects: Effects,
    /// As whom it runs.
    pub elevate: Elevate,
    /// Who must say yes.
    pub confirm: Confirm,
    /// How long it may take.
    pub deadline: Duration,
    /// How long it may take to end after a TERM.
    pub grace: Duration,
    /// The lane that it has for itself on this machine: a second caller is told `busy`.
    pub lane: Option<String>,
    /// Whether it runs as a job, and what becomes of that.
    pub job: Option<OnEof>,
    /// How success is known.
    pub success: Success,
    /// How progress is read from the output.
    pub progress: Option<Progress>,
    /// What a plan shows.
    pub preview: Preview,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            effects: Effects::default(),
            elevate: Elevate::Never,
            confirm: Confirm::Nothing,
            deadline: Duration::from_secs(60),
            grace: Duration::from_secs(5),
            lane: None,
            job: None,
            success: Success::default(),
            progress: None,
            preview: Preview::default(),
        }
    }
}

/// How success is known: every part must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Success {
    /// Exit codes of success.
    pub exit: Vec<i32>,
    /// Exit codes that mean findings: the program worked, and what it looked for is there (`diff`: 1).
    pub findings: Vec<i32>,
    /// Lines that mean failure, whatever the exit code. Looked for in each line of both streams, without escapes.
    pub never: Vec<Pattern>,
    /// Lines that must be there.
    pub must: Vec<Pattern>,
    /// A file that must have been made or changed after the start.
    pub made: Option<Made>,
    /// Below this folder no more may be mounted after the run than before.
    pub mounts_below: Option<Template>,
}

impl Default for Success {
    fn default() -> Self {
        Self {
            exit: vec![0],
            findings: Vec::new(),
            never: Vec::new(),
            must: Vec::new(),
            made: None,
            mounts_below: None,
        }
    }
}

/// A file that a run must have made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The folder.
    pub folder: Template,
    /// File name with `*` and `?`.
    pub glob: String,
    /// Bytes that it has at least.
    pub min_bytes: u64,
}

/// How progress is read from the output, line by line.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Group `total`: how many steps there are.
    pub total: Option<Pattern>,
    /// A step begins. Group `message`, if it has one: its name.
    pub step: Option<Pattern>,
    /// Group `percent`: how far the running step is.
    pub percent: Option<Pattern>,
}

/// What a plan shows before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preview {
    /// Files to list with their sizes: paths whose last part may hold `*` and `?`.
    pub list: Vec<Template>,
    /// Mounts below this folder.
    pub mounts_below: Option<Template>,
    /// A verb that only reads, run with the arguments of the same name; its output is shown.
    pub run: Option<String>,
    /// What a person should know.
    pub note: Option<String>,
}

impl Preview {
    /// Whether it shows nothing.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty() && self.mounts_below.is_none() && self.run.is_none() && self.note.is_none()
    }
}
