//! What tells a process from every other one that has, had or will have its number.

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::Path,
};

/// A process, for ever: no other one on this machine, before or after a reboot, has the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the boot.
    pub start_time: u64,
    /// The boot.
    pub boot_id: String,
    /// Device of the file that it runs.
    pub device: u64,
    /// Inode of the file that it runs.
    pub inode: u64,
}

/// What stands behind an identity now.
#[derive(Debug)]
pub enum Now {
    /// That process; its number passes to no other one while this descriptor is held. Readable once it has ended.
    Runs(OwnedFd),
    /// Nobody, or somebody else.
    Gone,
    /// It cannot be told.
    Hidden,
}

impl Identity {
    /// This process.
    ///
    /// # Errors
    /// Where there is no `/proc`.
    pub fn own() -> io::Result<Self> {
        Self::of(rustix::process::getpid().as_raw_nonzero().get())
    }

    /// The process that has that number now.
    ///
    /// # Errors
    /// When there is none, or it has ended and waits to be reaped.
    pub fn of(pid: i32) -> io::Result<Self> {
        let process = Path::new("/proc").join(pid.to_string());
        let stat = fs::read_to_string(process.join("stat"))?;
        let start_time = start_time(&stat).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        // The file itself, whatever became of its name.
        let program = fs::metadata(process.join("exe"))?;
        Ok(Self { pid, start_time, boot_id: boot_id()?, device: program.dev(), inode: program.ino() })
    }

    /// Whether it still runs, for the user of that number.
    #[must_use]
    pub fn now(&self, user: u32) -> Now {
        // A record says anything: zero and less are no process.
        let Some(pid) = (self.pid > 0).then(|| Pid::from_raw(self.pid)).flatten() else { return Now::Gone };
        // Held first and looked at then: what is found is what is held.
        let held = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(held) => held,
            Err(Errno::SRCH) => return Now::Gone,
            Err(_) => return Now::Hidden,
        };
        let owner = fs::metadata(Path::new("/proc").join(self.pid.to_string())).map(|metadata| metadata.uid());
        match (Self::of(self.pid), owner) {
            (Ok(found), Ok(owner)) if found == *self && owner == user => Now::Runs(held),
            (Ok(_), Ok(_)) => Now::Gone,
            (Err(error), _) | (_, Err(error)) if is_gone(&error) => Now::Gone,
            _ => Now::Hidden,
        }
    }

    /// Sends it a signal; false when it is gone.
    ///
    /// # Errors
    /// When it runs and cannot be signalled.
    pub fn signal(&self, user: u32, signal: Signal) -> io::Result<bool> {
        let held = match self.now(user) {
            Now::Runs(held) => held,
            Now::Gone => return Ok(false),
            Now::Hidden => return Err(io::Error::from(io::ErrorKind::PermissionDenied)),
        };
        match pidfd_send_signal(&held, signal) {
            Ok(()) => Ok(true),
            // It was faster.
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

/// The boot of this machine.
///
/// # Errors
/// Where there is no `/proc`.
pub fn boot_id() -> io::Result<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
}

/// The start of a process in the text of its `stat`; none of one that has ended. Its name may hold anything, also `)`.
fn start_time(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ended = matches!(fields.first()?, &"Z" | &"X" | &"x");
    fields.get(19)?.parse().ok().filter(|_| !ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_27_the_start_is_read_behind_whatever_the_process_is_called() {
        let rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21";
        assert_eq!(start_time(&format!("7 (mcp serve) start){rest}")), Some(4711));
        assert_eq!(start_time(&format!("7 (x){}", rest.replacen('S', "Z", 1))), None, "it has ended");
        assert_eq!(start_time("7 (x"), None);
        assert_eq!(start_time("7 (x) S 1"), None);
    }

    #[test]
    fn s_27_eg_060_a_process_is_known_by_all_that_it_is() {
        let user = rustix::process::getuid().as_raw();
        let own = Identity::own().unwrap();
        assert!(matches!(own.now(user), Now::Runs(_)));
        assert!(matches!(own.now(user + 1), Now::Gone), "another user's");
        let others = [
            Identity { start_time: own.start_time + 1, ..own.clone() },
            Identity { boot_id: "another".into(), ..own.clone() },
            Identity { device: own.device + 1, ..own.clone() },
            Identity { inode: own.inode + 1, ..own.clone() },
            Identity { pid: 1, ..own.clone() },
            Identity { pid: 0, ..own.clone() },
            Identity { pid: -1, ..own.clone() },
            Identity { pid: i32::MAX, ..own.clone() },
        ];
        for other in others {
            assert!(!matches!(other.now(user), Now::Runs(_)), "{other:?}");
            assert!(!other.signal(user, Signal::URG).unwrap_or(false), "{other:?}");
        }
    }
}
