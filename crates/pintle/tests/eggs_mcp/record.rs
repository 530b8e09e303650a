//! What `enable` and `disable` do when the record of whom they touched is not of this world any more.

use crate::stage::{Ran, pintle, ran};
use pintle_testkit::machine::{ALICE, MALLORY, Machine};
use std::{
    fs,
    os::unix::fs::chown,
    path::Path,
    process::{Command, Stdio},
};

const RULE: &str = "/etc/sudoers.d/penguins-eggs-mcp";
const RECORD: &str = "/var/lib/pintle/eggs-mcp.json";
const PROGRAM: &str = "/usr/bin/pintle";

/// A machine with this program, its helper, and one client of each user.
fn machine() -> Option<Machine> {
    let machine = Machine::enter(&["sudo", "visudo"])?;
    let mount = |words: &[&str]| assert!(Command::new("mount").args(words).status().unwrap().success());
    mount(&["-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/var/lib"]);
    machine.write(PROGRAM, "", 0o755).unwrap();
    mount(&["--bind", &pintle().display().to_string(), PROGRAM]);
    machine.program("/bin/true", "/usr/bin/pintle-helper").unwrap();
    for user in [ALICE, MALLORY] {
        let folder = machine.home(user).join(".cursor");
        fs::create_dir(&folder).unwrap();
        chown(&folder, Some(user.1), Some(user.1)).unwrap();
    }
    Some(machine)
}

fn run(words: &[&str]) -> Ran {
    let mut command = Command::new(PROGRAM);
    command.args(["eggs", "mcp"]).args(words).current_dir("/").env_clear().env("HOME", "/run/root");
    ran(command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null()))
}

#[test]
fn eg_044_s_23_who_is_gone_keeps_nobody_from_the_rule_and_leaves_no_right_behind() {
    let Some(_machine) = machine() else { return };
    run(&["enable", "--user", "mallory"]).ends(0);
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let left: Vec<&str> = users.lines().filter(|line| !line.starts_with("mallory:")).collect();
    fs::write("/etc/passwd", left.join("\n") + "\n").unwrap();
    let enabled = run(&["enable", "--user", "alice"]).ends(0);
    assert!(enabled.out.contains("mallory is no user any more"), "{}", enabled.out);
    let rule = fs::read_to_string(RULE).unwrap();
    assert!(rule.contains("alice ALL=(root)") && !rule.contains("mallory"), "{rule}");
    // Somebody new of that name is granted nothing by what comes later either.
    fs::write("/etc/passwd", &users).unwrap();
    run(&["enable", "--user", "alice"]).ends(0);
    assert!(!fs::read_to_string(RULE).unwrap().contains("mallory"));
    run(&["disable"]).ends(0);
    assert!(!Path::new(RULE).exists() && !Path::new(RECORD).exists());
}

#[test]
fn eg_057_s_23_a_record_that_nobody_can_read_does_not_keep_the_rights_where_they_are() {
    let Some(machine) = machine() else { return };
    run(&["enable", "--user", "alice"]).ends(0);
    fs::write(RECORD, "{").unwrap();
    let told = run(&["disable", "--user", "alice"]).ends(3);
    assert!(told.err.contains("record: ") && told.err.contains("does not parse"), "{}", told.err);
    assert!(!Path::new(RULE).exists(), "the grant is gone whatever else is");
    assert!(!machine.home(ALICE).join(".cursor/mcp.json").exists());
    assert_eq!(fs::read_to_string(RECORD).unwrap(), "{", "it may still tell a person something");
    fs::remove_file(RECORD).unwrap();
    run(&["enable", "--user", "alice"]).ends(0);
    run(&["disable"]).ends(0);
    assert!(!Path::new(RULE).exists() && !Path::new(RECORD).exists());
}
