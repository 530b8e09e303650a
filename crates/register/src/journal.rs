//! What was done to which file, with the bytes that were there before: for undo, and for leaving no trace.
//!
//! Beside nobody's configuration but in the state folder: a folder for each act, 0700, with files 0600. It is written
//! before a client's file is touched, so that a crash in between leaves a way back.

use pintle_core::{Code, Digest, Failure};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

/// How many acts stay.
const KEPT: usize = 20;

/// What kind of act it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Register,
    Unregister,
    Undo,
}

/// One act.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) id: u64,
    pub(crate) kind: Kind,
    /// When, as RFC 3339.
    pub(crate) at: String,
    /// Whether it was taken back.
    pub(crate) undone: bool,
    pub(crate) changes: Vec<Done>,
}

/// What was done to one file. The bytes before lie beside, by its index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) client: String,
    pub(crate) path: PathBuf,
    pub(crate) fence: PathBuf,
    pub(crate) format: String,
    pub(crate) key: Vec<String>,
    pub(crate) listed: bool,
    pub(crate) name: String,
    /// Digest of the bytes before; none when there was no file.
    pub(crate) before: Option<Digest>,
    /// Digest of the bytes after; none when the file was removed.
    pub(crate) after: Option<Digest>,
    /// Our entry before and after.
    pub(crate) earlier: Option<Value>,
    pub(crate) entry: Option<Value>,
    /// Folders that were made on the way, outermost first.
    pub(crate) folders: Vec<PathBuf>,
}

/// The acts of one user.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
}

impl Journal {
    pub(crate) fn at(state: &Path) -> Self {
        Self { folder: state.join("register") }
    }

    /// Every act, oldest first.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(crate) fn acts(&self) -> Result<Vec<Act>, Failure> {
        let mut acts = Vec::new();
        for id in self.ids()? {
            let path = self.act(id).join("act.json");
            let text = match fs::read(&path) {
                Ok(text) => text,
                // A crash before anything was changed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed("reading", &path, &error)),
            };
            let act = serde_json::from_slice(&text).map_err(|error| {
                Failure::new(Code::Invalid, format!("`{}` does not parse: {error}", path.display()))
                    .hint("the backups lie beside it; remove the folder to go on without them")
            })?;
            acts.push(act);
        }
        Ok(acts)
    }

    /// Writes down an act that is about to be done, with the bytes that it changes. Older ones than the last twenty go.
    ///
    /// # Errors
    /// When it cannot be written; then nothing must be changed.
    pub(crate) fn begin(&self, kind: Kind, changes: Vec<(Done, Option<Vec<u8>>)>) -> Result<Act, Failure> {
        let private = |path: &Path| DirBuilder::new().recursive(true).mode(0o700).create(path);
        private(&self.folder).map_err(|error| failed("making", &self.folder, &error))?;
        let ids = self.ids()?;
        let mut id = ids.last().map_or(1, |last| last + 1);
        // Another one that acts at the same time may have taken the number.
        loop {
            let folder = self.act(id);
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => break,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => id += 1,
                Err(error) => return Err(failed("making", &folder, &error)),
            }
        }
        let (changes, backups): (Vec<_>, Vec<_>) = changes.into_iter().unzip();
        let act = Act { id, kind, at: jiff::Timestamp::now().to_string(), undone: false, changes };
        for (index, bytes) in backups.iter().enumerate() {
            if let Some(bytes) = bytes {
                self.back_up(&act, index, bytes)?;
            }
        }
        self.update(&act)?;
        for old in ids.iter().rev().skip(KEPT - 1) {
            let old = self.act(*old);
            fs::remove_dir_all(&old).map_err(|error| failed("removing", &old, &error))?;
        }
        Ok(act)
    }

    /// Keeps the bytes before the change of that index.
    pub(crate) fn back_up(&self, act: &Act, index: usize, bytes: &[u8]) -> Result<(), Failure> {
        private_file(&self.act(act.id).join(format!("{index}.before")), bytes)
    }

    /// The bytes before the change of that index; none when there was no file.
    pub(crate) fn backup(&self, act: &Act, index: usize) -> Result<Option<Vec<u8>>, Failure> {
        let Some(digest) = act.changes.get(index).and_then(|done| done.before.as_ref()) else { return Ok(None) };
        let path = self.act(act.id).join(format!("{index}.before"));
        let bytes = fs::read(&path).map_err(|error| failed("reading", &path, &error))?;
        if Digest::of(&bytes) == *digest {
            return Ok(Some(bytes));
        }
        Err(Failure::new(Code::Invalid, format!("the backup `{}` is not what was backed up", path.display())))
    }

    /// Writes an act again, as it turned out.
    pub(crate) fn update(&self, act: &Act) -> Result<(), Failure> {
        let text = serde_json::to_vec_pretty(act).map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        private_file(&self.act(act.id).join("act.json"), &text)
    }

    /// Forgets an act of which nothing came.
    pub(crate) fn forget(&self, act: &Act) -> Result<(), Failure> {
        let folder = self.act(act.id);
        fs::remove_dir_all(&folder).map_err(|error| failed("removing", &folder, &error))
    }

    /// What a file was before we first had an entry in it, if it is now exactly as we left it: its bytes (none when there
    /// was no file), and the folders that we made for it. Where even our first act found an entry, that may be our own of
    /// longer ago, or somebody else's.
    ///
    /// # Errors
    /// When the acts cannot be read.
    pub(crate) fn origin(&self, path: &Path, key: &[&str], name: &str, now: &[u8]) -> Result<Option<Origin>, Failure> {
        let mut wanted = Digest::of(now);
        let mut folders = Vec::new();
        let mut first = None;
        let acts = self.acts()?;
        for act in acts.iter().rev() {
            for (index, done) in act.changes.iter().enumerate().rev() {
                let same = done.path == path && done.name == name && done.key.iter().eq(key.iter());
                if !same || done.after.as_ref() != Some(&wanted) {
                    continue;
                }
                folders.splice(0..0, done.folders.iter().cloned());
                match (&done.earlier, &done.before) {
                    (Some(_), Some(before)) => {
                        wanted = before.clone();
                        first = Some((act, index));
                    }
                    _ => return Ok(Some(Origin { bytes: self.backup(act, index)?, folders })),
                }
            }
        }
        first.map(|(act, index)| Ok(Origin { bytes: self.backup(act, index)?, folders })).transpose()
    }

    fn act(&self, id: u64) -> PathBuf {
        self.folder.join(id.to_string())
    }

    fn ids(&self) -> Result<Vec<u64>, Failure> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed("reading", &self.folder, &error)),
        };
        let mut ids: Vec<u64> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }
}

