//! A stand-in for `sudo`: its options, its refusals and its rules for arguments and environment, without its power.
//!
//! It does what `sudo.json` beside it says and notes each call in `sudo-calls.jsonl` there.

use pintle_testkit::eggs::{SUDO_CALLS_FILE, SUDO_ORDERS_FILE, SudoCall, SudoMode, SudoOrders};
use std::{
    ffi::{OsStr, OsString},
    fs::OpenOptions,
    io::Write,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

/// What the command finds its programs in.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Variables that outlive the reset of the environment.
const KEPT: [&str; 4] = ["TERM", "LANG", "LC_ALL", "DISPLAY"];

fn main() -> ExitCode {
    // Comes back only where nothing was run.
    let why = run();
    let _ = std::io::stderr().write_all(format!("sudo: {why}\n").as_bytes());
    ExitCode::FAILURE
}

fn run() -> String {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let beside = match std::env::current_exe() {
        Ok(program) => program.parent().map(Path::to_path_buf).unwrap_or_default(),
        Err(why) => return why.to_string(),
    };
    let orders = match orders(&beside) {
        Ok(orders) => orders,
        Err(why) => return why,
    };
    let asked = read(&words);
    let refused = match &asked {
        Err(why) => Some(why.clone()),
        Ok(asked) => refused(asked, &orders),
    };
    if let Err(why) = note(&beside, &words, refused.is_none()) {
        return why;
    }
    match (refused, asked) {
        (Some(why), _) | (None, Err(why)) => why,
        (None, Ok(asked)) => become_it(&asked, &orders),
    }
}

struct Asked {
    /// No questions.
    quiet: bool,
    /// `NAME=value` before the command.
    variables: Vec<(String, String)>,
    program: PathBuf,
    arguments: Vec<OsString>,
}

/// Options end at the first word that is none, or at `--`.
fn read(words: &[OsString]) -> Result<Asked, String> {
    let mut quiet = false;
    let mut rest = words.iter();
    let mut variables = Vec::new();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        match text.as_ref() {
            "-n" | "--non-interactive" => quiet = true,
            "-k" | "--reset-timestamp" => {}
            "-u" | "--user" => match rest.next() {
                Some(user) if user == "root" => {}
                other => return Err(format!("unknown user {}", other.map_or("".into(), |u| u.to_string_lossy()))),
            },
            "--" => return command(rest.next(), rest.as_slice(), quiet, variables),
            option if option.starts_with('-') => return Err(format!("invalid option {option}")),
            other => match other.split_once('=') {
                Some((name, value)) if !name.contains('/') => variables.push((name.to_owned(), value.to_owned())),
                _ => return command(Some(word), rest.as_slice(), quiet, variables),
            },
        }
    }
    command(None, &[], quiet, variables)
}

fn command(
    program: Option<&OsString>,
    arguments: &[OsString],
    quiet: bool,
    variables: Vec<(String, String)>,
) -> Result<Asked, String> {
    let program = program.ok_or("no command was given")?;
    Ok(Asked { quiet, variables, program: find(program)?, arguments: arguments.to_vec() })
}

/// A bare name is looked up in the fixed path, never in the caller's.
fn find(program: &OsStr) -> Result<PathBuf, String> {
    let named = Path::new(program);
    if named.components().count() > 1 {
        return Ok(named.to_path_buf());
    }
    let found = PATH.split(':').map(|folder| Path::new(folder).join(named)).find(|path| path.is_file());
    found.ok_or_else(|| format!("{}: command not found", named.display()))
}

fn refused(asked: &Asked, orders: &SudoOrders) -> Option<String> {
    let line: Vec<String> = std::iter::once(asked.program.as_os_str())
        .chain(asked.arguments.iter().map(OsString::as_os_str))
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let granted = orders.policy.as_ref().is_none_or(|policy| policy.contains(&line));
    let password = if asked.quiet {
        "a password is required"
    } else {
        "a terminal is required to read the password; either use the -S option or configure an askpass helper"
    };
    match orders.mode {
        _ if !asked.variables.is_empty() => {
            let names: Vec<&str> = asked.variables.iter().map(|(name, _)| name.as_str()).collect();
            Some(format!("sorry, you are not allowed to set the following environment variables: {}", names.join(", ")))
        }
        SudoMode::NoPassword if granted => None,
        SudoMode::NoPassword | SudoMode::Password => Some(password.to_owned()),
    }
}

/// The environment is reset, then says for whom the command runs.
fn become_it(asked: &Asked, orders: &SudoOrders) -> String {
    let user = orders.user.as_deref().unwrap_or("artisan");
    let mut line = asked.program.display().to_string();
    for argument in &asked.arguments {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    let mut command = Command::new(&asked.program);
    command.args(&asked.arguments).env_clear();
    for name in KEPT {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .env("PATH", PATH)
        .env("HOME", "/root")
        .env("LOGNAME", "root")
        .env("USER", "root")
        .env("SHELL", "/bin/sh")
        .env("SUDO_USER", user)
        .env("SUDO_UID", rustix::process::getuid().as_raw().to_string())
        .env("SUDO_GID", rustix::process::getgid().as_raw().to_string())
        .env("SUDO_COMMAND", line)
        .envs(&orders.pass);
    let why = command.exec();
    format!("unable to execute {}: {why}", asked.program.display())
}

fn orders(beside: &Path) -> Result<SudoOrders, String> {
    let file = beside.join(SUDO_ORDERS_FILE);
    match std::fs::read(&file) {
        Ok(text) => serde_json::from_slice(&text).map_err(|why| format!("{}: {why}", file.display())),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(SudoOrders::default()),
        Err(why) => Err(format!("{}: {why}", file.display())),
    }
}

fn note(beside: &Path, words: &[OsString], allowed: bool) -> Result<(), String> {
    let mut environment: Vec<String> =
        std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    environment.sort();
    let arguments = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut line =
        serde_json::to_string(&SudoCall { arguments, environment, allowed }).map_err(|why| why.to_string())?;
    line.push('\n');
    let log = beside.join(SUDO_CALLS_FILE);
    let wrote =
        OpenOptions::new().create(true).append(true).open(&log).and_then(|mut log| log.write_all(line.as_bytes()));
    wrote.map_err(|why| format!("{}: {why}", log.display()))
}
