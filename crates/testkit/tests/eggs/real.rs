//! The stand-in beside the real program, where `EGGS_REAL` names one. Only what anyone may ask of it, by somebody who may
//! nothing.

use crate::{
    stage::{Ran, as_user, command, installed},
    table::sign,
};
use std::{
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

/// Neither of the two changes anything for these.
const HARMLESS: &[&str] = &[
    "",
    "version",
    "--help",
    "remaster --help",
    "surely-not",
    "remaster --surely-not",
    "remaster",
    "remaster --clone --crypted",
    "destroy",
    "kill",
    "config",
    "sysinstall",
    "sysinstall krill",
    "sysinstall calamares",
    "tools",
    "tools surely-not",
    "tools clean",
    "tools grub40",
    "tools repo",
    "tools repo add",
    "export",
    "export surely-not",
    "wardrobe burn",
    "wardrobe show",
    "wardrobe wear colibri",
    "mcp surely-not",
    "mcp enable",
    "mcp disable",
    "mcp stop",
];

#[test]
fn si_12_the_real_program_ends_and_begins_its_outputs_in_the_same_way() {
    let Some(real) = std::env::var_os("EGGS_REAL") else {
        pintle_testkit::skip("opt_in: EGGS_REAL names no real eggs");
        return;
    };
    let stand_in = installed(&as_user());
    let nowhere = tempfile::tempdir().unwrap();
    for line in HARMLESS {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ours: Ran = command(&stand_in, &words).output().unwrap().into();
        let mut theirs = Command::new(&real);
        theirs.args(&words).env_clear().env("HOME", nowhere.path()).env("PATH", "/usr/bin:/bin");
        theirs.current_dir("/").stdin(Stdio::null());
        if rustix::process::geteuid().is_root() {
            theirs.uid(65_534).gid(65_534);
        }
        let theirs: Ran = theirs.output().unwrap().into();
        assert_eq!(
            (ours.code, sign(&ours.out), sign(&ours.err)),
            (theirs.code, sign(&theirs.out), sign(&theirs.err)),
            "{line:?}: {}{}",
            theirs.out,
            theirs.err
        );
    }
}
