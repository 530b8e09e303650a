//! What is written for each client.

use crate::world::{CLIENTS, World};
use pintle_core::Outcome;
use serde_json::json;
use std::{fs, path::Path};

/// The file of each client as `register` makes it. A wanted change: `UPDATE_GOLDEN=1`.
#[test]
fn eg_048_s_18_every_client_gets_the_entry_that_it_understands() {
    let world = World::with_all();
    let reply = world.register(json!({"toolset": ["charly,ops"]}));
    assert_eq!(reply.outcome, Outcome::Ok, "{}", reply.view.plain());
    let program = world.host.program.display().to_string();
    let mut text = String::new();
    for (client, folder, file) in CLIENTS {
        let path = if client == "claude-code" { ".claude.json".to_owned() } else { format!("{folder}/{file}") };
        let made = world.read(&path).replace(&program, "/opt/pintle");
        text.push_str(&format!("== {client}: {path}\n{made}\n"));
        let row =
            reply.answer.as_ref().unwrap()["clients"].as_array().unwrap().iter().find(|row| row["client"] == client);
        assert_eq!(row.unwrap()["state"], "written", "{client}");
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acts/entries.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&golden).unwrap());
}

#[test]
fn eg_048_eggs_alone_keeps_its_key_and_its_command() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{}\n");
    world.register(json!({"toolset": ["eggs"]}));
    let file: serde_json::Value = serde_json::from_str(&world.read(".cursor/mcp.json")).unwrap();
    let program = world.host.program.display().to_string();
    assert_eq!(file, json!({"mcpServers": {"penguins-eggs": {"command": program, "args": ["eggs", "mcp", "start"]}}}));
    let reply = world.call("unregister", json!({"toolset": ["eggs"]}));
    assert_eq!((reply.outcome, world.read(".cursor/mcp.json").as_str()), (Outcome::Ok, "{}\n"));
}

#[test]
fn another_list_of_toolsets_replaces_the_one_in_the_entry_and_nothing_else_of_it() {
    let world = World::new();
    world.write(".gemini/settings.json", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n");
    world.register(json!({"toolset": ["charly"]}));
    let own = world.read(".gemini/settings.json").replace("\"args\"", "\"timeout\": 9,\n      \"args\"");
    world.write(".gemini/settings.json", &own);
    let reply = world.register(json!({"toolset": ["ops"]}));
    assert_eq!(reply.outcome, Outcome::Ok);
    assert_eq!(world.read(".gemini/settings.json"), own.replace("\"charly\"", "\"ops\""));
    let again = world.register(json!({"toolset": ["ops"]}));
    assert_eq!(again.answer.unwrap()["clients"][0]["state"], "kept");
}

#[test]
fn eg_062_s_17_a_dry_run_shows_the_diff_and_the_command_and_changes_nothing() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{\n  \"mcpServers\": {}\n}\n");
    let before = world.files();
    let reply = world.register(json!({"dry_run": true, "toolset": ["charly"]}));
    let text = reply.view.plain();
    let file = world.home.join(".cursor/mcp.json");
    assert!(text.contains(&format!("--- {0}\n+++ {0}\n", file.display())), "{text}");
    assert!(text.contains("+    \"pintle\": {"), "{text}");
    let command =
        format!("{} mcp serve --stdio --toolset charly --name-style underscore", world.host.program.display());
    assert!(text.contains(&command), "{text}");
    assert_eq!((world.files(), reply.outcome), (before, Outcome::Ok));
    assert!(!world.home.parent().unwrap().join("state/register").exists());
}

#[test]
fn variables_are_referred_to_in_the_form_of_each_client_and_else_refused() {
    let world = World::with_all();
    let reply = world.register(json!({"client": ["cursor", "codex", "opencode", "zed"], "env": ["KUBECONFIG"]}));
    assert_eq!(reply.exit().code(), 3, "{}", reply.view.plain());
    assert!(world.read(".cursor/mcp.json").contains("\"KUBECONFIG\": \"${env:KUBECONFIG}\""));
    assert!(world.read(".codex/config.toml").contains("env_vars = [\"KUBECONFIG\"]"));
    assert!(world.read(".config/opencode/opencode.jsonc").contains("\"KUBECONFIG\": \"{env:KUBECONFIG}\""));
    assert!(!world.there(".config/zed/settings.json"));
    let without = World::with_all();
    without.register(json!({}));
    assert!(!without.read(".cursor/mcp.json").contains("env"), "nothing of the environment without being asked");
    assert_eq!(world.register(json!({"env": ["A=b"]})).exit().code(), 64);
}

#[test]
fn a_file_that_two_clients_share_gets_one_entry_that_both_read() {
    let world = World::with_all();
    let project = world.home.join("project");
    fs::create_dir(&project).unwrap();
    let arguments = json!({"client": ["claude-code", "copilot-cli"], "project": project, "toolset": ["ops"]});
    let reply = world.register(arguments);
    assert_eq!(reply.outcome, Outcome::Ok, "{}", reply.view.plain());
    let file: serde_json::Value = serde_json::from_str(&world.read("project/.mcp.json")).unwrap();
    let entry = &file["mcpServers"]["pintle"];
    assert_eq!((&entry["type"], &entry["tools"]), (&json!("stdio"), &json!(["*"])));
    assert!(reply.view.plain().contains("asks"), "what to do before it runs is told: {}", reply.view.plain());
    assert_eq!(world.call("register.undo", json!({})).outcome, Outcome::Ok);
    assert!(!world.there("project/.mcp.json"), "the file was ours alone");
}

#[test]
fn s_18_clients_are_listed_with_their_file_and_whether_they_are_here() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{}");
    let listed = world.call("clients", json!({})).answer.unwrap();
    let rows = listed.as_array().unwrap();
    assert_eq!(rows.len(), 21);
    assert!(rows.iter().all(|row| {
        row.as_object().unwrap().keys().eq(["id", "name", "path", "format", "key", "detected", "source", "date"])
    }));
    let here: Vec<_> = rows.iter().filter(|row| row["detected"] == true).map(|row| &row["id"]).collect();
    assert_eq!(here, ["cursor"]);
    assert_eq!(rows[2]["path"], world.home.join(".cursor/mcp.json").display().to_string());
}
