//! Paths that the program trusts although others may be able to make them first.
//!
//! A fixed name in a folder for everybody can be taken by anybody before root uses it. Such a path must be root's, and where
//! it is not there yet, it is made here: nobody can take it away again from a folder with the sticky bit.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use pintle_packfile::trust::{Root, Untrusted};

use crate::refused::Refused;

const STICKY: u32 = 0o1000;

/// Checks every path, and makes the folders that others could make.
pub fn check(paths: &[String]) -> Result<(), Refused> {
    let root = Root::system();
    paths.iter().try_for_each(|path| {
        one(&root, Path::new(path)).map_err(|why| Refused::Guard { path: PathBuf::from(path), why })
    })
}

fn one(root: &Root, path: &Path) -> Result<(), String> {
    let told = |why: Untrusted| why.to_string();
    let Some(parent) = path.parent() else { return Err("it is no path below `/`".into()) };
    match root.folder(parent) {
        // Nobody but root can put anything there.
        Ok(_) => match root.file(path).or_else(|_| root.folder(path)) {
            Err(why) if !why.is_missing() => Err(told(why)),
            _ => Ok(()),
        },
        Err(why) if why.is_missing() => Ok(()),
        Err(Untrusted::Writable { path: shared, mode }) if shared == parent && mode & STICKY != 0 => in_shared(path),
        Err(why) => Err(told(why)),
    }
}

/// In a folder of root's in which everybody makes files and each removes only their own.
fn in_shared(path: &Path) -> Result<(), String> {
    match fs::DirBuilder::new().mode(0o755).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(format!("making it failed: {error}")),
        _ => {}
    }
    let found = path.symlink_metadata().map_err(|error| error.to_string())?;
    if found.uid() != 0 {
        return Err(format!("user {} made it", found.uid()));
    }
    if !found.is_dir() {
        return Err("it is no folder".into());
    }
    if found.mode() & 0o022 != 0 {
        return Err(format!("others can write in it (mode {:04o})", found.mode() & 0o7777));
    }
    Ok(())
}
