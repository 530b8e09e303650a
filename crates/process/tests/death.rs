//! What happens to children when pintle itself is killed.
//!
//! Each test runs itself once more in a process of its own, the victim, and kills that.
#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use pintle_process::{DeathSignal, Spawn};

/// Set in the victim.
const VICTIM: &str = "PINTLE_TEST_VICTIM";

/// Starts a child that notices nothing by itself, says its ID, and waits to be killed.
#[tokio::main(flavor = "current_thread")]
async fn victim(script: &str, signal: DeathSignal) {
    let spawn = Spawn::new("/bin/sh").arg("-c").arg(script).death_signal(signal);
    let mut piped = spawn.piped(64).await.unwrap();
    let mut ready = [0; 6];
    tokio::io::AsyncReadExt::read_exact(&mut piped.stdout, &mut ready).await.unwrap();
    let mut out = std::io::stdout();
    writeln!(out, "\nchild {}", piped.child.id()).unwrap();
    out.flush().unwrap();
    std::future::pending::<()>().await;
}

fn alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or("").starts_with('Z'))
}

fn child_dies_with_us(test: &str, script: &str, signal: DeathSignal) {
    if std::env::var_os(VICTIM).is_some() {
        return victim(script, signal);
    }
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let child: u32 = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("child ")?.parse().ok()).unwrap();
    assert!(alive(child));
    victim.kill().unwrap();
    victim.wait().unwrap();
    for _ in 0..1000 {
        if !alive(child) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("child {child} outlived us");
}

#[test]
fn an_3_2_a_child_gets_term_when_we_are_killed() {
    child_dies_with_us("an_3_2_a_child_gets_term_when_we_are_killed", "echo ready; exec sleep 600", DeathSignal::Term);
}

#[test]
fn an_3_2_a_child_that_ignores_term_gets_kill_if_asked_for() {
    child_dies_with_us(
        "an_3_2_a_child_that_ignores_term_gets_kill_if_asked_for",
        "trap '' TERM; echo ready; while :; do sleep 1; done",
        DeathSignal::Kill,
    );
}
