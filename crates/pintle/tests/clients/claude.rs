//! Claude Code: `mcp list` starts every configured server and tells which it reached. Its exit code is 0 either way.
//!
//! What it does with dots: to its model it offers `box.list.boxes` as `mcp__pintle__box_list_boxes`, and it calls it by
//! its own name.

use std::path::Path;
use std::process::Command;

use crate::model::{Interface, Model};
use crate::served::Home;
use crate::tools::{need, run};

fn claude(home: &Home, program: &Path) -> Command {
    let mut command = home.client(program);
    command.env("DISABLE_AUTOUPDATER", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    command
}

/// Whether it has connected to the server under this key.
pub fn judge(list: &str, key: &str) {
    let line = list.lines().find(|line| line.starts_with(&format!("{key}:")));
    let line = line.unwrap_or_else(|| panic!("not listed: {list}"));
    assert!(line.ends_with("✔ Connected"), "{list}");
}

#[test]
fn claude_code_connects_over_stdio() {
    let Some(program) = need("claude") else { return };
    let home = Home::new();
    run(claude(&home, &program).args(["mcp", "add", "-s", "user", "pintle", "--"]).args(home.stdio())).good();
    judge(&run(claude(&home, &program).args(["mcp", "list"])).good(), "pintle");
}

#[test]
fn claude_code_connects_over_http() {
    let Some(program) = need("claude") else { return };
    let home = Home::new();
    let server = home.listening();
    run(claude(&home, &program).args(["mcp", "add", "-s", "user", "--transport", "http", "pintle", &server.url]))
        .good();
    judge(&run(claude(&home, &program).args(["mcp", "list"])).good(), "pintle");
}

#[test]
fn claude_code_calls_a_dotted_tool_for_its_model() {
    let Some(program) = need("claude") else { return };
    let home = Home::new();
    let model = Model::start(Interface::Anthropic);
    run(claude(&home, &program).args(["mcp", "add", "-s", "user", "pintle", "--"]).args(home.stdio())).good();
    let mut command = claude(&home, &program);
    command
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", "none")
        // else it hides tools behind a search that the stand-in does not do
        .env("ENABLE_TOOL_SEARCH", "false")
        .args(["-p", "list the boxes", "--allowedTools", "mcp__pintle"]);
    let ran = run(&mut command);
    let seen = model.seen();
    assert_eq!(seen.offered.as_deref(), Some("mcp__pintle__box_list_boxes"), "{seen:?} {ran:?}");
    assert!(seen.answer.as_ref().is_some_and(|answer| answer.contains("hello")), "{seen:?} {ran:?}");
}
