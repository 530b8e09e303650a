//! How a job stands, found out from what lies in its folder and from whether its process still runs.

use super::{
    inbox,
    record::{CANCELLED, Kept, PROCESS, PROGRESS, Record, START_WITHIN, read},
};
use crate::seal::now;
use pintle_core::{Code, Failure, InputRequest, Outcome};
use pintle_process::{Identity, Now};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{fs, path::Path};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Its process runs, or is about to.
    Working,
    /// It waits for answers.
    InputRequired,
    /// It did what it was asked to do.
    Completed,
    /// It has ended and did not.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// Its process is gone without an answer: killed, or the machine went down.
    Lost,
}

impl JobState {
    /// Whether nothing comes after it.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Working | Self::InputRequired)
    }
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobProgress {
    /// Only grows.
    pub done: f64,
    /// Of how many, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What it is at.
    pub message: String,
}

/// How a job stands.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobStatus {
    /// Its id.
    pub id: String,
    /// The tool that was called.
    pub tool: String,
    /// Its arguments, secrets masked.
    pub arguments: Value,
    /// Where it stands.
    pub state: JobState,
    /// When it was started, RFC 3339.
    pub created: String,
    /// When something of it last changed, RFC 3339.
    pub updated: String,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
    /// What is to be said of its state: what it is at, what it asks, or why it ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What went wrong beside the work itself, such as a log with holes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its process, while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// What it asks and nobody has answered yet.
    #[serde(skip)]
    pub questions: Vec<InputRequest>,
}

impl JobStatus {
    /// The failure of a job that ended without an answer of its own.
    pub(super) fn failure(&self) -> Failure {
        let message = self.message.clone().unwrap_or_default();
        match self.state {
            JobState::Cancelled => Failure::new(Code::Cancelled, message),
            _ => Failure::new(Code::Unavailable, message)
                .hint(format!("`pintle jobs log {}` shows how far it came", self.id)),
        }
    }
}

/// How it stands; none when it was removed meanwhile.
pub(super) fn of(folder: &Path, record: &Record) -> Option<JobStatus> {
    let progress: Option<JobProgress> = read(&folder.join(PROGRESS));
    // Asked for before the answer is looked at: a job that ends in between has left its answer.
    let process = process(folder, record);
    let kept = Kept::read(folder);
    if kept.is_none() && !folder.is_dir() {
        return None;
    }
    let questions = match process {
        Process::Runs(_) => inbox::open_questions(folder),
        _ => Vec::new(),
    };
    let (state, message) = match (&kept, &process) {
        (Some(kept), _) => ended(kept),
        (None, Process::Runs(_)) if !questions.is_empty() => (JobState::InputRequired, Some(inbox::shown(&questions))),
        (None, Process::Runs(_) | Process::Starts) => (JobState::Working, progress.as_ref().map(|p| p.message.clone())),
        (None, _) if folder.join(CANCELLED).exists() => {
            (JobState::Cancelled, Some(format!("{} was cancelled", record.tool)))
        }
        (None, Process::Ended(why)) => (JobState::Lost, Some((*why).to_owned())),
    };
    let updated = kept.as_ref().map_or_else(|| touched(folder), |kept| kept.ended.clone());
    Some(JobStatus {
        id: record.id.clone(),
        tool: record.tool.clone(),
        arguments: record.arguments.clone(),
        state,
        created: record.created.clone(),
        updated: if updated < record.created { record.created.clone() } else { updated },
        progress,
        message: message.filter(|message| !message.is_empty()),
        note: kept.and_then(|kept| kept.note),
        pid: match process {
            Process::Runs(pid) if !state.is_final() => Some(pid),
            _ => None,
        },
        questions,
    })
}

fn ended(kept: &Kept) -> (JobState, Option<String>) {
    let failure = kept.failure.as_ref();
    let state = match kept.outcome {
        Outcome::Ok | Outcome::Findings | Outcome::Partial => JobState::Completed,
        _ if failure.is_some_and(|failure| failure.code == Code::Cancelled) => JobState::Cancelled,
        _ => JobState::Failed,
    };
    (state, failure.map(|failure| failure.message.clone()))
}

enum Process {
    Runs(i32),
    Starts,
    Ended(&'static str),
}

fn process(folder: &Path, record: &Record) -> Process {
    let Some(identity) = read::<Identity>(&folder.join(PROCESS)) else {
        let age = now().saturating_sub(record.created_at);
        return match age <= START_WITHIN.as_secs() {
            true => Process::Starts,
            false => Process::Ended("its process never began"),
        };
    };
    match identity.now(rustix::process::geteuid().as_raw()) {
        // What cannot be looked at may well run.
        Now::Runs(_) | Now::Hidden => Process::Runs(identity.pid),
        Now::Gone if pintle_process::boot_id().is_ok_and(|boot| boot != identity.boot_id) => {
            Process::Ended("the machine went down while it worked")
        }
        Now::Gone => Process::Ended("its process is gone without an answer"),
    }
}

/// The last change of anything in the folder.
fn touched(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let last = entries.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max();
    last.and_then(|time| jiff::Timestamp::try_from(time).ok()).map(|time| time.to_string()).unwrap_or_default()
}
