//! OpenCode: `mcp list` connects to every configured server.
//!
//! What it does with dots: its model is offered `pintle_box_list_boxes`; it calls `box.list.boxes`.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::model::{Interface, Model};
use crate::served::Home;
use crate::tools::{need, run};

fn opencode(home: &Home, program: &Path, settings: &Value) -> Command {
    home.write(".config/opencode/opencode.json", &settings.to_string());
    let mut command = home.client(program);
    command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    command
}

fn list(home: &Home, program: &Path, server: &Value) -> String {
    let settings = json!({"autoupdate": false, "share": "disabled", "mcp": {"pintle": server}});
    run(opencode(home, program, &settings).args(["mcp", "list"])).good()
}

/// Whether it has connected to the server under this key.
pub fn judge(list: &str, key: &str) {
    // colours are there even when they are not wanted
    let line = list.lines().find(|line| line.contains(key)).unwrap_or_else(|| panic!("not listed: {list}"));
    assert!(line.contains("✓") && line.contains("connected"), "{list}");
}

#[test]
fn opencode_connects_over_stdio() {
    let Some(program) = need("opencode") else { return };
    let home = Home::new();
    judge(&list(&home, &program, &json!({"type": "local", "command": home.stdio(), "enabled": true})), "pintle");
}

#[test]
fn opencode_connects_over_http() {
    let Some(program) = need("opencode") else { return };
    let home = Home::new();
    let server = home.listening();
    judge(&list(&home, &program, &json!({"type": "remote", "url": server.url, "enabled": true})), "pintle");
}

#[test]
fn opencode_calls_a_dotted_tool_for_its_model() {
    let Some(program) = need("opencode") else { return };
    let home = Home::new();
    let model = Model::start(Interface::OpenAi);
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "stand-in",
        "options": {"baseURL": format!("{}/v1", model.url), "apiKey": "none"},
        "models": {"m": {"name": "m"}},
    });
    let settings = json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "stand-in/m",
        "provider": {"stand-in": provider},
        "mcp": {"pintle": {"type": "local", "command": home.stdio(), "enabled": true}},
    });
    let ran = run(opencode(&home, &program, &settings).args(["run", "list the boxes"]));
    let seen = model.seen();
    assert_eq!(seen.offered.as_deref(), Some("pintle_box_list_boxes"), "{seen:?} {ran:?}");
    assert!(seen.answer.as_ref().is_some_and(|answer| answer.contains("hello")), "{seen:?} {ran:?}");
}
