//! A process that is surely the one that was meant.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Deserialize;

use crate::Error;

/// The identity of a process. A pid alone may be given to another process later; with the start time it is unique while
/// the machine runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// Its start, in clock ticks since boot.
    pub start: u64,
}

impl Process {
    /// Whether it runs. One that ended and only waits to be reaped does not.
    #[must_use]
    pub fn runs(&self) -> bool {
        std::fs::read_to_string(format!("/proc/{}/stat", self.pid))
            .is_ok_and(|stat| parse(&stat).is_some_and(|(state, start)| start == self.start && !"ZX".contains(state)))
    }

    /// Sends a signal; false when the process is gone.
    ///
    /// # Errors
    /// The signal is not permitted.
    pub fn signal(&self, signal: Signal) -> Result<bool, Error> {
        let Some(pidfd) = self.open() else { return Ok(false) };
        match pidfd_send_signal(&pidfd, signal) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::SRCH) => Ok(false),
            Err(errno) => Err(Error::Signal { pid: self.pid, source: io::Error::from(errno) }),
        }
    }

    /// Waits until it is gone; false when it still runs after `limit`.
    #[must_use]
    pub fn gone_within(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while self.runs() {
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Holds on to the process. The identity is read after the handle is taken: from then on the pid cannot change hands
    /// unnoticed.
    fn open(&self) -> Option<OwnedFd> {
        let pidfd = pidfd_open(Pid::from_raw(self.pid)?, PidfdFlags::empty()).ok()?;
        self.runs().then_some(pidfd)
    }
}

/// The state (field 3) and the start (field 22) of a `/proc/PID/stat`. Field 2 is the name in brackets, which may hold
/// spaces and brackets itself.
fn parse(stat: &str) -> Option<(char, u64)> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(22 - 4)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_does_not_mislead() {
        let stat = "7 (a) 1 (b) S 1 7 7 0 -1 4194304 1 0 0 0 1 2 0 0 20 0 1 0 12345 99 9";
        assert_eq!(parse(stat), Some(('S', 12345)));
        assert_eq!(parse("7 (a"), None);
    }

    #[test]
    fn a_pid_given_to_another_process_is_left_alone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let (_, start) = parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap()).unwrap();
        let other = Process { pid, start: start + 1 };
        assert!(!other.runs());
        assert!(!other.signal(Signal::KILL).unwrap());
        let own = Process { pid, start };
        assert!(own.runs(), "the signal for another process did not reach this one");
        assert!(own.signal(Signal::KILL).unwrap());
        assert!(own.gone_within(Duration::from_secs(30)), "an ended process that nobody reaped counts as gone");
        child.wait().unwrap();
        assert!(!own.signal(Signal::KILL).unwrap());
    }
}
