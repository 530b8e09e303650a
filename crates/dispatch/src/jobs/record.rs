//! What lies in the folder of a job.

use crate::{
    seal::Sealer,
    state::{create_private, write_private},
};
use pintle_core::{
    Ask, Caller, Code, Digest, Effect, Failure, InputResponse, OnEof, Outcome, Part, Reply, Scope, View,
};
use pintle_process::Identity;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

pub(super) const REQUEST: &str = "request.json";
pub(super) const INPUT: &str = "input.json";
pub(super) const GRANT: &str = "grant";
pub(super) const PROCESS: &str = "process.json";
pub(super) const ANSWER: &str = "answer.json";
pub(super) const RESERVE: &str = "reserve";
pub(super) const CANCELLED: &str = "cancelled";
pub(super) const PROGRESS: &str = "progress.json";

const PURPOSE: &str = "job grant";
/// How long after its yes a job may start.
pub(super) const START_WITHIN: Duration = Duration::from_secs(60);
/// Bytes kept free for the answer, should the disk be full by then.
const RESERVED: usize = 64 * 1024;

/// What a job was asked to do; shown to whoever may see the job, so secrets are masked in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) tool: String,
    /// The arguments as people may see them.
    pub(super) arguments: Value,
    pub(super) matches: Digest,
    pub(super) caller: Caller,
    pub(super) on_eof: OnEof,
    /// RFC 3339.
    pub(super) created: String,
    /// The same, in seconds since the epoch.
    pub(super) created_at: u64,
    /// Most bytes of text and of value in the answer.
    pub(super) budget: Option<usize>,
    /// A limit other than the tool's own, in ms.
    pub(super) deadline: Option<u64>,
    /// What the tool may take to end after a cancel, in ms.
    pub(super) grace: u64,
    /// How the catalogue is built again.
    pub(super) setup: Value,
    /// Who started it.
    pub(super) server: Option<Identity>,
}

/// What only the job itself reads, once: then it is gone from the disk, as secrets may be in it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Input {
    pub(super) arguments: Map<String, Value>,
    /// What was asked and answered before the yes; the job asks again while it prepares.
    pub(super) answers: Vec<InputResponse>,
}

/// The yes that a job has: to exactly this.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Grant {
    /// Digests of the two files that say what is to be done.
    request: Digest,
    input: Digest,
    effects: Vec<String>,
    scopes: Vec<Scope>,
    seen: Digest,
    matches: Digest,
    /// Whether a plan token or a person confirmed it.
    confirmed: bool,
}

impl Grant {
    /// Whether what the job is about to do is what was confirmed. Where nothing was, policy decides anew.
    ///
    /// # Errors
    /// Code `moved`, `denied` or `not_confirmed`.
    pub(crate) fn covers(&self, ask: &Ask<'_>, matches: &Digest) -> Result<(), Failure> {
        if !self.confirmed {
            return Err(Failure::new(Code::NotConfirmed, "nobody confirmed what this job is about to do"));
        }
        if self.seen != *ask.seen {
            return Err(Failure::new(Code::Moved, "what the plan rests on changed before the job could begin")
                .hint("call again for a new plan"));
        }
        let granted = self.effects.iter().filter_map(|word| Effect::named(word)).fold(Effect::READ, Effect::and);
        let within = ask.scopes.iter().all(|scope| self.scopes.iter().any(|mine| mine.covers(scope)));
        if self.matches != *matches || !ask.effect.within(granted) || !within {
            return Err(Failure::new(Code::Denied, "the job would do more than was granted"));
        }
        Ok(())
    }
}

/// A request with its grant, believed.
pub(crate) struct Ticket {
    pub(super) record: Record,
    pub(crate) grant: Grant,
    input: Digest,
    sealed: String,
}

