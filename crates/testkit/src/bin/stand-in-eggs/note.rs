//! The note of a call, made before anything else.

use pintle_testkit::eggs::{CALLS_FILE, Call, Orders, Stdin};
use rustix::{fs::FileType, termios::isatty};
use std::{fs::OpenOptions, io::Write, path::Path};

pub fn note(beside: &Path, argv: &[String], orders: &Orders) -> Result<(), String> {
    let mut environment: Vec<String> =
        std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    environment.sort();
    let call = Call {
        argv: argv.to_vec(),
        pid: std::process::id(),
        group: rustix::process::getpgrp().as_raw_nonzero().get().unsigned_abs(),
        euid: rustix::process::geteuid().as_raw(),
        ruid: rustix::process::getuid().as_raw(),
        played_euid: orders.euid,
        cwd: std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default(),
        environment,
        colour: [std::env::var("NO_COLOR").ok(), std::env::var("TERM").ok()],
        sudo_user: std::env::var("SUDO_USER").ok(),
        stdin: stdin(),
        parent: parent(),
    };
    let mut line = serde_json::to_string(&call).map_err(|why| why.to_string())?;
    line.push('\n');
    let log = beside.join(CALLS_FILE);
    // One write of an appending file: calls at the same time do not mix.
    let wrote =
        OpenOptions::new().create(true).append(true).open(&log).and_then(|mut log| log.write_all(line.as_bytes()));
    wrote.map_err(|why| format!("{}: {why}", log.display()))
}

fn stdin() -> Stdin {
    let input = std::io::stdin();
    if isatty(&input) {
        return Stdin::Tty;
    }
    let Ok(known) = rustix::fs::fstat(&input) else { return Stdin::Empty };
    match FileType::from_raw_mode(known.st_mode) {
        FileType::RegularFile => Stdin::File,
        FileType::CharacterDevice => Stdin::Empty,
        _ => Stdin::Pipe,
    }
}

fn parent() -> Vec<String> {
    let Some(parent) = rustix::process::getppid() else { return Vec::new() };
    let Ok(text) = std::fs::read(format!("/proc/{}/cmdline", parent.as_raw_nonzero())) else { return Vec::new() };
    let words = text.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    // the last word is ended, not followed, by a NUL
    words.pop();
    words
}
