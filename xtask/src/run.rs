//! Running a program to its end, in plain sight or with its output taken.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::Trouble;

/// A command as a person would type it, for messages.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    std::iter::once(program.file_name().unwrap_or(program.as_os_str()))
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// A cargo command at the root, by the cargo that runs us.
///
/// What that cargo tells us of our own package is not passed on: build scripts look at these variables, and everything
/// above them would compile again whenever cargo is called by us after it was called by hand.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root);
    for (name, _) in std::env::vars_os() {
        let word = name.to_string_lossy();
        if word.starts_with("CARGO_PKG_") || word.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs with our own output streams; true when it ended well.
pub fn loud(command: &mut Command) -> Result<bool, Trouble> {
    let shown = shown(command);
    println!("$ {shown}");
    command
        .stdin(Stdio::null())
        .status()
        .map(|status| status.success())
        .map_err(|source| Trouble::Start { program: shown, source })
}

/// Runs and gives stdout; an unsuccessful end is an error that holds stderr.
pub fn taken(command: &mut Command) -> Result<Vec<u8>, Trouble> {
    fed(command, Stdio::null())
}

/// The same with something to read on stdin.
pub fn fed(command: &mut Command, stdin: impl Into<Stdio>) -> Result<Vec<u8>, Trouble> {
    let shown = shown(command);
    let output = command.stdin(stdin).output().map_err(|source| Trouble::Start { program: shown.clone(), source })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(Trouble::Failed {
        command: shown,
        status: output.status.to_string(),
        detail: format!(":\n{}", String::from_utf8_lossy(&output.stderr).trim_end()),
    })
}

/// A child in its own process group, ended with everything it started when this value goes.
pub struct Grouped(pub Child);

impl Grouped {
    /// Starts the command as the leader of a new group.
    pub fn start(command: &mut Command) -> Result<Self, Trouble> {
        let shown = shown(command);
        command.process_group(0).spawn().map(Self).map_err(|source| Trouble::Start { program: shown, source })
    }

    /// Kills the whole group.
    pub fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // the group is gone when all of it ended by itself: nothing is left to do then
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Grouped {
    fn drop(&mut self) {
        self.kill();
        // reaps; an error means that it was waited for already
        let _ = self.0.wait();
    }
}

/// How a bounded run ended.
pub struct Ended {
    pub output: Vec<u8>,
    /// None when the time was up and the group was killed.
    pub status: Option<ExitStatus>,
}

/// Runs in an own group for at most `limit` and takes stdout. Stderr goes into the given file, so that nothing can tear
/// a line of stdout; without one it joins stdout, in the order in which both were written.
pub fn bounded(command: &mut Command, limit: Duration, stderr: Option<File>) -> Result<Ended, Trouble> {
    let pipe = |source| Trouble::Start { program: "a pipe".into(), source };
    let (mut reader, writer) = std::io::pipe().map_err(pipe)?;
    let stderr = match stderr {
        Some(file) => Stdio::from(file),
        None => Stdio::from(writer.try_clone().map_err(pipe)?),
    };
    let mut child = Grouped::start(command.stdin(Stdio::null()).stdout(writer).stderr(stderr))?;
    // the command holds our ends of the pipe until it is given others
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let (sender, pieces) = mpsc::channel::<Vec<u8>>();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = reader.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });

    let end = Instant::now() + limit;
    let mut output = Vec::new();
    let mut status = None;
    loop {
        match pieces.recv_timeout(Duration::from_millis(50)) {
            Ok(piece) => output.extend_from_slice(&piece),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            // a grandchild may hold the pipe after the child ended: what was written by then has been read
            Err(mpsc::RecvTimeoutError::Timeout) if status.is_some() => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if status.is_none() {
            status = child.0.try_wait().unwrap_or(None);
        }
        if Instant::now() >= end {
            return Ok(Ended { output, status });
        }
    }
    // the pipe may close before the child ends
    while status.is_none() && Instant::now() < end {
        status = child.0.try_wait().unwrap_or(None);
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(Ended { output, status })
}
