//! The one writer of clients' files: a file is written only if it still has the bytes that were read.
//!
//! The bytes are put into place by [`pintle_files`]. A file with several names is written in place, and only where that
//! was asked for.

use crate::files::{Located, open_in};
use pintle_core::Failure;
use pintle_files::{Fault, Replacement, Step, Trouble};
use rustix::{
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Seek as _, Write as _},
    os::fd::OwnedFd,
    path::PathBuf,
};

/// The writer of clients' files.
#[derive(Debug, Default)]
pub struct Writer(pintle_files::Writer);

impl Writer {
    /// Makes the next write fail at that step.
    pub fn fail_at(&self, step: Step, fault: Fault) {
        self.0.fail_at(step, fault);
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
            return Err(told(&trouble, at));
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
            self.0.step(Step::Rename)?;
            Ok(rustix::fs::unlinkat(&parent, at.name(), AtFlags::empty())?)
        };
        remove().map_err(|trouble| told(&trouble, at))?;
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
        let new = Replacement { bytes, old: old.as_ref(), mode: None, made: 0o600, fresh: expected.is_none() };
        self.0.replace(parent, &at.name(), &new, || Ok(current(parent, &at.name())?.as_deref() == expected))
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
        self.0.step(Step::Write)?;
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
}

/// The bytes of a file now; none when it is not there.
fn current(parent: &OwnedFd, name: &OsStr) -> io::Result<Option<Vec<u8>>> {
    let Some(mut file) = open_in(parent, name)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn told(trouble: &Trouble, at: &Located) -> Failure {
    let failure = trouble.told(at.path.display());
    match trouble {
        Trouble::Moved => failure.hint("call again; the file is as they left it"),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_core::{Code, Digest};
    use rustix::fs::{FlockOperation, XattrFlags};
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
