//! From a yes to a job: everything is written down first, then its process is started.

use super::{
    FOLDER, ID, Jobs, prune,
    record::{Filling, Input, Record},
};
use crate::{
    StateFolder,
    seal::{Sealer, now, random},
};
use pintle_core::{Ask, BoxFuture, Caller, Code, Digest, Failure, InputResponse, OnEof};
use pintle_process::Identity;
use serde_json::{Map, Value};
use std::{fs, io, time::Duration};

/// How the process of a job is started.
pub trait JobStarter: Send + Sync {
    /// How the catalogue is built again in that process. Kept with the job: no secrets.
    fn setup(&self) -> Value;

    /// Starts a process that runs the job of that id, in a session of its own, and does not wait for it.
    ///
    /// # Errors
    /// When nothing was started.
    fn start<'a>(&'a self, id: &'a str, state: &'a StateFolder) -> BoxFuture<'a, Result<(), Failure>>;

    /// Ends a job that this starter runs by itself; false for one that has a process to be signalled.
    fn cancel(&self, id: &str) -> bool {
        let _ = id;
        false
    }
}

impl std::fmt::Debug for dyn JobStarter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JobStarter")
    }
}

/// What a job is made of.
pub(crate) struct NewJob<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) answers: Vec<InputResponse>,
    pub(crate) shown: Value,
    pub(crate) matches: Digest,
    pub(crate) caller: Caller,
    pub(crate) on_eof: OnEof,
    pub(crate) budget: Option<usize>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) grace: Duration,
    pub(crate) confirmed: bool,
}

impl Jobs {
    /// Whether calls can become jobs here.
    #[must_use]
    pub fn starts(&self) -> bool {
        self.starter.is_some()
    }

    /// Writes the job down, claims what must be its own with `claim`, and starts its process.
    ///
    /// # Errors
    /// When it could not be written down, claimed or started: then there is no such job.
    pub(crate) async fn start(
        &self,
        new: NewJob<'_>,
        ask: &Ask<'_>,
        sealer: &Sealer,
        claim: impl FnOnce(&str) -> Result<(), Failure>,
    ) -> Result<String, Failure> {
        let Some(starter) = &self.starter else {
            return Err(Failure::new(Code::Internal, "no job can be started here"));
        };
        let id = readable(&random());
        let jobs = self.state.folder(FOLDER)?;
        let folder = jobs.join(&id);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let record = Record {
            id: id.clone(),
            tool: new.tool.to_owned(),
            arguments: new.shown,
            matches: new.matches,
            caller: new.caller,
            on_eof: new.on_eof,
            created: jiff::Timestamp::now().to_string(),
            created_at: now(),
            budget: new.budget,
            deadline: new.deadline.map(millis),
            grace: millis(new.grace),
            setup: starter.setup(),
            server: Identity::own().ok(),
        };
        let input = Input { arguments: new.arguments, answers: new.answers };
        let filling = Filling { record: &record, input: &input, ask, confirmed: new.confirmed };
        filling.write(&folder, sealer).map_err(|error| not_kept(&folder, &error))?;
        let started = match claim(&id) {
            Ok(()) => starter.start(&id, &self.state).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = started {
            // It never was.
            let _ = fs::remove_dir_all(&folder);
            return Err(failure);
        }
        tokio::task::spawn_blocking({
            let all = self.clone();
            move || prune::old(&all)
        });
        Ok(id)
    }
}

fn not_kept(folder: &std::path::Path, error: &io::Error) -> Failure {
    Failure::io(format!("writing the job down in `{}`", folder.display()), error)
        .hint("nothing was started; make room there, or point XDG_STATE_HOME elsewhere")
}

/// Characters that are not mistaken for each other when read aloud; 80 bits, so that nobody guesses one.
fn readable(bytes: &[u8; ID]) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
    bytes.iter().map(|b| char::from(LETTERS[usize::from(b % 32)])).collect()
}
