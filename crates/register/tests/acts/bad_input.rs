//! Files and words that do not hold.

use crate::world::World;
use pintle_core::Outcome;
use serde_json::{Value, json};
use std::{fs, os::unix::fs::symlink};

#[test]
fn s_16_eg_059_a_malformed_file_is_refused_with_its_place_and_left_alone() {
    for (path, text, place) in [
        (".cursor/mcp.json", "{\n  \"mcpServers\": {,}\n}", "2:18"),
        (".cursor/mcp.json", "{\"mcpServers\": []}", "1:16"),
        (".cursor/mcp.json", "{\"mcpServers\": {},\n\"mcpServers\": {}}", "2:1"),
        (".codex/config.toml", "a = 1\nmcp_servers = 3\n", "2:15"),
        (".config/goose/config.yaml", "a: 1\nextensions: [x]\n", "2:13"),
        (".config/goose/config.yaml", "a: 1\na: 2\n", "2:1"),
    ] {
        let world = World::new();
        world.write(path, text);
        let reply = world.register(json!({}));
        let failure = reply.failure.clone().unwrap();
        let file = world.home.join(path).display().to_string();
        assert!(failure.message.starts_with(&format!("{file}:{place}: ")), "{}", failure.message);
        assert_eq!((reply.exit().code(), world.read(path).as_str()), (1, text));
        let problem = &failure.problems[0];
        assert_eq!(problem.file.as_deref(), Some(file.as_str()));
    }
}

#[test]
fn s_16_bytes_that_are_no_text_are_refused_with_their_place() {
    let world = World::new();
    world.write(".cursor/mcp.json", b"{\"a\": \"\xff\"}");
    let failure = world.register(json!({})).failure.unwrap();
    assert!(failure.message.ends_with("mcp.json:1:8: this is not UTF-8"), "{}", failure.message);
}

#[test]
fn s_48_exit_codes_tell_all_some_none_not_here_and_not_known() {
    let code = |world: &World, arguments: Value| world.register(arguments).exit().code();
    let world = World::new();
    assert_eq!(code(&world, json!({})), 1, "no client at all");
    assert_eq!(code(&world, json!({"client": ["cursor"]})), 69);
    assert_eq!(code(&world, json!({"client": ["cursr"]})), 64);
    assert_eq!(code(&world, json!({"toolset": ["chorly"]})), 64);
    assert_eq!(code(&world, json!({"toolset": ["deploy"]})), 69);
    assert_eq!(code(&world, json!({"name": "a b"})), 64);
    assert_eq!(code(&world, json!({"scope": "project", "client": ["windsurf"]})), 64);
    assert!(world.files().is_empty(), "nothing was made for clients that are not here");
    world.write(".cursor/mcp.json", "{");
    world.write(".config/zed/settings.json", "{}");
    assert_eq!(code(&world, json!({})), 3);
    assert_eq!(code(&world, json!({"client": ["cursor"]})), 1);
    assert_eq!(code(&world, json!({"client": ["cursor", "kiro"]})), 1);
    assert_eq!(code(&world, json!({"client": ["zed"]})), 0);
}

#[test]
fn eg_059_an_entry_of_somebody_else_is_shown_and_replaced_by_force_only() {
    let world = World::new();
    let theirs = "{\"mcpServers\": {\"pintle\": {\"command\": \"/usr/bin/other\", \"args\": [\"-x\"], \"env\": {\"A\": \"b\"}}}}";
    world.write(".cursor/mcp.json", theirs);
    let reply = world.register(json!({}));
    let failure = reply.failure.clone().unwrap();
    assert!(failure.message.contains("not ours: /usr/bin/other -x"), "{}", failure.message);
    assert_eq!((reply.exit().code(), world.read(".cursor/mcp.json").as_str()), (1, theirs));
    assert_eq!(world.call("unregister", json!({"client": ["cursor"]})).exit().code(), 1);
    assert_eq!(world.call("unregister", json!({})).exit().code(), 0, "it is not ours to take out");
    assert_eq!(world.register(json!({"name": "second"})).outcome, Outcome::Ok);
    assert_eq!(world.call("register.undo", json!({})).outcome, Outcome::Ok);
    assert_eq!(world.register(json!({"force": true})).outcome, Outcome::Ok);
    let file: Value = serde_json::from_str(&world.read(".cursor/mcp.json")).unwrap();
    assert_eq!(file["mcpServers"]["pintle"].get("env"), None, "nothing of theirs is kept");
    assert_eq!(world.call("register.undo", json!({})).outcome, Outcome::Ok);
    assert_eq!(world.read(".cursor/mcp.json"), theirs);
}

#[test]
fn s_13_links_out_of_the_home_folders_and_hard_links_are_refused() {
    let world = World::new();
    let away = world.home.parent().unwrap().join("away.json");
    fs::write(&away, "{}").unwrap();
    fs::create_dir_all(world.home.join(".cursor")).unwrap();
    symlink(&away, world.home.join(".cursor/mcp.json")).unwrap();
    let reply = world.register(json!({}));
    let text = reply.failure.clone().unwrap().message;
    assert!(text.contains(&away.display().to_string()) && text.contains(".cursor/mcp.json"), "{text}");
    assert_eq!((reply.exit().code(), fs::read_to_string(&away).unwrap().as_str()), (1, "{}"));

    let world = World::new();
    fs::create_dir_all(world.home.join(".cursor/mcp.json")).unwrap();
    assert!(world.register(json!({})).failure.unwrap().message.ends_with("is a folder"));

    let world = World::new();
    world.write(".cursor/mcp.json", "{}");
    fs::hard_link(world.home.join(".cursor/mcp.json"), world.home.join("second")).unwrap();
    let reply = world.register(json!({}));
    assert!(reply.failure.unwrap().message.contains("several names"));
    assert_eq!(world.register(json!({"force": true})).outcome, Outcome::Ok);
    assert!(world.read("second").contains("pintle"), "both names see it");
}

#[test]
fn s_14_a_link_within_the_home_is_followed_and_stays() {
    let world = World::new();
    world.write("dotfiles/zed/settings.json", "{}");
    fs::create_dir(world.home.join(".config")).unwrap();
    symlink("../dotfiles/zed", world.home.join(".config/zed")).unwrap();
    assert_eq!(world.register(json!({})).outcome, Outcome::Ok);
    assert!(fs::symlink_metadata(world.home.join(".config/zed")).unwrap().is_symlink());
    assert!(world.read("dotfiles/zed/settings.json").contains("context_servers"));
}

#[test]
fn a_strict_client_with_comments_is_edited_and_warned_about() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{\n  // mine\n}\n");
    let reply = world.register(json!({}));
    assert_eq!(reply.outcome, Outcome::Ok);
    assert!(reply.view.plain().contains("comma at 2:3: Cursor may refuse"), "{}", reply.view.plain());
}

#[test]
fn eg_047_a_user_that_is_not_known_is_refused() {
    let world = World::new();
    let failure = world.register(json!({"user": ["nobody-of-that-name"]})).failure.unwrap();
    assert!(failure.message.contains("there is no user"), "{}", failure.message);
}
