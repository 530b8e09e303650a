//! Asking servers to end, and seeing that they do.

use super::Running;
use pintle_core::Failure;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Signal, pidfd_send_signal},
};
use std::time::{Duration, Instant};

/// How a server took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It has ended.
    Asked,
    /// It had to be killed.
    Killed,
    /// It still runs.
    Stayed,
}

/// How long a killed process may take to be gone.
const GONE: Duration = Duration::from_secs(2);

/// Sends TERM to all of them and waits that long; with `force` those that then still run are killed. One end for each.
/// Blocks.
///
/// # Errors
/// When a signal cannot be sent to one that runs.
pub(crate) fn end(servers: &[Running], patience: Duration, force: bool) -> Result<Vec<Ended>, Failure> {
    for server in servers {
        signal(server, Signal::TERM)?;
    }
    let deadline = Instant::now() + patience;
    let mut ends = Vec::new();
    for server in servers {
        ends.push(if has_ended(server, deadline)? { Ended::Asked } else { Ended::Stayed });
    }
    if !force {
        return Ok(ends);
    }
    for (server, _) in servers.iter().zip(&ends).filter(|(_, end)| **end == Ended::Stayed) {
        signal(server, Signal::KILL)?;
    }
    let deadline = Instant::now() + GONE;
    for (server, end) in servers.iter().zip(&mut ends).filter(|(_, end)| **end == Ended::Stayed) {
        if has_ended(server, deadline)? {
            *end = Ended::Killed;
        }
    }
    Ok(ends)
}

fn signal(server: &Running, signal: Signal) -> Result<(), Failure> {
    match pidfd_send_signal(&server.process, signal) {
        // It was faster.
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(Failure::io(format!("signalling the server {}", server.record.identity.pid), &error.into())),
    }
}

/// Waits until it has ended, at most until then.
fn has_ended(server: &Running, deadline: Instant) -> Result<bool, Failure> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left =
            Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&server.process, PollFlags::IN)], Some(&left)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => {
                let what = format!("waiting for the server {}", server.record.identity.pid);
                return Err(Failure::io(what, &error.into()));
            }
        }
    }
}
