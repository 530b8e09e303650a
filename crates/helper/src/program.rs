//! The program that a pack means: the first candidate that nobody but root can change and that says what it is.

use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use pintle_packfile::{Probe, Program, trust::Root};

use crate::{
    refused::Refused,
    session::{Output, Session},
    watch,
};

/// How much of what the probe prints is looked at, in bytes.
const PROBE_LIMIT: usize = 64 * 1024;
/// How much of a file says what kind it is, in bytes.
const START_LIMIT: u64 = 1024;

pub fn find(program: &Program, environment: &[(String, String)]) -> Result<PathBuf, Refused> {
    let root = Root::system();
    let mut reasons = Vec::new();
    for candidate in &program.candidates {
        let judged = root.file(candidate).map_err(|why| why.to_string()).and_then(|path| {
            is_program(&path)?;
            match &program.probe {
                Some(probe) => answers(&path, probe, environment).map(|()| path),
                None => Ok(path),
            }
        });
        match judged {
            Ok(path) => return Ok(path),
            Err(why) => reasons.push(why),
        }
    }
    Err(Refused::NoProgram(reasons))
}

/// What is neither a binary nor names its interpreter the C library would give to a shell; and a script that calls pintle
/// stands before the program and is not it.
fn is_program(path: &Path) -> Result<(), String> {
    let mut start = Vec::new();
    File::open(path)
        .and_then(|file| file.take(START_LIMIT).read_to_end(&mut start))
        .map_err(|error| format!("reading `{}`: {error}", path.display()))?;
    let is_script = start.starts_with(b"#!");
    if !is_script && !start.starts_with(b"\x7fELF") {
        return Err(format!("`{}` is neither an ELF binary nor a script that begins with #!", path.display()));
    }
    if is_script && start.windows(6).any(|word| word == b"pintle") {
        return Err(format!("`{}` is a shim of pintle", path.display()));
    }
    Ok(())
}

/// Asks the program what it is.
fn answers(path: &Path, probe: &Probe, environment: &[(String, String)]) -> Result<(), String> {
    let not = |why: &str| format!("`{} {}` {why}", path.display(), probe.args.join(" "));
    let session = Session::start(path, &probe.args, environment, Output::Captured).map_err(|why| why.to_string())?;
    let probed = watch::captured(session, probe.timeout, PROBE_LIMIT).map_err(|why| not(&why.to_string()))?;
    let Some((status, output)) = probed else { return Err(not("does not end")) };
    if !status.success() {
        return Err(not(&format!("fails: {status}")));
    }
    let output = String::from_utf8_lossy(&output);
    let first = output.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match &probe.first_line {
        Some(pattern) if !pattern.is_match(first) => Err(not("does not say that it is this program")),
        _ => Ok(()),
    }
}
