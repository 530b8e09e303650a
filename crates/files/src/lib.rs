//! The one atomic writer of files: a reader sees the old file or the new one, never half of either.
//!
//! The new bytes go to a temporary file beside the old one, get its mode, owner and extended attributes (access lists are
//! such), reach the disk, and take its name by a rename. A crash leaves the old file and at most that temporary file, which
//! the next writer of the same file removes. Which file that is, and who may write it, is for the caller to know.

use pintle_core::{Code, Digest, Failure};
use rustix::{
    fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, XattrFlags},
    io::Errno,
    process::{Gid, Uid},
};
use std::{
    ffi::{OsStr, OsString},
    fmt,
    fs::File,
    io::{self, Write as _},
    os::fd::{AsFd, OwnedFd},
    sync::Mutex,
};

/// A step of a write at which it can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Making the temporary file.
    Create,
    /// Writing to it.
    Write,
    /// Getting it to the disk.
    Sync,
    /// Giving it the name.
    Rename,
}

/// How a step fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// With an error number of the system, such as 28 for a full disk.
    Error(i32),
    /// Without any more step, as if the power went: nothing is cleaned up.
    Crash,
}

/// What takes the place of a file.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// The new bytes.
    pub bytes: &'a [u8],
    /// The file that is there, whose mode, owner and extended attributes are kept; absent when there is none.
    pub old: Option<&'a File>,
    /// Permission bits, in place of those of the old file.
    pub mode: Option<u32>,
    /// Permission bits with which a file that was not there is made, less the process's mask.
    pub made: u32,
    /// Whether no file may have the name yet.
    pub fresh: bool,
}

/// The writer, with the failure that a test has ordered.
#[derive(Debug, Default)]
pub struct Writer {
    ordered: Mutex<Option<(Step, Fault)>>,
    owner: Option<(u32, u32)>,
}

impl Writer {
    /// A writer whose files belong to that user and group, whoever runs it and whatever the folder's group is.
    #[must_use]
    pub fn giving_to(user: u32, group: u32) -> Self {
        Self { owner: Some((user, group)), ..Self::default() }
    }

    /// Makes the next write fail at that step.
    pub fn fail_at(&self, step: Step, fault: Fault) {
        if let Ok(mut ordered) = self.ordered.lock() {
            *ordered = Some((step, fault));
        }
    }

    /// Puts a file into its place in that folder, if it is `as_expected` once the new bytes are on the disk.
    ///
    /// # Errors
    /// [`Trouble`]; in every case the file is as it was.
    pub fn replace(
        &self,
        parent: &OwnedFd,
        name: &OsStr,
        new: &Replacement<'_>,
        as_expected: impl FnOnce() -> io::Result<bool>,
    ) -> Result<(), Trouble> {
        self.step(Step::Create)?;
        let mode = Mode::from_raw_mode(if new.old.is_some() { 0o600 } else { new.made });
        let temporary = Temporary::create(parent, name, mode)?;
        let filled = self.fill(&temporary, new).and_then(|()| {
            if !as_expected()? {
                return Err(Trouble::Moved);
            }
            self.step(Step::Rename)?;
            temporary.take_name(name, new.fresh)
        });
        if let Err(trouble) = filled {
            if !matches!(trouble, Trouble::Crashed) {
                temporary.discard();
            }
            return Err(trouble);
        }
        match rustix::fs::fsync(parent) {
            // Some file systems cannot do this for folders.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn fill(&self, temporary: &Temporary<'_>, new: &Replacement<'_>) -> Result<(), Trouble> {
        let mut file = &temporary.file;
        self.step(Step::Write)?;
        file.write_all(new.bytes)?;
        if let Some(old) = new.old {
            keep_attributes(old, file)?;
        }
        if let Some((user, group)) = self.owner {
            rustix::fs::fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))
                .map_err(|_| Trouble::Owner)?;
        }
        if let Some(mode) = new.mode {
            rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
        }
        self.step(Step::Sync)?;
        Ok(rustix::fs::fsync(file)?)
    }

    /// A step that a caller makes by itself, such as the removal of a file.
    ///
    /// # Errors
    /// The ordered failure, if it is for this step.
    pub fn step(&self, step: Step) -> Result<(), Trouble> {
        let Ok(mut ordered) = self.ordered.lock() else { return Ok(()) };
        match *ordered {
            Some((at, fault)) if at == step => {
                *ordered = None;
                Err(match fault {
                    Fault::Error(number) => io::Error::from_raw_os_error(number).into(),
                    Fault::Crash => Trouble::Crashed,
                })
            }
            _ => Ok(()),
        }
    }
}

