//! The record of every run.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixDatagram,
    },
    process::Command,
};

use pintle_testkit::machine::ALICE;

use crate::stage::{HELPER, ask, call, machine, root, sudo};

const FILE: &str = "/var/log/pintle/helper.log";

/// Lines as JSON, if the file is there.
fn lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn s_44_every_run_and_every_refusal_is_written_down() {
    let Some(machine) = machine() else { return };
    if fs::exists("/dev/log").unwrap() {
        pintle_testkit::skip("this system has a log, which the test must not write to");
        return;
    }
    call(sudo(&machine, &[HELPER, "run", "eggs.wardrobe-wear"]), r#"{"arguments": {"costume": "hush-hush"}}"#);
    call(sudo(&machine, &[HELPER, "run", "eggs.wardrobe-wear"]), r#"{"arguments": {"costume": "../x"}}"#);
    assert_eq!(fs::metadata(FILE).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(fs::metadata("/var/log/pintle").unwrap().permissions().mode() & 0o7777, 0o700);
    let text = fs::read_to_string(FILE).unwrap();
    assert!(!text.contains("hush-hush"), "{text}");
    let lines = lines(&text);
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["started", "ended", "refused"]);
    for line in &lines {
        assert_eq!((&line["call"], &line["user"]), (&"eggs.wardrobe-wear".into(), &ALICE.0.into()));
        assert_eq!(line["uid"], ALICE.1);
    }
    assert_eq!(
        (&lines[0]["program"], &lines[1]["exit"], &lines[1]["by"]),
        (&"/usr/bin/eggs".into(), &0.into(), &"itself".into())
    );
    assert_eq!(lines[0]["arguments"].as_str().unwrap().len(), 71);
    assert!(lines[2]["why"].as_str().unwrap().contains("/costume"));

    // A file that grows for ever would fill the disk.
    fs::write(FILE, vec![b'\n'; 5 * 1024 * 1024]).unwrap();
    ask(root(&machine, &["run", "eggs.ell"]));
    assert!(fs::metadata(FILE).unwrap().len() < 4096);
    assert_eq!(fs::metadata(format!("{FILE}.1")).unwrap().len(), 5 * 1024 * 1024);
}

#[test]
fn s_13_the_log_follows_no_link() {
    let Some(machine) = machine() else { return };
    if fs::exists("/dev/log").unwrap() {
        pintle_testkit::skip("this system has a log, which the test must not write to");
        return;
    }
    machine.write("/etc/target", "kept", 0o600).unwrap();
    fs::create_dir("/var/log/pintle").unwrap();
    fs::set_permissions("/var/log/pintle", fs::Permissions::from_mode(0o700)).unwrap();
    symlink("/etc/target", FILE).unwrap();
    let output = ask(root(&machine, &["run", "eggs.remaster"]));
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("this run is not logged"));
    fs::remove_file(FILE).unwrap();
    fs::remove_dir("/var/log/pintle").unwrap();
    fs::create_dir("/etc/elsewhere").unwrap();
    symlink("/etc/elsewhere", "/var/log/pintle").unwrap();
    ask(root(&machine, &["run", "eggs.remaster"]));
    assert_eq!(fs::read_to_string("/etc/target").unwrap(), "kept");
    assert_eq!(fs::read_dir("/etc/elsewhere").unwrap().count(), 0);
}

#[test]
fn s_44_the_log_of_the_system_comes_first() {
    let Some(machine) = machine() else { return };
    // `/dev` is made private for this test alone: what is bound over it is gone with the test.
    let mount = |arguments: &[&str]| assert!(Command::new("mount").args(arguments).status().unwrap().success());
    mount(&["-t", "tmpfs", "tmpfs", "/mnt"]);
    for name in ["null", "zero", "tty", "random", "urandom"] {
        fs::write(format!("/mnt/{name}"), "").unwrap();
        mount(&["--bind", &format!("/dev/{name}"), &format!("/mnt/{name}")]);
    }
    mount(&["--move", "/mnt", "/dev"]);
    let log = UnixDatagram::bind("/dev/log").unwrap();
    ask(root(&machine, &["run", "eggs.ell"]));
    let mut message = [0; 4096];
    let message = loop {
        let length = log.recv(&mut message).unwrap();
        let message = String::from_utf8_lossy(&message[..length]);
        // sudo tells of the same run in its own way.
        if message.contains("pintle-helper[") {
            break message.into_owned();
        }
    };
    assert!(message.starts_with("<84>pintle-helper["), "{message}");
    let line: serde_json::Value = serde_json::from_str(message.split_once(": ").unwrap().1).unwrap();
    assert_eq!((&line["event"], &line["call"]), (&"refused".into(), &"eggs.ell".into()));
    assert!(!fs::exists(FILE).unwrap());
}
