//! Entries as `pintle register` writes them, read by the real clients.

use std::path::PathBuf;

use crate::served::{Home, pintle};
use crate::tools::{clean, need, run};

/// A home in which our entry was registered with that client, and the client's program.
fn registered(client: &str, program: &str, folder: &str) -> Option<(Home, PathBuf)> {
    let program = need(program)?;
    let home = Home::new();
    std::fs::create_dir_all(home.path().join(folder)).expect("the folder is made");
    let words = ["register", "--toolset", "charly", "--client", client];
    let told = run(clean(&pintle(), home.path()).args(words)).good();
    assert!(told.contains("answers with"), "{told}");
    Some((home, program))
}

#[test]
fn eg_048_claude_code_connects_by_the_entry_that_was_registered() {
    let Some((home, program)) = registered("claude-code", "claude", ".claude") else { return };
    let mut command = home.client(&program);
    command.env("DISABLE_AUTOUPDATER", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    crate::claude::judge(&run(command.args(["mcp", "list"])).good());
}

#[test]
fn eg_048_codex_lists_our_tools_by_the_entry_that_was_registered() {
    let Some((home, program)) = registered("codex", "codex", ".codex") else { return };
    let tools = crate::codex::AppServer::of_home(&home, &program).tools();
    assert!(tools.iter().any(|name| name == "box.list.boxes"), "{tools:?}");
}

#[test]
fn eg_048_gemini_cli_connects_by_the_entry_that_was_registered() {
    let Some((home, program)) = registered("gemini", "gemini", ".gemini") else { return };
    let mut command = home.client(&program);
    let ran = run(command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").args(["mcp", "list"]));
    crate::gemini::judge(&format!("{}\n{}", ran.stdout, ran.stderr));
}

#[test]
fn eg_048_opencode_connects_by_the_entry_that_was_registered() {
    let Some((home, program)) = registered("opencode", "opencode", ".config/opencode") else { return };
    let mut command = home.client(&program);
    command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    crate::opencode::judge(&run(command.args(["mcp", "list"])).good());
}
