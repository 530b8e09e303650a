//! Which files may steer a process of root: those that nobody but root can change.
//!
//! A path is walked from `/`, component by component, links included. Every folder on the way, and what it ends at, must
//! belong to root and not be writable by its group or by others. Since nobody but root can then put anything in the place of
//! any of them, what was found stays what it is while it is used.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows in one path.
const LINK_LIMIT: usize = 40;

/// The bits that let somebody else write.
const OTHERS_WRITE: u32 = 0o022;

/// Why a file may not steer a process of root.
#[derive(Debug, thiserror::Error)]
pub enum Untrusted {
    /// Not an absolute path.
    #[error("`{}` is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// Nothing has this name.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// It, or a folder or link on the way to it, belongs to somebody else.
    #[error("`{}` belongs to user {uid}, not to root", path.display())]
    Owner {
        /// The component in question.
        path: PathBuf,
        /// The number of its owner.
        uid: u32,
    },
    /// Its group or others can change it, or a folder on the way to it.
    #[error("`{}` can be changed by others than root (mode {mode:04o})", path.display())]
    Writable {
        /// The component in question.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is something else than was looked for.
    #[error("`{}` is not a {wanted}", path.display())]
    Kind {
        /// The path in question.
        path: PathBuf,
        /// What was looked for.
        wanted: &'static str,
    },
    /// It leads through more links than the kernel follows.
    #[error("`{}` leads through too many links", .0.display())]
    Links(PathBuf),
    /// It is larger than what is read.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    Large {
        /// The path in question.
        path: PathBuf,
        /// How much is read at most.
        limit: u64,
    },
    /// The system refuses to look.
    #[error("looking at `{}`: {source}", path.display())]
    System {
        /// The path in question.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl Untrusted {
    /// Whether it is simply not there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing(_))
    }
}

/// The folder from which paths are walked: `/`, or one that stands for it. What lies above it is not looked at.
#[derive(Clone, Debug)]
pub struct Root {
    at: PathBuf,
    owner: u32,
}

impl Root {
    /// `/`.
    #[must_use]
    pub fn system() -> Self {
        Self::below("/")
    }

    /// A folder that stands for `/`: absolute links lead into it.
    #[must_use]
    pub fn below(at: impl Into<PathBuf>) -> Self {
        Self { at: at.into(), owner: 0 }
    }

    /// The same with another user in root's place, for tests that are not run as root.
    #[must_use]
    pub fn owned_by(self, owner: u32) -> Self {
        Self { owner, ..self }
    }

    /// Where a file lies, its name given from this root.
    #[must_use]
    pub fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.at.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The canonical path of a file that nobody but root can change.
    ///
    /// # Errors
    /// [`Untrusted`].
    pub fn file(&self, path: impl AsRef<Path>) -> Result<PathBuf, Untrusted> {
        let (found, metadata) = self.walk(path.as_ref())?;
        if metadata.is_file() { Ok(found) } else { Err(Untrusted::Kind { path: found, wanted: "regular file" }) }
    }

    /// The canonical path of a folder in which nobody but root can put, rename or remove anything.
    ///
    /// # Errors
    /// [`Untrusted`].
    pub fn folder(&self, path: impl AsRef<Path>) -> Result<PathBuf, Untrusted> {
        let (found, metadata) = self.walk(path.as_ref())?;
        if metadata.is_dir() { Ok(found) } else { Err(Untrusted::Kind { path: found, wanted: "folder" }) }
    }

    /// The bytes of a file that nobody but root can change.
    ///
    /// # Errors
    /// [`Untrusted`], also when it has more than `limit` bytes.
    pub fn read(&self, path: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>, Untrusted> {
        let path = self.file(path)?;
        let system = |source| Untrusted::System { path: path.clone(), source };
        let mut bytes = Vec::new();
        File::open(&path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(system)?;
        if bytes.len() as u64 > limit { Err(Untrusted::Large { path, limit }) } else { Ok(bytes) }
    }

    fn walk(&self, path: &Path) -> Result<(PathBuf, Metadata), Untrusted> {
        if !path.is_absolute() {
            return Err(Untrusted::Relative(path.to_owned()));
        }
        let mut left: VecDeque<OsString> = parts(path).collect();
        let mut links = 0;
        let mut here = self.at.clone();
        let mut metadata = self.look(&here)?;
        while let Some(part) = left.pop_front() {
            if part == ".." {
                if here != self.at {
                    here.pop();
                }
                metadata = self.look(&here)?;
                continue;
            }
            if !metadata.is_dir() {
                return Err(Untrusted::Kind { path: here, wanted: "folder" });
            }
            let next = here.join(&part);
            metadata = self.look(&next)?;
            if !metadata.is_symlink() {
                here = next;
                continue;
            }
            links += 1;
            if links > LINK_LIMIT {
                return Err(Untrusted::Links(path.to_owned()));
            }
            let target = std::fs::read_link(&next).map_err(|source| Untrusted::System { path: next, source })?;
            if target.is_absolute() {
                here.clone_from(&self.at);
            }
            metadata = self.look(&here)?;
            for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                left.push_front(part);
            }
        }
        Ok((here, metadata))
    }

    /// One component: nobody but root may be able to change it. The bits of a link mean nothing.
    fn look(&self, path: &Path) -> Result<Metadata, Untrusted> {
        let metadata = path.symlink_metadata().map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Untrusted::Missing(path.to_owned()),
            _ => Untrusted::System { path: path.to_owned(), source },
        })?;
        if metadata.uid() != self.owner {
            return Err(Untrusted::Owner { path: path.to_owned(), uid: metadata.uid() });
        }
        let mode = metadata.mode() & 0o7777;
        if !metadata.is_symlink() && mode & OTHERS_WRITE != 0 {
            return Err(Untrusted::Writable { path: path.to_owned(), mode });
        }
        Ok(metadata)
    }
}

