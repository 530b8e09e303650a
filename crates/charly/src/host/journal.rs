//! What files held before the last edits, kept outside the project, so that an edit can be taken back.

use pintle_core::{Code, Digest, Failure};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// How many edits of one project are kept.
const KEPT: usize = 20;

/// One edit of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The tool that made it.
    pub tool: String,
    /// Its time, RFC 3339.
    pub time: String,
    /// The file, relative to the project.
    pub file: String,
    /// Base64 of its bytes before; absent when it was not there.
    pub before: Option<String>,
    /// Its permission bits before.
    pub mode: Option<u32>,
    /// Digest of its bytes after.
    pub after: Digest,
}

/// The journal of every project.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
}

/// An entry as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    path: PathBuf,
    /// The edit.
    pub entry: Entry,
}

impl Journal {
    /// A journal below the state folder.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("charly/undo") }
    }

    /// Keeps an entry before its edit is made.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn record(&self, project: &Path, entry: Entry) -> Result<Kept, Failure> {
        let told = |error: &io::Error| {
            Failure::io(format!("keeping what `{}` held before", entry.file), error)
                .hint("the state folder must be writable, see XDG_STATE_HOME")
        };
        let folder = self.folder_of(project);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(|error| told(&error))?;
        let numbers = numbers(&folder).map_err(|error| told(&error))?;
        let next = numbers.last().map_or(1, |(number, _)| number + 1);
        let path = folder.join(format!("{next:08}.json"));
        let text = serde_json::to_vec(&entry)
            .map_err(|error| Failure::new(Code::Internal, format!("the edit cannot be told: {error}")))?;
        let mut file =
            fs::File::options().write(true).create_new(true).mode(0o600).open(&path).map_err(|error| told(&error))?;
        if let Err(error) = file.write_all(&text) {
            // Half an entry is worth nothing.
            let _ = fs::remove_file(&path);
            return Err(told(&error));
        }
        for (_, old) in numbers.iter().rev().skip(KEPT - 1) {
            // Another process may be tidying too.
            let _ = fs::remove_file(old);
        }
        Ok(Kept { path, entry })
    }

    /// The entries of a project, newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn entries(&self, project: &Path) -> Result<Vec<Kept>, Failure> {
        let told = |error: &io::Error| Failure::io("reading the journal of edits", error);
        let numbers = numbers(&self.folder_of(project)).map_err(|error| told(&error))?;
        let entries = numbers.into_iter().rev().map(|(_, path)| {
            let bytes = fs::read(&path).map_err(|error| told(&error))?;
            let entry = serde_json::from_slice(&bytes).map_err(|error| {
                Failure::new(Code::Invalid, format!("the journal entry `{}` does not parse: {error}", path.display()))
                    .hint("remove that file")
            })?;
            Ok(Kept { path, entry })
        });
        entries.collect()
    }

    /// Drops an entry, because its edit was taken back or was not made.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn drop(&self, kept: &Kept) -> Result<(), Failure> {
        match fs::remove_file(&kept.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::io("removing an entry of the journal of edits", &error))
            }
            _ => Ok(()),
        }
    }

    fn folder_of(&self, project: &Path) -> PathBuf {
        let digest = Digest::of(project.as_os_str().as_encoded_bytes());
        self.folder.join(&digest.as_str()[..24])
    }
}

/// The entries of a folder, oldest first.
fn numbers(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")?.parse().ok());
        numbers.extend(number.map(|number| (number, path)));
    }
    numbers.sort();
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cw_34_the_last_edits_of_a_project_are_kept_apart_from_it() {
        let temp = tempfile::tempdir().unwrap();
        let journal = Journal::new(temp.path());
        let (web, other) = (Path::new("/srv/web"), Path::new("/srv/other"));
        let entry = |n: usize| Entry {
            tool: "box.set".into(),
            time: "2026-11-30T00:00:00Z".into(),
            file: format!("{n}"),
            before: None,
            mode: None,
            after: Digest::of(""),
        };
        assert!(journal.entries(web).unwrap().is_empty());
        for n in 0..KEPT + 5 {
            journal.record(web, entry(n)).unwrap();
        }
        journal.record(other, entry(99)).unwrap();
        let kept = journal.entries(web).unwrap();
        let files: Vec<_> = kept.iter().map(|kept| kept.entry.file.clone()).collect();
        let newest: Vec<_> = (5..KEPT + 5).rev().map(|n| n.to_string()).collect();
        assert_eq!(files, newest, "only so many are kept, newest first");
        journal.drop(&kept[0]).unwrap();
        assert_eq!(journal.entries(web).unwrap()[0].entry, kept[1].entry);
        assert_eq!(journal.entries(other).unwrap()[0].entry.file, "99");
    }
}
