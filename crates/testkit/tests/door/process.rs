//! `mcp-fixture` in a process of its own.

use crate::peer::{HANGS, Peer};
use std::{
    path::Path,
    process::{ExitStatus, Stdio},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

fn command(arguments: &[&str], home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-fixture"));
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("RUST_LOG", "trace")
        .env("HOME", home)
        .kill_on_drop(true);
    command
}

/// Serves stdio; what it prints to standard error is dropped.
pub struct StdioServer {
    pub peer: Peer,
    pub child: Child,
    _home: tempfile::TempDir,
}

impl StdioServer {
    pub fn start(arguments: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut all = vec!["--stdio"];
        all.extend(arguments);
        let mut command = command(&all, home.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let peer = Peer::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        Self { peer, child, _home: home }
    }

    pub async fn end(&mut self) -> ExitStatus {
        tokio::time::timeout(HANGS, self.child.wait()).await.expect("an end").unwrap()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        send_signal(&self.child, signal);
    }
}

fn send_signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(child.id().unwrap().try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Serves HTTP.
pub struct HttpServer {
    pub url: String,
    pub child: Child,
    _home: tempfile::TempDir,
}

impl HttpServer {
    /// Starts a server on a free port and waits for its start-up line.
    pub async fn start(arguments: &[&str]) -> Self {
        let mut all = vec!["--listen", "127.0.0.1:0", "--trial"];
        all.extend(arguments);
        let home = tempfile::tempdir().unwrap();
        let mut command = command(&all, home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = tokio::time::timeout(HANGS, lines.next_line()).await.expect("a line").unwrap().expect("a line");
        let url = line.split(" tools at ").nth(1).unwrap_or_else(|| panic!("{line}")).to_owned();
        // The pipe stays open, so that the server can go on speaking.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { url, child, _home: home }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        send_signal(&self.child, signal);
    }

    pub async fn end(&mut self) -> ExitStatus {
        tokio::time::timeout(HANGS, self.child.wait()).await.expect("an end").unwrap()
    }
}

/// Runs the server where it cannot start; gives exit code and what it says.
pub async fn refused(arguments: &[&str]) -> (i32, String) {
    let home = tempfile::tempdir().unwrap();
    let output = tokio::time::timeout(HANGS, command(arguments, home.path()).output()).await.expect("an end").unwrap();
    assert!(output.stdout.is_empty());
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}
