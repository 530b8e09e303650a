//! A program in a session of its own.
//!
//! Only a process itself can begin a session, and only it can ask for a signal when the one above it ends. So the helper
//! starts itself once more, with `start`, which does both and becomes the program.

use std::{
    ffi::OsStr,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::process::CommandExt as _,
    },
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
};

use rustix::{
    fs::Mode,
    io::Errno,
    process::{Pid, PidfdFlags, Signal},
};

use crate::{hygiene, refused::Refused};

/// The word by which the helper calls itself.
pub const START: &str = "start";

/// Where the output goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Where ours goes.
    Ours,
    /// To us, without what it says on standard error.
    Captured,
}

/// A running program, leader of its session and group. Its number stays its own until it is reaped.
pub struct Session {
    child: Child,
    id: Pid,
    handle: OwnedFd,
}

impl Session {
    pub fn start(
        program: &Path,
        arguments: &[String],
        environment: &[(String, String)],
        output: Output,
    ) -> Result<Self, Refused> {
        let mut command = Command::new("/proc/self/exe");
        command.arg(START).arg(program).args(arguments).current_dir("/").stdin(Stdio::null());
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        if output == Output::Captured {
            command.stdout(Stdio::piped()).stderr(Stdio::null());
        }
        let child = command.spawn().map_err(Refused::system(format!("starting `{}`", program.display())))?;
        let id = Pid::from_child(&child);
        let handle = rustix::process::pidfd_open(id, PidfdFlags::empty())
            .map_err(Refused::system(format!("watching `{}`", program.display())));
        match handle {
            Ok(handle) => Ok(Self { child, id, handle }),
            Err(why) => {
                let mut child = child;
                // What cannot be watched must not run; it may have ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                Err(why)
            }
        }
    }

    /// Readable once it has ended.
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    pub fn output(&mut self) -> Option<OwnedFd> {
        self.child.stdout.take().map(OwnedFd::from)
    }

    /// Signals the whole group. A group that is none yet, or whose members are gone, is no mistake.
    pub fn signal(&self, signal: Signal) {
        if rustix::process::kill_process_group(self.id, signal) == Err(Errno::SRCH) {
            // It has not begun its session yet.
            let _ = rustix::process::pidfd_send_signal(&self.handle, signal);
        }
    }

    /// Whether anything in its session is left beside itself.
    pub fn has_company(&self) -> bool {
        let Ok(entries) = std::fs::read_dir("/proc") else { return true };
        let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
        ids.filter(|id| *id != self.id.as_raw_nonzero().get()).any(|id| in_group(id, self.id))
    }

    /// Takes its status, for which it must have ended.
    pub fn reap(mut self) -> Result<ExitStatus, Refused> {
        self.child.wait().map_err(Refused::system("waiting for the program"))
    }
}

/// Whether a process lives and is in that group.
fn in_group(id: i32, group: Pid) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{id}/stat")) else { return false };
    // The name of the program, in parentheses, may hold anything.
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let [state, _parent, of_group, ..] = fields.as_slice() else { return false };
    !matches!(*state, "Z" | "X") && of_group.parse() == Ok(group.as_raw_nonzero().get())
}

/// Becomes the program: `start PROGRAM ARGUMENTS…`, which only the helper itself may call.
pub fn enter(program: &OsStr, arguments: &[&OsStr]) -> Result<u8, Refused> {
    hygiene::only_root()?;
    if !hygiene::started_by_ourselves()? {
        return Err(Refused::NotOurs);
    }
    rustix::process::setsid().map_err(Refused::system("beginning a session"))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))
        .map_err(Refused::system("asking for a signal"))?;
    // A helper that ended before the line above would never be missed.
    if !hygiene::started_by_ourselves()? {
        return Err(Refused::NotOurs);
    }
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let error = Command::new(program).args(arguments).exec();
    Err(Refused::system(format!("executing `{}`", program.display()))(error))
}
