//! Which program runs, and what comes back from it.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
};

use pintle_testkit::machine::ALICE;

use crate::stage::{EGGS, HELPER, ask, machine, noted, program, refused, root, sudo};

fn mode(path: &str, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn s_08_s_09_a_program_that_others_can_change_does_not_run() {
    let Some(machine) = machine() else { return };
    let go = || ask(sudo(&machine, &[HELPER, "run", "eggs.remaster"]));
    mode(EGGS, 0o775);
    refused(&go(), "`/usr/bin/eggs` can be changed by others than root (mode 0775)");
    mode(EGGS, 0o755);
    chown(EGGS, Some(ALICE.1), None).unwrap();
    refused(&go(), "`/usr/bin/eggs` belongs to user 47001");
    chown(EGGS, Some(0), None).unwrap();
    let own = machine.home(ALICE).join("eggs");
    fs::copy(EGGS, &own).unwrap();
    fs::remove_file(EGGS).unwrap();
    symlink(&own, EGGS).unwrap();
    refused(&go(), "can be changed by others than root");
    // The second candidate is as good as the first.
    fs::remove_file(EGGS).unwrap();
    fs::copy(&own, "/usr/local/bin/eggs").unwrap();
    chown("/usr/local/bin", Some(ALICE.1), None).unwrap();
    refused(&go(), "`/usr/local/bin` belongs to user 47001");
    chown("/usr/local/bin", Some(0), None).unwrap();
    assert!(go().status.success());
    noted().unwrap();
    fs::remove_file("/usr/local/bin/eggs").unwrap();
    refused(&go(), "`/usr/bin/eggs` does not exist");
}

#[test]
fn eg_015_a_program_that_is_not_what_its_name_says_does_not_run() {
    let Some(machine) = machine() else { return };
    let go = || ask(root(&machine, &["run", "eggs.remaster"]));
    for (text, why) in [
        ("#!/bin/sh\necho penguins-eggs/10\n", "does not say that it is this program"),
        ("#!/bin/sh\necho '[coa]'; exit 3\n", "fails"),
        ("#!/bin/sh\n(trap '' TERM; sleep 600) &\nwait\n", "does not end"),
        ("echo '[coa]'\n", "neither an ELF binary nor a script"),
        ("#!/bin/sh\nexec pintle eggs \"$@\"\n", "is a shim of pintle"),
        ("#!/nowhere/sh\n", "fails"),
    ] {
        machine.write(EGGS, text, 0o755).unwrap();
        refused(&go(), why);
    }
}

#[test]
fn eg_009_output_and_exit_come_back_as_they_are() {
    let Some(machine) = machine() else { return };
    program(&machine, "echo out; echo err >&2; exit 7");
    let output = ask(sudo(&machine, &[HELPER, "run", "eggs.remaster"]));
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
    assert_eq!(output.status.code(), Some(7));
    program(&machine, "kill -9 $$");
    assert_eq!(ask(sudo(&machine, &[HELPER, "run", "eggs.remaster"])).status.code(), Some(128 + 9));
    program(&machine, "read -r line && echo read; exit 0");
    assert!(ask(root(&machine, &["run", "eggs.remaster"])).stdout.is_empty(), "the program has no input");
}
