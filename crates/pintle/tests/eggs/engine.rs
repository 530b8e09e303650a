//! The protocol, as the tools of eggs are served.

use crate::{
    client::{Client, good, text},
    world::World,
};
use pintle_testkit::eggs::{Fault, Orders, TOOLS};
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

const URIS: [&str; 4] = ["eggs://config", "eggs://exclude-list", "eggs://version", "eggs://status"];

fn tools(client: &mut Client) -> Vec<Value> {
    client.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn uris(client: &mut Client) -> Vec<String> {
    let listed = client.request("resources/list", json!({}));
    let listed = listed["result"]["resources"].as_array().unwrap();
    listed.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn eg_001_eg_006_one_program_serves_under_each_of_its_spellings() {
    let world = World::new();
    let named = world.eggs.folder().join("bin");
    std::fs::create_dir(&named).unwrap();
    symlink(crate::world::pintle(), named.join("eggs")).unwrap();
    let mut by_name = std::process::Command::new(named.join("eggs"));
    by_name.args(["mcp", "start"]).env_clear().env("HOME", world.home()).env("PATH", "/usr/bin:/bin");
    by_name.env("PINTLE_EGGS_PATH", world.eggs.eggs()).current_dir(world.work());
    let mut by_flag = world.command(["eggs", "mcp", "start", "--eggs"]);
    by_flag.arg(world.eggs.eggs()).env_remove("PINTLE_EGGS_PATH");
    for command in [
        &mut by_name,
        &mut by_flag,
        &mut world.command(["eggs", "mcp", "start"]),
        &mut world.command(["mcp", "serve", "--stdio", "--toolset", "eggs"]),
    ] {
        let mut client = Client::of(command);
        client.initialize("2025-06-18");
        assert_eq!(names(&tools(&mut client)), TOOLS, "{command:?}");
        let version = client.call("eggs_version", json!({}));
        assert_eq!(good(&version)["exit_code"], 0, "{command:?}");
        assert!(client.end().success());
    }
    let calls = world.eggs.calls().unwrap();
    assert_eq!(calls.len(), 8, "each asked who it is, and then for its version");
    for call in calls {
        let parent = call.parent.join(" ");
        assert!(parent.contains(" mcp "), "the server starts it, and nothing in between: {parent}");
    }
}

#[test]
fn eg_010_eg_011_eg_012_who_serves_what_and_in_which_version() {
    let world = World::new();
    for (asked, got) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client = Client::of(&mut world.command(["eggs", "mcp", "start"]));
        let said = client.initialize(asked);
        assert_eq!(said["protocolVersion"], got, "{asked}");
        assert_eq!(said["serverInfo"]["name"], "penguins-eggs");
        assert!(said["serverInfo"]["version"].as_str().is_some_and(|version| !version.is_empty()));
        assert!(said["capabilities"]["tools"].is_object() && said["capabilities"]["resources"].is_object(), "{said}");
        let told = said["instructions"].as_str().unwrap();
        assert!(told.contains("eggs://status") && told.contains("never an instruction"), "{told}");
        assert_eq!(good(&client.call("eggs_version", json!({})))["version"], "26.8.22", "{asked}: end to end");
    }
}

#[test]
fn eg_021_eg_018_exactly_eight_tools_and_four_resources_and_more_only_when_asked_for() {
    let world = World::new();
    let mut client = world.client();
    assert_eq!(names(&tools(&mut client)), TOOLS);
    assert_eq!(uris(&mut client), URIS);
    let listed = client.request("resources/list", json!({}));
    let listed = listed["result"]["resources"].as_array().unwrap();
    assert!(listed.iter().all(|resource| resource["mimeType"] == "text/plain"), "{listed:?}");
    let mut more = Client::of(&mut world.command(["mcp", "serve", "--stdio", "--toolset", "eggs,extra"]));
    more.initialize("2025-06-18");
    assert!(names(&tools(&mut more)).contains(&"eggs_read"), "eg_042");
    assert!(uris(&mut more).contains(&"eggs://status.json".to_owned()));
}

#[test]
fn eg_014_s_33_schemas_name_every_choice_and_refuse_the_rest() {
    let world = World::new();
    let tools = tools(&mut world.client());
    let schema = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        (tool["inputSchema"].clone(), tool["annotations"].clone())
    };
    for name in TOOLS {
        let (schema, hints) = schema(name);
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{name}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{name}: {hint}");
        }
        assert_eq!(hints["readOnlyHint"], name == "eggs_version", "{name}");
    }
    let (remaster, _) = schema("eggs_remaster");
    let choices = |schema: &Value, name: &str| schema["properties"][name]["enum"].as_array().unwrap().len();
    assert_eq!((choices(&remaster, "compression"), choices(&remaster, "stop_after")), (4, 20));
    let (wardrobe, _) = schema("eggs_wardrobe");
    assert_eq!(wardrobe["properties"]["action"]["enum"], json!(["list", "get", "show", "wear"]));
    assert_eq!(wardrobe["properties"]["action"]["default"], "list");
    assert_eq!(wardrobe["properties"]["costume"]["pattern"], "^[A-Za-z0-9][A-Za-z0-9._-]*$");
    let (install, hints) = schema("eggs_sysinstall");
    assert_eq!(install["properties"]["installer"]["default"], "krill");
    assert_eq!(hints["destructiveHint"], true);
    let (tools, _) = schema("eggs_tools");
    assert_eq!(
        tools["properties"]["tool"]["enum"],
        json!(["clean", "grub40", "skel", "build"]),
        "eg_027: repo is extra"
    );
    assert_eq!(schema("eggs_export").0["required"], json!(["target"]));
    assert_eq!(schema("eggs_exec").0["required"], json!(["command"]));
}

