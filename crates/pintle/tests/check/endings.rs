//! How a run ends: its exit code, and nothing left behind.

use crate::{fixture, home::Home};
use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
    time::{Duration, Instant},
};

const PASSES: &str = "a: {check: it answers, mcp: ping}\n";
const FAILS: &str = "b: {check: it says so, mcp: call, tool: trial.echo, stdout: bye}\n";

#[test]
fn ch_001_the_client_passes_ping_list_call_and_read_against_our_own_server_over_http() {
    let home = Home::with_project();
    let mut command = crate::tools::clean(crate::home::pintle(), home.path());
    command.args(["mcp", "serve", "--listen", "127.0.0.1:0", "--toolset", "charly"]).current_dir(home.work());
    let server = crate::served::Listening::start(&mut command);
    let plan = "
ping: {check: x, mcp: ping, stdout: ok}
list: {check: x, mcp: list-tools, stdout: {contains: box.list.boxes}}
call: {check: x, mcp: call, tool: box.list.boxes, stdout: {contains: web}}
uris: {check: x, mcp: list-resources, capture: {URI: /resources/0/uri}}
read: {check: x, mcp: read, uri: '${URI}', stdout: {contains: 'web:'}}
";
    home.write("work/plan.yml", plan);
    for extra in [&["--transport", "auto"][..], &["--transport", "http"], &["--reuse-sessions"], &["--jobs", "4"]] {
        let words = ["check", "run", "plan.yml", "--url", &server.url];
        let out = home.run(words.iter().chain(extra)).good();
        assert!(out.contains("5 steps: 5 passed"), "{out}");
    }
}

#[test]
fn cw_37_cw_38_exit_codes_tell_what_happened() {
    let home = Home::new();
    let stdio = fixture::stdio();
    home.write("work/passes.yml", PASSES);
    home.write("work/fails.yml", FAILS);
    home.write("work/skips.yml", &format!("{PASSES}c: {{check: x, mcp: ping, skip: not today}}\n"));
    home.write("work/foreign.yml", "d: {check: x, frobnicate: now}\n");
    home.write("work/alien.yml", "e: {check: x, mcp: ping}\nf: {check: x, moon: full}\n");
    let cases: &[(&[&str], i32)] = &[
        (&["passes.yml"], 0),
        (&["fails.yml"], 2),
        (&["passes.yml", "fails.yml"], 2),
        (&["."], 64),
        (&["passes.yml", "fails.yml", "--filter", "a"], 0),
        (&["passes.yml", "fails.yml", "--filter", "mcp", "--filter", "a"], 2),
        (&["passes.yml", "--filter", "z*"], 1),
        (&["passes.yml", "--filter", "http"], 1),
        (&["passes.yml", "--filter", "mpc"], 64),
        (&["passes.yml", "--section", "box"], 64),
        (&["skips.yml"], 0),
        (&["skips.yml", "--fail-on-skip"], 2),
        (&["skips.yml", "--require", "2"], 2),
        (&["foreign.yml"], 64),
        (&["alien.yml", "--provider", "moon=/no/such/program"], 1),
        (&["none.yml"], 1),
        (&["passes.yml", "--report", "json=/no/such/folder/x.json"], 1),
        (&["passes.yml", "--report", "text", "--report", "json"], 64),
        (&["passes.yml", "--report", "pdf"], 64),
        (&["passes.yml", "--jobs", "0"], 64),
        (&["passes.yml", "--deadline", "5"], 64),
        (&["passes.yml", "--var", "X=1"], 64),
    ];
    for (words, code) in cases {
        let server = ["--stdio", stdio.as_str()];
        let ran = home.run(["check", "run"].iter().chain(*words).chain(&server));
        assert_eq!(ran.code, *code, "{words:?}: {}{}", ran.out, ran.err);
    }
    for (server, code) in [("/no/such/program", 1), ("sh -c 'exit 3'", 2), ("cat /dev/null", 2), ("a 'b", 64)] {
        let ran = home.run(["check", "run", "passes.yml", "--stdio", server]);
        assert_eq!(ran.code, code, "{server}: {}{}", ran.out, ran.err);
    }
    assert_eq!(home.run(["check", "run", "passes.yml"]).code, 64, "no server at all");
    let refused = home.run(["check", "run", "passes.yml", "--url", "http://127.0.0.1:1/mcp"]);
    assert!(refused.code == 2 && refused.out.contains("connect: "), "{}", refused.out);
}

