//! Files of a user, reached without following a link out of that user's home.
//!
//! A path is looked at name by name. A link is passed only when it and what it leads to lie beneath the same folder and
//! belong to the same user; the file behind it is then opened by its real path with no link followed at all, so that a
//! link put there in between fails the opening.

use crate::edit::FILE_LIMIT;
use pintle_core::{Code, Failure};
use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};
use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::{Component, Path, PathBuf},
};

/// A file that may be read and written, or made.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    /// The path as the client knows it.
    pub(crate) path: PathBuf,
    /// The folder that the walk starts from: real, and there.
    pub(crate) fence: PathBuf,
    /// The file itself, below that folder.
    pub(crate) below: PathBuf,
    /// Whether it has several names.
    pub(crate) hard_linked: bool,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Located {
    /// Finds out where a path leads. `fence` is the folder beneath which links may lead.
    ///
    /// # Errors
    /// Code `denied` for a link that leads elsewhere, `invalid` for something that is no regular file.
    pub(crate) fn of(path: &Path, fence: &Path) -> Result<Self, Failure> {
        let named = || format!("finding `{}`", path.display());
        // What is missing of the fence itself is made like any other folder.
        let mut there = fence;
        let real_fence = loop {
            match fs::canonicalize(there) {
                Ok(real) => break real,
                Err(error) if error.kind() == io::ErrorKind::NotFound && there.parent().is_some() => {
                    if fs::symlink_metadata(there).is_ok() {
                        return Err(dangling(there));
                    }
                    there = there.parent().unwrap_or(there);
                }
                Err(error) => return Err(Failure::io(named(), &error)),
            }
        };
        let owner = fs::metadata(&real_fence).map_err(|error| Failure::io(named(), &error))?.uid();
        let below = path.strip_prefix(there).map_err(|_| {
            Failure::new(Code::Internal, format!("`{}` is not below `{}`", path.display(), there.display()))
        })?;
        let mut real = real_fence.clone();
        let mut parts = below.components();
        for part in parts.by_ref() {
            let Component::Normal(name) = part else {
                return Err(Failure::new(Code::Invalid, format!("`{}` is not a plain path", path.display())));
            };
            let next = real.join(name);
            let metadata = match fs::symlink_metadata(&next) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    real = next;
                    break;
                }
                Err(error) => return Err(Failure::io(named(), &error)),
            };
            real = if metadata.is_symlink() { followed(&next, &metadata, &real_fence, owner)? } else { next };
        }
        let real = parts.fold(real, |real, part| real.join(part));
        let metadata = match fs::symlink_metadata(&real) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Failure::io(named(), &error)),
        };
        if let Some(metadata) = &metadata
            && !metadata.is_file()
        {
            let what = if metadata.is_dir() { "a folder" } else { "no regular file" };
            return Err(Failure::new(Code::Invalid, format!("`{}` is {what}", path.display()))
                .hint("move it away; the client expects a file there"));
        }
        let below = real.strip_prefix(&real_fence).unwrap_or(&real).to_owned();
        let hard_linked = metadata.is_some_and(|metadata| metadata.nlink() > 1);
        Ok(Self { path: path.to_owned(), fence: real_fence, below, hard_linked })
    }

    /// The file itself, links resolved.
    pub(crate) fn real(&self) -> PathBuf {
        self.fence.join(&self.below)
    }

    /// Its name in its folder.
    pub(crate) fn name(&self) -> OsString {
        self.below.file_name().unwrap_or_default().to_owned()
    }

    /// Reads the file; none when it is not there.
    ///
    /// # Errors
    /// When it cannot be read, or is larger than 4 MiB.
    pub(crate) fn read(&self) -> Result<Option<Vec<u8>>, Failure> {
        let named = |error: io::Error| Failure::io(format!("reading `{}`", self.path.display()), &error);
        let parent = match self.parent(&mut |_, _| Err(Errno::NOENT)) {
            Ok(parent) => parent,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(named(error)),
        };
        let Some(file) = open_in(&parent, &self.name()).map_err(named)? else { return Ok(None) };
        let mut bytes = Vec::new();
        (&file).take(FILE_LIMIT as u64 + 1).read_to_end(&mut bytes).map_err(named)?;
        if bytes.len() > FILE_LIMIT {
            return Err(Failure::new(Code::TooLarge, format!("`{}` is larger than 4 MiB", self.path.display())));
        }
        Ok(Some(bytes))
    }

    /// Opens its folder name by name; `missing` is called for one that is not there, and may make it.
    pub(crate) fn parent(
        &self,
        missing: &mut dyn FnMut(&OwnedFd, &std::ffi::OsStr) -> Result<(), Errno>,
    ) -> io::Result<OwnedFd> {
        let mut folder = rustix::fs::open(&self.fence, FOLDER, Mode::empty())?;
        for part in self.below.parent().into_iter().flat_map(Path::components) {
            let name = part.as_os_str();
            let opened = match rustix::fs::openat(&folder, name, FOLDER, Mode::empty()) {
                Err(Errno::NOENT) => {
                    missing(&folder, name)?;
                    rustix::fs::openat(&folder, name, FOLDER, Mode::empty())
                }
                opened => opened,
            };
            folder = opened?;
        }
        Ok(folder)
    }
}

