//! The record of every run: to the system's log, or else to a file of root's.
//!
//! One line of JSON per event: `refused`; `started` and `ended`. `arguments` is the SHA-256 of the argument vector, each
//! element followed by a NUL byte, so that a run can be recognised without what was in it.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    os::{
        fd::OwnedFd,
        unix::{net::UnixDatagram, process::ExitStatusExt as _},
    },
    path::Path,
    process::ExitStatus,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rustix::{
    fs::{FileType, Mode, OFlags},
    io::Errno,
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{environment::Invoker, watch::Why};

const SOCKET: &str = "/dev/log";
const PARENT: &str = "/var/log";
const FOLDER: &str = "pintle";
const FILE: &str = "helper.log";
/// The file begins anew at this size, and one old file is kept.
const FILE_LIMIT: i64 = 4 * 1024 * 1024;
/// Messages of the security kind, as sudo's own are.
const AUTHPRIV: u8 = 10 << 3;

pub enum Event<'a> {
    Refused(&'a str),
    Started(&'a Path),
    Ended { status: ExitStatus, why: Why, took: Duration },
}

/// What is the same in every line of one run.
pub struct Log {
    same: Map<String, Value>,
}

impl Log {
    pub fn new(call: &str, invoker: &Invoker) -> Self {
        let call: String = call.chars().take(128).collect();
        let mut same = Map::new();
        same.insert("call".into(), call.into());
        same.insert("user".into(), json!(invoker.user));
        same.insert("uid".into(), json!(invoker.uid));
        same.insert("pid".into(), std::process::id().into());
        Self { same }
    }

    /// What was asked for, once it is known.
    pub fn asked(&mut self, argv: &[String]) {
        let mut digest = Sha256::new();
        for element in argv {
            digest.update(element);
            digest.update([0]);
        }
        let hex = digest.finalize().iter().fold(String::from("sha256:"), |mut hex, byte| {
            // Writing to a string does not fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        self.same.insert("arguments".into(), hex.into());
    }

    /// Logs one event. A run that cannot be logged goes on, and says so: sudo has logged it as well.
    pub fn tell(&self, event: &Event<'_>) {
        let (severity, line) = self.line(event, SystemTime::now());
        let told = to_socket(severity, &line).or_else(|_| to_file(&line));
        if let Err(error) = told {
            // With nobody to read it, nothing is left to do.
            let _ = writeln!(io::stderr(), "pintle-helper: this run is not logged: {error}");
        }
    }

    fn line(&self, event: &Event<'_>, now: SystemTime) -> (u8, String) {
        let mut line = Map::new();
        line.insert("time".into(), utc(now).into());
        line.extend(self.same.clone());
        let severity = match event {
            Event::Refused(why) => {
                line.insert("event".into(), "refused".into());
                line.insert("why".into(), why.chars().take(1000).collect::<String>().into());
                4
            }
            Event::Started(program) => {
                line.insert("event".into(), "started".into());
                line.insert("program".into(), program.display().to_string().into());
                6
            }
            Event::Ended { status, why, took } => {
                line.insert("event".into(), "ended".into());
                line.insert("exit".into(), json!(status.code()));
                line.insert("signal".into(), json!(status.signal()));
                let by = match why {
                    Why::Itself => "itself",
                    Why::Input => "end of input",
                    Why::Signal => "signal",
                };
                line.insert("by".into(), by.into());
                line.insert("ms".into(), u64::try_from(took.as_millis()).unwrap_or(u64::MAX).into());
                6
            }
        };
        (severity, Value::Object(line).to_string())
    }
}

fn to_socket(severity: u8, line: &str) -> io::Result<()> {
    let socket = UnixDatagram::unbound()?;
    // A log that does not read must not hold us up.
    socket.set_nonblocking(true)?;
    let message = format!("<{}>pintle-helper[{}]: {line}", AUTHPRIV | severity, std::process::id());
    socket.send_to(message.as_bytes(), SOCKET).map(drop)
}

/// Appends to `/var/log/pintle/helper.log`, following no link, in a folder that only root can enter.
fn to_file(line: &str) -> io::Result<()> {
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let parent = rustix::fs::open(PARENT, folder_flags, Mode::empty())?;
    match rustix::fs::mkdirat(&parent, FOLDER, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let folder = rustix::fs::openat(&parent, FOLDER, folder_flags, Mode::empty())?;
    only_roots(&folder, FileType::Directory)?;
    let mut file = opened(&folder)?;
    if rustix::fs::fstat(&file)?.st_size > FILE_LIMIT {
        rustix::fs::renameat(&folder, FILE, &folder, format!("{FILE}.1"))?;
        file = opened(&folder)?;
    }
    std::fs::File::from(file).write_all(format!("{line}\n").as_bytes())
}

fn opened(folder: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, FILE, flags, Mode::from_raw_mode(0o600))?;
    only_roots(&file, FileType::RegularFile)?;
    Ok(file)
}

fn only_roots(file: &OwnedFd, kind: FileType) -> io::Result<()> {
    let found = rustix::fs::fstat(file)?;
    if FileType::from_raw_mode(found.st_mode) == kind && found.st_uid == 0 && found.st_mode & 0o022 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!("`{PARENT}/{FOLDER}` is not root's alone")))
}

/// Seconds in RFC 3339, by the calendar of days since 1970 (era of 400 years, year from March).
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_right() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn s_44_a_line_says_who_what_and_how_and_not_with_what() {
        let mut log = Log::new("eggs.x\n", &Invoker::default());
        log.asked(&["wear".into(), "hush".into()]);
        let (severity, line) = log.line(&Event::Refused("no"), UNIX_EPOCH);
        assert_eq!(severity, 4);
        assert!(!line.contains('\n') && !line.contains("hush"), "{line}");
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&line["event"], &line["call"], &line["why"]),
            (&json!("refused"), &json!("eggs.x\n"), &json!("no"))
        );
        assert_eq!(line["arguments"].as_str().unwrap().len(), "sha256:".len() + 64);
    }
}
