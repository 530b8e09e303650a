//! Claude Code: `mcp list` starts every configured server and tells which it reached. Its exit code is 0 either way.

use std::path::Path;
use std::process::Command;

use crate::served::Home;
use crate::tools::{need, run};

fn claude(home: &Home, program: &Path) -> Command {
    let mut command = home.client(program);
    command.env("DISABLE_AUTOUPDATER", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    command
}

fn judge(list: &str) {
    let line = list.lines().find(|line| line.starts_with("pintle:")).unwrap_or_else(|| panic!("not listed: {list}"));
    assert!(line.ends_with("✔ Connected"), "{list}");
}

#[test]
fn claude_code_connects_over_stdio() {
    let Some(program) = need("claude") else { return };
    let home = Home::new();
    run(claude(&home, &program).args(["mcp", "add", "-s", "user", "pintle", "--"]).args(home.stdio())).good();
    judge(&run(claude(&home, &program).args(["mcp", "list"])).good());
}

#[test]
fn claude_code_connects_over_http() {
    let Some(program) = need("claude") else { return };
    let home = Home::new();
    let server = home.listening();
    run(claude(&home, &program).args(["mcp", "add", "-s", "user", "--transport", "http", "pintle", &server.url]))
        .good();
    judge(&run(claude(&home, &program).args(["mcp", "list"])).good());
}
