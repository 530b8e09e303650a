//! `mcp probe`, `tools`, `call`, `read`, `prompts`.

use crate::{fixture, home::Home};
use serde_json::Value;

#[test]
fn cw_50_probe_shows_what_can_be_known_over_both_transports() {
    let home = Home::new();
    let listening = fixture::listening(home.path());
    let stdio = fixture::stdio();
    for server in [["--stdio", stdio.as_str()], ["--url", listening.url.as_str()]] {
        let text = home.run(["mcp", "probe"].into_iter().chain(server)).good();
        for line in ["server        pintle ", "protocol      2026-07-28", "tools  ", "prompts  ", "noise  "] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let json = home.run(["mcp", "probe", "--output", "json"].into_iter().chain(server)).json();
        assert_eq!((&json["server"]["name"], &json["noise"]["lines"]), (&"pintle".into(), &0.into()));
        assert!(json["tools"].as_u64() > Some(10) && json["ms"]["connect"].is_number(), "{json}");
        assert!(json["capabilities"]["tools"].is_object(), "{json}");
    }
}

#[test]
fn cw_50_tools_call_read_and_prompts() {
    let home = Home::new();
    let stdio = fixture::stdio();
    let ask = |words: &[&str]| home.run(["mcp"].iter().chain(words).chain(&["--stdio", &stdio]));
    assert!(ask(&["tools"]).good().contains("trial.echo\tGives the text back"));
    assert_eq!(ask(&["call", "trial.echo"]).good(), "hello\n");
    assert_eq!(ask(&["call", "trial.echo", "text=3"]).good(), "3\n", "typed by the schema");
    assert_eq!(ask(&["call", "trial.echo", "--json", r#"{"text": "a b"}"#]).good(), "a b\n");
    let whole = ask(&["call", "trial.echo", "text=x", "--output", "json"]).json();
    assert_eq!(whole["content"][0]["text"], "x");
    assert!(whole["structuredContent"].is_object(), "{whole}");
    assert!(ask(&["call", "test_image_content"]).good().starts_with("[image content: image/png, "));
    let uris = ask(&["prompts", "--output", "json"]).json();
    let prompt = uris["prompts"][0]["name"].as_str().unwrap().to_owned();
    assert!(ask(&["prompts"]).good().contains(&format!("{prompt}\t")));
    let got = ask(&["prompts", "test_prompt_with_arguments", "arg1=one", "arg2=2"]).good();
    assert!(got.starts_with("user\t") && got.contains("one") && got.contains('2'), "{got}");
    assert!(!ask(&["read", "test://static-text"]).good().is_empty());
}

#[test]
fn cw_45_exit_codes_and_where_words_go() {
    let home = Home::new();
    let stdio = fixture::stdio();
    let ask = |words: &[&str]| home.run(["mcp"].iter().chain(words).chain(&["--stdio", &stdio]));
    let failed = ask(&["call", "test_error_handling"]);
    assert_eq!(failed.code, 2);
    assert!(failed.out.contains("intentionally returns an error") && failed.err.contains("failed"), "{failed:?}");
    let whole = ask(&["call", "test_error_handling", "--output", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&whole.out).unwrap()["isError"], true);
    let unknown = ask(&["call", "trial.ecko"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `trial.echo`?"), "{}", unknown.err);
    assert_eq!(ask(&["read", "test://none"]).code, 2);
    assert_eq!(ask(&["call", "trial.hang", "--deadline", "2s"]).code, 2);
    for words in [
        &["call"][..],
        &["call", "trial.echo", "nonsense"],
        &["call", "trial.echo", "--json", "[1]"],
        &["call", "trial.echo", "--json", r#"{"text": "a"}"#, "text=b"],
        &["read"],
        &["tools", "--url", "http://127.0.0.1:1/"],
        &["probe", "--output", "yaml"],
        &["porbe"],
    ] {
        let ran = ask(words);
        assert_eq!(ran.code, 64, "{words:?}: {}{}", ran.out, ran.err);
    }
    assert_eq!(home.run(["mcp", "tools"]).code, 64);
    assert_eq!(home.run(["mcp", "tools", "--stdio", "/no/such/program"]).code, 1);
    assert_eq!(home.run(["mcp", "tools", "--url", "http://127.0.0.1:1/mcp"]).code, 2);
}

#[test]
fn a_silent_server_of_the_older_era_is_found_out() {
    let home = Home::new();
    home.write(
        "work/old.py",
        r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    results = {
        "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}},
        "ping": {}, "tools/list": {"tools": [{"name": "t"}]},
    }
    if "id" in m and m["method"] in results:
        print("not a message")
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": results[m["method"]]}), flush=True)
"#,
    );
    let json = home.run(["mcp", "probe", "--output", "json", "--stdio", "python3 old.py"]).json();
    assert_eq!((&json["protocol"], &json["era"]), (&"2024-11-05".into(), &"initialize".into()));
    assert_eq!((&json["tools"], &json["prompts"]), (&1.into(), &Value::Null));
    assert_eq!(json["noise"], serde_json::json!({"lines": 3, "first": "not a message"}));
}

#[test]
fn ch_002_ch_004_charly_has_no_client_command_and_takes_no_url() {
    let home = Home::with_project();
    let server = fixture::listening(home.path());
    for words in [
        &["charly", "check", "mcp", "ping"][..],
        &["charly", "check", "mcp", "ping", "--url", &server.url],
        &["charly", "check", "live", "web", "--url", &server.url],
        &["charly", "check", "box", "web", "--url", &server.url],
        &["charly", "mcp", "probe", "--url", &server.url],
        &["charly", "mcp", "call", "trial.echo", "--url", &server.url],
    ] {
        let ran = home.run(words);
        assert_eq!(ran.code, 64, "{words:?}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out, "", "nothing was asked: {words:?}");
    }
}
