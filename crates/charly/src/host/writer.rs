//! The one writer of files: a reader sees the old file or the new one, never half of either.
//!
//! The new bytes go to a temporary file beside the old one, get its mode, owner and extended attributes, reach the disk,
//! and take its name by a rename. A crash leaves the old file and at most that temporary file, which the next writer of
//! the same file removes.

use super::folder::{FILE_LIMIT, Folder, Target, too_large};
use pintle_core::{Code, Digest, Effect, Failure, Permit, Scope};
use rustix::{
    fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, RenameFlags, XattrFlags},
    io::Errno,
    process::{Gid, Uid},
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::OwnedFd,
    sync::Mutex,
};

/// What is to be written.
#[derive(Clone, Debug)]
pub struct Write<'a> {
    /// The new bytes.
    pub bytes: &'a [u8],
    /// Permission bits of the new file; those of the old one, or the usual ones, when absent.
    pub mode: Option<u32>,
    /// Digest of the bytes that the file must still have; absent when it must not be there.
    pub expected: Option<&'a Digest>,
}

/// Proof that one file may be written.
#[derive(Clone, Debug)]
pub struct Granted(Target);

impl Granted {
    /// The proof, from a permit that covers the file.
    ///
    /// # Errors
    /// Code `denied` when it does not.
    pub fn of(permit: &Permit, folder: &Folder, target: Target) -> Result<Self, Failure> {
        permit.check(Effect::WRITE, &scope(folder, &target))?;
        Ok(Self(target))
    }
}

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

    /// Writes a file, making folders on the way.
    ///
    /// # Errors
    /// Code `moved` when the file is not as expected, `io` when a step fails; in every case the file is as it was.
    pub fn write(&self, folder: &Folder, granted: &Granted, write: &Write<'_>) -> Result<(), Failure> {
        let target = &granted.0;
        if write.bytes.len() > FILE_LIMIT {
            return Err(too_large(&target.path().to_string_lossy()));
        }
        let mut made = Vec::new();
        let written = self.write_with(folder, target, write, &mut made);
        if written.is_err() {
            for (parent, name) in made.iter().rev() {
                // A folder that somebody else has put something into stays.
                let _ = rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR);
            }
        }
        written.map_err(|error| error.told(target))
    }

    /// Changes the permission bits of a file and nothing else.
    ///
    /// # Errors
    /// When it fails.
    pub fn set_mode(&self, folder: &Folder, granted: &Granted, mode: u32) -> Result<(), Failure> {
        let target = &granted.0;
        let told =
            |error: io::Error| Failure::io(format!("changing the mode of `{}`", target.path().display()), &error);
        let file = folder.open_file(target).map_err(told)?.ok_or_else(|| told(Errno::NOENT.into()))?;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(|error| told(error.into()))
    }

    /// Removes a file that still has these bytes, and its folder when that is empty then and not at the top.
    ///
    /// # Errors
    /// Code `moved` when the file has other bytes, `io` when it fails.
    pub fn remove(&self, folder: &Folder, granted: &Granted, expected: &Digest) -> Result<(), Failure> {
        let target = &granted.0;
        let told = |error: io::Error| Failure::io(format!("removing `{}`", target.path().display()), &error);
        let parent = folder.parent(target, &mut |_, _| Err(Errno::NOENT)).map_err(told)?;
        let bytes = current(&parent, target.name()).map_err(told)?;
        if bytes.is_none_or(|bytes| Digest::of(bytes) != *expected) {
            return Err(Trouble::Moved.told(target));
        }
        rustix::fs::unlinkat(&parent, target.name(), AtFlags::empty()).map_err(|error| told(error.into()))?;
        let above = target.path().parent().filter(|folder| folder.components().count() > 1);
        if let Some(above) = above {
            // A folder that is not empty stays, and that is how it should be.
            let _ = rustix::fs::unlinkat(folder.descriptor(), above, AtFlags::REMOVEDIR);
        }
        Ok(())
    }

    /// Makes a folder, and those above it, unless it is there.
    ///
    /// # Errors
    /// When it fails.
    pub fn make_folder(&self, folder: &Folder, granted: &Granted) -> Result<(), Failure> {
        let target = &granted.0;
        let told = |error: io::Error| Failure::io(format!("making the folder `{}`", target.path().display()), &error);
        let parent = folder.parent(target, &mut make).map_err(told)?;
        match rustix::fs::mkdirat(&parent, target.name(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(told(error.into())),
        }
    }

    fn write_with(
        &self,
        folder: &Folder,
        target: &Target,
        write: &Write<'_>,
        made: &mut Vec<(OwnedFd, OsString)>,
    ) -> Result<(), Trouble> {
        let parent = folder.parent(target, &mut |parent, name| {
            make(parent, name)?;
            if let Ok(parent) = parent.try_clone() {
                made.push((parent, name.to_owned()));
            }
            Ok(())
        })?;
        let old = folder.open_file(target)?;
        self.step(Step::Create)?;
        let temporary = Temporary::create(&parent, target, old.is_some())?;
        let filled = self.fill(&temporary, old.as_ref(), write).and_then(|()| {
            if current(&parent, target.name())?.map(Digest::of).as_ref() != write.expected {
                return Err(Trouble::Moved);
            }
            self.step(Step::Rename)?;
            temporary.take_name(target.name(), write.expected.is_none())
        });
        if let Err(trouble) = filled {
            if !matches!(trouble, Trouble::Crashed) {
                temporary.discard();
            }
            return Err(trouble);
        }
        match rustix::fs::fsync(&parent) {
            // Some file systems cannot do this for folders.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn fill(&self, temporary: &Temporary<'_>, old: Option<&File>, write: &Write<'_>) -> Result<(), Trouble> {
        let mut file = &temporary.file;
        self.step(Step::Write)?;
        file.write_all(write.bytes)?;
        if let Some(old) = old {
            keep_attributes(old, file)?;
        }
        if let Some(mode) = write.mode {
            rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
        }
        self.step(Step::Sync)?;
        rustix::fs::fsync(file)?;
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

/// Where a write of that file acts.
#[must_use]
pub fn scope(folder: &Folder, target: &Target) -> Scope {
    Scope::path(folder.path().join(target.path()).to_string_lossy())
}

fn make(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
        // Another writer was first; the opening that follows decides.
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

/// The bytes of a file now; `None` when it is not there.
fn current(parent: &OwnedFd, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Ok(fd) => {
            let mut bytes = Vec::new();
            File::from(fd).take(FILE_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
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
    fn create(parent: &'a OwnedFd, target: &Target, replaces: bool) -> Result<Self, Trouble> {
        // One name for one file, so that the next writer finds what a crash has left; short, whatever the file's name is.
        let digest = Digest::of(target.name().as_encoded_bytes());
        let name = OsString::from(format!(".pintle-new-{}", &digest.as_str()[..16]));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if replaces { 0o600 } else { 0o666 });
        for _ in 0..2 {
            match rustix::fs::openat(parent, &name, flags, mode) {
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

    fn discard(&self) {
        // The write has failed already, and that is what is told.
        let _ = rustix::fs::unlinkat(self.parent, &self.name, AtFlags::empty());
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
    fn told(self, target: &Target) -> Failure {
        let file = target.path().display();
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
                .hint("read it again and repeat the edit")
                .retryable(),
            Self::Busy => Failure::new(Code::Busy, format!("`{file}` is being written by another process")).retryable(),
            Self::Crashed => Failure::new(Code::Io, format!("writing `{file}`: broken off")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Inside;
    use pintle_core::Authority;
    use std::{fs, sync::OnceLock};

    /// The only source of permits of this test program.
    fn permit(effect: Effect, path: &str) -> Permit {
        static AUTHORITY: OnceLock<Authority> = OnceLock::new();
        let authority = AUTHORITY.get_or_init(|| Authority::claim().expect("nobody else gives out permits here"));
        authority.permit(effect, vec![Scope::path(path)])
    }

    fn folder() -> (tempfile::TempDir, Folder, String) {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("f"), "old").unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        let path = folder.path().to_string_lossy().into_owned();
        (temp, folder, path)
    }

    #[test]
    fn without_a_permit_for_that_very_file_nothing_is_written() {
        let (_temp, folder, path) = folder();
        let target = || folder.locate(&Inside::of("f")).unwrap();
        for wrong in [
            permit(Effect::READ, &path),
            permit(Effect::WRITE, &format!("{path}/other")),
            permit(Effect::WRITE, &format!("{path}2")),
        ] {
            assert_eq!(Granted::of(&wrong, &folder, target()).unwrap_err().code, Code::Denied);
        }
        for right in [permit(Effect::WRITE, &path), permit(Effect::WRITE, &format!("{path}/f"))] {
            assert!(Granted::of(&right, &folder, target()).is_ok());
        }
    }

    #[test]
    fn what_somebody_else_has_written_or_is_writing_is_left_alone() {
        let (temp, folder, path) = folder();
        let target = folder.locate(&Inside::of("f")).unwrap();
        let granted = Granted::of(&permit(Effect::WRITE, &path), &folder, target).unwrap();
        let writer = Writer::default();
        let (old, other) = (Digest::of("old"), Digest::of("other"));
        let write = |expected| writer.write(&folder, &granted, &Write { bytes: b"new", mode: None, expected });
        for unexpected in [Some(&other), None] {
            assert_eq!(write(unexpected).unwrap_err().code, Code::Moved);
            assert_eq!(fs::read(temp.path().join("f")).unwrap(), b"old");
        }
        let name = format!(".pintle-new-{}", &Digest::of("f").as_str()[..16]);
        let busy = File::create(temp.path().join(&name)).unwrap();
        rustix::fs::flock(&busy, FlockOperation::LockExclusive).unwrap();
        assert_eq!(write(Some(&old)).unwrap_err().code, Code::Busy);
        drop(busy);
        write(Some(&old)).unwrap();
        assert_eq!(fs::read(temp.path().join("f")).unwrap(), b"new");
        assert!(!temp.path().join(name).exists(), "what a dead writer left is gone");
    }
}
