//! Jobs: calls that run in a process of their own and outlive their client and their server.
//!
//! A call of a tool with [`Spec::job`](pintle_core::Spec::job) that changes something is written down in the state folder once
//! it has its yes, with a sealed grant of exactly that yes, and a process of its own session is started for it
//! ([`JobStarter`]). That process builds the catalogue again, prepares anew, must see what was granted, takes the lanes
//! itself, and leaves its progress, its log and its answer in the folder ([`Catalog::run_job`](crate::Catalog::run_job)).
//!
//! Whoever has the state folder can look: the server that started it ([`follow`]), any later one, a person. [`Jobs`] is
//! that look. Nothing there is believed because it was written down: a job counts as working only while the very process
//! that it named still runs.

mod cancel;
mod events;
mod follow;
mod inbox;
mod local;
mod prune;
mod record;
mod resource;
mod run;
mod spawned;
mod start;
mod status;
mod watch;

pub use local::LocalJobs;
pub use spawned::SpawnedJobs;
pub use start::JobStarter;
pub use status::{JobProgress, JobState, JobStatus};
pub use watch::JobWatch;

pub(crate) use follow::started_as;
use resource::URI;
pub(crate) use resource::templates;
pub(crate) use run::Running;
pub(crate) use start::NewJob;

use crate::{StateFolder, seal::Sealer, spill};
use pintle_core::{Caller, Code, Door, Failure, InputResponse, Reply};
use record::{Kept, PROCESS, Record, Ticket};
use std::{fs, path::PathBuf, sync::Arc, time::Duration};

/// Folder of all jobs in the state folder.
const FOLDER: &str = "jobs";
/// Characters of an id; a person may leave off all but enough of the first ones.
const ID: usize = 16;
/// Fewest characters by which a person may name a job.
const SHORTEST: usize = 4;

/// The jobs of one state folder; cheap to clone. An agent sees those of its own principal, a person sees all.
#[derive(Clone)]
pub struct Jobs {
    state: StateFolder,
    starter: Option<Arc<dyn JobStarter>>,
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").field("state", &self.state).field("starts", &self.starter.is_some()).finish()
    }
}

/// A part of a job's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLog {
    /// Lines, each with its time; where something was left out, a line says how much.
    pub text: String,
    /// Where the next part begins.
    pub next: u64,
}

impl Jobs {
    /// The jobs of that state folder, to look at, answer and cancel. [`Catalog::jobs`](crate::Catalog::jobs) gives those
    /// of a catalogue.
    #[must_use]
    pub fn at(state: StateFolder) -> Self {
        Self { state, starter: None }
    }

    pub(crate) fn new(state: StateFolder, starter: Option<Arc<dyn JobStarter>>) -> Self {
        Self { state, starter }
    }

