//! The way back: exactly, or our entry alone.

use crate::world::{CLIENTS, World};
use pintle_core::Outcome;
use proptest::prelude::*;
use serde_json::json;
use std::{fs, os::unix::fs::MetadataExt as _};

/// A file as a person may have it, for each client.
fn sample(client: &str) -> String {
    match client {
        "codex" => "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.a]\r\ncommand = 'y' # keep\r\n".to_owned(),
        "goose" => "extensions:\n    dev: {enabled: true} # keep\n\nGOOSE_MODEL: 'x'".to_owned(),
        "continue" => "name: mine\nversion: 1.0.0\nschema: v1\nmcpServers: [] # none yet\n".to_owned(),
        "zed" | "vscode" | "vscode-insiders" | "vscode-server" | "gemini" | "opencode" => {
            let key = match client {
                "zed" => "context_servers",
                "gemini" => "mcpServers",
                "opencode" => "mcp",
                _ => "servers",
            };
            format!(
                "\u{feff}// mine\n{{\n\t\"n\": 9007199254740993, /* <&> */\n\t\"{key}\": {{\n\t\t\"a\": {{}}, // one\n\t}},\n}}"
            )
        }
        "amp" => "{\"amp.mcpServers\":{\"a\":{\"command\":\"x\"}},\"z\":1.10}".to_owned(),
        _ => "{\n    \"z\": \"\\u003c\",\n    \"mcpServers\": null\n}\n".to_owned(),
    }
}

fn path_of(client: &str, folder: &str, file: &str) -> String {
    if client == "claude-code" { ".claude.json".to_owned() } else { format!("{folder}/{file}") }
}

#[test]
fn eg_056_s_22_unregister_leaves_every_file_as_it_was_and_none_where_there_was_none() {
    for filled in [true, false] {
        let world = World::with_all();
        if filled {
            for (client, folder, file) in CLIENTS {
                world.write(&path_of(client, folder, file), sample(client));
            }
        }
        let before = world.files();
        let registered = world.register(json!({}));
        assert_eq!(registered.outcome, Outcome::Ok, "{}", registered.view.plain());
        assert_ne!(world.files(), before);
        world.register(json!({"toolset": ["ops"]}));
        let reply = world.call("unregister", json!({}));
        assert_eq!(reply.outcome, Outcome::Ok, "{}", reply.view.plain());
        assert_eq!(reply.answer.unwrap()["clients"].as_array().unwrap().len(), 21);
        assert_eq!(world.files(), before);
        let again = world.call("unregister", json!({}));
        assert_eq!(again.exit().code(), 0, "nothing there is no failure");
    }
}

#[test]
fn eg_056_s_22_what_stood_under_our_key_before_us_is_back_too() {
    let world = World::new();
    let theirs = "{\"mcpServers\": {\"pintle\": {\"command\": \"theirs\", \"args\": []}}}\n";
    world.write(".cursor/mcp.json", theirs);
    let forced = json!({"client": ["cursor"], "force": true});
    assert_eq!(world.register(forced).outcome, Outcome::Ok);
    world.register(json!({"client": ["cursor"], "toolset": ["ops"]}));
    let reply = world.call("unregister", json!({}));
    assert_eq!(
        (reply.outcome, world.read(".cursor/mcp.json").as_str()),
        (Outcome::Ok, theirs),
        "{}",
        reply.view.plain()
    );
    assert!(reply.view.plain().contains("was there before us is back"), "{}", reply.view.plain());
    // An entry of our own that no act is on record for is taken out, and not taken for what was before.
    let ours = "{\"mcpServers\": {\"pintle\": {\"command\": \"/x/pintle\", \"args\": [\"mcp\", \"serve\"]}}}";
    world.write(".cursor/mcp.json", ours);
    world.register(json!({"client": ["cursor"]}));
    world.call("unregister", json!({}));
    assert!(!world.read(".cursor/mcp.json").contains("pintle"), "{}", world.read(".cursor/mcp.json"));
}

#[test]
fn s_13_a_link_that_we_never_wrote_through_is_no_failure_of_unregister() {
    let world = World::new();
    let away = tempfile::tempdir().unwrap();
    fs::write(away.path().join("mcp.json"), "{}").unwrap();
    world.write(".cursor/mcp.json", "{}");
    world.register(json!({"client": ["cursor"]}));
    world.write(".junie/mcp/x", "");
    let link = world.home.join(".junie/mcp/mcp.json");
    std::os::unix::fs::symlink(away.path().join("mcp.json"), &link).unwrap();
    let reply = world.call("unregister", json!({}));
    assert_eq!(reply.outcome, Outcome::Ok, "{}", reply.view.plain());
    let asked = world.call("unregister", json!({"client": ["junie"]}));
    assert_eq!(asked.outcome, Outcome::Failed, "but it is one where that client was asked for");
    // One that we wrote to before it became a link may still have our entry behind it.
    world.register(json!({"client": ["cursor"]}));
    fs::rename(world.home.join(".cursor/mcp.json"), away.path().join("theirs.json")).unwrap();
    std::os::unix::fs::symlink(away.path().join("theirs.json"), world.home.join(".cursor/mcp.json")).unwrap();
    assert_eq!(world.call("unregister", json!({})).outcome, Outcome::Failed);
}