#[test]
fn cw_37_a_filter_runs_these_steps_and_no_others() {
    let home = Home::new();
    home.write("work/plan.yml", &format!("{PASSES}t: {{check: x, command: touch ran}}\n"));
    let out = home.run(["check", "run", "plan.yml", "--filter", "mcp", "--stdio", &fixture::stdio()]).good();
    assert!(out.contains("1 steps: 1 passed") || out.contains("1 step: 1 passed"), "{out}");
    assert!(!home.work().join("ran").exists());
}

#[test]
fn the_deadline_ends_a_run_and_says_so() {
    let home = Home::new();
    home.write("work/plan.yml", "a: {check: x, mcp: call, tool: trial.hang}\nb: {check: x, mcp: ping}\n");
    let ran = home.run(["check", "run", "plan.yml", "--deadline", "2s", "--stdio", &fixture::stdio()]);
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("2s") && ran.out.contains("[b]"), "{}", ran.out);
}

/// Children of the process by the kernel's own list, with theirs.
fn descendants(of: u32) -> Vec<u32> {
    let mut all = Vec::new();
    for task in fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|id| id.parse().ok()) {
            all.push(child);
            all.extend(descendants(child));
        }
    }
    all
}

/// Whether that process runs; one that only waits to be reaped does not.
fn lives(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

#[test]
fn ch_050_ctrl_c_ends_the_run_with_130_reports_and_no_child_left() {
    let plan = "
a: {check: x, command: touch ran}
b: {check: x, mcp: call, tool: trial.hang, timeout: 60s}
c: {check: x, mcp: ping}
";
    let stdio = fixture::stdio();
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let home = Home::new();
        home.write("work/plan.yml", plan);
        let words = ["check", "run", "plan.yml", "--stdio", &stdio, "--report", "json=out.json", "--report", "tap"];
        let mut child = home.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(50);
        let servers = loop {
            std::thread::sleep(Duration::from_millis(200));
            let now = descendants(child.id());
            // Once the first step has gone, what is left is the server of the second.
            if home.work().join("ran").exists() && !now.is_empty() {
                std::thread::sleep(Duration::from_millis(300));
                break descendants(child.id());
            }
            assert!(Instant::now() < until, "the second step did not start");
        };
        assert!(!servers.is_empty());
        let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
        let lines: Vec<String> = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("ok 1")), "{lines:?}");
        let report = fs::read_to_string(home.work().join("out.json")).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["summary"]["passed"], 1, "{report}");
        assert_eq!(report["steps"].as_array().unwrap().len(), 3, "{report}");
        for id in servers {
            assert!(!lives(id), "{id} is left");
        }
    }
}

#[test]
fn ctrl_c_ends_a_question_outside_of_plans_too() {
    let home = Home::new();
    let words = ["mcp", "call", "trial.hang", "--stdio", &fixture::stdio()];
    let mut child = home.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(50);
    while descendants(child.id()).is_empty() {
        assert!(Instant::now() < until, "the server did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    let servers = descendants(child.id());
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for id in servers {
        // It ends with its input, or by the death signal.
        while lives(id) {
            assert!(Instant::now() < until, "{id} is left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_terminal_shows_how_far_a_run_is_and_a_pipe_does_not() {
    let home = Home::new();
    home.write("work/plan.yml", "slow: {check: x, command: sleep 0.5}\nquick: {check: y, command: sleep 0.2}\n");
    let words = ["check", "run", "plan.yml"];
    let shown = format!("'{}' {}", crate::home::pintle().display(), words.join(" "));
    let mut command = home.command_of("script".as_ref(), ["-qec", &shown, "/dev/null"]);
    let output = command.env("TERM", "xterm").stderr(Stdio::piped()).output().unwrap();
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{seen}");
    assert!(seen.contains("0/2 slow") && seen.contains("1/2 quick"), "{seen}");
    assert!(seen.contains("2 passed"), "{seen}");
    let piped = home.run(words);
    assert!(!piped.err.contains("/2"), "{}", piped.err);
}
