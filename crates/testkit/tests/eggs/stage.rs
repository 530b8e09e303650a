//! The stand-in, laid out and run.

use pintle_testkit::eggs::{Call, Installed, Orders};
use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

pub fn stand_in() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_stand-in-eggs"))
}

pub fn fake_sudo() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_fake-sudo"))
}

/// What a call did.
#[derive(Debug)]
pub struct Ran {
    /// The exit code; 128 and the signal where there is none.
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code, out: text(&output.stdout), err: text(&output.stderr) }
    }
}

pub fn installed(orders: &Orders) -> Installed {
    let installed = Installed::new(stand_in()).unwrap();
    installed.order(orders).unwrap();
    installed
}

pub fn as_root() -> Orders {
    Orders { euid: Some(0), ..Orders::default() }
}

pub fn as_user() -> Orders {
    Orders { euid: Some(1000), ..Orders::default() }
}

/// A command with nothing in its environment, in the stand-in's folder.
pub fn command(installed: &Installed, words: &[&str]) -> Command {
    let mut command = Command::new(installed.eggs());
    command.args(words).env_clear().current_dir(installed.folder()).stdin(Stdio::null());
    command
}

pub fn run(installed: &Installed, words: &[&str]) -> Ran {
    command(installed, words).output().unwrap().into()
}

/// Runs it once, as laid out for this.
pub fn once(orders: &Orders, words: &[&str]) -> Ran {
    run(&installed(orders), words)
}

pub fn last(installed: &Installed) -> Call {
    installed.calls().unwrap().pop().unwrap()
}
