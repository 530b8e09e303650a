//! One flight at a time on the whole machine.
//!
//! The server of a user keeps to its lanes among the servers of that user. What runs as root works on what all users share, so
//! the lane is taken here as well, in the folder in which the servers of root have theirs: whoever comes second is refused,
//! whoever is first.

use std::{
    fs, io,
    io::Write as _,
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::Path,
    thread,
    time::Duration,
};

use pintle_packfile::trust::Root;
use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, open},
    io::Errno,
};
use sha2::{Digest as _, Sha256};

use crate::refused::Refused;

/// Where the lanes of root lie, for its servers too.
const FOLDER: &str = "/run/pintle/lanes";

/// A lane that is held until this value goes.
#[derive(Debug)]
pub struct Held(#[expect(dead_code, reason = "the lock goes with the descriptor")] fs::File);

/// Takes the lane of a pack, or says that it is taken; nobody waits here.
pub fn take(pack: &str, lane: &str) -> Result<Held, Refused> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(FOLDER)
        .map_err(Refused::system(format!("making `{FOLDER}`")))?;
    let folder = Root::system().folder(FOLDER)?;
    let system = || Refused::system(format!("locking the lane `{lane}`"));
    // The name under which a server of root locks the same lane.
    let name: String = Sha256::digest(format!("pack:{pack}:{lane}")).iter().map(|byte| format!("{byte:02x}")).collect();
    let file = locked(&folder.join(name)).map_err(system())?;
    let Some(file) = file else { return Err(Refused::Busy { pack: pack.to_owned(), lane: lane.to_owned() }) };
    let mut file = fs::File::from(file);
    file.set_len(0).map_err(system())?;
    file.write_all(format!("{{\"pid\":{}}}", std::process::id()).as_bytes()).map_err(system())?;
    Ok(Held(file))
}

/// The file with its lock; none where somebody else has it. It is closed in whatever is started.
fn locked(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = open(path, flags, Mode::from_raw_mode(0o600))?;
    // A server of root that only looks whether the lane is taken has it for a moment, too: that is no holder.
    for pause in [5, 20, 0] {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => thread::sleep(Duration::from_millis(pause)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