/// Opens a regular file in that folder; none when it is not there.
pub(crate) fn open_in(parent: &OwnedFd, name: &std::ffi::OsStr) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Ok(fd) => {
            let file = File::from(fd);
            if file.metadata()?.is_file() { Ok(Some(file)) } else { Err(io::ErrorKind::InvalidInput.into()) }
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Where a link leads, if it may be followed.
fn followed(link: &Path, metadata: &fs::Metadata, fence: &Path, owner: u32) -> Result<PathBuf, Failure> {
    let target = match fs::canonicalize(link) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(dangling(link)),
        Err(error) => return Err(Failure::io(format!("following the link `{}`", link.display()), &error)),
    };
    let at =
        fs::metadata(&target).map_err(|error| Failure::io(format!("looking at `{}`", target.display()), &error))?;
    let why = if !target.starts_with(fence) {
        "out of the home"
    } else if metadata.uid() != owner || at.uid() != owner {
        "to another user's file, or was made by another user"
    } else {
        return Ok(target);
    };
    let message = format!("`{}` is a link to `{}`, which leads {why}", link.display(), target.display());
    Err(Failure::new(Code::Denied, message).hint("replace the link by the file, or edit the file behind it by hand"))
}

fn dangling(link: &Path) -> Failure {
    let target = fs::read_link(link).unwrap_or_default();
    Failure::new(Code::Invalid, format!("`{}` is a link to `{}`, which is not there", link.display(), target.display()))
        .hint("remove the link, or make what it leads to")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn s_13_s_14_links_are_followed_at_home_and_refused_with_both_paths_elsewhere() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap().join("home");
        let away = temp.path().canonicalize().unwrap().join("away");
        fs::create_dir_all(home.join("dotfiles/zed")).unwrap();
        fs::create_dir_all(&away).unwrap();
        fs::write(home.join("dotfiles/zed/settings.json"), "{}").unwrap();
        fs::write(away.join("settings.json"), "theirs").unwrap();
        symlink(home.join("dotfiles"), home.join(".config")).unwrap();
        let located = Located::of(&home.join(".config/zed/settings.json"), &home).unwrap();
        assert_eq!(located.below, Path::new("dotfiles/zed/settings.json"));
        assert_eq!(located.read().unwrap().unwrap(), b"{}");
        for (name, target) in [("out", away.join("settings.json")), ("folder", away.clone()), ("none", home.join("no"))]
        {
            symlink(&target, home.join(name)).unwrap();
            let path = if name == "folder" { home.join("folder/settings.json") } else { home.join(name) };
            let failure = Located::of(&path, &home).unwrap_err();
            let message = &failure.message;
            assert!(message.contains(&home.join(name).display().to_string()), "{message}");
            assert!(message.contains(&target.display().to_string()), "{message}");
        }
        fs::create_dir(home.join("mcp.json")).unwrap();
        assert!(Located::of(&home.join("mcp.json"), &home).unwrap_err().message.ends_with("is a folder"));
        // A link that takes the place of a folder after the look is not followed.
        let located = Located::of(&home.join("dotfiles/zed/settings.json"), &home).unwrap();
        fs::rename(home.join("dotfiles/zed"), home.join("dotfiles/old")).unwrap();
        symlink(&away, home.join("dotfiles/zed")).unwrap();
        assert!(located.read().is_err());
    }

    #[test]
    fn what_is_missing_is_told_apart_from_what_is_there() {
        let temp = tempfile::tempdir().unwrap();
        let fence = temp.path().join("not/yet");
        let located = Located::of(&fence.join("a/b.json"), &fence).unwrap();
        assert!(located.read().unwrap().is_none());
        assert!(located.real().ends_with("not/yet/a/b.json"));
        fs::write(temp.path().join("one"), "x").unwrap();
        fs::hard_link(temp.path().join("one"), temp.path().join("two")).unwrap();
        assert!(Located::of(&temp.path().join("two"), temp.path()).unwrap().hard_linked);
    }
}
