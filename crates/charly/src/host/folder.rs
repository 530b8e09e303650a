//! A folder and the files beneath it, reached without ever following a link out of it.
//!
//! A path is first resolved, links and all; where it ends must lie beneath the folder. Then it is opened name by name
//! from the folder's own descriptor with no link followed, so that a link put there in between fails the opening.

use super::path::{Inside, is_git, shown};
use pintle_core::{Code, Failure};
use rustix::{
    fs::{FileType, Mode, OFlags},
    io::Errno,
};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

/// Most bytes of a file that is read or written.
pub(crate) const FILE_LIMIT: usize = 4 * 1024 * 1024;

/// A folder, by its real path and held open.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    fd: OwnedFd,
}

/// A file beneath a folder: its real path, relative to the folder, with no link left on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    relative: PathBuf,
    exists: bool,
}

impl Target {
    /// Relative path of the file itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.relative
    }

    /// Whether something is there.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The last name of the path.
    pub(crate) fn name(&self) -> &OsStr {
        self.relative.file_name().unwrap_or_default()
    }
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
}

impl Folder {
    /// Opens a folder by any path.
    ///
    /// # Errors
    /// When it is not there, is no folder, or must not be entered.
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)?;
        let fd = rustix::fs::open(&path, DIRECTORY, Mode::empty())?;
        Ok(Self { path, fd })
    }

    /// Its real path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Finds out where a path leads.
    ///
    /// # Errors
    /// Code `outside_project` when a link leads out, `io` when something on the way cannot be passed.
    pub fn locate(&self, inside: &Inside) -> Result<Target, Failure> {
        let mut existing = self.path.join(inside.as_str());
        let mut missing = Vec::new();
        let real = loop {
            match fs::canonicalize(&existing) {
                Ok(real) => break real,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if fs::symlink_metadata(&existing).is_ok() {
                        let link = existing.strip_prefix(&self.path).unwrap_or(&existing);
                        return Err(Failure::new(Code::NotFound, format!("`{}` is a link to nothing", link.display()))
                            .hint("remove the link or make what it points to"));
                    }
                    let Some(name) = existing.file_name() else { break self.path.clone() };
                    missing.push(name.to_owned());
                    existing.pop();
                }
                Err(error) => return Err(Failure::io(format!("finding `{inside}`"), &error)),
            }
        };
        let exists = missing.is_empty();
        let Ok(relative) = real.strip_prefix(&self.path) else {
            return Err(Failure::new(
                Code::OutsideProject,
                format!("`{inside}` leads out of the project by a link, to `{}`", shown(&real)),
            )
            .hint("only files beneath the project can be used; links may lead elsewhere within it"));
        };
        let relative = missing.iter().rev().fold(relative.to_owned(), |path, name| path.join(name));
        if relative.as_os_str().is_empty() {
            return Err(Failure::new(Code::Invalid, format!("`{inside}` is the project's own folder")));
        }
        Ok(Target { relative, exists })
    }

    /// Like [`locate`](Self::locate), for something to be written.
    ///
    /// # Errors
    /// Also for anything in git's own folder.
    pub fn locate_to_write(&self, inside: &Inside) -> Result<Target, Failure> {
        let target = self.locate(inside)?;
        if is_git(&target.relative) || is_git(Path::new(inside.as_str())) {
            return Err(Failure::new(
                Code::OutsideProject,
                format!("`{inside}` lies in git's own folder, which is not written"),
            )
            .hint("use git for what belongs to git"));
        }
        Ok(target)
    }

    /// Reads a file; `None` when it is not there.
    ///
    /// # Errors
    /// When it cannot be read, is no regular file, or is larger than 4 MiB.
    pub fn read(&self, target: &Target) -> Result<Option<Stored>, Failure> {
        let named = || format!("reading `{}`", target.relative.display());
        let irregular = || Failure::new(Code::Invalid, format!("`{}` is no regular file", target.relative.display()));
        let file = match self.open_file(target) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            // What a socket, or a device without a driver, says to being opened.
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => return Err(irregular()),
            Err(error) => return Err(Failure::io(named(), &error)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|error| Failure::io(named(), &error.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => {
                return Err(Failure::new(
                    Code::Invalid,
                    format!("`{}` is a folder, not a file", target.relative.display()),
                ));
            }
            _ => return Err(irregular()),
        }
        let mut bytes = Vec::new();
        let limit = FILE_LIMIT as u64 + 1;
        file.take(limit).read_to_end(&mut bytes).map_err(|error| Failure::io(named(), &error))?;
        if bytes.len() > FILE_LIMIT {
            return Err(too_large(&shown(&target.relative)));
        }
        Ok(Some(Stored { bytes, mode: stat.st_mode & 0o7777 }))
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.fd
    }

    /// Opens a file for reading; `None` when it is not there.
    pub(crate) fn open_file(&self, target: &Target) -> io::Result<Option<File>> {
        let parent = match self.parent(target, &mut |_, _| Err(Errno::NOENT)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            parent => parent?,
        };
        // Opening a pipe must not wait for somebody to write to it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&parent, target.name(), flags, Mode::empty()) {
            Ok(file) => Ok(Some(File::from(file))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the folder that holds a file, name by name; `make` is asked to make a folder that is not there.
    pub(crate) fn parent(
        &self,
        target: &Target,
        make: &mut dyn FnMut(&OwnedFd, &OsStr) -> Result<(), Errno>,
    ) -> io::Result<OwnedFd> {
        let mut folder = self.fd.try_clone()?;
        let names: Vec<&OsStr> = target.relative.parent().into_iter().flat_map(Path::iter).collect();
        for name in names {
            folder = match rustix::fs::openat(&folder, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
                Err(Errno::NOENT) => {
                    make(&folder, name)?;
                    rustix::fs::openat(&folder, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?
                }
                opened => opened?,
            };
        }
        Ok(folder)
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A file over the limit.
pub(crate) fn too_large(file: &str) -> Failure {
    Failure::new(Code::TooLarge, format!("`{file}` is larger than {} MiB", FILE_LIMIT / 1024 / 1024))
        .hint("copy large files into the project with other means")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn folder() -> (tempfile::TempDir, Folder) {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("project");
        fs::create_dir_all(root.join("real")).unwrap();
        fs::write(root.join("real/file"), "inside").unwrap();
        fs::write(temp.path().join("secret"), "outside").unwrap();
        let folder = Folder::open(&root).unwrap();
        (temp, folder)
    }

    fn read(folder: &Folder, path: &str) -> Result<Option<String>, Failure> {
        let target = folder.locate(&Inside::parse("path", path)?)?;
        Ok(folder.read(&target)?.map(|stored| String::from_utf8(stored.bytes).unwrap()))
    }

    #[test]
    fn cw_35_links_within_the_project_are_followed_and_links_out_are_refused() {
        let (temp, folder) = folder();
        let root = folder.path().to_owned();
        symlink("real", root.join("alias")).unwrap();
        symlink(root.join("real/file"), root.join("absolute")).unwrap();
        symlink("../secret", root.join("out")).unwrap();
        symlink(temp.path(), root.join("up")).unwrap();
        symlink("nothing", root.join("dangling")).unwrap();
        assert_eq!(read(&folder, "alias/file").unwrap().as_deref(), Some("inside"));
        assert_eq!(read(&folder, "absolute").unwrap().as_deref(), Some("inside"));
        assert_eq!(read(&folder, "real/none").unwrap(), None);
        for path in ["out", "up/secret", "up/new"] {
            let failure = read(&folder, path).unwrap_err();
            assert_eq!(failure.code, Code::OutsideProject, "{path}");
            assert!(failure.message.contains(path), "{}", failure.message);
        }
        assert!(read(&folder, "dangling").unwrap_err().message.contains("link to nothing"));
        assert!(read(&folder, "real").unwrap_err().message.contains("is a folder"));
    }

    #[test]
    fn cw_35_a_link_put_there_after_the_check_is_not_followed() {
        let (temp, folder) = folder();
        let root = folder.path().to_owned();
        let target = folder.locate(&Inside::of("real/file")).unwrap();
        fs::rename(root.join("real"), temp.path().join("moved")).unwrap();
        symlink(temp.path(), root.join("real")).unwrap();
        fs::write(temp.path().join("file"), "outside").unwrap();
        assert_eq!(folder.read(&target).unwrap_err().code, Code::Io);
    }

    #[test]
    fn cw_35_gits_own_folder_is_not_written() {
        let (_temp, folder) = folder();
        fs::create_dir_all(folder.path().join(".git/hooks")).unwrap();
        symlink(".git", folder.path().join("g")).unwrap();
        for path in [".git/hooks/post-commit", ".GIT/config", "g/config", "sub/.git/config"] {
            let failure = folder.locate_to_write(&Inside::parse("path", path).unwrap()).unwrap_err();
            assert_eq!(failure.code, Code::OutsideProject, "{path}");
        }
        assert!(folder.locate_to_write(&Inside::of(".gitignore")).is_ok());
    }

    #[test]
    fn a_pipe_and_a_giant_are_refused_without_waiting() {
        let (_temp, folder) = folder();
        rustix::fs::mknodat(rustix::fs::CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        File::create(folder.path().join("giant")).unwrap().set_len(FILE_LIMIT as u64 + 1).unwrap();
        assert!(read(&folder, "pipe").unwrap_err().message.contains("no regular file"));
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        assert!(read(&folder, "socket").unwrap_err().message.contains("no regular file"));
        assert_eq!(read(&folder, "giant").unwrap_err().code, Code::TooLarge);
    }
}