impl Ticket {
    /// # Errors
    /// Code `not_found`; `bad_token` when the grant is not ours, too old, or for something else than what lies there.
    pub(super) fn open(folder: &Path, id: &str, sealer: &Sealer) -> Result<Self, Failure> {
        let bytes = fs::read(folder.join(REQUEST)).map_err(|_| super::unknown(id))?;
        let sealed = fs::read_to_string(folder.join(GRANT)).map_err(|_| super::unknown(id))?;
        let grant = sealer.open::<Grant>(PURPOSE, &sealed)?.body;
        let record: Record = serde_json::from_slice(&bytes).map_err(|_| foreign())?;
        if grant.request != Digest::of(&bytes) || record.id != id || grant.matches != record.matches {
            return Err(foreign());
        }
        Ok(Self { record, input: grant.input.clone(), grant, sealed })
    }

    /// The arguments, for the one process that runs the job: a second one is refused.
    pub(super) fn take(&self, folder: &Path, sealer: &Sealer) -> Result<Input, Failure> {
        sealer.spend(PURPOSE, &sealer.open::<Grant>(PURPOSE, &self.sealed)?)?;
        let path = folder.join(INPUT);
        let bytes = fs::read(&path).map_err(|error| Failure::io("reading the arguments of the job", &error))?;
        fs::remove_file(&path).map_err(|error| Failure::io("taking the arguments of the job", &error))?;
        if self.input != Digest::of(&bytes) {
            return Err(foreign());
        }
        serde_json::from_slice(&bytes).map_err(|_| foreign())
    }
}

fn foreign() -> Failure {
    Failure::new(Code::BadToken, "what lies in the folder of the job is not what was granted")
}

/// What a new folder is filled with.
pub(super) struct Filling<'a> {
    pub(super) record: &'a Record,
    pub(super) input: &'a Input,
    pub(super) ask: &'a Ask<'a>,
    pub(super) confirmed: bool,
}

impl Filling<'_> {
    /// Writes everything into a folder beside and moves it into place: nobody ever sees half a job.
    pub(super) fn write(&self, folder: &Path, sealer: &Sealer) -> io::Result<()> {
        let new = beside(folder);
        fs::DirBuilder::new().create(&new).and_then(|()| private(&new))?;
        let done = self.fill(&new, sealer).and_then(|()| fs::rename(&new, folder));
        if done.is_err() {
            // On a full disk there is nothing in it to lose.
            let _ = fs::remove_dir_all(&new);
        }
        done
    }

    fn fill(&self, folder: &Path, sealer: &Sealer) -> io::Result<()> {
        let request = serde_json::to_vec_pretty(self.record)?;
        let input = serde_json::to_vec(self.input)?;
        let grant = Grant {
            request: Digest::of(&request),
            input: Digest::of(&input),
            effects: self.ask.effect.names().into_iter().map(str::to_owned).collect(),
            scopes: self.ask.scopes.to_vec(),
            seen: self.ask.seen.clone(),
            matches: self.record.matches.clone(),
            confirmed: self.confirmed,
        };
        create_private(&folder.join(REQUEST), &request)?;
        create_private(&folder.join(INPUT), &input)?;
        create_private(&folder.join(GRANT), sealer.seal(PURPOSE, Some(START_WITHIN), &grant).as_bytes())?;
        create_private(&folder.join(RESERVE), &vec![b' '; RESERVED])
    }
}

fn beside(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    folder.with_file_name(format!(".new-{name}"))
}

fn private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

impl Record {
    pub(super) fn read(folder: &Path) -> Option<Self> {
        read(&folder.join(REQUEST))
    }
}

/// Reads a file of ours; none where it is not there or not whole.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a file so that a reader sees the old or the new one.
pub(super) fn write<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    write_private(path, &serde_json::to_vec(value)?)
}

/// A reply as it is kept: everything of it that a job can have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) outcome: Outcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<Failure>,
    #[serde(default)]
    truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(default)]
    view: View,
    #[serde(default)]
    parts: Vec<Part>,
    #[serde(default)]
    is_error: bool,
    /// What went wrong beside the work itself, such as a log with holes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// When it ended, RFC 3339.
    pub(super) ended: String,
}

impl Kept {
    pub(super) fn of(reply: Reply, note: Option<String>) -> Self {
        Self {
            outcome: reply.outcome,
            answer: reply.answer,
            failure: reply.failure,
            truncated: reply.truncated,
            next_cursor: reply.next_cursor,
            view: reply.view,
            parts: reply.parts,
            is_error: reply.is_error,
            note,
            ended: jiff::Timestamp::now().to_string(),
        }
    }

