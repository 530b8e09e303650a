//! `pintle-helper run PACK.VERB`: the one program of pintle that a user may start as root.
//!
//! A rule of sudo or doas names it with one exact argument list per verb. It trusts nothing that comes from whoever calls: the
//! verb and its arguments are checked again against a pack that only root can change, the program must be one that only root
//! can change, and it runs in `/`, with an environment of ours, in a session of its own. It reads one line of JSON,
//! `{"arguments": {…}}`, from standard input, and the end of that input ends the program: whoever called cannot signal it.
//!
//! The exit code is the program's, 128 and the number for a signal, and 125 for what is refused here, told by one line on
//! standard error that begins with `pintle-helper:`. Every run is logged.
//!
//! It is small on purpose: no network but the socket of the system's log, no threads, no unsafe code.

use std::{
    ffi::{OsStr, OsString},
    io::Write as _,
    process::ExitCode,
    time::Instant,
};

mod environment;
mod guard;
mod hygiene;
mod lane;
mod log;
mod packs;
mod program;
mod refused;
mod request;
mod session;
mod watch;

use environment::Invoker;
use log::{Event, Log};
use refused::Refused;
use request::Call;

/// What is refused here, as `env` and its kin tell it.
const REFUSED: u8 = 125;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
    let ended = match words.as_slice() {
        [run, call] if *run == "run" => run_logged(&call.to_string_lossy()),
        [start, program, arguments @ ..] if *start == session::START => session::enter(program, arguments),
        _ => Err(Refused::Usage),
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            // With nobody to read it there is still the exit code.
            let _ = writeln!(std::io::stderr(), "pintle-helper: {why}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Runs one call and logs what became of it.
fn run_logged(name: &str) -> Result<u8, Refused> {
    hygiene::only_root()?;
    let invoker = Invoker::of_environment();
    let mut log = Log::new(name, &invoker);
    let ended = run(name, &invoker, &mut log);
    if let Err(why) = &ended {
        log.tell(&Event::Refused(&why.to_string()));
    }
    ended
}

fn run(name: &str, invoker: &Invoker, log: &mut Log) -> Result<u8, Refused> {
    hygiene::clean()?;
    let (pack, verb) = request::names(name)?;
    let pack = packs::find(pack)?;
    let signals = watch::Signals::caught()?;
    let asked = request::read()?;
    let call = Call::checked(&pack, verb, &asked)?;
    log.asked(&call.argv);
    let _held = call.lane.as_deref().map(|lane| lane::take(&pack.name, lane)).transpose()?;
    guard::check(&pack.program.guard)?;
    let environment = invoker.environment();
    let program = program::find(&pack.program, &environment)?;
    log.tell(&Event::Started(&program));
    let start = Instant::now();
    let session = session::Session::start(&program, &call.argv, &environment, session::Output::Ours)?;
    let ended = watch::to_its_end(session, &signals, call.grace)?;
    log.tell(&Event::Ended { status: ended.status, why: ended.why, took: start.elapsed() });
    Ok(ended.code())
}