    /// Every job that the caller may see, the newest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self, caller: &Caller) -> Result<Vec<JobStatus>, Failure> {
        let mut all: Vec<JobStatus> = self
            .ids()?
            .iter()
            .filter_map(|id| Record::read(&self.folder_of(id)))
            .filter(|record| may_see(caller, record))
            .filter_map(|record| status::of(&self.folder_of(&record.id), &record))
            .collect();
        all.sort_by(|a, b| (&b.created, &b.id).cmp(&(&a.created, &a.id)));
        Ok(all)
    }

    /// How it stands.
    ///
    /// # Errors
    /// Code `not_found`.
    pub fn status(&self, id: &str, caller: &Caller) -> Result<JobStatus, Failure> {
        let record = self.find(id, caller)?;
        status::of(&self.folder_of(&record.id), &record).ok_or_else(|| unknown(id))
    }

    /// Its answer, as if the call had waited; none while it goes on. A cancelled or lost job answers with a failure.
    ///
    /// # Errors
    /// Code `not_found`.
    pub fn result(&self, id: &str, caller: &Caller) -> Result<Option<Reply>, Failure> {
        let record = self.find(id, caller)?;
        let folder = self.folder_of(&record.id);
        let status = status::of(&folder, &record).ok_or_else(|| unknown(id))?;
        if !status.state.is_final() {
            return Ok(None);
        }
        Ok(Some(Kept::read(&folder).map_or_else(|| Reply::failed(status.failure()), Kept::into_reply)))
    }

    /// Its log from that offset on, some bytes more or less than `limit`.
    ///
    /// # Errors
    /// Code `not_found`.
    pub fn log(&self, id: &str, caller: &Caller, from: u64, limit: usize) -> Result<JobLog, Failure> {
        let record = self.find(id, caller)?;
        let (lines, next) = events::read(&self.folder_of(&record.id), from, limit);
        Ok(JobLog { text: lines.iter().map(events::Line::shown).collect(), next })
    }

    /// The end of its log, at most that many bytes, from the beginning of a line.
    ///
    /// # Errors
    /// Code `not_found`.
    pub fn log_tail(&self, id: &str, caller: &Caller, limit: usize) -> Result<String, Failure> {
        let whole = self.log(id, caller, 0, usize::MAX)?.text;
        let from = spill::floor(&whole, whole.len().saturating_sub(limit));
        let from = if from == 0 { 0 } else { whole[from..].find('\n').map_or(from, |at| from + at + 1) };
        Ok(whole[from..].to_owned())
    }

    /// Gives answers to what the job asks ([`JobStatus::questions`]); some of them may stay open.
    ///
    /// # Errors
    /// Code `not_found`; `invalid_argument` for an answer to nothing that it asks.
    pub fn answer(&self, id: &str, responses: Vec<InputResponse>, caller: &Caller) -> Result<JobStatus, Failure> {
        let record = self.find(id, caller)?;
        inbox::answer(&self.folder_of(&record.id), &record.id, responses)?;
        self.status(&record.id, caller)
    }

    /// Ends it: TERM to its process, the grace of its tool, KILL. Returns once it has ended; one that had ended before
    /// is left as it is.
    ///
    /// # Errors
    /// Code `not_found`; `io` when it runs and cannot be signalled.
    pub async fn cancel(&self, id: &str, caller: &Caller) -> Result<JobStatus, Failure> {
        let record = self.find(id, caller)?;
        cancel::end(self, &record).await?;
        self.status(&record.id, caller)
    }

    /// Sends the word to end and does not wait for it.
    ///
    /// # Errors
    /// As [`cancel`](Self::cancel).
    pub fn request_cancel(&self, id: &str, caller: &Caller) -> Result<(), Failure> {
        let record = self.find(id, caller)?;
        cancel::tell(self, &record).map(drop)
    }

    /// Looks on while it works.
    ///
    /// # Errors
    /// Code `not_found`.
    pub fn watch(&self, id: &str, caller: &Caller) -> Result<JobWatch, Failure> {
        let record = self.find(id, caller)?;
        Ok(JobWatch::new(self.folder_of(&record.id), record))
    }

    /// Waits for its end, at most that long, and tells how it stands then.
    ///
    /// # Errors
    /// Code `not_found`.
    pub async fn wait(&self, id: &str, caller: &Caller, limit: Option<Duration>) -> Result<JobStatus, Failure> {
        let mut watch = self.watch(id, caller)?;
        let ended = async { while watch.next().await.is_some() {} };
        match limit {
            // Time that is up is no failure: how it stands then is the answer.
            Some(limit) => drop(tokio::time::timeout(limit, ended).await),
            None => ended.await,
        }
        self.status(id, caller)
    }

    /// The whole id of the job that begins like this.
    fn find(&self, id: &str, caller: &Caller) -> Result<Record, Failure> {
        let sound = id.bytes().all(|b| b.is_ascii_alphanumeric());
        let by_start = caller.door == Door::People && (SHORTEST..ID).contains(&id.len());
        if !sound || (id.len() != ID && !by_start) {
            return Err(unknown(id));
        }
        let mut fitting = match by_start {
            true => self.ids()?.into_iter().filter(|known| known.starts_with(id)).collect(),
            false => vec![id.to_owned()],
        };
        if fitting.len() > 1 {
            fitting.sort();
            return Err(Failure::new(Code::InvalidArgument, format!("several jobs begin with `{id}`"))
                .hint(format!("one of {}", fitting.join(", "))));
        }
        let record = fitting.first().and_then(|id| Record::read(&self.folder_of(id)));
        record.filter(|record| may_see(caller, record)).ok_or_else(|| unknown(id))
    }

    fn ids(&self) -> Result<Vec<String>, Failure> {
        let folder = self.state.path().join(FOLDER);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Failure::io(format!("reading the jobs in `{}`", folder.display()), &error)),
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| name.len() == ID && name.bytes().all(|b| b.is_ascii_alphanumeric())).collect())
    }

    fn folder_of(&self, id: &str) -> PathBuf {
        self.state.path().join(FOLDER).join(id)
    }

    /// Whether that job is still to be reckoned with: it works, or is about to start.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        if id.len() != ID || !id.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return false;
        }
        let folder = self.folder_of(id);
        let status = Record::read(&folder).and_then(|record| status::of(&folder, &record));
        status.is_some_and(|status| !status.state.is_final())
    }

    /// The job of exactly that call which waits for answers, if there is one: a client of the newer protocol brings them
    /// with the same call, sent again.
    pub(crate) fn asking(&self, matches: &pintle_core::Digest, caller: &Caller) -> Option<String> {
        let asks = |id: &String| {
            let folder = self.folder_of(id);
            let record = Record::read(&folder).filter(|r| r.matches == *matches && may_see(caller, r))?;
            status::of(&folder, &record).filter(|status| status.state == JobState::InputRequired)
        };
        self.ids().ok()?.into_iter().find(|id| asks(id).is_some())
    }

    /// How the catalogue is built again in the process of that job, as it was when the job was started.
    ///
    /// # Errors
    /// Code `not_found`, or `bad_token` when what was written down is not what was granted.
    pub fn setup(&self, id: &str) -> Result<serde_json::Value, Failure> {
        let folder = self.folder_of(id);
        Ok(Ticket::open(&folder, id, &Sealer::new(Some(&self.state)))?.record.setup)
    }

    /// Writes down that it could not even begin. A job that has begun, in whichever process, is left alone.
    ///
    /// # Errors
    /// When that cannot be written either.
    pub fn fail(&self, id: &str, failure: Failure) -> Result<(), Failure> {
        let folder = self.folder_of(id);
        if folder.join(PROCESS).exists() {
            return Ok(());
        }
        Kept::of(Reply::failed(failure), None).write(&folder)
    }
}

fn may_see(caller: &Caller, record: &Record) -> bool {
    caller.door == Door::People || caller.principal == record.caller.principal
}

fn unknown(id: &str) -> Failure {
    Failure::new(Code::NotFound, format!("no job `{id}`")).hint("ended jobs are kept for seven days")
}
