//! The one writer of clients' files: a reader sees the old file or the new one, never half of either.
//!
//! The new bytes go to a temporary file beside the old one, get its mode, owner and extended attributes (access lists are
//! such), reach the disk, and take its name by a rename, if the old file still has the bytes that were read. A file with
//! several names is written in place, and only where that was asked for.

use crate::files::{Located, open_in};
use pintle_core::{Code, Digest, Failure};
use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags, XattrFlags},
    io::Errno,
    process::{Gid, Uid},
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    os::fd::OwnedFd,
    path::PathBuf,
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

/// The writer, with the failure that a test has ordered.
#[derive(Debug, Default)]
pub struct Writer {
    ordered: Mutex<Option<(Step, Fault)>>,
}

impl Writer {
    /// Makes the next write fail at that step.
    pub fn fail_at(&self, step: Step, fault: Fault) {
        if let Ok(mut ordered) = self.ordered.lock() {
            *ordered = Some((step, fault));
        }
    }

    /// Writes a file that still has the expected bytes, or is not there where none are expected; gives the folders that
    /// were made on the way, outermost first.
    ///
    /// # Errors
    /// Code `moved` when the file is not as expected, `io` when a step fails; in every case the file is as it was.
    pub(crate) fn write(&self, at: &Located, bytes: &[u8], expected: Option<&[u8]>) -> Result<Vec<PathBuf>, Failure> {
        let mut made: Vec<(OwnedFd, OsString)> = Vec::new();
        let written = at
            .parent(&mut |parent, name| {
                match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o700)) {
                    // Another writer was first; the opening that follows decides.
                    Err(Errno::EXIST) => return Ok(()),
                    done => done?,
                }
                let parent = parent.try_clone().map_err(|_| Errno::MFILE)?;
                made.push((parent, name.to_owned()));
                Ok(())
            })
            .map_err(Trouble::from)
            .and_then(|parent| self.write_in(&parent, at, bytes, expected));
        if let Err(trouble) = written {
            if !matches!(trouble, Trouble::Crashed) {
                for (parent, name) in made.iter().rev() {
                    // A folder that somebody else has put something into stays.
                    let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
                }
            }
            return Err(trouble.told(at));
        }
        // They were made one below the other, the last one around the file.
        let mut folder = at.real();
        let mut folders = Vec::new();
        for _ in &made {
            folder.pop();
            folders.insert(0, folder.clone());
        }
        Ok(folders)
    }

    /// Removes a file that still has these bytes, then those folders, innermost first, as far as they are empty.
    ///
    /// # Errors
    /// Code `moved` when the file has other bytes, `io` when it fails.
    pub(crate) fn remove(&self, at: &Located, expected: &[u8], folders: &[PathBuf]) -> Result<(), Failure> {
        let remove = || -> Result<(), Trouble> {
            let parent = at.parent(&mut |_, _| Err(Errno::NOENT))?;
            if current(&parent, &at.name())?.as_deref() != Some(expected) {
                return Err(Trouble::Moved);
            }
            self.step(Step::Rename)?;
            Ok(rustix::fs::unlinkat(&parent, at.name(), AtFlags::empty())?)
        };
        remove().map_err(|trouble| trouble.told(at))?;
        for folder in folders.iter().rev() {
            // One that holds something by now stays, and those above it.
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn write_in(&self, parent: &OwnedFd, at: &Located, bytes: &[u8], expected: Option<&[u8]>) -> Result<(), Trouble> {
        let old = open_in(parent, &at.name())?;
        if at.hard_linked && old.is_some() {
            return self.write_over(parent, at, bytes, expected);
        }
        self.step(Step::Create)?;
        let temporary = Temporary::create(parent, &at.name())?;
        let filled = self.fill(&temporary, old.as_ref(), bytes).and_then(|()| {
            if current(parent, &at.name())?.as_deref() != expected {
                return Err(Trouble::Moved);
            }
            self.step(Step::Rename)?;
            temporary.take_name(&at.name(), expected.is_none())
        });
        if let Err(trouble) = filled {
            if !matches!(trouble, Trouble::Crashed) {
                // The write has failed already, and that is what is told.
                let _ = rustix::fs::unlinkat(parent, &temporary.name, AtFlags::empty());
            }
            return Err(trouble);
        }
        match rustix::fs::fsync(parent) {
            // Some file systems cannot do this for folders.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn fill(&self, temporary: &Temporary<'_>, old: Option<&File>, bytes: &[u8]) -> Result<(), Trouble> {
        let mut file = &temporary.file;
        self.step(Step::Write)?;
        file.write_all(bytes)?;
        if let Some(old) = old {
            keep_attributes(old, file)?;
        }
        self.step(Step::Sync)?;
        Ok(rustix::fs::fsync(file)?)
    }

    /// Writes to the file itself, so that all its names see it.
    fn write_over(&self, parent: &OwnedFd, at: &Located, bytes: &[u8], expected: Option<&[u8]>) -> Result<(), Trouble> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(parent, at.name(), flags, Mode::empty())?);
        let mut before = Vec::new();
        file.read_to_end(&mut before)?;
        if Some(before.as_slice()) != expected {
            return Err(Trouble::Moved);
        }
        self.step(Step::Write)?;
        file.rewind()?;
        let written =
            file.write_all(bytes).and_then(|()| file.set_len(bytes.len() as u64)).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // The old bytes fit before, so they fit again; the backup has them in any case.
            let _ =
                file.rewind().and_then(|()| file.write_all(&before)).and_then(|()| file.set_len(before.len() as u64));
            return Err(error.into());
        }
        Ok(())
    }

    fn step(&self, step: Step) -> Result<(), Trouble> {
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

/// The bytes of a file now; none when it is not there.
fn current(parent: &OwnedFd, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = open_in(parent, name)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Gives the new file what the old one has beside its bytes.
fn keep_attributes(old: &File, new: &File) -> Result<(), Trouble> {
    let before = rustix::fs::fstat(old)?;
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
    fn create(parent: &'a OwnedFd, target: &OsStr) -> Result<Self, Trouble> {
        // One name for one file, so that the next writer finds what a crash has left.
        let digest = Digest::of(target.as_encoded_bytes());
        let name = OsString::from(format!(".pintle-new-{}", &digest.as_str()[..16]));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..2 {
            match rustix::fs::openat(parent, &name, flags, Mode::from_raw_mode(0o600)) {
                Ok(fd) => {
                    rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive).map_err(busy)?;
                    return Ok(Self { parent, name, file: File::from(fd) });
                }
                Err(Errno::EXIST) => remove_leftover(parent, &name)?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(Trouble::Busy)
    }

    fn take_name(&self, name: &OsStr, fresh: bool) -> Result<(), Trouble> {
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
}

/// Removes a temporary file whose writer is gone.
fn remove_leftover(parent: &OwnedFd, name: &OsStr) -> Result<(), Trouble> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        Ok(left) => rustix::fs::flock(&left, FlockOperation::NonBlockingLockExclusive).map_err(busy)?,
        // What cannot be opened is no file of ours that somebody is writing.
        Err(_) => {}
    }
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?)
}

fn busy(error: Errno) -> Trouble {
    if error == Errno::WOULDBLOCK { Trouble::Busy } else { error.into() }
}

/// Why a write failed.
enum Trouble {
    System(io::Error),
    Owner,
    Moved,
    Busy,
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
    fn told(self, at: &Located) -> Failure {
        let file = at.path.display();
        match self {
            Self::System(error) => {
                let hint = match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::NOSPC | Errno::DQUOT) => "free some space and call again; the file is as it was",
                    Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                        "make the folder writable for this user; the file is as it was"
                    }
                    _ => "the file is as it was",
                };
                Failure::io(format!("writing `{file}`"), &error).hint(hint)
            }
            Self::Owner => Failure::new(Code::Io, format!("writing `{file}`: its owner could not be kept"))
                .hint("run as the owner of the file"),
            Self::Moved => Failure::new(Code::Moved, format!("`{file}` was changed by somebody else in the meantime"))
                .hint("call again; the file is as they left it"),
            Self::Busy => Failure::new(Code::Busy, format!("`{file}` is being written by another process")).retryable(),
            Self::Crashed => Failure::new(Code::Io, format!("writing `{file}`: broken off")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs,
        os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    };

    fn file(mode: u32) -> (tempfile::TempDir, Located) {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("f.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let at = Located::of(&path, temp.path()).unwrap();
        (temp, at)
    }

    #[test]
    fn s_20_eg_055_an_old_file_keeps_mode_owner_and_attributes_and_a_new_one_is_private() {
        let (temp, at) = file(0o640);
        let (group, attribute) = (12_345, "user.kept");
        let ours = rustix::process::geteuid().is_root();
        if ours {
            std::os::unix::fs::chown(at.real(), Some(4321), Some(group)).unwrap();
        }
        let attributes = rustix::fs::setxattr(at.real(), attribute, b"value", XattrFlags::empty()).is_ok();
        Writer::default().write(&at, b"new", Some(b"old")).unwrap();
        let metadata = fs::metadata(at.real()).unwrap();
        assert_eq!((fs::read(at.real()).unwrap().as_slice(), metadata.mode() & 0o7777), (&b"new"[..], 0o640));
        if ours {
            assert_eq!((metadata.uid(), metadata.gid()), (4321, group));
        }
        if attributes {
            let mut value = [0; 16];
            let length = rustix::fs::getxattr(at.real(), attribute, &mut value).unwrap();
            assert_eq!(&value[..length], b"value");
        }
        let fresh = Located::of(&temp.path().join("a/b/c.json"), temp.path()).unwrap();
        let made = Writer::default().write(&fresh, b"{}", None).unwrap();
        let real = temp.path().canonicalize().unwrap();
        assert_eq!(made, [real.join("a"), real.join("a/b")]);
        assert_eq!(fs::metadata(fresh.real()).unwrap().mode() & 0o777, 0o600);
        assert!(made.iter().all(|folder| fs::metadata(folder).unwrap().mode() & 0o777 == 0o700));
        let fresh = Located::of(&temp.path().join("a/b/c.json"), temp.path()).unwrap();
        Writer::default().remove(&fresh, b"{}", &made).unwrap();
        assert!(!temp.path().join("a").exists());
    }

    #[test]
    fn s_21_a_full_disk_a_read_only_one_and_a_crash_leave_the_old_file() {
        for (number, hint) in [(28, "free some space"), (30, "writable")] {
            for step in [Step::Create, Step::Write, Step::Sync, Step::Rename] {
                let (temp, at) = file(0o600);
                let writer = Writer::default();
                writer.fail_at(step, Fault::Error(number));
                let failure = writer.write(&at, b"new", Some(b"old")).unwrap_err();
                assert!(failure.hints[0].contains(hint), "{failure:?}");
                assert_eq!(fs::read(at.real()).unwrap(), b"old", "{step:?}");
                assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "nothing is left beside it");
            }
        }
        let (temp, at) = file(0o600);
        let writer = Writer::default();
        writer.fail_at(Step::Rename, Fault::Crash);
        writer.write(&at, b"new", Some(b"old")).unwrap_err();
        assert_eq!(fs::read(at.real()).unwrap(), b"old");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 2, "a crash leaves the temporary file");
        writer.write(&at, b"new", Some(b"old")).unwrap();
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "the next writer removes it");
    }

    #[test]
    fn s_21_what_somebody_else_wrote_or_is_writing_is_left_alone() {
        let (temp, at) = file(0o600);
        let writer = Writer::default();
        for unexpected in [Some(&b"other"[..]), None] {
            assert_eq!(writer.write(&at, b"new", unexpected).unwrap_err().code, Code::Moved);
        }
        let name = format!(".pintle-new-{}", &Digest::of("f.json").as_str()[..16]);
        let other = File::create(temp.path().join(name)).unwrap();
        rustix::fs::flock(&other, FlockOperation::LockExclusive).unwrap();
        assert_eq!(writer.write(&at, b"new", Some(b"old")).unwrap_err().code, Code::Busy);
        drop(other);
        assert_eq!(fs::read(at.real()).unwrap(), b"old");
        writer.write(&at, b"new", Some(b"old")).unwrap();
    }

    #[test]
    fn s_13_a_file_with_two_names_is_written_in_place_so_that_both_see_it() {
        let (temp, at) = file(0o600);
        fs::hard_link(at.real(), temp.path().join("second")).unwrap();
        let at = Located::of(&at.path, temp.path()).unwrap();
        Writer::default().write(&at, b"newer", Some(b"old")).unwrap();
        assert_eq!(fs::read(temp.path().join("second")).unwrap(), b"newer");
    }
}
