//! No eggs, or something else of that name.

use crate::{
    client::{Client, bad},
    world::World,
};
use pintle_testkit::eggs::{Fault, Orders};
use serde_json::json;

#[test]
fn eg_015_without_eggs_the_server_starts_and_each_tool_tells_where_it_looked() {
    let world = World::new();
    let mut command = world.command(["eggs", "mcp", "start"]);
    command.env_remove("PINTLE_EGGS_PATH");
    let mut client = Client::of(&mut command);
    client.initialize("2025-06-18");
    assert_eq!(client.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len(), 8);
    let usual = ["/usr/bin/eggs", "/usr/local/bin/eggs", "/usr/bin/coa", "/usr/local/bin/coa"];
    if let Some(real) = usual.iter().find(|path| std::path::Path::new(path).exists()) {
        pintle_testkit::skip(&format!("opt_in: {real} is there"));
        return;
    }
    for (tool, arguments) in [
        ("eggs_remaster", json!({})),
        ("eggs_remaster", json!({"debug": true})),
        ("eggs_wardrobe", json!({})),
        ("eggs_sysinstall", json!({})),
        ("eggs_export", json!({"target": "iso"})),
        ("eggs_tools", json!({"tool": "clean"})),
        ("eggs_destroy", json!({})),
        ("eggs_version", json!({})),
        ("eggs_exec", json!({"command": "version"})),
    ] {
        let result = client.call(tool, arguments);
        let failure = bad(&result, "unavailable").to_string();
        assert!(usual.iter().all(|path| failure.contains(path)), "{tool}: {failure}");
        assert!(failure.contains("PINTLE_EGGS_PATH"), "what to do: {failure}");
    }
    assert_eq!(world.eggs.calls().unwrap(), []);
}

#[test]
fn eg_015_the_older_program_of_the_same_name_is_told_apart() {
    let world = World::ordered(Orders { legacy: true, ..Orders::default() });
    let mut client = world.client();
    for (tool, arguments) in
        [("eggs_version", json!({})), ("eggs_remaster", json!({"debug": true})), ("eggs_destroy", json!({}))]
    {
        let result = client.call(tool, arguments);
        let failure = bad(&result, "unavailable").to_string();
        assert!(failure.contains("another program") && failure.contains("penguins-eggs/26.8.22"), "{failure}");
    }
    assert_eq!(world.calls(), [], "it was only asked who it is");
    assert!(client.read("eggs://version").is_err());
}

#[test]
fn eg_015_a_program_that_does_not_say_who_it_is_is_not_used() {
    for fault in [
        Fault { exit_code: Some(1), ..Fault::default() },
        Fault { die_by: Some(11), ..Fault::default() },
        Fault { hang: true, ..Fault::default() },
    ] {
        let world = World::ordered(Orders::default().fault("version", fault));
        let result = world.client().call("eggs_wardrobe", json!({}));
        bad(&result, "unavailable");
        assert_eq!(world.calls(), []);
    }
}

#[test]
fn eg_015_the_operator_s_path_must_be_absolute_and_a_program() {
    let world = World::new();
    for path in ["eggs", "./eggs", "/surely/not/eggs", "/etc/passwd", "/etc"] {
        let mut command = world.command(["eggs", "mcp", "start"]);
        command.env("PINTLE_EGGS_PATH", path);
        let mut client = Client::of(&mut command);
        client.initialize("2025-06-18");
        let result = client.call("eggs_version", json!({}));
        assert!(bad(&result, "unavailable").to_string().contains(path), "{path}: {result}");
    }
    let program = crate::world::pintle().display().to_string();
    let mut command = world.command(["eggs", "mcp", "start"]);
    command.env("PINTLE_EGGS_PATH", &program);
    let mut client = Client::of(&mut command);
    client.initialize("2025-06-18");
    assert!(bad(&client.call("eggs_version", json!({})), "unavailable").to_string().contains("this program itself"));
}
