//! What is asked for is checked again, whoever granted it.

use std::process::Command;

use crate::stage::{HELPER, ask, call, machine, noted, refused, root};

#[test]
fn s_07_eg_036_a_verb_that_is_forged_or_never_runs_as_root_is_refused() {
    let Some(machine) = machine() else { return };
    for (verb, why) in [
        ("eggs.ell", "no verb `ell`"),
        ("eggs.version", "does not run as root"),
        ("eggs.tools-build", "does not run as root"),
        ("eggs.export-iso", "does not run as root"),
        ("eggs.wardrobe-list", "does not run as root"),
        ("other.remaster", "no pack `other`"),
        ("eggs", "is not of the form PACK.VERB"),
        ("../eggs.remaster", "is not of the form PACK.VERB"),
        ("eggs.remaster\n", "is not of the form PACK.VERB"),
        ("/etc/shadow.x", "is not of the form PACK.VERB"),
    ] {
        refused(&ask(root(&machine, &["run", verb])), why);
    }
}

#[test]
fn s_05_s_33_s_34_s_35_arguments_are_checked_again() {
    let Some(machine) = machine() else { return };
    for (verb, arguments, why) in [
        ("remaster", r#"{"debug": "true"}"#, "/debug"),
        ("remaster", r#"{"path": "/home/eggs; id"}"#, "/path"),
        ("remaster", r#"{"path": "/srv/x"}"#, "/path"),
        ("remaster", r#"{"crypted": true}"#, "/crypted"),
        ("remaster", r#"{"compression": "zstd; id"}"#, "/compression"),
        ("remaster", r#"{"stop_after": "coa-initrd"}"#, "/stop_after"),
        ("remaster", r#"{"shell": "id"}"#, "/shell"),
        ("wardrobe-wear", "{}", "/costume"),
        ("wardrobe-wear", r#"{"costume": "../x"}"#, "/costume"),
        ("wardrobe-wear", r#"{"costume": "a\u0000b"}"#, "/costume"),
        ("wardrobe-wear", r#"{"costume": "--no-acc"}"#, "/costume"),
    ] {
        let output =
            call(root(&machine, &["run", &format!("eggs.{verb}")]), &format!(r#"{{"arguments": {arguments}}}"#));
        refused(&output, why);
    }
    let output = call(
        root(&machine, &["run", "eggs.wardrobe-wear"]),
        r#"{"arguments": {"costume": "colibri", "no_acc": true}}"#,
    );
    assert!(output.status.success());
    assert_eq!(noted().unwrap().argv, "<wardrobe><wear><--no-acc><colibri>");
}

#[test]
fn s_38_a_request_is_one_bounded_line_of_json() {
    let Some(machine) = machine() else { return };
    let long = format!(r#"{{"arguments": {{"path": "{}"}}}}"#, "x".repeat(2 * 1024 * 1024));
    for (line, why) in [
        ("", "not the JSON that was expected"),
        ("[]", "not the JSON that was expected"),
        ("remaster", "not the JSON that was expected"),
        (r#"{"arguments": {}, "argv": ["ell"]}"#, "unknown field `argv`"),
        ("{\"arguments\": {}}\nmore", "goes on after its line"),
        (&long, "is too long"),
    ] {
        refused(&call(root(&machine, &["run", "eggs.remaster"]), line), why);
    }
    let mut ended = root(&machine, &["run", "eggs.remaster"]);
    refused(&ended.stdin(std::process::Stdio::null()).output().unwrap(), "ended before its line did");
}

#[test]
fn s_02_a_descriptor_that_is_handed_over_is_refused() {
    let Some(_machine) = machine() else { return };
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec 7< /etc/passwd; exec \"$0\" run eggs.remaster", HELPER]);
    refused(&ask(shell), " is open, and only 0, 1 and 2 may be");
}
