//! Whom `enable` has touched, for `disable` to know: root's own record, outside of every home.

use pintle_core::{Code, Failure};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// What was touched and not yet undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Touched {
    /// Users whose clients were given an entry, or were about to.
    #[serde(default)]
    pub(crate) users: Vec<String>,
    /// Users who were granted root's rights, or were about to be.
    #[serde(default)]
    pub(crate) granted: Vec<String>,
    /// Whether the helper was put in its place, and did not come with a package.
    #[serde(default)]
    pub(crate) helper: bool,
}

impl Touched {
    /// Adds names, each once.
    pub(crate) fn add(&mut self, users: &[String], granted: &[String]) {
        for (list, names) in [(&mut self.users, users), (&mut self.granted, granted)] {
            list.extend(names.iter().cloned());
            list.sort();
            list.dedup();
        }
    }

    fn is_empty(&self) -> bool {
        self.users.is_empty() && self.granted.is_empty() && !self.helper
    }
}

/// The record.
#[derive(Clone, Debug)]
pub(crate) struct Journal(PathBuf);

impl Default for Journal {
    fn default() -> Self {
        Self(Self::PATH.into())
    }
}

impl Journal {
    /// Where it lies.
    pub(crate) const PATH: &'static str = "/var/lib/pintle/eggs-mcp.json";

    /// What stands in it; nothing where there is none.
    ///
    /// # Errors
    /// When it cannot be read or does not parse: then nobody knows who was touched.
    pub(crate) fn read(&self) -> Result<Touched, Failure> {
        let text = match fs::read(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Touched::default()),
            Err(error) => return Err(self.failed("reading", &error)),
        };
        serde_json::from_slice(&text).map_err(|error| {
            Failure::new(Code::Invalid, format!("`{}` does not parse: {error}", self.0.display()))
                .hint("it lists the users whose clients have an entry: remove it, and name them with `--user`")
        })
    }

    /// Writes it, all or nothing; an empty one is removed.
    ///
    /// # Errors
    /// When it cannot be written; then nothing must be changed.
    pub(crate) fn write(&self, touched: &Touched) -> Result<(), Failure> {
        let folder = self.0.parent().unwrap_or(Path::new("/"));
        if touched.is_empty() {
            return match fs::remove_file(&self.0) {
                Ok(()) => {
                    // What else is kept there stays.
                    let _ = fs::remove_dir(folder);
                    Ok(())
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(self.failed("removing", &error)),
            };
        }
        let write = || -> io::Result<()> {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let private = Permissions::from_mode(0o600);
            let mut file = tempfile::Builder::new().prefix(".new-").permissions(private).tempfile_in(folder)?;
            file.write_all(&serde_json::to_vec_pretty(touched)?)?;
            file.as_file().sync_all()?;
            file.persist(&self.0)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(|error| self.failed("writing", &error))
    }

    fn failed(&self, doing: &str, error: &io::Error) -> Failure {
        Failure::io(format!("{doing} `{}`", self.0.display()), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_23_it_knows_everybody_who_was_touched_until_all_is_undone() {
        let temp = tempfile::tempdir().unwrap();
        let journal = Journal(temp.path().join("pintle/eggs-mcp.json"));
        let mut touched = journal.read().unwrap();
        assert_eq!(touched, Touched::default());
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        touched.add(&names(&["bob", "amy"]), &names(&["bob"]));
        touched.add(&names(&["amy", "root"]), &[]);
        touched.helper = true;
        journal.write(&touched).unwrap();
        let read = journal.read().unwrap();
        assert_eq!((read.users, read.granted, read.helper), (names(&["amy", "bob", "root"]), names(&["bob"]), true));
        let mode = fs::metadata(&journal.0).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        fs::write(&journal.0, "{").unwrap();
        assert!(journal.read().unwrap_err().hints[0].contains("--user"));
        journal.write(&Touched::default()).unwrap();
        assert!(!temp.path().join("pintle").exists(), "nothing is left behind");
        journal.write(&Touched::default()).unwrap();
    }
}
