//! The job's own side: one call, with everything it tells written down.

use super::{
    events::{Line, Told, Writer},
    inbox,
    record::{Grant, Kept, PROCESS, PROGRESS, Record, Ticket, write},
    status::JobProgress,
};
use crate::{Catalog, Events, Request};
use pintle_core::{BoxFuture, Code, Failure, InputRequest, InputResponse, LogLevel, OnEof, Reply, Stop};
use pintle_process::{Identity, Now};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// How often progress is written down at most; of what comes between only the last is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// How often a job that must not outlive its server looks for it.
const LOOK: Duration = Duration::from_millis(500);
/// How long a job that cannot leave its answer tries to.
const ANSWER_TRIES: u32 = 60;

/// What a call knows of being a job.
#[derive(Clone)]
pub(crate) struct Running {
    pub(crate) id: String,
    pub(crate) grant: Grant,
}

impl Catalog {
    /// Runs the job of that id in this process, to its end; `cancel` ends it early. Its answer lies in its folder
    /// afterwards, whatever it is.
    ///
    /// # Errors
    /// When there is no such job, what lies in its folder is not what was granted, it has been run before, or its answer
    /// could not be kept.
    pub async fn run_job(&self, id: &str, cancel: CancellationToken) -> Result<(), Failure> {
        let inner = self.inner();
        let jobs = inner.jobs.as_ref().ok_or_else(|| super::unknown(id))?;
        let folder = jobs.folder_of(id);
        let ticket = Ticket::open(&folder, id, &inner.sealer)?;
        let input = ticket.take(&folder, &inner.sealer)?;
        let record = ticket.record;
        announce(&folder)?;
        let events = Arc::new(JobEvents::new(&folder, input.answers));
        let mut request = Request::new(record.tool.clone(), input.arguments, record.caller.clone());
        request.budget = record.budget;
        request.deadline = record.deadline.map(Duration::from_millis);
        request.cancel = cancel.clone();
        request.events = Arc::clone(&events) as _;
        request.job = Some(Arc::new(Running { id: record.id.clone(), grant: ticket.grant }));
        let reply = tokio::select! {
            reply = self.call(request) => reply,
            never = orphaned(&record, &cancel) => match never {},
            never = events.keep_up() => match never {},
        };
        inbox::forget(&folder);
        let note = events.close();
        keep(&folder, ended(reply), note).await
    }
}

/// Writes down which process this is: from now on it can be looked for and signalled.
fn announce(folder: &Path) -> Result<(), Failure> {
    let own = Identity::own().map_err(|error| Failure::io("finding out which process this is", &error))?;
    write(&folder.join(PROCESS), &own).map_err(|error| Failure::io("writing down the process of the job", &error))
}

/// Cancels a job that must end with its client once the server that spoke with it is gone.
async fn orphaned(record: &Record, cancel: &CancellationToken) -> std::convert::Infallible {
    if let (OnEof::Kill, Some(server)) = (record.on_eof, &record.server) {
        let user = rustix::process::geteuid().as_raw();
        while !matches!(server.now(user), Now::Gone) {
            tokio::time::sleep(LOOK).await;
        }
        cancel.cancel();
    }
    std::future::pending().await
}

/// A reply that a job cannot have: nobody is there to whom it could be said.
fn ended(reply: Reply) -> Reply {
    if let Some(plan) = reply.plan {
        return Reply::failed(
            Failure::new(Code::NotConfirmed, "it needs a yes again, as what it would do has changed")
                .details(serde_json::json!({"preview": plan.preview}))
                .hint("call again for a new plan"),
        );
    }
    if reply.attach.is_some() {
        return Reply::failed(Failure::new(Code::NeedsTerminal, "a job has no terminal"));
    }
    reply
}

/// Keeps the answer; a disk that is full now may have room in a minute.
async fn keep(folder: &Path, reply: Reply, note: Option<String>) -> Result<(), Failure> {
    let kept = Kept::of(reply, note);
    let mut tries = 0;
    loop {
        match kept.clone().write(folder) {
            Ok(()) => return Ok(()),
            Err(failure) if tries >= ANSWER_TRIES || !folder.is_dir() => return Err(failure),
            Err(_) => {
                tries += 1;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Writes down what the call tells, and asks through the folder.
struct JobEvents {
    folder: PathBuf,
    written: Mutex<Written>,
    /// What was answered before the job began.
    answers: Vec<InputResponse>,
}

struct Written {
    writer: Writer,
    told: Option<Instant>,
    waiting: Option<JobProgress>,
}

impl JobEvents {
    fn new(folder: &Path, answers: Vec<InputResponse>) -> Self {
        let written = Written { writer: Writer::new(folder), told: None, waiting: None };
        Self { folder: folder.to_owned(), written: Mutex::new(written), answers }
    }

    fn write(&self, told: Told) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.flush(&self.folder);
        written.writer.write(&Line::now(told));
    }

    /// Writes down the progress that came too soon after the one before, even if nothing comes after it.
    async fn keep_up(&self) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(PROGRESS_EVERY).await;
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if written.told.is_none_or(|told| told.elapsed() >= PROGRESS_EVERY) {
                written.flush(&self.folder);
            }
        }
    }

    fn close(&self) -> Option<String> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.flush(&self.folder);
        written.writer.note()
    }
}

impl Written {
    fn flush(&mut self, folder: &Path) {
        let Some(progress) = self.waiting.take() else { return };
        // On a full disk the old progress stays; the log tells of the disk.
        let _ = write(&folder.join(PROGRESS), &progress);
        let JobProgress { done, total, message } = progress;
        self.writer.write(&Line::now(Told::Progress { done, total, message }));
        self.told = Some(Instant::now());
    }
}

impl Events for JobEvents {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.waiting = Some(JobProgress { done, total, message: message.to_owned() });
        if written.told.is_none_or(|told| told.elapsed() >= PROGRESS_EVERY) {
            written.flush(&self.folder);
        }
    }

    fn row(&self, row: Value) {
        self.write(Told::Row(row));
    }

    fn log(&self, level: LogLevel, logger: &str, data: Value) {
        self.write(Told::Log { level, logger: logger.to_owned(), data });
    }

    fn ask(&self, requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        Box::pin(async move {
            let known = |request: &InputRequest| self.answers.iter().find(|given| given.key == request.key).cloned();
            let (mut answers, mut open) = (Vec::new(), Vec::new());
            for request in requests {
                match known(&request) {
                    Some(answer) => answers.push(answer),
                    None => open.push(request),
                }
            }
            if !open.is_empty() {
                answers.extend(inbox::ask(&self.folder, &open).await?);
            }
            Ok(answers)
        })
    }
}
