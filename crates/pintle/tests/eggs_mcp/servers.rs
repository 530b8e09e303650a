//! Servers write down that they run; `status` sees them, `stop` ends them, and nobody else is hit.

use crate::stage::{Stage, eventually, pintle};
use serde_json::Value;
use std::{fs, os::unix::fs::PermissionsExt as _, os::unix::process::CommandExt as _, process::Command};

const SERVE: [&str; 5] = ["mcp", "serve", "--stdio", "--toolset", "eggs"];
const START: [&str; 3] = ["eggs", "mcp", "start"];

fn with_pid(servers: &[Value], pid: i32) -> Option<&Value> {
    servers.iter().find(|server| server["pid"] == pid)
}

#[test]
fn s_26_eg_060_status_sees_every_server_of_eggs_and_what_its_client_calls_itself() {
    let Some(stage) = Stage::new() else { return };
    assert!(stage.servers().is_empty());
    let mut first = stage.server(&START);
    first.initialize("a client");
    let mut second = stage.server(&SERVE);
    let modern = r#"{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"another\u001b[31m","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    assert!(second.ask(modern)["result"].is_object());
    let mut boxes = stage.server(&["mcp", "serve", "--stdio", "--toolset", "charly"]);
    boxes.initialize("a third");
    let named = |pid: i32, name: &str| {
        eventually(|| with_pid(&stage.servers(), pid).is_some_and(|server| server["client"] == name))
    };
    assert!(named(first.pid(), "a client"), "{:?}", stage.servers());
    assert!(named(second.pid(), "another[31m") || named(second.pid(), "another"), "{:?}", stage.servers());
    let servers = stage.servers();
    assert_eq!(servers.len(), 2, "the one for boxes is none of eggs: {servers:?}");
    let server = with_pid(&servers, first.pid()).unwrap();
    assert!(server["started"].as_str().unwrap().ends_with('Z'));
    assert_eq!((&server["transport"], &server["toolsets"][0]), (&"stdio".into(), &"eggs".into()));
    for record in stage.records() {
        assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let text = stage.run(&["eggs", "mcp", "status"]).ends(0).out;
    assert!(text.contains(&first.pid().to_string()) && text.contains("a client"), "{text}");
    first.leave();
    second.leave();
    assert!(stage.servers().is_empty());
    boxes.leave();
    assert!(stage.records().is_empty(), "nothing is left behind");
}

#[test]
fn eg_061_s_26_stop_ends_them_waits_and_reports() {
    let Some(stage) = Stage::new() else { return };
    let mut servers = [stage.server(&START), stage.server(&SERVE)];
    servers.iter_mut().for_each(|server| server.initialize("t"));
    let mut boxes = stage.server(&["mcp", "serve", "--stdio", "--toolset", "charly"]);
    boxes.initialize("t");
    assert!(eventually(|| stage.servers().len() == 2));
    let stopped = stage.run(&["eggs", "mcp", "stop", "--output", "json"]).ends(0).json();
    let states: Vec<&Value> = stopped["servers"].as_array().unwrap().iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["ended", "ended"]);
    for server in &mut servers {
        // It has waited: they are gone already.
        assert!(server.child.try_wait().unwrap().is_some());
    }
    assert!(boxes.child.try_wait().unwrap().is_none(), "a server without eggs goes on");
    boxes.leave();
    let nothing = stage.run(&["eggs", "mcp", "stop"]).ends(0);
    assert!(nothing.out.contains("no server of eggs runs"), "{}", nothing.out);
}

#[test]
fn eg_061_what_does_not_end_is_told_and_killed_only_by_force() {
    let Some(stage) = Stage::new() else { return };
    let mut server = stage.server(&START);
    server.initialize("t");
    assert!(eventually(|| stage.servers().len() == 1));
    let pid = rustix::process::Pid::from_raw(server.pid()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let left = stage.run(&["eggs", "mcp", "stop", "--wait", "1"]).ends(1);
    assert!(left.err.contains(&format!("the server {} still runs", server.pid())), "{}", left.err);
    assert!(left.err.contains("--force"), "{}", left.err);
    assert!(server.child.try_wait().unwrap().is_none());
    let killed = stage.run(&["eggs", "mcp", "stop", "--wait", "0", "--force", "--output", "json"]).ends(0).json();
    assert_eq!(killed["servers"][0]["state"], "killed");
    assert!(server.has_ended());
    assert!(stage.servers().is_empty());
    assert!(stage.records().is_empty(), "its record was tidied");
}

#[test]
fn s_27_nobody_is_hit_for_what_a_command_line_or_a_forged_record_says() {
    let Some(stage) = Stage::new() else { return };
    let mut server = stage.server(&START);
    server.initialize("t");
    assert!(eventually(|| stage.servers().len() == 1));
    let mut same_words = Command::new("sleep").arg0("pintle eggs mcp start").arg("100").spawn().unwrap();
    // The record of the server, but with the number of the other process.
    let record = fs::read_to_string(&stage.records()[0]).unwrap();
    let mut forged: Value = serde_json::from_str(&record).unwrap();
    forged["pid"] = same_words.id().into();
    let path = stage.records()[0].with_file_name(format!("{}.json", same_words.id()));
    fs::write(&path, forged.to_string()).unwrap();
    stage.run(&["eggs", "mcp", "stop"]).ends(0);
    assert!(server.has_ended());
    assert!(same_words.try_wait().unwrap().is_none(), "it is no server of ours");
    assert!(!path.exists(), "the forged record is tidied");
    same_words.kill().unwrap();
    same_words.wait().unwrap();
}

#[test]
fn s_26_a_killed_server_leaves_nothing_that_is_believed() {
    let Some(stage) = Stage::new() else { return };
    let mut server = stage.server(&START);
    server.initialize("t");
    assert!(eventually(|| stage.records().len() == 1));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert_eq!(stage.records().len(), 1);
    assert!(stage.servers().is_empty());
    assert!(stage.records().is_empty());
}

#[test]
fn eg_061_the_servers_of_others_are_not_this_users() {
    if rustix::process::geteuid().is_root() {
        return pintle_testkit::skip("opt_in: root may");
    }
    let Some(stage) = Stage::new() else { return };
    for command in ["stop", "status"] {
        let refused = stage.run(&["eggs", "mcp", command, "--user", "root"]).ends(77);
        assert!(refused.err.contains("not this user's"), "{}", refused.err);
    }
}

#[test]
fn eg_047_a_user_that_is_not_there_is_refused() {
    let Some(stage) = Stage::new() else { return };
    let refused = stage.run(&["eggs", "mcp", "stop", "--user", "rooot"]).ends(64);
    assert!(refused.err.contains("did you mean `root`?"), "{}", refused.err);
}

#[test]
fn a_server_over_http_is_seen_and_ended_too() {
    let Some(stage) = Stage::new() else { return };
    let mut command = stage.command(pintle());
    let mut child = command.args(["mcp", "serve", "--toolset", "eggs", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    assert!(eventually(|| stage.servers().len() == 1));
    assert_eq!(stage.servers()[0]["transport"], "http");
    stage.run(&["eggs", "mcp", "stop"]).ends(0);
    assert!(eventually(|| child.try_wait().unwrap().is_some()));
}
