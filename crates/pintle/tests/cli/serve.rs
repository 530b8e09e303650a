//! `mcp serve`: what its flags do.

use crate::{home::Home, listening::Listening};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    process::Stdio,
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

struct Served {
    info: Value,
    tools: Vec<Value>,
    line: String,
}

impl Served {
    fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
    }
}

/// The server's word about itself and its tools, over stdio.
fn listed(home: &Home, flags: &[&str]) -> Served {
    let words = [&["mcp", "serve", "--stdio"], flags].concat();
    let ran = home.fed(words, &format!("{INITIALIZE}\n{LIST}\n"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let messages: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: i64| messages.iter().find(|message| message["id"] == id).unwrap()["result"].clone();
    Served {
        info: answer(1)["serverInfo"].clone(),
        tools: answer(2)["tools"].as_array().unwrap().clone(),
        line: ran.err,
    }
}

#[test]
fn ch_095_ch_102_ch_105_ch_106_ch_109_over_stdio_the_start_line_counts_the_tools() {
    let home = Home::new();
    let everything = listed(&home, &[]);
    assert_eq!(everything.info["name"], "pintle");
    assert!(["box.cat", "find_pod_issues"].iter().all(|name| everything.names().contains(name)));
    let served = listed(&home, &["--toolset", "charly"]);
    let count = served.tools.len();
    let start = format!("pintle: {count} tools on stdio (");
    assert!(served.line.starts_with(&start) && served.line.contains("of charly's 190 leaves"), "{}", served.line);
    assert_eq!(served.line.lines().count(), 1);
    assert_eq!(served.info["name"], "charly");
    let version = home.run(["charly", "version"]).good();
    assert_eq!(served.info["version"], version.trim());
    let commands = home.run(["tools", "--toolset", "charly", "--output", "json"]).json();
    let mut commands: Vec<&str> = commands.as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    let mut names = served.names();
    commands.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, commands, "every command is a tool");
    assert!(!served.names().contains(&"box.undo"), "what the seed has not is asked for with `extra`");
    assert!(!served.names().iter().any(|name| name.contains("serve")), "the server is no tool of its own");
}

#[test]
fn cw_13_toolsets_and_globs_choose_tools() {
    let home = Home::new();
    assert!(listed(&home, &["--toolset", "charly,extra"]).names().contains(&"box.undo"));
    let extra = listed(&home, &["--toolset", "extra"]);
    let of_jobs = ["jobs.list", "jobs.show", "jobs.log", "jobs.wait", "jobs.cancel"];
    assert_eq!(extra.names()[..3], ["box.undo", "list_resources", "get_resource"]);
    assert_eq!(extra.names()[3..], of_jobs);
    assert!(
        !listed(&home, &["--toolset", "charly,extra"]).names().contains(&"get_resource"),
        "extra of what is served"
    );
    let clusters = listed(&home, &["--toolset", "ops,extra"]);
    assert!(clusters.names().contains(&"get_resource") && !clusters.names().contains(&"box.undo"));
    assert_eq!(clusters.info["name"], "kubestellar-ops");
    let some = listed(&home, &["--tools", "box.list.*,version", "--tools", "candy_set"]);
    assert_eq!(some.names(), ["version", "box.list.boxes", "candy.set"]);
    assert!(some.line.starts_with("pintle: 3 tools on stdio"));
}

#[test]
fn ch_103_ch_130_cw_09_read_only_leaves_out_what_is_marked_and_strict_what_does_more_than_look() {
    let home = Home::new();
    let all = listed(&home, &[]);
    let read_only = listed(&home, &["--read-only"]);
    assert!(read_only.names().contains(&"box.cat") && !read_only.names().contains(&"box.write"));
    let marked = |tool: &&Value| tool["annotations"]["destructiveHint"] == false;
    let unmarked: Vec<&str> = all.tools.iter().filter(marked).map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(read_only.names(), unmarked);
    let strict = listed(&home, &["--strict-read-only"]);
    assert!(strict.tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert!(strict.names().contains(&"box.cat"), "what only looks stays");
    let ran = home.fed(
        ["mcp", "serve", "--stdio", "--read-only"],
        &format!("{INITIALIZE}\n{{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{{\"name\":\"box.write\",\"arguments\":{{}}}}}}\n"),
    );
    assert!(ran.out.contains("unknown tool"), "ch_129: a dropped name is unknown: {}", ran.out);
}

#[test]
fn cw_14_names_without_dots_and_lists_without_output_schemas() {
    let home = Home::new();
    let plain = listed(&home, &["--name-style", "underscore", "--no-output-schemas"]);
    assert!(plain.names().iter().all(|name| !name.contains(['.', '-'])), "{:?}", plain.names());
    assert!(plain.names().contains(&"candy_add_rpm"));
    assert!(plain.tools.iter().all(|tool| tool.get("outputSchema").is_none()));
    assert!(listed(&home, &[]).tools.iter().all(|tool| tool["outputSchema"]["type"] == "object"));
}

#[test]
fn ch_100_ch_101_ch_105_over_http_address_and_path_are_chosen() {
    let home = Home::new();
    let server = Listening::start(&home, &["--listen", "127.0.0.1:0", "--path", "/api/mcp"], None);
    assert!(
        server.line.starts_with("pintle: ") && server.line.contains(" tools at http://127.0.0.1:"),
        "{}",
        server.line
    );
    assert!(server.line.contains("/api/mcp"));
    let (status, answer) = server.post("/api/mcp", "", INITIALIZE);
    assert!(status == 200 && answer.contains("\"serverInfo\""), "{answer}");
    assert_eq!(server.post("/mcp", "", INITIALIZE).0, 404);
    assert_eq!(server.post("/api/mcp", "Host: evil.example\r\n", INITIALIZE).0, 403);
}

#[test]
fn ch_099_the_usual_address_is_loopback_port_18765_path_mcp() {
    let home = Home::new();
    let help = home.run(["mcp", "serve", "--help"]).good();
    assert!(help.contains("[default: 127.0.0.1:18765]") && help.contains("[default: /mcp]"), "{help}");
    // Where something listens there already, that is what it says; else it starts there.
    let taken = std::net::TcpListener::bind("127.0.0.1:18765");
    let busy = home.run(["mcp", "serve"]);
    assert_eq!(busy.code, 1);
    assert!(
        busy.err.starts_with("error: listening on 127.0.0.1:18765: address already in use\nhint: "),
        "{}",
        busy.err
    );
    drop(taken);
}

#[test]
fn cw_07_a_token_is_needed_beyond_this_machine() {
    let home = Home::new();
    let open = home.run(["mcp", "serve", "--listen", ":0"]);
    assert_eq!(open.code, 64);
    assert!(open.err.contains("--token-file"), "{}", open.err);
    let token = home.write("token", "a-long-enough-token-for-this\n");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let file = token.display().to_string();
    let server = Listening::start(&home, &["--listen", "127.0.0.1:0", "--token-file", &file], None);
    assert_eq!(server.post("/mcp", "", INITIALIZE).0, 401);
    let (status, _) = server.post("/mcp", "Authorization: Bearer a-long-enough-token-for-this\r\n", INITIALIZE);
    assert_eq!(status, 200);
    let isolated = Listening::start(&home, &["--listen", "0.0.0.0:0"], Some(("CHARLY_MCP_INSECURE", "1")));
    assert!(isolated.line.contains("http://"), "a box that is isolated says so");
}

#[test]
fn cw_07_more_hosts_and_origins_can_be_allowed() {
    let home = Home::new();
    let words = ["--listen", "127.0.0.1:0", "--allowed-host", "box:*", "--allowed-origin", "https://example.org"];
    let server = Listening::start(&home, &words, None);
    assert_eq!(server.post("/mcp", "Host: box:7\r\n", INITIALIZE).0, 200);
    assert_eq!(server.post("/mcp", "Origin: https://example.org\r\n", INITIALIZE).0, 200);
    assert_eq!(server.post("/mcp", "Origin: https://example.net\r\n", INITIALIZE).0, 403);
}

#[test]
fn ch_104_ch_167_without_a_project_a_server_starts_unless_it_must_not() {
    let home = Home::new();
    assert!(!listed(&home, &[]).tools.is_empty());
    for words in [
        &["mcp", "serve", "--stdio", "--no-default-repo"][..],
        &["charly", "mcp", "serve", "--stdio", "--no-default-repo"],
        &["charly", "--no-default-repo", "mcp", "serve", "--stdio"],
    ] {
        let none = home.run(words);
        assert_eq!((none.code, none.out.as_str()), (1, ""), "{words:?}");
        for way in ["charly.yml", "-C DIR", "CHARLY_PROJECT_DIR", "charly box new project", "box.new.project"] {
            assert!(none.err.contains(way), "{way}: {}", none.err);
        }
    }
    let home = Home::with_project();
    assert!(!listed(&home, &["--no-default-repo"]).tools.is_empty());
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box.list.boxes","arguments":{}}}"#;
    let work = home.work().display().to_string();
    let mut command = home.command(["mcp", "serve", "--stdio", "-C", &work, "--audit", "../audit.jsonl"]);
    command.current_dir("/");
    drop(command);
    let audit = home.path().join("audit.jsonl").display().to_string();
    let ran = home.fed(["mcp", "serve", "--stdio", "-C", &work, "--audit", &audit], &format!("{INITIALIZE}\n{call}\n"));
    assert!(ran.out.contains("web"), "{}", ran.out);
    assert!(fs::read_to_string(&audit).unwrap().contains("\"tool\":\"box.list.boxes\""), "cw_27");
}

#[test]
fn s_44_the_audit_names_the_client_and_shows_what_was_changed() {
    let home = Home::with_project();
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box.list.boxes","arguments":{}}}"#;
    let mut command = home.command(["mcp", "serve", "--stdio", "-C", &home.work().display().to_string()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut answers = BufReader::new(output).lines();
    // One after the other: who calls is known once `initialize` has its answer.
    for line in [INITIALIZE, call] {
        writeln!(input, "{line}").unwrap();
        answers.next().unwrap().unwrap();
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    let audit = home.path().join(".local/state/pintle/audit.jsonl");
    let text = fs::read_to_string(&audit).unwrap();
    let line = text.lines().find(|line| line.contains("box.list.boxes")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["client"], "t 1", "{line}");
    assert!(home.run(["audit", "verify"]).good().contains("each follows from the one before it"));
    fs::write(&audit, text.replacen("box.list.boxes", "box.list.candies", 1)).unwrap();
    let told = home.run(["audit", "verify", &audit.display().to_string()]);
    assert_eq!(told.code, 1, "{}", told.err);
    assert!(told.err.contains("does not follow from the one before it"), "{}", told.err);
}

#[test]
fn nothing_outside_the_project_root_is_served() {
    let home = Home::with_project();
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"box.new.project","arguments":{"dir":"../other"}}}"#;
    let work = home.work().display().to_string();
    let ran = home.fed(["mcp", "serve", "--stdio", "--project-root", &work], &format!("{INITIALIZE}\n{call}\n"));
    assert!(ran.out.contains("outside_project"), "{}", ran.out);
    assert!(!home.path().join("other").exists());
}
