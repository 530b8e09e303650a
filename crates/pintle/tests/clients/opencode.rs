//! OpenCode: `mcp list` connects to every configured server.

use std::path::Path;

use serde_json::{Value, json};

use crate::served::Home;
use crate::tools::{need, run};

fn list(home: &Home, program: &Path, server: &Value) -> String {
    let settings = json!({"autoupdate": false, "share": "disabled", "mcp": {"pintle": server}});
    home.write(".config/opencode/opencode.json", &settings.to_string());
    let mut command = home.client(program);
    command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    run(command.args(["mcp", "list"])).good()
}

fn judge(list: &str) {
    // colours are there even when they are not wanted
    let line = list.lines().find(|line| line.contains("pintle")).unwrap_or_else(|| panic!("not listed: {list}"));
    assert!(line.contains("✓") && line.contains("connected"), "{list}");
}

#[test]
fn opencode_connects_over_stdio() {
    let Some(program) = need("opencode") else { return };
    let home = Home::new();
    judge(&list(&home, &program, &json!({"type": "local", "command": home.stdio(), "enabled": true})));
}

#[test]
fn opencode_connects_over_http() {
    let Some(program) = need("opencode") else { return };
    let home = Home::new();
    let server = home.listening();
    judge(&list(&home, &program, &json!({"type": "remote", "url": server.url, "enabled": true})));
}
