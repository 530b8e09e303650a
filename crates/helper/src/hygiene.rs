//! What must be so before anything else happens, and what is made so.

use std::{fs, os::unix::fs::MetadataExt as _};

use rustix::{
    fs::Mode,
    process::{Signal, getgid, getuid},
};

use crate::refused::Refused;

/// Root from the start, not by a set-user-ID bit: with that, whoever calls would own part of the process.
pub fn only_root() -> Result<(), Refused> {
    if getuid().is_root() && rustix::process::geteuid().is_root() && getgid().is_root() {
        return Ok(());
    }
    Err(Refused::NotRoot)
}

/// Working directory, mask, what happens without the elevator, and descriptors.
pub fn clean() -> Result<(), Refused> {
    rustix::process::chdir("/").map_err(Refused::system("changing to `/`"))?;
    rustix::process::umask(Mode::from_raw_mode(0o022));
    // Whoever called may be able to kill the elevator, which is then missed here.
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(Refused::system("asking for a signal"))?;
    match open_descriptor()? {
        Some(descriptor) => Err(Refused::Descriptor(descriptor)),
        None => Ok(()),
    }
}

/// A descriptor beside the three that everybody has. sudo and doas close them all; one that is open is an accident or a
/// trick, and nothing that belongs to whoever calls may reach a child that is root.
fn open_descriptor() -> Result<Option<i32>, Refused> {
    const FOLDER: &str = "/proc/self/fd";
    let unread = || Refused::system(format!("reading `{FOLDER}`"));
    let mut open: Vec<i32> = Vec::new();
    for entry in fs::read_dir(FOLDER).map_err(unread())? {
        let entry = entry.map_err(unread())?;
        open.extend(entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    // The one that the reading itself had is closed by now.
    Ok(open.into_iter().find(|number| *number > 2 && fs::read_link(format!("{FOLDER}/{number}")).is_ok()))
}

/// Whether the process above us runs the same program as we do.
pub fn started_by_ourselves() -> Result<bool, Refused> {
    let identity = |process: &str| {
        let path = format!("/proc/{process}/exe");
        fs::metadata(&path)
            .map(|file| (file.dev(), file.ino()))
            .map_err(Refused::system(format!("looking at `{path}`")))
    };
    let Some(parent) = rustix::process::getppid() else { return Ok(false) };
    Ok(identity("self")? == identity(&parent.as_raw_nonzero().to_string())?)
}
