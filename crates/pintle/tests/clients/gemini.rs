//! Gemini CLI: `mcp list` connects to every configured server; it only does so in a trusted folder.
//!
//! What it does with dots: it keeps them, its model is offered `mcp_pintle_box.list.boxes`.

use std::path::Path;

use serde_json::{Value, json};

use crate::model::{Interface, Model};
use crate::served::Home;
use crate::tools::{need, run};

fn configure(home: &Home, server: &Value) {
    let settings = json!({
        "mcpServers": {"pintle": server},
        "general": {"disableAutoUpdate": true, "disableUpdateNag": true},
        "privacy": {"usageStatisticsEnabled": false},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    });
    home.write(".gemini/settings.json", &settings.to_string());
}

fn list(home: &Home, program: &Path, server: &Value) -> String {
    configure(home, server);
    // it prints its list on stderr in some versions, on stdout in others
    let ran = run(home.client(program).env("GEMINI_CLI_TRUST_WORKSPACE", "true").args(["mcp", "list"]));
    format!("{}\n{}", ran.stdout, ran.stderr)
}

/// Whether it has connected to the server under this key.
pub fn judge(list: &str, key: &str) {
    let line = list.lines().find(|line| line.contains(&format!("{key}:")));
    let line = line.unwrap_or_else(|| panic!("not listed: {list}"));
    assert!(line.contains("✓") && line.ends_with("- Connected"), "{list}");
}

#[test]
fn gemini_cli_connects_over_stdio() {
    let Some(program) = need("gemini") else { return };
    let home = Home::new();
    let words = home.stdio();
    judge(&list(&home, &program, &json!({"command": words[0], "args": words[1..]})), "pintle");
}

#[test]
fn gemini_cli_connects_over_http() {
    let Some(program) = need("gemini") else { return };
    let home = Home::new();
    let server = home.listening();
    judge(&list(&home, &program, &json!({"httpUrl": server.url})), "pintle");
}

#[test]
fn gemini_cli_calls_a_dotted_tool_for_its_model() {
    let Some(program) = need("gemini") else { return };
    let home = Home::new();
    let model = Model::start(Interface::Gemini);
    let words = home.stdio();
    configure(&home, &json!({"command": words[0], "args": words[1..]}));
    let mut command = home.client(&program);
    command
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .env("GEMINI_API_KEY", "none")
        .env("GOOGLE_GEMINI_BASE_URL", &model.url)
        .args(["-m", "gemini-2.5-flash", "-p", "list the boxes", "--yolo"]);
    let ran = run(&mut command);
    let seen = model.seen();
    assert_eq!(seen.offered.as_deref(), Some("mcp_pintle_box.list.boxes"), "{seen:?} {ran:?}");
    assert!(seen.answer.as_ref().is_some_and(|answer| answer.contains("hello")), "{seen:?} {ran:?}");
}
