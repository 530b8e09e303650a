//! The one writer of a project's files: it wants a permit, makes folders on the way, and leaves the bytes to
//! [`pintle_files`].

use super::folder::{FILE_LIMIT, Folder, Target, too_large};
use pintle_core::{Digest, Effect, Failure, Permit, Scope};
use pintle_files::{Fault, Replacement, Step, Trouble};
use rustix::{
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _},
    os::fd::OwnedFd,
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

/// The writer of a project's files.
#[derive(Debug, Default)]
pub struct Writer(pintle_files::Writer);

impl Writer {
    /// Makes the next write fail at that step.
    pub fn fail_at(&self, step: Step, fault: Fault) {
        self.0.fail_at(step, fault);
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
        written.map_err(|trouble| failure_of(&trouble, target))
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
            return Err(failure_of(&Trouble::Moved, target));
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
        let new = Replacement {
            bytes: write.bytes,
            old: old.as_ref(),
            mode: write.mode,
            made: 0o666,
            fresh: write.expected.is_none(),
        };
        self.0.replace(&parent, target.name(), &new, || {
            Ok(current(&parent, target.name())?.map(Digest::of).as_ref() == write.expected)
        })
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

fn failure_of(trouble: &Trouble, target: &Target) -> Failure {
    let failure = trouble.told(target.path().display());
    match trouble {
        Trouble::Moved => failure.hint("read it again and repeat the edit").retryable(),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Inside;
    use pintle_core::{Authority, Code};
    use rustix::fs::FlockOperation;
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