/// Gives the new file what the old one has beside its bytes.
fn keep_attributes(old: &File, new: &File) -> Result<(), Trouble> {
    let before = rustix::fs::fstat(old)?;
    if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
        return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
    }
    let after = rustix::fs::fstat(new)?;
    if (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid) {
        let (owner, group) = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
        rustix::fs::fchown(new, Some(owner), Some(group)).map_err(|_| Trouble::Owner)?;
    }
    // After the owner, since a change of owner may drop bits.
    rustix::fs::fchmod(new, Mode::from_raw_mode(before.st_mode & 0o7777))?;
    let mut names = vec![0; 64 * 1024];
    let length = match rustix::fs::flistxattr(old, names.as_mut_slice()) {
        Err(Errno::NOTSUP) => return Ok(()),
        length => length?,
    };
    let mut value = vec![0; 64 * 1024];
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let size = rustix::fs::fgetxattr(old, name, value.as_mut_slice())?;
        match rustix::fs::fsetxattr(new, name, &value[..size], XattrFlags::empty()) {
            // Security labels belong to the system's policy, which has labelled the new file already.
            Err(Errno::PERM | Errno::NOTSUP) if name.starts_with(b"security.") => {}
            set => set?,
        }
    }
    Ok(())
}

/// The temporary file, locked as long as its writer lives.
struct Temporary<'a> {
    parent: &'a OwnedFd,
    name: OsString,
    file: File,
}

impl<'a> Temporary<'a> {
    fn create(parent: &'a OwnedFd, target: &OsStr, mode: Mode) -> Result<Self, Trouble> {
        // One name for one file, so that the next writer finds what a crash has left; short, whatever the file's name is.
        let digest = Digest::of(target.as_encoded_bytes());
        let name = OsString::from(format!(".pintle-new-{}", &digest.as_str()[..16]));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..2 {
            match rustix::fs::openat(parent, &name, flags, mode) {
                Ok(fd) => {
                    rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive).map_err(busy)?;
                    // Before it was locked, another writer may have taken it for a leftover.
                    if !is_named(parent, &name, &fd)? {
                        return Err(Trouble::Busy);
                    }
                    return Ok(Self { parent, name, file: File::from(fd) });
                }
                Err(Errno::EXIST) => remove_leftover(parent, &name)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(Trouble::Busy)
    }

    fn take_name(&self, name: &OsStr, fresh: bool) -> Result<(), Trouble> {
        if !is_named(self.parent, &self.name, &self.file)? {
            return Err(Trouble::Busy);
        }
        if !fresh {
            return Ok(rustix::fs::renameat(self.parent, &self.name, self.parent, name)?);
        }
        match rustix::fs::renameat_with(self.parent, &self.name, self.parent, name, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => Err(Trouble::Moved),
            // Not every file system can refuse to replace; the check just before has to do.
            Err(Errno::INVAL | Errno::NOSYS) => Ok(rustix::fs::renameat(self.parent, &self.name, self.parent, name)?),
            renamed => Ok(renamed?),
        }
    }

    fn discard(&self) {
        // What has the name by now may be another writer's.
        if !is_named(self.parent, &self.name, &self.file).unwrap_or(false) {
            return;
        }
        // The write has failed already, and that is what is told.
        let _ = rustix::fs::unlinkat(self.parent, &self.name, AtFlags::empty());
    }
}

/// Removes a temporary file whose writer is gone.
fn remove_leftover(parent: &OwnedFd, name: &OsStr) -> Result<(), Trouble> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        Ok(left) => {
            rustix::fs::flock(&left, FlockOperation::NonBlockingLockExclusive).map_err(busy)?;
            // Another one may have removed it and begun its own; the lock is kept until this one is gone.
            if !is_named(parent, name, &left)? {
                return Err(Trouble::Busy);
            }
            return Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?);
        }
        // What cannot be opened is no file of ours that somebody is writing.
        Err(_) => {}
    }
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?)
}

