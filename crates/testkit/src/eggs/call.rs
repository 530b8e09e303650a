//! What the stand-in notes of each call.

use super::CALLS_FILE;
use serde::{Deserialize, Serialize};
use std::{fs, io, path::Path};

/// One call, noted before the program does anything else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The arguments, word by word, the program's own name first.
    pub argv: Vec<String>,
    /// Process id.
    pub pid: u32,
    /// Process group.
    pub group: u32,
    /// Effective user id, as the system has it.
    pub euid: u32,
    /// Real user id.
    pub ruid: u32,
    /// The user id that the program was told to play, where it was.
    pub played_euid: Option<u32>,
    /// Working directory.
    pub cwd: String,
    /// Names of the environment's variables, sorted.
    pub environment: Vec<String>,
    /// `NO_COLOR` and `TERM`, which colours hang on.
    pub colour: [Option<String>; 2],
    /// The user that `sudo` ran it for.
    pub sudo_user: Option<String>,
    /// What there is to read.
    pub stdin: Stdin,
    /// Arguments of the parent process.
    pub parent: Vec<String>,
}

/// What a program's standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// Nothing: `/dev/null`, or closed.
    Empty,
    /// A terminal.
    Tty,
    /// A pipe or a socket.
    Pipe,
    /// A file.
    File,
}

impl Call {
    /// The arguments behind the program's name.
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        self.argv.iter().skip(1).map(String::as_str).collect()
    }
}

/// Every call of the program in that folder since the last look, but for those that only asked for the version.
///
/// # Errors
/// The log cannot be read or emptied.
pub fn take_work(folder: &Path) -> io::Result<Vec<Call>> {
    let log = folder.join(CALLS_FILE);
    let calls = read::<Call>(&log)?;
    fs::write(&log, "")?;
    Ok(working(calls))
}

/// Calls but for those that only asked for the version.
pub(super) fn working(calls: Vec<Call>) -> Vec<Call> {
    calls.into_iter().filter(|call| call.arguments() != ["version"]).collect()
}

/// Every record of a log, oldest first; none when there is no log.
pub(super) fn read<R: serde::de::DeserializeOwned>(log: &Path) -> io::Result<Vec<R>> {
    let text = match fs::read_to_string(log) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::from)).collect()
}
