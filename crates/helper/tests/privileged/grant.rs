//! What a rule of one verb each lets a user do.

use std::{fs, os::unix::fs::PermissionsExt};

use pintle_testkit::machine::{ALICE, MALLORY};

use crate::stage::{
    HELPER, ask, call, gone, lives, machine, not_granted, noted, program, refused, root, started, sudo,
};

#[test]
fn eg_046_s_02_s_03_s_43_a_granted_verb_runs_as_root_in_surroundings_of_ours() {
    let Some(machine) = machine() else { return };
    // What eggs would take from the folder of whoever calls.
    let home = machine.home(ALICE);
    fs::create_dir_all(home.join("coa/brain.d")).unwrap();
    fs::write(home.join("custom.yaml"), "remaster: {}").unwrap();
    let mut command = sudo(&machine, &[HELPER, "run", "eggs.remaster"]);
    command.env("LD_PRELOAD", "/tmp/x.so").env("IFS", ":").env("SECRET", "s").current_dir(&home);
    let output = call(command, r#"{"arguments": {"clone": true, "compression": "xz"}}"#);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let noted = noted().unwrap();
    assert_eq!(noted.argv, "<remaster><--clone><--compression=xz>");
    assert_eq!((noted.folder.as_str(), noted.uid.as_str(), noted.mask.as_str()), ("/", "0", "0022"));
    let [process, group, session, terminal] = noted.process;
    assert_eq!((group, session, terminal), (process, process, 0), "leader of its own session, without a terminal");
    assert_eq!(noted.descriptors, "0 1 2 3", "the fourth is the one by which they are listed");
    let mut names: Vec<&str> =
        noted.environment.iter().filter_map(|variable| Some(variable.split_once('=')?.0)).collect();
    // The shell sets these two.
    names.retain(|name| !["PWD", "_", "OLDPWD", "SHLVL"].contains(name));
    assert_eq!(names, ["LANG", "LC_ALL", "NO_COLOR", "PATH", "SUDO_GID", "SUDO_UID", "SUDO_USER", "TERM"]);
    assert!(noted.environment.contains(&format!("SUDO_USER={}", ALICE.0)));
}

#[test]
fn eg_046_s_07_every_other_command_is_refused_by_sudo() {
    let Some(machine) = machine() else { return };
    let others: [&[&str]; 12] = [
        &[HELPER],
        &[HELPER, "run"],
        &[HELPER, "run", "eggs.sysinstall-krill"],
        &[HELPER, "run", "eggs.tools-repo"],
        &[HELPER, "run", "eggs.remaster", "--debug"],
        &[HELPER, "run", "eggs.remaster eggs.destroy"],
        &[HELPER, "start", "/bin/sh", "-c", "id"],
        &["/usr/lib/pintle/../pintle/pintle-helper", "start", "/bin/sh"],
        &["/usr/bin/eggs", "remaster"],
        &["/usr/bin/eggs", "ell"],
        &["/bin/sh"],
        &["/usr/bin/id"],
    ];
    for words in others {
        not_granted(&ask(sudo(&machine, words)), "sudo: ");
    }
    let mut as_other = machine.as_user(ALICE, "/usr/bin/sudo");
    as_other.args(["-n", "-u", MALLORY.0, "--", HELPER, "run", "eggs.remaster"]);
    not_granted(&ask(as_other), "sudo: ");
    let mut mallory = machine.as_user(MALLORY, "/usr/bin/sudo");
    mallory.args(["-n", "--", HELPER, "run", "eggs.remaster"]);
    not_granted(&ask(mallory), "sudo: ");
    assert!(ask(sudo(&machine, &[HELPER, "run", "eggs.remaster"])).status.success(), "the granted one still runs");
}

#[test]
fn s_12_doas_grants_the_same_and_says_who_called() {
    let Some(machine) = machine() else { return };
    let rule = format!("permit nopass {} as root cmd {HELPER} args run eggs.destroy\n", ALICE.0);
    machine.write("/etc/doas.conf", rule, 0o400).unwrap();
    let doas = |words: &[&str]| {
        let mut command = machine.as_user(ALICE, "/usr/bin/doas");
        command.arg("-n").args(words);
        ask(command)
    };
    let output = doas(&[HELPER, "run", "eggs.destroy"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let noted = noted().unwrap();
    assert_eq!((noted.uid.as_str(), noted.folder.as_str(), noted.argv.as_str()), ("0", "/", "<destroy>"));
    for name in ["SUDO_USER", "DOAS_USER"] {
        assert!(noted.environment.contains(&format!("{name}={}", ALICE.0)), "{:?}", noted.environment);
    }
    for words in [&[HELPER, "run", "eggs.remaster"][..], &[HELPER, "run", "eggs.destroy", "x"], &["/bin/sh"]] {
        not_granted(&doas(words), "doas: ");
    }
}

#[test]
fn s_02_without_root_or_by_another_door_nothing_starts() {
    let Some(machine) = machine() else { return };
    let mut plain = machine.as_user(ALICE, HELPER);
    plain.args(["run", "eggs.remaster"]);
    refused(&ask(plain), "must be started as root");
    // A set-user-ID bit is not how it is meant to get its rights.
    std::fs::set_permissions(HELPER, std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
    let mut plain = machine.as_user(ALICE, HELPER);
    plain.args(["run", "eggs.remaster"]);
    refused(&ask(plain), "must be started as root");
    refused(&ask(root(&machine, &["start", "/bin/sh", "-c", "id"])), "`start` is for the helper itself");
    for words in [&[][..], &["run"], &["run", "eggs.remaster", "x"], &["--help"], &["eggs.remaster"]] {
        refused(&ask(root(&machine, words)), "takes `run PACK.VERB`");
    }
}

#[test]
fn s_50_there_is_one_flight_on_the_machine_whoever_began_it() {
    let Some(machine) = machine() else { return };
    let rule = format!("{} ALL=(root) NOPASSWD: {HELPER} run eggs.remaster\n", MALLORY.0);
    machine.write("/etc/sudoers.d/other", rule, 0o440).unwrap();
    program(&machine, "echo $$; exec sleep 600");
    let (mut first, process) = started(sudo(&machine, &[HELPER, "run", "eggs.remaster"]));
    noted().unwrap();
    let mut other = machine.as_user(MALLORY, "/usr/bin/sudo");
    other.args(["-n", "--", HELPER, "run", "eggs.remaster"]);
    refused(&ask(other), "busy: the lane `flight` of `eggs` is taken");
    refused(&ask(sudo(&machine, &[HELPER, "run", "eggs.destroy"])), "busy: ");
    assert!(lives(&process));
    // A folder that others could change is no place for locks.
    fs::set_permissions("/run/pintle/lanes", PermissionsExt::from_mode(0o777)).unwrap();
    refused(&ask(sudo(&machine, &[HELPER, "run", "eggs.destroy"])), "`/run/pintle/lanes` can be changed by others");
    fs::set_permissions("/run/pintle/lanes", PermissionsExt::from_mode(0o700)).unwrap();
    drop(first.stdin.take());
    first.wait().unwrap();
    gone(&process);
    program(&machine, "");
    assert!(ask(sudo(&machine, &[HELPER, "run", "eggs.destroy"])).status.success(), "the lane is free again");
}
