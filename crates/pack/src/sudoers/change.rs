//! Putting the rule in place, and taking it away.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use pintle_core::{Code, Failure};
use pintle_files::{Replacement, Writer};
use serde::Serialize;

use super::place::{self, FOLDER, Place};
use super::rule::Rule;
use super::syntax;

/// Nobody writes it, not even root by mistake; its group reads it.
pub(super) const MODE: u32 = 0o440;
/// Root, as a user and as a group.
pub(super) const ROOT: u32 = 0;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Which file.
    pub path: PathBuf,
    /// Whether anything about it is different now.
    pub changed: bool,
}

/// What was taken away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Which file.
    pub path: PathBuf,
    /// Whether it was there.
    pub existed: bool,
}

/// Grants the rule: mode 0440, root:root, in one step. A second call with the same rule changes nothing.
///
/// # Errors
/// Code `denied` when not root, when the file is a link or has a second name, or when others than root can change a part of
/// the path; `unavailable` without sudo, its folder of rules or the helper; `not_found` for an unknown user; `invalid` when
/// `visudo` refuses the rule or what sudo reads already; `io`. In every case the rules are as they were.
pub async fn install(place: &Place, rule: &Rule) -> Result<Written, Failure> {
    as_root()?;
    if rule.user_names().is_empty() {
        return Err(Failure::invalid_argument("user", "nobody was named to grant it to"));
    }
    place.sudo().map_err(|failure| without_sudo(failure, place, rule))?;
    for user in rule.user_names() {
        user.known(place).await?;
    }
    place.files().file(rule.helper()).map_err(|why| {
        place::refused(&why, "the helper cannot be granted").hint("install the helper first; see docs/privilege.md")
    })?;
    let folder = place.files().folder(FOLDER).map_err(|why| {
        place::refused(&why, "the folder of rules").hint(format!("make `{FOLDER}` a folder of root with mode 0750"))
    })?;
    syntax::includes_folder(place)?;
    let path = folder.join(rule.file());
    let old = current(&path)?;
    let text = rule.sudoers()?;
    if old.as_ref().is_some_and(|old| old.is(text.as_bytes(), MODE)) {
        syntax::check_all(place).await?;
        return Ok(Written { path, changed: false });
    }
    if old.is_none() {
        // What is there already may be what visudo minds, and is then mended by this; what is not there is not to blame.
        syntax::check_all(place)
            .await
            .map_err(|failure| failure.hint("mend the rules of sudo first; nothing was changed"))?;
    }
    syntax::check_text(place, &text).await?;
    put(&folder, rule.file(), text.as_bytes(), MODE)?;
    if let Err(failure) = syntax::check_all(place).await {
        return Err(match back(&folder, rule.file(), old.as_ref()) {
            Ok(()) => failure.hint("the rules are as they were"),
            Err(also) => failure.hint(format!("remove `{}` by hand: {}", path.display(), also.message)),
        });
    }
    Ok(Written { path, changed: true })
}

/// Takes the rule away: this one file, a link itself and not what it leads to.
///
/// # Errors
/// Code `denied` when not root, `io` when it is still there.
pub fn remove(place: &Place, file: &str) -> Result<Removed, Failure> {
    as_root()?;
    let path = place.path(FOLDER).join(file);
    let existed = unlink(&path)?;
    Ok(Removed { path, existed })
}

/// Removes a file, and says whether it was there.
pub(super) fn unlink(path: &Path) -> Result<bool, Failure> {
    let left = |error: &io::Error| Failure::io(format!("`{}` is left behind", path.display()), error);
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(left(&error).hint("remove it by hand: it may grant what nobody wants granted any more")),
    }
}

/// # Errors
/// Code `denied`.
pub(super) fn as_root() -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Failure::new(Code::Denied, "only root changes what is granted").hint("run the command with `sudo` or as root"))
}

/// A file as it was, to be put back.
pub(super) struct Old {
    bytes: Vec<u8>,
    metadata: Metadata,
}

impl Old {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn is(&self, bytes: &[u8], mode: u32) -> bool {
        let found = (self.metadata.mode() & 0o7777, self.metadata.uid(), self.metadata.gid());
        self.bytes == bytes && found == (mode, ROOT, ROOT)
    }
}

/// The file that is there. It must be one file with one name.
///
/// # Errors
/// Code `denied` for anything else, `io`.
pub(super) fn current(path: &Path) -> Result<Option<Old>, Failure> {
    let odd = |what: &str| {
        Failure::new(Code::Denied, format!("`{}` is {what}: it is not replaced", path.display()))
            .hint("look who made it, remove it by hand, and call again")
    };
    let io = |error: &io::Error| Failure::io(format!("reading `{}`", path.display()), error);
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(&error)),
        Ok(metadata) if metadata.is_symlink() => return Err(odd("a symbolic link")),
        Ok(metadata) if !metadata.is_file() => return Err(odd("no regular file")),
        Ok(metadata) if metadata.nlink() > 1 => return Err(odd("a file with a second name")),
        Ok(_) => {}
    }
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed();
    let mut file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| io(&error))?;
    let mut bytes = Vec::new();
    let metadata = file.metadata().and_then(|metadata| file.read_to_end(&mut bytes).map(|_| metadata));
    Ok(Some(Old { bytes, metadata: metadata.map_err(|error| io(&error))? }))
}

/// Puts a file of root in place of what has the name.
pub(super) fn put(folder: &Path, name: &str, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    written(folder, name, bytes, mode, (ROOT, ROOT))
}

/// Puts back what was there.
fn back(folder: &Path, name: &str, old: Option<&Old>) -> Result<(), Failure> {
    match old {
        None => unlink(&folder.join(name)).map(drop),
        Some(Old { bytes, metadata }) => {
            written(folder, name, bytes, metadata.mode() & 0o7777, (metadata.uid(), metadata.gid()))
        }
    }
}

fn written(folder: &Path, name: &str, bytes: &[u8], mode: u32, (user, group): (u32, u32)) -> Result<(), Failure> {
    let parent: OwnedFd =
        File::open(folder).map_err(|error| Failure::io(format!("opening `{}`", folder.display()), &error))?.into();
    // The writer's temporary file is named `.pintle-new-…`: sudo reads no name with a dot.
    let new = Replacement { bytes, old: None, mode: Some(mode), made: 0o600, fresh: false };
    Writer::giving_to(user, group)
        .replace(&parent, OsStr::new(name), &new, || Ok(true))
        .map_err(|trouble| trouble.told(folder.join(name).display()))
}

/// What to do where there is no sudo.
fn without_sudo(failure: Failure, place: &Place, rule: &Rule) -> Failure {
    if place.doas().is_err() {
        return failure.hint("install sudo, or doas, or run the agent as root");
    }
    // A line each, to be copied as they are.
    failure.hint(format!("for doas, add to `/etc/doas.conf`:\n{}", rule.doas().join("\n")))
}
