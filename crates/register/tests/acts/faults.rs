//! Disks that fill up, processes that break off, others that write at the same time.

use crate::world::{World, call};
use pintle_core::Outcome;
use pintle_register::{Fault, Step};
use serde_json::{Value, json};
use std::fs;

#[test]
fn s_21_s_48_a_full_or_read_only_disk_leaves_the_file_and_is_told() {
    for number in [28, 30] {
        let world = World::new();
        world.write(".cursor/mcp.json", "{}");
        let before = world.files();
        world.host.writer.fail_at(Step::Write, Fault::Error(number));
        let reply = world.register(json!({}));
        assert_eq!((reply.outcome, reply.exit().code()), (Outcome::Failed, 1));
        assert!(reply.failure.unwrap().message.starts_with("writing `"));
        assert_eq!(world.files(), before);
        assert_eq!(world.call("register.undo", json!({})).exit().code(), 1, "there is nothing to take back");
        assert_eq!(world.register(json!({})).outcome, Outcome::Ok);
    }
}

#[test]
fn s_21_a_crash_before_the_rename_leaves_the_old_file_and_the_next_act_tidies_up() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{}");
    world.host.writer.fail_at(Step::Rename, Fault::Crash);
    world.register(json!({}));
    assert_eq!(world.read(".cursor/mcp.json"), "{}");
    assert_eq!(fs::read_dir(world.home.join(".cursor")).unwrap().count(), 2);
    assert_eq!(world.register(json!({})).outcome, Outcome::Ok);
    assert_eq!(fs::read_dir(world.home.join(".cursor")).unwrap().count(), 1);
}

#[test]
fn s_21_two_registrars_at_once_lose_nothing_of_each_other() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{\"mcpServers\": {\"theirs\": {}}}");
    // One pair shares its state folder and waits in line; the other shares nothing but the file.
    for states in [["state", "state"], ["one", "two"]] {
        std::thread::scope(|scope| {
            for (index, state) in states.into_iter().enumerate() {
                let world = &world;
                scope.spawn(move || {
                    let catalog = world.actor(state);
                    for round in 0..12 {
                        let name = format!("{state}-{index}-{round}");
                        let mut tries = 0;
                        loop {
                            let arguments = json!({"name": name, "no_verify": true});
                            let reply = call(&catalog, "register", arguments);
                            if reply.outcome == Outcome::Ok {
                                break;
                            }
                            tries += 1;
                            let code = reply.failure.unwrap().code;
                            assert!(state != "state" && tries < 500, "{code:?} after {tries} tries");
                        }
                    }
                });
            }
        });
        let file: Value = serde_json::from_str(&world.read(".cursor/mcp.json")).unwrap();
        let servers = file["mcpServers"].as_object().unwrap();
        for (index, state) in states.into_iter().enumerate() {
            for round in 0..12 {
                assert!(servers.contains_key(&format!("{state}-{index}-{round}")), "{state}-{index}-{round}");
            }
        }
        assert!(servers.contains_key("theirs"));
    }
}

#[test]
fn an_entry_whose_server_does_not_answer_is_taken_back() {
    let world = World::new();
    world.write(".cursor/mcp.json", "{}");
    fs::create_dir_all(world.home.join(".junie")).unwrap();
    let before = world.files();
    let reply = world.call("register", json!({}));
    assert_eq!(reply.exit().code(), 1);
    let failure = reply.failure.unwrap();
    assert!(failure.text().contains("does not answer"), "{}", failure.text());
    assert_eq!(world.files(), before, "also the folders that were made are gone");
    assert_eq!(reply.answer.unwrap().get("act"), None);
}

#[test]
fn s_20_what_is_made_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    fs::create_dir_all(world.home.join(".junie")).unwrap();
    world.register(json!({}));
    let mode = |path: &str| fs::metadata(world.home.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".junie/mcp"), mode(".junie/mcp/mcp.json")), (0o700, 0o600));
}
