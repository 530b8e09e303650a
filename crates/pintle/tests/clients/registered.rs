//! Entries as `pintle register` writes them, read by the real clients.

use std::path::PathBuf;

use crate::served::{Home, pintle};
use crate::tools::{clean, need, run};

/// A toolset, the key under which its entry is written, and the name that its server gives itself.
#[derive(Clone, Copy)]
struct Set {
    toolset: &'static str,
    key: &'static str,
    server: &'static str,
}

const CHARLY: Set = Set { toolset: "charly", key: "pintle", server: "charly" };
/// No eggs is installed where these tests run, and none is named: its server lists its tools all the same.
const EGGS: Set = Set { toolset: "eggs", key: "penguins-eggs", server: "penguins-eggs" };

/// A home in which the entry of a toolset was registered with that client, and the client's program.
fn registered(set: Set, client: &str, program: &str, folder: &str) -> Option<(Home, PathBuf)> {
    let program = need(program)?;
    let home = Home::new();
    std::fs::create_dir_all(home.path().join(folder)).expect("the folder is made");
    let words = ["register", "--toolset", set.toolset, "--client", client];
    let told = run(clean(&pintle(), home.path()).args(words)).good();
    assert!(told.contains("answers with"), "{told}");
    Some((home, program))
}

fn claude_code(set: Set) {
    let Some((home, program)) = registered(set, "claude-code", "claude", ".claude") else { return };
    let mut command = home.client(&program);
    command.env("DISABLE_AUTOUPDATER", "1").env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    crate::claude::judge(&run(command.args(["mcp", "list"])).good(), set.key);
}

fn codex(set: Set) -> Option<Vec<String>> {
    let (home, program) = registered(set, "codex", "codex", ".codex")?;
    Some(crate::codex::AppServer::of_home(&home, &program).tools_of(set.key, set.server))
}

fn gemini(set: Set) {
    let Some((home, program)) = registered(set, "gemini", "gemini", ".gemini") else { return };
    let mut command = home.client(&program);
    let ran = run(command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").args(["mcp", "list"]));
    crate::gemini::judge(&format!("{}\n{}", ran.stdout, ran.stderr), set.key);
}

fn opencode(set: Set) {
    let Some((home, program)) = registered(set, "opencode", "opencode", ".config/opencode") else { return };
    let mut command = home.client(&program);
    command.env("OPENCODE_DISABLE_AUTOUPDATE", "1").env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    crate::opencode::judge(&run(command.args(["mcp", "list"])).good(), set.key);
}

#[test]
fn eg_048_claude_code_connects_by_the_entry_that_was_registered() {
    claude_code(CHARLY);
}

#[test]
fn eg_048_codex_lists_our_tools_by_the_entry_that_was_registered() {
    let Some(tools) = codex(CHARLY) else { return };
    assert!(tools.iter().any(|name| name == "box.list.boxes"), "{tools:?}");
}

#[test]
fn eg_048_gemini_cli_connects_by_the_entry_that_was_registered() {
    gemini(CHARLY);
}

#[test]
fn eg_048_opencode_connects_by_the_entry_that_was_registered() {
    opencode(CHARLY);
}

#[test]
fn eg_048_claude_code_connects_to_eggs_by_the_entry_that_was_registered() {
    claude_code(EGGS);
}

#[test]
fn eg_021_eg_048_codex_lists_the_eight_tools_of_eggs_by_the_entry_that_was_registered() {
    let Some(mut tools) = codex(EGGS) else { return };
    tools.sort_unstable();
    let eight = ["destroy", "exec", "export", "remaster", "sysinstall", "tools", "version", "wardrobe"];
    assert_eq!(tools, eight.map(|tool| format!("eggs_{tool}")));
}

#[test]
fn eg_048_gemini_cli_connects_to_eggs_by_the_entry_that_was_registered() {
    gemini(EGGS);
}

#[test]
fn eg_048_opencode_connects_to_eggs_by_the_entry_that_was_registered() {
    opencode(EGGS);
}
