//! Watching a program until it ends or has to.

use std::{
    io,
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{net::UnixStream, process::ExitStatusExt as _},
    },
    process::ExitStatus,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::Signal,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::{refused::Refused, session::Session};

/// How often members of a group are looked for that has lost its leader.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long is waited for what a program has started, once it is killed.
const KILLED: Duration = Duration::from_secs(30);

/// Signals that end the program, as a socket that becomes readable.
pub struct Signals(UnixStream);

impl Signals {
    /// Catches them from now on. A child begins with none caught.
    pub fn caught() -> Result<Self, Refused> {
        let failed = || Refused::system("catching signals");
        let (ours, theirs) = UnixStream::pair().map_err(failed())?;
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            let theirs = theirs.try_clone().map_err(failed())?;
            signal_hook::low_level::pipe::register(signal, theirs).map_err(failed())?;
        }
        Ok(Self(ours))
    }
}

/// What made a program end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Itself.
    Itself,
    /// The end of our input: whoever called is gone, or wants it to end.
    Input,
    /// A signal to us.
    Signal,
}

pub struct Ended {
    pub status: ExitStatus,
    pub why: Why,
}

impl Ended {
    /// The exit code of the helper: the program's, or 128 and the number of the signal that ended it.
    pub fn code(&self) -> u8 {
        let code = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) => 255,
        };
        u8::try_from(code).unwrap_or(u8::MAX)
    }
}

/// Waits until the program ends, and ends it when our input ends or a signal comes: TERM to its group, KILL to what is left
/// of it after the grace.
pub fn to_its_end(session: Session, signals: &Signals, grace: Duration) -> Result<Ended, Refused> {
    let why = first(&session, signals)?;
    if why != Why::Itself {
        end(&session, grace)?;
    }
    Ok(Ended { status: session.reap()?, why })
}

/// What happens first.
fn first(session: &Session, signals: &Signals) -> Result<Why, Refused> {
    let stdin = io::stdin();
    let mut rest = [0; 4096];
    loop {
        let mut watched = [
            PollFd::from_borrowed_fd(session.handle(), PollFlags::IN),
            PollFd::new(&signals.0, PollFlags::IN),
            PollFd::new(&stdin, PollFlags::IN),
        ];
        match poll(&mut watched, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Refused::system("watching the program")(error)),
        }
        let [ended, signalled, input] = watched.map(|one| !one.revents().is_empty());
        if ended {
            return Ok(Why::Itself);
        }
        if signalled {
            return Ok(Why::Signal);
        }
        if input {
            match rustix::io::read(&stdin, &mut rest) {
                // More than the request means nothing, and is not kept.
                Ok(1..) | Err(Errno::AGAIN | Errno::INTR) => {}
                // An input that fails is as good as ended: nobody could end the program through it any more.
                Ok(0) | Err(_) => return Ok(Why::Input),
            }
        }
    }
}

/// Ends a whole group.
fn end(session: &Session, grace: Duration) -> Result<(), Refused> {
    let deadline = Instant::now() + grace;
    session.signal(Signal::TERM);
    if waited(session, deadline)? {
        // Its leader has ended; the rest has the same time.
        alone(session, deadline);
    }
    // Nobody is left to mind, or too long.
    session.signal(Signal::KILL);
    // The leader is waited for when it is reaped. Others that the kernel holds in a call die when that returns.
    alone(session, Instant::now() + KILLED);
    Ok(())
}

/// Waits until nothing is left in the group beside its leader, or the time is over.
fn alone(session: &Session, deadline: Instant) {
    while session.has_company() && Instant::now() < deadline {
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Whether the leader has ended by then.
fn waited(session: &Session, deadline: Instant) -> Result<bool, Refused> {
    loop {
        let left = timespec(deadline.saturating_duration_since(Instant::now()));
        match poll(&mut [PollFd::from_borrowed_fd(session.handle(), PollFlags::IN)], Some(&left)) {
            Ok(count) => return Ok(count > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(Refused::system("watching the program")(error)),
        }
    }
}

/// The status and the output of a program that ends in time, and has its group ended in any case; none when it does not.
pub fn captured(mut session: Session, limit: Duration, bytes: usize) -> Result<Option<(ExitStatus, Vec<u8>)>, Refused> {
    let deadline = Instant::now() + limit;
    let mut output = Vec::new();
    let mut pipe = session.output();
    let in_time = read_until(&session, &mut pipe, deadline, bytes, &mut output);
    session.signal(Signal::KILL);
    let status = session.reap()?;
    Ok(in_time?.then_some((status, output)))
}

/// Reads until the program has ended and nothing more is in the pipe, which others may hold open.
fn read_until(
    session: &Session,
    pipe: &mut Option<OwnedFd>,
    deadline: Instant,
    limit: usize,
    output: &mut Vec<u8>,
) -> Result<bool, Refused> {
    let mut chunk = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let ended = PollFd::from_borrowed_fd(session.handle(), PollFlags::IN);
        let mut watched = vec![ended];
        watched.extend(pipe.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        match poll(&mut watched, Some(&timespec(left))) {
            Ok(0) => return Ok(false),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Refused::system("watching the program")(error)),
        }
        let readable = watched.get(1).is_some_and(|pipe| !pipe.revents().is_empty());
        let ended = !watched[0].revents().is_empty();
        match pipe {
            Some(open) if readable => {
                let count = rustix::io::read(&*open, &mut chunk).unwrap_or(0);
                output.extend_from_slice(&chunk[..count.min(limit - output.len())]);
                if count == 0 {
                    *pipe = None;
                }
            }
            _ if ended => return Ok(true),
            _ => {}
        }
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX), tv_nsec: i64::from(time.subsec_nanos()) }
}