/// What a file was before us.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) folders: Vec<PathBuf>,
}

fn private_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let new = path.with_extension("new");
    let write = || -> io::Result<()> {
        let mut file = File::from(rustix::fs::open(&new, flags, Mode::from_raw_mode(0o600))?);
        file.write_all(bytes)?;
        // A backup that is not on the disk is none.
        file.sync_data()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| failed("writing", path, &error))
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::io(format!("{doing} `{}`", path.display()), error)
        .hint("the journal is kept in the state folder; point XDG_STATE_HOME to a folder that can be written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn done(before: Option<&str>, after: &str, earlier: bool) -> (Done, Option<Vec<u8>>) {
        let done = Done {
            client: "cursor".into(),
            path: "/h/.cursor/mcp.json".into(),
            fence: "/h".into(),
            format: "json".into(),
            key: vec!["mcpServers".into()],
            listed: false,
            name: "pintle".into(),
            before: before.map(Digest::of),
            after: Some(Digest::of(after)),
            earlier: earlier.then(|| Value::from(1)),
            entry: Some(Value::from(2)),
            folders: Vec::new(),
        };
        (done, before.map(|before| before.as_bytes().to_vec()))
    }

    #[test]
    fn s_17_backups_are_private_and_the_last_twenty_stay() {
        let temp = tempfile::tempdir().unwrap();
        let journal = Journal::at(temp.path());
        for round in 0..25 {
            let act = journal.begin(Kind::Register, vec![done(Some(&round.to_string()), "x", false)]).unwrap();
            assert_eq!(journal.backup(&act, 0).unwrap().unwrap(), round.to_string().as_bytes());
        }
        let acts = journal.acts().unwrap();
        assert_eq!((acts.len(), acts[0].id, acts[19].id), (20, 6, 25));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&temp.path().join("register")), 0o700);
        assert_eq!(mode(&temp.path().join("register/25")), 0o700);
        assert_eq!(mode(&temp.path().join("register/25/0.before")), 0o600);
        assert_eq!(mode(&temp.path().join("register/25/act.json")), 0o600);
        fs::write(temp.path().join("register/25/0.before"), "other").unwrap();
        assert!(journal.backup(&acts[19], 0).is_err(), "a backup that was tampered with is none");
    }

    #[test]
    fn s_22_eg_056_the_first_bytes_are_found_through_several_acts() {
        let temp = tempfile::tempdir().unwrap();
        let journal = Journal::at(temp.path());
        let of = |now: &str| {
            journal.origin(Path::new("/h/.cursor/mcp.json"), &["mcpServers"], "pintle", now.as_bytes()).unwrap()
        };
        journal.begin(Kind::Register, vec![done(Some("first"), "second", false)]).unwrap();
        journal.begin(Kind::Register, vec![done(Some("second"), "third", true)]).unwrap();
        assert_eq!(of("third").unwrap().bytes.unwrap(), b"first");
        assert_eq!(of("second").unwrap().bytes.unwrap(), b"first");
        assert_eq!(of("changed"), None);
        journal.begin(Kind::Register, vec![done(None, "made", false)]).unwrap();
        assert_eq!(of("made").unwrap().bytes, None);
    }
}
