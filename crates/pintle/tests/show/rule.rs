//! What sudo grants the user, and that it grants nothing else.

use crate::world::{EGGS, HELPER, World, said};
use pintle_testkit::machine::MALLORY;
use std::{fs, path::Path};

/// The verbs that run as root.
const VERBS: [&str; 10] = [
    "destroy",
    "remaster",
    "sysinstall",
    "sysinstall-calamares",
    "sysinstall-krill",
    "tools-clean",
    "tools-grub40",
    "tools-repo",
    "tools-skel",
    "wardrobe-wear",
];

#[test]
fn eg_043_eg_046_s_01_s_02_sudo_lists_one_exact_command_for_each_verb_and_nothing_else() {
    let Some(world) = World::enabled() else { return };
    let listed = world.sudo(&["-l"]);
    assert!(listed.status.success(), "{}", said(&listed));
    let listed = said(&listed);
    let granted = listed.split_once("may run the following commands").unwrap().1;
    let mut commands: Vec<&str> = granted.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect();
    commands.sort_unstable();
    let expected = VERBS.map(|verb| format!("(root) NOPASSWD: {HELPER} run eggs.{verb}"));
    assert_eq!(commands, expected, "{listed}");
    for verb in VERBS {
        let call = format!("eggs.{verb}");
        assert!(world.sudo(&["-l", "--", HELPER, "run", &call]).status.success(), "{verb}");
    }
}

#[test]
fn eg_046_s_02_s_07_s_08_s_09_sudo_refuses_every_other_command() {
    let Some(world) = World::enabled() else { return };
    let own = world.home().join("pintle-helper");
    fs::copy("/bin/sh", &own).unwrap();
    let own = own.to_str().unwrap();
    let others: [&[&str]; 23] = [
        &["eggs", "ell"],
        &[EGGS],
        &[EGGS, "ell"],
        &[EGGS, "remaster"],
        &[EGGS, "mcp", "disable"],
        &["sh"],
        &["/bin/sh", "-c", "id"],
        &["/usr/bin/id"],
        &["/usr/bin/pintle", "eggs", "mcp", "disable"],
        &["/usr/bin/pintle-helper", "run", "eggs.remaster"],
        &[own, "run", "eggs.remaster"],
        &[HELPER],
        &[HELPER, "run"],
        &[HELPER, "start", "/bin/sh"],
        &[HELPER, "run", "eggs.ell"],
        &[HELPER, "run", "eggs.tools-build"],
        &[HELPER, "run", "eggs.export-iso"],
        &[HELPER, "run", "tar.create"],
        &[HELPER, "run", "eggs.remaster", "--clone"],
        &[HELPER, "run", "eggs.remaster", "eggs.destroy"],
        &[HELPER, "run", "eggs.remaster eggs.destroy"],
        &[HELPER, "run", ""],
        &["/usr/lib/pintle/../pintle/pintle-helper", "start"],
    ];
    for words in others {
        let lists = world.sudo(&[&["-l", "--"], words].concat());
        assert_eq!(lists.status.code(), Some(1), "{words:?}: {}", said(&lists));
        let tried = world.sudo(&[&["--"], words].concat());
        assert_eq!(tried.status.code(), Some(1), "{words:?}: {}", said(&tried));
        assert!(said(&tried).contains("sudo: "), "sudo itself refuses {words:?}: {}", said(&tried));
    }
    // Nor is anything granted as somebody else, in a shell, with an editor, or with variables of the caller's choice.
    for flags in [&["-u", MALLORY.0][..], &["-g", "root"], &["-s"], &["-i"], &["-e"], &["PATH=/tmp"], &["-E"]] {
        let tried = world.sudo(&[flags, &[HELPER, "run", "eggs.remaster"]].concat());
        assert_eq!(tried.status.code(), Some(1), "{flags:?}: {}", said(&tried));
    }
    let mut other = world.machine.as_user(MALLORY, "/usr/bin/sudo");
    let other = other.args(["-n", "--", HELPER, "run", "eggs.remaster"]).output().unwrap();
    assert_eq!(other.status.code(), Some(1), "{}", said(&other));
    assert!(world.calls().is_empty() && !Path::new("/home/eggs").exists(), "nothing ran");
}