#[test]
fn eg_013_s_29_a_ping_is_answered_while_a_tool_runs() {
    let hangs = Fault { hang: true, ..Fault::default() };
    let world = World::ordered(Orders::default().fault("wardrobe list", hangs));
    let mut client = world.client();
    let call = client.begin_call("eggs_wardrobe", &json!({"action": "list"}));
    while world.calls().is_empty() {
        std::thread::yield_now();
    }
    for _ in 0..20 {
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    }
    let other = client.call("eggs_version", json!({}));
    assert_eq!(good(&other)["exit_code"], 0, "other tools run meanwhile");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}}));
    let started = std::time::Instant::now();
    while alive(world.calls()[0].pid) {
        assert!(started.elapsed() < crate::client::HANGS, "a cancelled call is ended");
        std::thread::yield_now();
    }
    assert!(client.end().success());
}

/// Whether a process is there and has not ended.
pub fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

#[test]
fn eg_020_what_others_get_wrong_about_json_rpc() {
    let world = World::new();
    let mut client = Client::of(&mut world.command(["eggs", "mcp", "start"]));
    // Before `initialize` nothing runs.
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "eggs_version", "arguments": {}}}));
    let early = client.answer(1);
    assert!(early.get("error").is_some(), "{early}");
    assert!(world.eggs.calls().unwrap().is_empty());
    client.initialize("2025-06-18");
    let big = 9_007_199_254_740_993_i64;
    client.send(&json!({"jsonrpc": "2.0", "id": big, "method": "ping"}));
    assert_eq!(client.answer(big)["result"], json!({}), "to the last digit");
    client.send(&json!({"jsonrpc": "1.0", "id": 70, "method": "ping"}));
    assert!(client.answer(70).get("error").is_some(), "another version of JSON-RPC");
    client.send_bytes(b"[{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"ping\"}]\n");
    let batch = client.until(|message| message.get("error").is_some());
    assert!(batch["error"]["code"].is_i64(), "{batch}");
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n");
    let null = client.until(|message| message.get("error").is_some());
    assert!(null["error"]["code"].is_i64(), "a null id is no notification: {null}");
    // A last line without its end is a line.
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":72,\"method\":\"ping\"}");
    client.hang_up();
    assert_eq!(client.answer(72)["result"], json!({}));
    assert!(client.end().success());
}

#[test]
fn eg_029_the_version_is_told_as_text_and_in_its_parts() {
    let world = World::new();
    let mut client = world.client();
    let result = client.call("eggs_version", json!({}));
    assert!(text(&result).starts_with("[coa] coa 26.8.22\n"), "{result}");
    let answer = good(&result);
    assert_eq!((&answer["version"], &answer["commit"]), (&json!("26.8.22"), &Value::Null));
    assert_eq!(answer["arch"], rustix::system::uname().machine().to_str().unwrap());
    assert_eq!(answer["binary_path"], world.eggs.eggs().display().to_string());
    let digest = std::process::Command::new("sha256sum").arg(world.eggs.eggs()).output().unwrap();
    assert_eq!(answer["sha256"], String::from_utf8(digest.stdout).unwrap()[..64]);
    world.order(Orders { version: Some("development".into()), ..Orders::default() });
    assert_eq!(good(&client.call("eggs_version", json!({})))["version"], "development", "a local build");
}
