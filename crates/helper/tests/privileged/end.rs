//! How a program that is root ends, although whoever called cannot signal it.

use std::{
    fs,
    process::{Command, Stdio},
};

use pintle_testkit::machine::{ALICE, Machine};

use crate::stage::{EGGS, HELPER, gone, lives, machine, noted, program, root, started, sudo};

/// A pack whose program has little time to end, so that the test has much.
fn impatient(machine: &Machine) {
    let pack = format!(
        "format = 1\nname = \"other\"\nsummary = \"x\"\nprogram.candidates = [\"{EGGS}\"]\n\
         [verb.go]\nwords = [\"go\"]\nsummary = \"x\"\neffects = [\"write\"]\nelevate = \"always\"\ngrace = \"200ms\"\n\
         [[tool]]\nname = \"other_go\"\nabout = \"x\"\nverb = \"go\"\n"
    );
    machine.write("/etc/pintle/packs/other.toml", pack, 0o644).unwrap();
}

#[test]
fn s_28_the_end_of_input_ends_the_program_and_what_it_started() {
    let Some(machine) = machine() else { return };
    program(&machine, "sleep 600 & echo $$ $!; wait");
    let (mut child, processes) = started(sudo(&machine, &[HELPER, "run", "eggs.destroy"]));
    let processes: Vec<&str> = processes.split(' ').collect();
    assert!(processes.iter().all(|process| lives(process)), "{processes:?}");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    assert!(!processes.iter().any(|process| lives(process)), "{processes:?}");
}

#[test]
fn s_28_who_does_not_obey_is_killed_with_everything_it_started() {
    let Some(machine) = machine() else { return };
    impatient(&machine);
    for body in [
        // The program itself is deaf, and so is what it started.
        "trap '' TERM; (trap '' TERM; exec sleep 600) & echo $$ $!; while :; do sleep 600; done",
        // The program obeys and leaves a deaf one behind.
        "trap 'exit 3' TERM; (trap '' TERM; exec sleep 600) & echo $$ $!; while :; do wait; done",
    ] {
        program(&machine, body);
        let (mut child, processes) = started(root(&machine, &["run", "other.go"]));
        let processes: Vec<&str> = processes.split(' ').collect();
        drop(child.stdin.take());
        let code = child.wait().unwrap().code().unwrap();
        assert!([128 + 9, 3].contains(&code), "{code}");
        assert!(!processes.iter().any(|process| lives(process)), "{processes:?} {body}");
    }
}

#[test]
fn s_28_a_kill_of_whoever_called_ends_the_program() {
    let Some(machine) = machine() else { return };
    program(&machine, "echo $$; exec sleep 600");
    // The caller holds the only end of the input; sudo is its child.
    let script = format!(
        "mkfifo in; sudo -n -- {HELPER} run eggs.destroy < in & exec 3> in; echo '{{\"arguments\": {{}}}}' >&3; wait"
    );
    let mut caller = machine.as_user(ALICE, "/bin/sh");
    caller.args(["-c", &script]).stdout(Stdio::piped());
    let mut caller = caller.spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(caller.stdout.as_mut().unwrap()), &mut line).unwrap();
    assert!(lives(line.trim()), "{line}");
    // `setpriv` has become the shell, so this is the caller itself.
    caller.kill().unwrap();
    caller.wait().unwrap();
    gone(line.trim());
}

#[test]
fn s_28_signals_to_the_elevator_reach_the_program_and_it_does_not_outlive_the_helper() {
    let Some(machine) = machine() else { return };
    program(&machine, "echo $$ $PPID; exec sleep 600");
    for signal in ["-TERM", "-HUP", "-INT"] {
        let (mut child, processes) = started(sudo(&machine, &[HELPER, "run", "eggs.destroy"]));
        let (process, helper) = processes.split_once(' ').unwrap();
        assert!(Command::new("/bin/kill").args([signal, helper]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(128 + 15), "{signal}");
        assert!(!lives(process), "{signal}");
    }
    // Whoever called may kill the elevator, which then relays nothing.
    let (mut child, processes) = started(sudo(&machine, &[HELPER, "run", "eggs.destroy"]));
    let (process, helper) = processes.split_once(' ').unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    gone(process);
    gone(helper);
    let (mut child, processes) = started(sudo(&machine, &[HELPER, "run", "eggs.destroy"]));
    let (process, helper) = processes.split_once(' ').unwrap();
    assert!(Command::new("/bin/kill").args(["-KILL", helper]).status().unwrap().success());
    gone(process);
    child.wait().unwrap();
    noted().unwrap();
    assert!(!fs::exists(format!("/proc/{helper}")).unwrap());
}
