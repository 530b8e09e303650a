//! What can be read.

use crate::{client::Client, world::World};
use pintle_testkit::eggs::{Fault, Orders};
use serde_json::json;

const CONFIG: &str = "eggs://config";

#[test]
fn eg_038_the_documented_file_comes_first_then_each_form_of_the_real_one_and_it_says_which() {
    let world = World::new();
    let mut client = world.client();
    assert!(client.read(CONFIG).is_err(), "eg_019: none is there");
    for (file, text, masked) in [
        (
            "/etc/penguins-eggs.d/custom.toml",
            "[remaster]\nuser = \"live\"\npassword = \"hunter2\"\n",
            "user = \"live\"",
        ),
        (
            "/etc/penguins-eggs.d/custom.json",
            "{\"remaster\": {\"user\": \"live\", \"password\": \"hunter2\"}}",
            "\"user\": \"live\"",
        ),
        ("/etc/penguins-eggs.d/custom.yml", "remaster:\n  user: live\n  password: hunter2\n", "user: live"),
        ("/etc/penguins-eggs.d/custom.yaml", "# mine\nremaster: {user: live, password: 'hunter2'}\n", "# mine"),
        ("/etc/penguins-eggs.conf", "user: live\npassword: hunter2\n", "user: live"),
    ] {
        world.root().write(file, text).unwrap();
        let read = client.read(CONFIG).unwrap();
        assert!(read.starts_with(&format!("# {file}\n")), "{read}");
        assert!(read.contains(masked) && !read.contains("hunter2"), "{file}: {read}");
    }
    assert_eq!(world.calls(), [], "a file is read, not a program");
}

#[test]
fn eg_039_the_exclude_list_is_given_byte_for_byte() {
    let world = World::new();
    let mut client = world.client();
    let absent = client.read("eggs://exclude-list").unwrap_err();
    assert!(absent["code"].is_i64(), "not content that tells of an error: {absent}");
    let text = "# \u{e9}\nroot/*\r\n\n  var/lib/x \n\tno newline at the end";
    world.root().write("/etc/penguins-eggs.d/custom.exclude.list", text).unwrap();
    assert_eq!(client.read("eggs://exclude-list").unwrap(), text);
    world.root().write("/etc/penguins-eggs.d/custom.exclude.list", vec![b'x'; 2 * 1024 * 1024]).unwrap();
    assert!(client.read("eggs://exclude-list").is_err(), "more than is given at once");
}

#[test]
fn eg_040_eg_019_s_47_the_version_comes_by_the_same_runner_and_a_failure_is_an_error() {
    let world = World::new();
    let mut client = world.client();
    let text = client.read("eggs://version").unwrap();
    assert!(text.starts_with("[coa] coa 26.8.22\n"), "{text}");
    // The program is known by now, and then fails.
    world.order(Orders::default().fault("version", Fault { exit_code: Some(4), ..Fault::default() }));
    let error = client.read("eggs://version").unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("exit status 4"), "{error}");
    let unknown = client.read("eggs://nothing").unwrap_err();
    assert!([-32002, -32602].contains(&unknown["code"].as_i64().unwrap()), "{unknown}");
}

#[test]
fn eg_041_the_status_is_looked_up_when_it_is_read() {
    let world = World::new();
    let mut client = world.client();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let debian = lines(&client.read("eggs://status").unwrap());
    assert_eq!(debian.len(), 6, "{debian:?}");
    assert_eq!(debian[..4], ["Distribution: debian", "Family: debian", "Release: 12", "Codename: bookworm"]);
    assert!(debian[4].starts_with("Kernel: Linux ") && debian[5] == "Live: no", "{debian:?}");
    world.root().write("/etc/os-release", "ID=garuda\nID_LIKE=arch\n").unwrap();
    world.root().folder("/run/archiso/bootmnt").unwrap();
    let derived = lines(&client.read("eggs://status").unwrap());
    assert_eq!(derived[..2], ["Distribution: garuda (like arch)", "Family: archlinux"]);
    assert_eq!(derived[5], "Live: yes");
    world.root().write("/etc/os-release", "ID=of-no-known-kind\n").unwrap();
    assert!(
        client.read("eggs://status").unwrap().contains("Family: generic"),
        "eg_007: told in the text and nowhere else"
    );
    std::fs::remove_file(world.root().at("/etc/os-release")).unwrap();
    assert!(client.read("eggs://status").unwrap().starts_with("Distribution: unknown\nFamily: generic\n"));
}

#[test]
fn eg_041_eg_042_the_same_as_json_and_through_a_tool_where_asked_for() {
    let world = World::new();
    let mut client = Client::of(&mut world.command(["mcp", "serve", "--stdio", "--toolset", "eggs,extra"]));
    client.initialize("2025-06-18");
    let twin: serde_json::Value = serde_json::from_str(&client.read("eggs://status.json").unwrap()).unwrap();
    assert_eq!(
        (&twin["distribution"], &twin["family"], &twin["live"]),
        (&json!("debian"), &json!("debian"), &json!(false))
    );
    world.root().write("/etc/penguins-eggs.d/custom.yaml", "remaster:\n  password: hunter2\n  user: live\n").unwrap();
    let read = client.call("eggs_read", json!({"uri": CONFIG}));
    assert_eq!(read["structuredContent"]["outcome"], "ok", "{read}");
    assert!(read.to_string().contains("user: live") && !read.to_string().contains("hunter2"), "{read}");
    let refused = client.call("eggs_read", json!({"uri": "file:///etc/shadow"}));
    assert_eq!(refused["isError"], true, "{refused}");
}
