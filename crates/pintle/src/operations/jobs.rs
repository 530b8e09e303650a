//! `jobs.…`: looking at jobs, waiting for them, ending them. For people always, for agents in `extra`.

pub(crate) mod cancel;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod show;
pub(crate) mod wait;

use crate::house::House;
use pintle_core::{Call, Code, Failure, Reply, View};
use pintle_dispatch::{JobState, JobStatus, Jobs};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Bytes of the log that are shown with a job.
const TAIL: usize = 4000;

/// A job with what it told last.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneJob {
    #[serde(flatten)]
    status: JobStatus,
    /// The end of its log.
    #[serde(skip_serializing_if = "String::is_empty")]
    log: String,
    /// What the call would have answered, had it waited; absent while the job goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip)]
    reply: Option<Reply>,
}

impl OneJob {
    fn look(jobs: &Jobs, id: &str, call: &Call) -> Result<Self, Failure> {
        let status = jobs.status(id, call.caller())?;
        let reply = jobs.result(id, call.caller())?;
        let log = jobs.log_tail(id, call.caller(), TAIL)?;
        Ok(Self { status, log, result: reply.as_ref().map(Reply::envelope), reply })
    }

    fn shown(&self) -> View {
        let view = View::text(line(&self.status));
        let view = match self.log.as_str() {
            // What it did is in its answer.
            _ if self.status.state == JobState::Completed => view,
            "" => view,
            log => view.and_text(log),
        };
        match &self.reply {
            Some(reply) => view.and_text(reply.view.plain()),
            None => view,
        }
    }
}

/// The jobs of this user.
///
/// # Errors
/// Code `unavailable` where no state can be kept.
fn of(house: &House) -> Result<Jobs, Failure> {
    let state = house.state.clone().ok_or_else(|| {
        Failure::new(Code::Unavailable, "there is no folder for state, so there are no jobs")
            .hint("set HOME or XDG_STATE_HOME")
    })?;
    Ok(Jobs::at(state))
}

/// A job in one line.
fn line(status: &JobStatus) -> String {
    let mut line = format!("{} {} {}", status.id, status.tool, word(status));
    if let Some(progress) = status.progress.as_ref().filter(|_| !status.state.is_final()) {
        line.push_str(&match progress.total {
            Some(total) => format!(" {}/{total}", progress.done),
            None => format!(" {}", progress.done),
        });
    }
    for note in status.message.iter().chain(&status.note) {
        line.push_str(": ");
        line.push_str(note);
    }
    line
}

/// Its state as people read it.
fn word(status: &JobStatus) -> String {
    serde_json::to_value(status.state).ok().and_then(|word| Some(word.as_str()?.replace('_', " "))).unwrap_or_default()
}
