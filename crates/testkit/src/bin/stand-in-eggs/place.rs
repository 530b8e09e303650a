//! The only folder that the stand-in writes in.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Component, Path, PathBuf},
};

/// A folder taken for `/`. No path leads out of it, by `..` or through a link, and no file below it is opened that is not
/// an ordinary one: so there is no disk that could be touched.
#[derive(Debug)]
pub struct Place {
    root: PathBuf,
}

impl Place {
    pub fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        Ok(Self { root: fs::canonicalize(root)? })
    }

    /// Where a path of the system is.
    pub fn at(&self, path: &str) -> io::Result<PathBuf> {
        let mut at = self.root.clone();
        for part in Path::new(path).components() {
            match part {
                Component::Normal(name) => at.push(name),
                Component::RootDir | Component::CurDir => {}
                _ => return Err(outside(path)),
            }
        }
        let mut there = at.as_path();
        while fs::symlink_metadata(there).is_err() {
            there = there.parent().ok_or_else(|| outside(path))?;
        }
        if fs::canonicalize(there)?.starts_with(&self.root) { Ok(at) } else { Err(outside(path)) }
    }

    /// A file that was not there; the folders above it are made.
    pub fn create(&self, path: &str) -> io::Result<File> {
        let at = self.at(path)?;
        if let Some(folder) = at.parent() {
            fs::create_dir_all(folder)?;
        }
        new_file(&at)
    }

    /// Writes a file anew.
    pub fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let at = self.at(path)?;
        match fs::remove_file(&at) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
            _ => {}
        }
        self.create(path)?.write_all(text.as_bytes())
    }

    /// What a file holds, or nothing when it is not there.
    pub fn read(&self, path: &str) -> io::Result<Option<String>> {
        match fs::read_to_string(self.at(path)?) {
            Ok(text) => Ok(Some(text)),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(why) => Err(why),
        }
    }

    pub fn is_folder(&self, path: &str) -> bool {
        self.at(path).is_ok_and(|at| at.is_dir())
    }
}

/// A file made by this call: what was there before, a device above all, is never opened.
pub fn new_file(at: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().write(true).create_new(true).custom_flags(flags).open(at)
}

fn outside(path: &str) -> io::Error {
    io::Error::other(format!("{path}: leads out of the folder that stands for the system"))
}
