//! The machine, the rule of the eggs pack, and the helper in its place.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use pintle_pack::sudoers::{HELPER, Place, Rule};
use pintle_packfile::{BUILTIN, Pack, parse};
use pintle_testkit::machine::{ALICE, Machine};

pub const FILE: &str = "/etc/sudoers.d/penguins-eggs-mcp";
pub const SUDOERS: &str = "/etc/sudoers";

pub fn pack() -> Pack {
    let (_, text) = BUILTIN.iter().find(|(name, _)| *name == "eggs").unwrap();
    parse(text).unwrap()
}

pub fn rule(users: &[&str]) -> Rule {
    let users: Vec<String> = users.iter().map(|&user| user.to_owned()).collect();
    Rule::of(&pack(), &users).unwrap()
}

/// A machine with the helper of this build and a program that only says who it is.
pub fn machine() -> Option<Machine> {
    let machine = Machine::enter(&["sudo", "doas", "visudo", "cvtsudoers"])?;
    machine.program(helper(), HELPER).unwrap();
    machine.write("/usr/bin/eggs", "#!/bin/sh\necho \"[coa] $(id -u) $*\"\n", 0o755).unwrap();
    Some(machine)
}

/// The helper that was built beside this test.
pub fn helper() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let helper = test.parent().unwrap().with_file_name("pintle-helper");
    assert!(helper.is_file(), "build `pintle-helper` first: {}", helper.display());
    helper
}

/// Mode, owner and group.
pub fn attributes(path: &str) -> (u32, u32, u32) {
    let found = fs::symlink_metadata(path).unwrap();
    (found.mode() & 0o7777, found.uid(), found.gid())
}

/// Whether sudo lets `alice` do it without a password. sudo is asked, and nothing runs.
pub fn may(machine: &Machine, words: &[&str]) -> bool {
    let mut sudo = machine.as_user(ALICE, "/usr/bin/sudo");
    sudo.args(["-n", "-l", "--"]).args(words).output().unwrap().status.success()
}

/// The machine's files, with programs of the test's making instead of visudo.
pub fn with_visudo(machine: &Machine, visudo: &str) -> Place {
    machine.write("/run/programs/usr/bin/sudo", "#!/bin/sh\n", 0o755).unwrap();
    machine.write("/run/programs/usr/sbin/visudo", visudo, 0o755).unwrap();
    Place::below("/", "/run/programs")
}

pub fn names(folder: impl AsRef<Path>) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What sudo's own tool reads in a file of rules.
pub fn as_json(path: &str) -> serde_json::Value {
    let read = Command::new("cvtsudoers").args(["-f", "json", path]).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    serde_json::from_slice(&read.stdout).unwrap()
}
