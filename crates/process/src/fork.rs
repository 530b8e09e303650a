//! The one place with unsafe code: what happens in the child between fork and exec.
//!
//! A child needs its own session and a death signal, and both can only be set by the child itself before
//! exec; the standard library offers nothing but `pre_exec` for that. The kernel sends the death signal when
//! the *thread* that forked ends, so one thread that lives as long as the process does all the forking.
#![expect(unsafe_code, reason = "pre_exec is the only way to act between fork and exec")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError, mpsc};

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use tokio::sync::oneshot;

struct Job {
    command: Command,
    done: oneshot::Sender<io::Result<Forked>>,
}

/// A child nobody has taken over yet; dropping it ends it, so that a caller which goes away while it waits
/// for the fork leaves nothing behind.
struct Forked(Option<Child>);

impl Drop for Forked {
    fn drop(&mut self) {
        if let Some(mut orphan) = self.0.take() {
            // It may have ended by itself already; then there is nothing to kill.
            let _ = orphan.kill();
            let _ = orphan.wait();
        }
    }
}

/// What a child has to do with us.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bond {
    /// Leader of a session of its own, which gets this signal when we end.
    Own(Signal),
    /// In our session, at our terminal; gets this signal when we end.
    Ours(Signal),
    /// Leader of a session of its own, which may outlive us.
    None,
}

/// Forks and execs `command`.
///
/// # Errors
/// What fork, setsid, prctl or exec report.
pub(crate) async fn fork(mut command: Command, bond: Bond) -> io::Result<Child> {
    let ours = getpid();
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. The closure makes three system
    // calls and compares two integers; it neither allocates, locks, nor touches memory of other threads.
    unsafe {
        command.pre_exec(move || {
            if let Bond::Own(_) | Bond::None = bond {
                setsid()?;
            }
            if let Bond::Own(death) | Bond::Ours(death) = bond {
                set_parent_process_death_signal(Some(death))?;
                // If we ended before the line above, nobody would ever send the signal.
                if getppid() != Some(ours) {
                    return Err(io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()));
                }
            }
            Ok(())
        });
    }
    let (done, answer) = oneshot::channel();
    spawner()?.send(Job { command, done }).map_err(|_| io::Error::other("the spawning thread has ended"))?;
    let gone = || io::Error::other("the spawning thread has ended");
    let mut forked = answer.await.map_err(|_| gone())??;
    forked.0.take().ok_or_else(gone)
}

/// The way to the spawning thread, started by the first child.
fn spawner() -> io::Result<mpsc::Sender<Job>> {
    static SPAWNER: Mutex<Option<mpsc::Sender<Job>>> = Mutex::new(None);

    let mut spawner = SPAWNER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(jobs) = &*spawner {
        return Ok(jobs.clone());
    }
    let (sender, jobs) = mpsc::channel::<Job>();
    std::thread::Builder::new().name("pintle-spawn".into()).spawn(move || {
        for mut job in jobs {
            let child = job.command.spawn().map(|child| Forked(Some(child)));
            // Nobody may wait any more: then the child ends with the answer.
            drop(job.done.send(child));
        }
    })?;
    Ok(spawner.insert(sender).clone())
}