/// The components that lead somewhere, `..` among them.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    /// A root of the test's own user, so that the rules show without being root.
    fn root() -> (tempfile::TempDir, Root) {
        let temp = tempfile::tempdir().unwrap();
        let at = temp.path().canonicalize().unwrap();
        let owner = fs::metadata(&at).unwrap().uid();
        fs::create_dir_all(at.join("usr/bin")).unwrap();
        fs::write(at.join("usr/bin/coa"), "program").unwrap();
        for path in ["", "usr", "usr/bin", "usr/bin/coa"] {
            set_mode(&at.join(path), 0o755);
        }
        (temp, Root { at, owner })
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn s_09_a_file_is_named_by_its_canonical_path() {
        let (_temp, root) = root();
        symlink("coa", root.at.join("usr/bin/eggs")).unwrap();
        symlink("/usr/bin", root.at.join("bin")).unwrap();
        symlink("../../bin/../bin/eggs", root.at.join("usr/bin/again")).unwrap();
        let program = root.at.join("usr/bin/coa");
        for path in ["/usr/bin/coa", "/usr/bin/eggs", "/bin/eggs", "/usr/bin/again", "/../../bin/./coa"] {
            assert_eq!(root.file(path).unwrap(), program, "{path}");
        }
        assert_eq!(root.folder("/bin").unwrap(), root.at.join("usr/bin"));
        assert_eq!(root.read("/bin/eggs", 7).unwrap(), b"program");
        assert!(matches!(root.read("/bin/eggs", 6), Err(Untrusted::Large { limit: 6, .. })));
    }

    #[test]
    fn s_08_whatever_others_can_change_is_refused_with_the_component_that_is_to_blame() {
        for (blamed, mode) in [("", 0o777), ("usr", 0o775), ("usr/bin", 0o1777), ("usr/bin/coa", 0o757)] {
            let (_temp, root) = root();
            set_mode(&root.at.join(blamed), mode);
            let Err(Untrusted::Writable { path, mode: found }) = root.file("/usr/bin/coa") else {
                panic!("{blamed} {mode:o} passed");
            };
            assert_eq!((path, found), (root.at.join(blamed), mode));
            set_mode(&root.at.join(blamed), 0o755);
            root.file("/usr/bin/coa").unwrap();
        }
    }

    #[test]
    fn s_08_what_belongs_to_somebody_else_is_refused() {
        let (_temp, root) = root();
        let other = Root { owner: root.owner + 1, ..root };
        assert!(matches!(other.file("/usr/bin/coa"), Err(Untrusted::Owner { uid, .. }) if uid + 1 == other.owner));
    }

    #[test]
    fn s_08_a_link_does_not_lead_past_the_rules() {
        let (_temp, root) = root();
        fs::create_dir(root.at.join("open")).unwrap();
        fs::write(root.at.join("open/coa"), "").unwrap();
        set_mode(&root.at.join("open"), 0o777);
        symlink("/open/coa", root.at.join("usr/bin/eggs")).unwrap();
        assert!(matches!(root.file("/usr/bin/eggs"), Err(Untrusted::Writable { .. })));
        symlink("loop", root.at.join("usr/bin/loop")).unwrap();
        assert!(matches!(root.file("/usr/bin/loop"), Err(Untrusted::Links(_))));
    }

    #[test]
    fn what_is_not_there_or_something_else_is_told_apart() {
        let (_temp, root) = root();
        assert!(root.file("/usr/bin/none").unwrap_err().is_missing());
        assert!(matches!(root.file("usr/bin/coa"), Err(Untrusted::Relative(_))));
        assert!(matches!(root.file("/usr/bin"), Err(Untrusted::Kind { wanted: "regular file", .. })));
        assert!(matches!(root.folder("/usr/bin/coa"), Err(Untrusted::Kind { wanted: "folder", .. })));
        assert!(matches!(root.file("/usr/bin/coa/x"), Err(Untrusted::Kind { wanted: "folder", .. })));
    }
}
