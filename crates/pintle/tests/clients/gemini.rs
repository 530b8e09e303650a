//! Gemini CLI: `mcp list` connects to every configured server; it only does so in a trusted folder.

use std::path::Path;

use serde_json::{Value, json};

use crate::served::Home;
use crate::tools::{need, run};

fn list(home: &Home, program: &Path, server: &Value) -> String {
    let settings = json!({
        "mcpServers": {"pintle": server},
        "general": {"disableAutoUpdate": true, "disableUpdateNag": true},
        "privacy": {"usageStatisticsEnabled": false},
    });
    home.write(".gemini/settings.json", &settings.to_string());
    // it prints its list on stderr in some versions, on stdout in others
    let ran = run(home.client(program).env("GEMINI_CLI_TRUST_WORKSPACE", "true").args(["mcp", "list"]));
    format!("{}\n{}", ran.stdout, ran.stderr)
}

fn judge(list: &str) {
    let line = list.lines().find(|line| line.contains("pintle:")).unwrap_or_else(|| panic!("not listed: {list}"));
    assert!(line.contains("✓") && line.ends_with("- Connected"), "{list}");
}

#[test]
fn gemini_cli_connects_over_stdio() {
    let Some(program) = need("gemini") else { return };
    let home = Home::new();
    let words = home.stdio();
    judge(&list(&home, &program, &json!({"command": words[0], "args": words[1..]})));
}

#[test]
fn gemini_cli_connects_over_http() {
    let Some(program) = need("gemini") else { return };
    let home = Home::new();
    let server = home.listening();
    judge(&list(&home, &program, &json!({"httpUrl": server.url})));
}
