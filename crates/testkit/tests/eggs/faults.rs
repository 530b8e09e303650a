//! Misbehaviour on order.

use crate::stage::{Ran, as_root, command, installed, once};
use pintle_testkit::eggs::{Fault, Installed, Noise};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

fn with(fault: Fault) -> Ran {
    once(&as_root().fault("adapt", fault), &["adapt"])
}

/// Started, and heard to have printed its first line.
fn started(fault: Fault) -> (Installed, Child, BufReader<std::process::ChildStdout>) {
    let installed = installed(&as_root().fault("adapt", Fault { noise: vec![Noise::Nul], ..fault }));
    let mut child = command(&installed, &["adapt"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    (installed, child, out)
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed()).unwrap()
}

#[test]
fn si_05_an_exit_code_and_an_error_line_on_order() {
    let coded = with(Fault { exit_code: Some(7), ..Fault::default() });
    assert!(coded.code == 7 && coded.out.contains("Virtual-3"), "the work is done all the same");
    let said = with(Fault { says_error: true, ..Fault::default() });
    assert_eq!(said.code, 0);
    assert!(said.err.starts_with("\n[ERROR] "));
}

#[test]
fn si_05_a_fault_is_one_command_s_or_every_one_s_and_may_come_by_variable() {
    let orders = as_root().fault("tools skel", Fault { exit_code: Some(7), ..Fault::default() });
    assert_eq!(once(&orders, &["tools", "skel"]).code, 7);
    assert_eq!(once(&orders, &["tools", "clean"]).code, 0);
    let every = as_root().fault("*", Fault { exit_code: Some(9), ..Fault::default() });
    assert_eq!((once(&every, &["version"]).code, once(&every, &[]).code), (9, 9));
    let installed = installed(&as_root());
    let mut command = command(&installed, &["adapt"]);
    command.env("EGGS_STAND_IN_FAULTS", r#"{"adapt": {"exit_code": 8}}"#);
    assert_eq!(command.status().unwrap().code(), Some(8));
}

#[test]
fn si_05_noise_comes_as_it_is() {
    let installed = installed(&as_root().fault(
        "adapt",
        Fault {
            noise: vec![Noise::InvalidUtf8, Noise::Nul, Noise::Ansi, Noise::JsonRpc, Noise::LongLine],
            ..Fault::default()
        },
    ));
    let out = command(&installed, &["adapt"]).output().unwrap().stdout;
    assert!(std::str::from_utf8(&out).is_err());
    assert!(out.contains(&0));
    let has = |wanted: &[u8]| out.windows(wanted.len()).any(|window| window == wanted);
    assert!(has(b"\x1b[31m") && has(b"\x1b]0;") && has(br#"{"jsonrpc":"2.0","id":1,"result""#));
    let longest = out.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    assert_eq!(longest, Some(10 * 1024 * 1024));
    let aside = with(Fault { noise: vec![Noise::JsonRpc], noise_on_stderr: true, ..Fault::default() });
    assert!(aside.err.contains("jsonrpc") && !aside.out.contains("jsonrpc"));
}

#[test]
fn si_05_as_many_mib_as_asked() {
    let ran = with(Fault { print_mib: 3, ..Fault::default() });
    assert!((3 * 1024 * 1024..3 * 1024 * 1024 + 1000).contains(&ran.out.len()), "{}", ran.out.len());
    assert!(ran.out.lines().count() > 1000);
}

#[test]
fn si_05_it_hangs_and_ends_at_a_signal_unless_told_to_ignore_it() {
    use std::os::unix::process::ExitStatusExt;
    let (_home, mut child, _out) = started(Fault { hang: true, ..Fault::default() });
    kill_process(pid(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    let (_home, mut child, _out) = started(Fault { hang: true, ignore_term: true, ..Fault::default() });
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        kill_process(pid(&child), signal).unwrap();
    }
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none(), "it lives on");
    kill_process(pid(&child), Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
}

#[test]
fn si_05_a_process_left_behind_keeps_the_output_open() {
    for own_group in [false, true] {
        let fault = Fault { grandchild_secs: Some(600), grandchild_own_group: own_group, ..Fault::default() };
        let (home, mut child, mut out) = started(fault);
        let group = pid(&child);
        child.wait().unwrap();
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(out.read_to_end(&mut Vec::new()).is_ok()));
        assert!(ended.recv_timeout(Duration::from_millis(200)).is_err(), "its output has not ended");
        let left = left_behind(&home, group);
        assert!(test_kill_process(left).is_ok());
        assert_eq!(rustix::process::getpgid(Some(left)).unwrap() == left, own_group);
        kill_process(left, Signal::KILL).unwrap();
        assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true));
    }
}

/// The process that runs the same program and is not the child.
fn left_behind(installed: &Installed, child: Pid) -> Pid {
    let program = installed.eggs().canonicalize().unwrap();
    let started = Instant::now();
    loop {
        for entry in std::fs::read_dir("/proc").unwrap() {
            let path = entry.unwrap().path();
            // one that ended meanwhile, or is somebody else's, is none
            if std::fs::read_link(path.join("exe")).is_ok_and(|running| running == program) {
                let pid = Pid::from_raw(path.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap();
                if pid != child {
                    return pid;
                }
            }
        }
        assert!(started.elapsed() < Duration::from_secs(60), "no process was left behind");
    }
}

#[test]
fn si_05_it_asks_where_nobody_answers() {
    let ran = with(Fault { read_terminal: true, ..Fault::default() });
    assert!(ran.out.contains("[y/N]"), "{}", ran.out);
}

#[test]
fn si_05_it_closes_its_output_early_and_goes_on() {
    let (_home, mut child, mut out) = started(Fault { close_stdout_ms: Some(600_000), ..Fault::default() });
    assert_eq!(out.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn si_05_it_dies_by_a_signal() {
    for signal in [Signal::KILL, Signal::SEGV, Signal::TERM] {
        let ran = with(Fault { die_by: Some(signal.as_raw()), ..Fault::default() });
        assert_eq!(ran.code, 128 + signal.as_raw());
    }
}

#[test]
fn si_05_drops_and_a_last_line_without_an_end() {
    let ran = with(Fault { partial_line: true, ..Fault::default() });
    assert!(ran.out.lines().count() == 4 && !ran.out.ends_with('\n'), "{:?}", ran.out);
    let (_home, mut child, mut out) = started(Fault { drip_ms: 50, ..Fault::default() });
    let mut few = [0; 64];
    let count = out.read(&mut few).unwrap();
    assert!((1..64).contains(&count), "{count}");
    child.kill().unwrap();
    child.wait().unwrap();
}