    pub(super) fn read(folder: &Path) -> Option<Self> {
        read(&folder.join(ANSWER))
    }

    pub(super) fn into_reply(self) -> Reply {
        let view = match &self.note {
            Some(note) => self.view.and_text(format!("note: {note}")),
            None => self.view,
        };
        Reply {
            outcome: self.outcome,
            answer: self.answer,
            failure: self.failure,
            truncated: self.truncated,
            next_cursor: self.next_cursor,
            view,
            parts: self.parts,
            is_error: self.is_error,
            ..Reply::default()
        }
    }

    /// Keeps it. On a full disk the place that was reserved takes it, shortened if it must be: work that was done is not
    /// told as lost for want of a few bytes.
    ///
    /// # Errors
    /// When not even that could be written.
    pub(super) fn write(self, folder: &Path) -> Result<(), Failure> {
        let path = folder.join(ANSWER);
        let failed = |error: io::Error| Failure::io(format!("keeping the answer in `{}`", path.display()), &error);
        let bytes = serde_json::to_vec(&self).map_err(|error| failed(error.into()))?;
        let Err(first) = write_private(&path, &bytes) else {
            // The answer is there; the reserve has nothing more to be kept for.
            let _ = fs::remove_file(folder.join(RESERVE));
            return Ok(());
        };
        let bytes = if bytes.len() <= RESERVED { bytes } else { self.shortened(&first).map_err(failed)? };
        in_reserve(folder, &bytes, &path).map_err(failed)
    }

    fn shortened(mut self, why: &io::Error) -> io::Result<Vec<u8>> {
        let mut text = self.view.plain();
        text.truncate(crate::spill::floor(&text, (RESERVED / 8).min(text.len())));
        self.view = View::text(text);
        self.answer = None;
        self.parts = Vec::new();
        self.truncated = true;
        if let Some(failure) = &mut self.failure {
            failure.shorten(RESERVED / 16);
            failure.problems.truncate(8);
            failure.details = None;
        }
        let lost = Failure::io("only the beginning of the answer could be kept", why).message;
        self.note = Some(self.note.map_or(lost.clone(), |note| format!("{note}; {lost}")));
        Ok(serde_json::to_vec(&self)?)
    }
}

/// Into blocks that the disk has given already.
fn in_reserve(folder: &Path, bytes: &[u8], path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    let reserve = folder.join(RESERVE);
    let file = fs::File::options().write(true).open(&reserve)?;
    file.write_all_at(bytes, 0)?;
    file.set_len(bytes.len() as u64)?;
    fs::rename(reserve, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_answer_finds_its_place_on_a_full_disk() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path();
        fs::write(folder.join(RESERVE), vec![b' '; RESERVED]).unwrap();
        let reply = Reply { answer: Some(json!({"iso": "a.iso"})), view: View::text("made a.iso"), ..Reply::default() };
        let kept = Kept::of(reply, Some("its log has holes".to_owned()));
        in_reserve(folder, &serde_json::to_vec(&kept).unwrap(), &folder.join(ANSWER)).unwrap();
        let back = Kept::read(folder).unwrap().into_reply();
        assert_eq!(back.answer.unwrap()["iso"], "a.iso");
        assert!(back.view.plain().contains("note: its log has holes"), "{}", back.view.plain());
    }

    #[test]
    fn an_answer_too_long_for_the_reserve_keeps_its_beginning_and_says_so() {
        let long = "x".repeat(2 * RESERVED);
        let reply = Reply {
            view: View::text(long.clone()),
            answer: Some(json!(long)),
            failure: Some(Failure::new(Code::Remote, long).details(json!(1))),
            ..Reply::default()
        };
        let bytes = Kept::of(reply, None).shortened(&io::Error::from_raw_os_error(28)).unwrap();
        assert!(bytes.len() <= RESERVED, "{}", bytes.len());
        let back = serde_json::from_slice::<Kept>(&bytes).unwrap().into_reply();
        assert!(back.truncated && back.view.plain().contains("no space left on device"));
    }
}