/// Whether that name in the folder is still that of this file.
fn is_named(parent: &OwnedFd, name: &OsStr, file: impl AsFd) -> Result<bool, Errno> {
    let own = rustix::fs::fstat(file)?;
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok((found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

fn busy(error: Errno) -> Trouble {
    if error == Errno::WOULDBLOCK { Trouble::Busy } else { error.into() }
}

/// Why a write failed.
#[derive(Debug)]
pub enum Trouble {
    /// The system refused a step.
    System(io::Error),
    /// The owner of the old file could not be kept.
    Owner,
    /// The file is not what it was expected to be.
    Moved,
    /// Another process is writing the file.
    Busy,
    /// A test has ordered the end of everything.
    Crashed,
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<Errno> for Trouble {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

impl Trouble {
    /// What is told of it; the caller adds what to do about a file that has moved.
    #[must_use]
    pub fn told(&self, file: impl fmt::Display) -> Failure {
        match self {
            Self::System(error) => {
                let hint = match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::NOSPC | Errno::DQUOT) => "free some space and call again; the file is as it was",
                    Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                        "make the folder writable for this user; the file is as it was"
                    }
                    _ => "the file is as it was",
                };
                Failure::io(format!("writing `{file}`"), error).hint(hint)
            }
            Self::Owner => Failure::new(Code::Io, format!("writing `{file}`: its owner could not be kept"))
                .hint("run as the owner of the file"),
            Self::Moved => Failure::new(Code::Moved, format!("`{file}` was changed by somebody else in the meantime")),
            Self::Busy => Failure::new(Code::Busy, format!("`{file}` is being written by another process")).retryable(),
            Self::Crashed => Failure::new(Code::Io, format!("writing `{file}`: broken off")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    fn opened(path: &Path) -> OwnedFd {
        File::open(path).unwrap().into()
    }

    #[test]
    fn s_21_a_temporary_file_that_another_writer_has_replaced_takes_no_name() {
        let temp = tempfile::tempdir().unwrap();
        let parent = opened(temp.path());
        fs::write(temp.path().join("file"), "old").unwrap();
        let mine = Temporary::create(&parent, OsStr::new("file"), Mode::from_raw_mode(0o600)).unwrap();
        let second = Temporary::create(&parent, OsStr::new("file"), Mode::from_raw_mode(0o600));
        assert!(matches!(second, Err(Trouble::Busy)), "it is locked");
        // As if it had been taken for a leftover just before it was locked.
        let name = temp.path().join(&mine.name);
        fs::remove_file(&name).unwrap();
        fs::write(&name, "half of what another one writes").unwrap();
        assert!(matches!(mine.take_name(OsStr::new("file"), false), Err(Trouble::Busy)));
        mine.discard();
        assert!(name.exists(), "it is not ours to remove");
        assert_eq!(fs::read_to_string(temp.path().join("file")).unwrap(), "old");
    }

    #[test]
    fn s_21_what_a_crash_left_is_removed_by_the_next_writer() {
        let temp = tempfile::tempdir().unwrap();
        let parent = opened(temp.path());
        let left = Temporary::create(&parent, OsStr::new("file"), Mode::from_raw_mode(0o600)).unwrap();
        let name = temp.path().join(&left.name);
        drop(left);
        assert!(name.exists());
        let next = Temporary::create(&parent, OsStr::new("file"), Mode::from_raw_mode(0o600)).unwrap();
        next.take_name(OsStr::new("file"), true).unwrap();
        assert!(!name.exists() && temp.path().join("file").exists());
    }
}
