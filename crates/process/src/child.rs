//! A running child and the ladder that ends it.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::net::unix::pipe;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal number.
    Signal(i32),
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(out, "exit status {code}"),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(out, "signal {name}"),
                None => write!(out, "signal {number}"),
            },
        }
    }
}

fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        4 => "ILL",
        6 => "ABRT",
        7 => "BUS",
        8 => "FPE",
        9 => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        15 => "TERM",
        24 => "XCPU",
        25 => "XFSZ",
        31 => "SYS",
        _ => return None,
    })
}

/// The end of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// Code or signal.
    pub status: Status,
    /// From start to end.
    pub ran: Duration,
}

impl Exit {
    /// Whether it exited with code 0.
    pub fn success(&self) -> bool {
        self.status == Status::Code(0)
    }
}

/// How a child is made to end: TERM to its group, `grace`, KILL to its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ladder {
    /// How long the child may take to end after TERM.
    pub grace: Duration,
}

impl Default for Ladder {
    /// Two seconds of grace.
    fn default() -> Self {
        Self { grace: Duration::from_secs(2) }
    }
}

/// The rung at which a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It had ended before TERM was sent.
    Already,
    /// It ended within the grace after TERM.
    Term,
    /// It needed KILL.
    Kill,
}

/// A running child, normally the leader of a session and process group of its own.
///
/// It is reaped only after its group has been killed, so that the group's number cannot have passed to a
/// stranger. Dropping it kills the group and reaps the child.
pub struct Child {
    process: std::process::Child,
    id: Pid,
    /// Whether the child leads a group: then signals go to all of it.
    leads: bool,
    ended: AsyncFd<OwnedFd>,
    started: Instant,
    exit: Option<Exit>,
}

impl fmt::Debug for Child {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Child").field("id", &self.id()).field("exit", &self.exit).finish()
    }
}

impl Child {
    /// Takes over the leader of a group that [`crate::fork`] has started.
    pub(crate) fn supervise(process: std::process::Child) -> io::Result<Self> {
        Self::take_over(process, true)
    }

    /// Takes over a child in our own group.
    pub(crate) fn supervise_alone(process: std::process::Child) -> io::Result<Self> {
        Self::take_over(process, false)
    }

    fn take_over(mut process: std::process::Child, leads: bool) -> io::Result<Self> {
        let id = Pid::from_child(&process);
        match watch(id) {
            Ok(ended) => Ok(Self { process, id, leads, ended, started: Instant::now(), exit: None }),
            Err(error) => {
                // Already gone is the only other outcome of both, and fine.
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }

    /// Process ID, which is also the ID of its group and session.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn take_stdin(&mut self) -> io::Result<Option<pipe::Sender>> {
        self.process.stdin.take().map(|end| pipe::Sender::from_owned_fd(end.into())).transpose()
    }

    pub(crate) fn take_stdout(&mut self) -> io::Result<Option<pipe::Receiver>> {
        self.process.stdout.take().map(|end| pipe::Receiver::from_owned_fd(end.into())).transpose()
    }

    pub(crate) fn take_stderr(&mut self) -> io::Result<Option<pipe::Receiver>> {
        self.process.stderr.take().map(|end| pipe::Receiver::from_owned_fd(end.into())).transpose()
    }

    /// Sends TERM to the whole group. A child that gained privilege does not get it, and that is no error.
    ///
    /// # Errors
    /// What the kernel reports otherwise.
    pub fn terminate(&self) -> io::Result<()> {
        self.signal(Signal::TERM)
    }

    /// Sends KILL to the whole group.
    ///
    /// # Errors
    /// As [`terminate`](Self::terminate).
    pub fn kill(&self) -> io::Result<()> {
        self.signal(Signal::KILL)
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.exit.is_some() {
            return Ok(());
        }
        let sent = if self.leads { kill_process_group(self.id, signal) } else { kill_process(self.id, signal) };
        match sent {
            // PERM: it gained privilege. Its standard input ends, which is all we can do; see the crate's page.
            Ok(()) | Err(rustix::io::Errno::SRCH | rustix::io::Errno::PERM) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns once the child has ended, without reaping it. May be cancelled and called again.
    pub(crate) async fn ended(&self) -> io::Result<()> {
        if self.exit.is_none() {
            // Stays readable from the end of the process on.
            let _ready = self.ended.readable().await?;
        }
        Ok(())
    }

    /// Waits for the child to end, kills what is left of its group, and reaps it. May be cancelled and called
    /// again.
    ///
    /// # Errors
    /// What the system reports about waiting.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        self.ended().await?;
        self.reap()
    }

    /// Kills what is left of the group and reaps the leader, which has ended.
    pub(crate) fn reap(&mut self) -> io::Result<Exit> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        self.signal(Signal::KILL)?;
        let status = self.process.wait()?;
        let exit = Exit {
            status: match (status.code(), status.signal()) {
                (Some(code), _) => Status::Code(code),
                (None, signal) => Status::Signal(signal.unwrap_or_default()),
            },
            ran: self.started.elapsed(),
        };
        self.exit = Some(exit);
        Ok(exit)
    }

    /// Makes the child end by the ladder and waits for it.
    ///
    /// # Errors
    /// What the system reports about signalling or waiting.
    pub async fn stop(&mut self, ladder: Ladder) -> io::Result<(Exit, Stopped)> {
        if let Some(exit) = self.exit {
            return Ok((exit, Stopped::Already));
        }
        if self.has_ended() {
            return Ok((self.reap()?, Stopped::Already));
        }
        self.terminate()?;
        if tokio::time::timeout(ladder.grace, self.ended()).await.is_ok() {
            return Ok((self.reap()?, Stopped::Term));
        }
        self.kill()?;
        Ok((self.wait().await?, Stopped::Kill))
    }

    /// Whether the child has ended, looked up without waiting.
    fn has_ended(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut watched = [PollFd::new(self.ended.get_ref(), PollFlags::IN)];
        self.exit.is_some() || matches!(poll(&mut watched, Some(&now)), Ok(1))
    }
}

/// A descriptor that becomes readable when the process ends.
#[expect(
    deprecated,
    reason = "the descriptor is owned and moved in, so nobody can close it early; the successor is unsafe to call"
)]
fn watch(process: Pid) -> io::Result<AsyncFd<OwnedFd>> {
    let ended = pidfd_open(process, PidfdFlags::NONBLOCK)?;
    AsyncFd::with_interest(ended, tokio::io::Interest::READABLE)
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.exit.is_some() {
            return;
        }
        // A group that cannot be killed any more (another user's) has had its standard input closed.
        let _ = self.kill();
        // KILL takes effect within microseconds unless the kernel is in the middle of something for the child.
        for _ in 0..20 {
            match self.process.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_micros(250)),
                _ => return,
            }
        }
        reap_later(&self.process);
    }
}

/// Waits for a child on a thread of its own, so that nobody else has to.
pub(crate) fn reap_later(child: &std::process::Child) {
    let child = Pid::from_child(child);
    let reaper = std::thread::Builder::new().name("pintle-reap".into()).spawn(move || {
        use rustix::process::{WaitOptions, waitpid};
        while let Err(rustix::io::Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
    });
    // Without a thread an ended child stays a zombie until we end; there is nobody to tell.
    drop(reaper);
}
