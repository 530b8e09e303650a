//! The helper's own file: `/usr/lib/pintle/pintle-helper`, root's alone.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use pintle_core::{Code, Failure};

use super::change::{Removed, Written, as_root, current, put, unlink};
use super::place::{self, FOLDER, Place};
use super::rule::HELPER;

/// More than any build of it has.
const HELPER_LIMIT: u64 = 64 * 1024 * 1024;
const MODE: u32 = 0o755;
const LIB: &str = "/usr/lib";
const NAME: &str = "pintle-helper";

/// Copies the helper to its place, in one step, with mode 0755 and root as its owner. A second call with the same program
/// changes nothing.
///
/// # Errors
/// Code `denied` when not root, or when others than root can change a part of the path; `invalid` when the source is no
/// program; `io`. In every case the old helper is as it was.
pub fn install_helper(place: &Place, source: &Path) -> Result<Written, Failure> {
    as_root()?;
    let program = program(source)?;
    place.files().folder(LIB).map_err(|why| place::refused(&why, "the folder of the helper"))?;
    let (own, _) = HELPER.rsplit_once('/').unwrap_or((LIB, NAME));
    match fs::DirBuilder::new().mode(MODE).create(place.path(own)) {
        // A mask of the caller must not close it.
        Ok(()) => fs::set_permissions(place.path(own), fs::Permissions::from_mode(MODE)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|error| Failure::io(format!("making `{own}`"), &error))?;
    let folder = place.files().folder(own).map_err(|why| place::refused(&why, "the folder of the helper"))?;
    let path = folder.join(NAME);
    if current(&path)?.is_some_and(|old| old.is(&program, MODE)) {
        return Ok(Written { path, changed: false });
    }
    put(&folder, NAME, &program, MODE)?;
    Ok(Written { path, changed: true })
}

/// Takes the helper away, and its folder when nothing else is in it.
///
/// # Errors
/// Code `denied` when not root, `busy` while a rule in sudo's folder still names it, `io` when it is still there.
pub fn remove_helper(place: &Place) -> Result<Removed, Failure> {
    as_root()?;
    let users = named_by(place)?;
    if !users.is_empty() {
        return Err(Failure::new(Code::Busy, format!("the helper is still granted by {}", users.join(", ")))
            .hint("remove these rules first: whoever could put another program there would be root"));
    }
    let path = place.path(HELPER);
    let existed = unlink(&path)?;
    if let Some(folder) = path.parent() {
        // Packs of the system may be in it; then it stays.
        let _ = fs::remove_dir(folder);
    }
    Ok(Removed { path, existed })
}

/// The rules that name the helper.
fn named_by(place: &Place) -> Result<Vec<String>, Failure> {
    let folder = place.path(FOLDER);
    let unread = |error: &io::Error| Failure::io(format!("reading `{}`", folder.display()), error);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| unread(&error))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unread(&error))?.path();
        if path.is_file() {
            let text = fs::read(&path).map_err(|error| unread(&error))?;
            if String::from_utf8_lossy(&text).lines().any(|line| !line.starts_with('#') && line.contains(HELPER)) {
                found.push(format!("`{}`", path.display()));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The bytes of a program.
fn program(source: &Path) -> Result<Vec<u8>, Failure> {
    let unread = |error: &io::Error| Failure::io(format!("reading `{}`", source.display()), error);
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(source).map_err(|error| unread(&error))?;
    let mut bytes = Vec::new();
    if file.metadata().map_err(|error| unread(&error))?.is_file() {
        file.take(HELPER_LIMIT + 1).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
    }
    if bytes.starts_with(b"\x7fELF") && bytes.len() as u64 <= HELPER_LIMIT {
        return Ok(bytes);
    }
    Err(Failure::new(Code::Invalid, format!("`{}` is not the helper: no ELF program", source.display()))
        .hint("give the `pintle-helper` that came with this pintle"))
}
