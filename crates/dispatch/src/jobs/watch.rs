//! Looking on while a job works.

use super::{
    JobState, JobStatus,
    events::{self, Line},
    record::Record,
    status,
};
use std::{path::PathBuf, time::Duration};

/// First pause between two looks, and the longest.
const SOON: Duration = Duration::from_millis(5);
const LATER: Duration = Duration::from_millis(150);
/// Most bytes of log that one look takes.
const STEP: usize = 64 * 1024;

/// Follows one job; each [`next`](Self::next) is a change of it.
#[derive(Debug)]
pub struct JobWatch {
    folder: PathBuf,
    record: Record,
    offset: u64,
    last: Option<JobStatus>,
    ended: bool,
    pause: Duration,
}

impl JobWatch {
    pub(super) fn new(folder: PathBuf, record: Record) -> Self {
        Self { folder, record, offset: 0, last: None, ended: false, pause: SOON }
    }

    /// How it stands, whenever state, progress or questions have changed; the first one at once, the last one when it
    /// has ended. None after that. May be dropped and called again.
    pub async fn next(&mut self) -> Option<JobStatus> {
        loop {
            if self.ended {
                return None;
            }
            match self.look() {
                Some(status) => return Some(status),
                None if self.ended => return None,
                None => self.rest().await,
            }
        }
    }

    /// A pause that grows while nothing happens.
    pub(super) async fn rest(&mut self) {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LATER);
    }

    /// How it stands, if that is not what it was.
    pub(super) fn look(&mut self) -> Option<JobStatus> {
        let Some(status) = status::of(&self.folder, &self.record) else {
            self.ended = true;
            return None;
        };
        self.ended = status.state.is_final();
        let same = self.last.as_ref().is_some_and(|last| is_same(last, &status));
        if same {
            return None;
        }
        self.pause = SOON;
        self.last = Some(status.clone());
        Some(status)
    }

    /// What was told since.
    pub(super) fn told(&mut self) -> Vec<Line> {
        let (lines, next) = events::read(&self.folder, self.offset, STEP);
        self.offset = next;
        if !lines.is_empty() {
            self.pause = SOON;
        }
        lines
    }

    /// The state that was last seen.
    pub(super) fn state(&self) -> Option<JobState> {
        self.last.as_ref().map(|status| status.state)
    }
}

fn is_same(a: &JobStatus, b: &JobStatus) -> bool {
    (a.state, &a.progress, &a.message, &a.questions) == (b.state, &b.progress, &b.message, &b.questions)
}
