//! The folder where this user's state lies.

use pintle_core::{Code, Failure};
use rustix::fs::{Mode, OFlags};
use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// A folder that only its owner can look into; parts of it are made when first used.
#[derive(Clone, Debug)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// That folder.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// `$XDG_STATE_HOME/pintle`, else `~/.local/state/pintle`; `home` is used when `HOME` is not set.
    #[must_use]
    pub fn of_user(variable: impl Fn(&str) -> Option<String>, home: Option<PathBuf>) -> Option<Self> {
        let given = |name: &str| variable(name).filter(|value| value.starts_with('/')).map(PathBuf::from);
        let base = given("XDG_STATE_HOME").or_else(|| Some(given("HOME").or(home)?.join(".local/state")))?;
        Some(Self(base.join("pintle")))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Refuses a folder of somebody else: root would write where they can put links.
    fn of_root(&self) -> Result<(), Failure> {
        let metadata = fs::metadata(&self.0)
            .map_err(|error| Failure::io(format!("looking at the state folder `{}`", self.0.display()), &error))?;
        if metadata.uid() == 0 {
            return Ok(());
        }
        Err(Failure::new(Code::Denied, format!("the state folder `{}` belongs to another user", self.0.display()))
            .hint("HOME or XDG_STATE_HOME is not root's own: `sudo -H` sets it"))
    }

    /// A folder inside, made if it is not there, readable by the owner only.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = if name.is_empty() { self.0.clone() } else { self.0.join(name) };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(|error| Failure::io(format!("making the state folder `{}`", path.display()), &error))?;
        if rustix::process::geteuid().is_root() {
            self.of_root()?;
        }
        Ok(path)
    }
}

/// Writes a whole file so that a reader sees either nothing or all of it: 0600, temporary file, rename.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use io::Write as _;
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let mut file =
        tempfile::Builder::new().prefix(".new-").permissions(fs::Permissions::from_mode(0o600)).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// Makes a file that must not be there yet.
pub(crate) fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use io::Write as _;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = fs::File::from(rustix::fs::open(path, flags, Mode::from_raw_mode(0o600))?);
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_follows_the_environment_and_is_private() {
        let of = |xdg: Option<&str>, home: Option<&str>| {
            let (xdg, home) = (xdg.map(str::to_owned), home.map(str::to_owned));
            StateFolder::of_user(move |n| if n == "HOME" { home.clone() } else { xdg.clone() }, Some("/passwd".into()))
                .map(|s| s.path().display().to_string())
        };
        assert_eq!(of(Some("/x"), Some("/h")).as_deref(), Some("/x/pintle"));
        assert_eq!(of(Some("relative"), Some("/h")).as_deref(), Some("/h/.local/state/pintle"));
        assert_eq!(of(None, None).as_deref(), Some("/passwd/.local/state/pintle"));
        let temp = tempfile::tempdir().unwrap();
        let made = StateFolder::at(temp.path().join("s")).folder("lanes").unwrap();
        assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o700);
        let file = made.join("f");
        write_private(&file, b"1").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(create_private(&file, b"2").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn s_13_root_keeps_no_state_in_a_folder_of_somebody_else() {
        if !rustix::process::geteuid().is_root() {
            // Only root can give a folder away.
            return;
        }
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path().join("s"));
        assert!(state.folder("lanes").is_ok());
        std::os::unix::fs::chown(state.path(), Some(12_345), None).unwrap();
        let refused = state.folder("lanes").unwrap_err();
        assert_eq!(refused.code, Code::Denied);
        assert!(refused.message.contains("belongs to another user"), "{refused:?}");
    }
}
