//! What is secret stays so, in every report and every answer.

use crate::{
    fixture,
    home::{Home, done},
};
use std::fs;

/// Says its environment, its arguments and a header's worth of everything.
const TELLER: &str = r#"
import json, os, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    if m["method"] == "initialize":
        r = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": os.environ["TOKEN"], "version": "1"}}
    elif m["method"] == "tools/call":
        t = os.environ["TOKEN"] + " " + json.dumps(m["params"]["arguments"])
        r = {"content": [{"type": "text", "text": t}], "structuredContent": {"t": t}}
    elif m["method"] in ("ping", "tools/list"):
        r = {"tools": []}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": os.environ["TOKEN"]}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

#[test]
fn secrets_are_masked_in_all_six_reports() {
    let home = Home::new();
    home.write("work/teller.py", TELLER);
    home.write("work/key", "file-hush-4711\n");
    home.write(
        "work/plan.yml",
        "
a:
  check: fails and shows what it got
  mcp: call
  tool: tell
  input: {key: '${file:key}', word: '${env:WORD}'}
  stdout: something else
  json: {at: /structuredContent/t, equals: nothing}
",
    );
    let mut words = vec!["check", "run", "plan.yml", "--stdio", "python3 teller.py", "--env", "TOKEN"];
    let reports = ["json=o.json", "junit=o.xml", "markdown=o.md", "html=o.html", "tap=o.tap", "text=o.txt"];
    for report in reports {
        words.extend(["--report", report]);
    }
    let mut command = home.command(&words);
    let ran = done(command.env("TOKEN", "token-hush-4711").env("WORD", "word-hush-4711"));
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let mut told = vec![ran.out, ran.err];
    for report in reports {
        told.push(fs::read_to_string(home.work().join(report.split_once('=').unwrap().1)).unwrap());
    }
    for text in &told {
        assert!(!text.contains("hush-4711"), "{text}");
    }
    for text in &told[2..] {
        assert!(text.contains("secret TOKEN") && text.contains("secret WORD"), "{text}");
    }
}

#[test]
fn cw_50_secrets_are_masked_in_answers_outside_of_plans() {
    let home = Home::new();
    home.write("work/teller.py", TELLER);
    for words in [
        &["mcp", "call", "tell"][..],
        &["mcp", "call", "tell", "--output", "json"],
        &["mcp", "probe"],
        &["mcp", "read", "x:y"],
        &["check", "init"],
    ] {
        let server = ["--stdio", "python3 teller.py", "--env", "TOKEN"];
        let ran = done(home.command(words.iter().chain(&server)).env("TOKEN", "token-hush-4711"));
        assert!(!ran.out.contains("hush-4711") && !ran.err.contains("hush-4711"), "{words:?} {}{}", ran.out, ran.err);
    }
    let missing = home.run(["mcp", "probe", "--stdio", "python3 teller.py", "--env", "TOKEN"]);
    assert_eq!(missing.code, 64);
    assert!(missing.err.contains("`--env TOKEN`: the environment variable is not set"), "{}", missing.err);
}

#[test]
fn cw_44_headers_reach_the_server_and_no_report() {
    let home = Home::new();
    let token = home.write("token", "long-hush-token-4711\n");
    fs::set_permissions(&token, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut command = crate::tools::clean(&fixture::program(), home.path());
    command.args(["--listen", "127.0.0.1:0", "--token-file"]).arg(&token);
    let server = crate::served::Listening::start(&mut command);
    home.write("work/plan.yml", "a: {check: x, mcp: ping}\n");
    let url = ["--url", server.url.as_str()];
    let without = home.run(["check", "run", "plan.yml"].iter().chain(&url));
    assert!(without.code == 2 && without.out.contains("authorization"), "{}", without.out);
    let header = ["--header", "Authorization: Bearer ${env:TOKEN}"];
    let words = ["check", "run", "plan.yml"].into_iter().chain(url).chain(header);
    let with = done(home.command(words).env("TOKEN", "long-hush-token-4711"));
    assert_eq!(with.code, 0, "{}{}", with.out, with.err);
    let wrong = ["mcp", "probe"].into_iter().chain(url).chain(header);
    let wrong = done(home.command(wrong).env("TOKEN", "wrong-hush-4711"));
    assert_eq!(wrong.code, 2);
    assert!(!wrong.err.contains("hush") && wrong.err.contains("authorization"), "{}", wrong.err);
}