#[test]
fn s_17_undo_takes_the_last_act_back_and_then_the_one_before() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{ }");
    world.register(json!({"toolset": ["charly"]}));
    let first = world.files();
    let second = world.register(json!({"toolset": ["ops"]}));
    assert_eq!(second.answer.unwrap()["act"], 2);
    assert_eq!(world.call("register.undo", json!({})).outcome, Outcome::Ok);
    assert_eq!(world.files(), first);
    assert_eq!(world.call("register.undo", json!({})).outcome, Outcome::Ok);
    assert_eq!(world.read(".cursor/mcp.json"), "{ }");
    let nothing = world.call("register.undo", json!({}));
    assert_eq!(nothing.exit().code(), 1);
    assert!(nothing.failure.unwrap().message.contains("nothing to take back"));
    // The undo of an undo is there by its number.
    assert_eq!(world.call("register.undo", json!({"id": 4})).outcome, Outcome::Ok);
    assert_eq!(world.files(), first);
    let unknown = world.call("register.undo", json!({"id": 99}));
    assert!(unknown.failure.unwrap().hints[0].contains("there are 1, 2, 3"));
}

#[test]
fn a_file_that_was_changed_since_loses_our_entry_only() {
    for way in ["register.undo", "unregister"] {
        let world = World::new();
        world.write(".config/zed/settings.json", "{\n  // mine\n  \"theme\": \"x\"\n}\n");
        world.register(json!({}));
        let since = world.read(".config/zed/settings.json").replace("\"x\"", "\"y\"");
        world.write(".config/zed/settings.json", &since);
        let reply = world.call(way, json!({}));
        assert_eq!(reply.outcome, Outcome::Ok, "{}", reply.view.plain());
        assert!(reply.view.plain().contains("changed since: only our entry"), "{}", reply.view.plain());
        let left = world.read(".config/zed/settings.json");
        assert!(left.starts_with("{\n  // mine\n  \"theme\": \"y\""), "{left}");
        assert!(!left.contains("pintle"), "{left}");
    }
}

#[test]
fn an_entry_that_was_changed_since_is_not_undone() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{}");
    world.register(json!({}));
    let since = world.read(".cursor/mcp.json").replace("\"args\"", "\"disabled\": true, \"args\"");
    world.write(".cursor/mcp.json", &since);
    let reply = world.call("register.undo", json!({}));
    assert_eq!(reply.exit().code(), 1);
    assert!(reply.failure.unwrap().message.contains("was changed since"));
    assert_eq!(world.read(".cursor/mcp.json"), since);
}

#[test]
fn a_call_that_changes_nothing_does_not_write() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{}");
    world.register(json!({}));
    let stat = || {
        let metadata = fs::metadata(world.home.join(".cursor/mcp.json")).unwrap();
        (metadata.ino(), metadata.mtime_nsec())
    };
    let before = stat();
    let reply = world.register(json!({}));
    assert_eq!(reply.answer.unwrap().get("act"), None);
    assert_eq!(stat(), before);
}

fn any_file() -> impl Strategy<Value = (usize, String)> {
    let json = prop_oneof![
        Just("{}"),
        Just("{ }\n"),
        Just("{\"mcpServers\": {}}"),
        Just("{\"mcpServers\":null, \"a\" : [1, 2]}\r\n"),
        Just("{\n\t\"b\": -0.0e1,\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\": \"y\"}\n\t}\n}"),
        Just("\u{feff}{\r\n \"mcpServers\":{\"x\":{}},\r\n \"c\":\"\\u00e9\"}\r\n"),
        Just(""),
        Just("  \n"),
    ];
    let jsonc = prop_oneof![
        Just("// only\n"),
        Just("{ /* a */ }"),
        Just("{\"context_servers\": {/* b */},}"),
        Just("{\n  \"context_servers\": {\n    \"x\": {}, // c\n    /* d */\n  },\n}\n"),
        Just("{\n  \"context_servers\": {}, // e\n}\n"),
    ];
    let toml = prop_oneof![
        Just("a = 1"),
        Just("mcp_servers = {}\n"),
        Just("[mcp_servers.x]\ncommand = 'y'\n# end"),
        Just("mcp_servers.x.command = \"y\"\r\n[z]\r\n"),
    ];
    let yaml = prop_oneof![
        Just("extensions:\n"),
        Just("extensions: {}\n# end"),
        Just("a: &x 1\nb: *x\nextensions:\n  c: {d: 1.10}\n"),
        Just("a: |\n  text\n\n"),
    ];
    // Index into CLIENTS: cursor, zed, codex, goose.
    (
        prop_oneof![
            json.prop_map(|text| (2, text.to_owned())),
            jsonc.prop_map(|text| (3, text.to_owned())),
            toml.prop_map(|text| (7, text.to_owned())),
            yaml.prop_map(|text| (15, text.to_owned())),
        ],
        "[a-z]{1,5}",
        0_u32..999_999,
    )
        .prop_map(|((client, text), key, number)| {
            // A neighbour of its own, so that no two files are alike.
            let text = match client {
                2 | 3 if text.contains('{') => text
                    .replacen('{', &format!("{{\"{key}{number}\":{number},"), 1)
                    .replace(",}", "}")
                    .replace(", }", " }"),
                7 => format!("{key}{number} = {number}\n{text}"),
                15 => format!("{key}{number}: {number}\n{text}"),
                _ => text,
            };
            (client, text)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn s_17_s_22_eg_056_undo_and_unregister_give_the_original_of_any_file((client, text) in any_file(), undo: bool) {
        let (id, folder, file) = CLIENTS[client];
        let world = World::new();
        let path = path_of(id, folder, file);
        world.write(&path, &text);
        let reply = world.register(json!({"client": [id]}));
        prop_assert_eq!(reply.outcome, Outcome::Ok, "{}\n{}", reply.view.plain(), text);
        prop_assert!(world.read(&path).contains("pintle"));
        let way = if undo { "register.undo" } else { "unregister" };
        prop_assert_eq!(world.call(way, json!({})).outcome, Outcome::Ok);
        prop_assert_eq!(world.read(&path), text);
    }
}
