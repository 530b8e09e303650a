//! What the tools of eggs cost a model, as the server lists them.

use crate::client::Client;
use serde_json::{Value, json};
use std::process::Command;

/// Says who it is and lists its tools; no eggs is needed for that.
fn listed() -> (String, Vec<Value>) {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
    command.args(["eggs", "mcp", "start"]).env_clear().env("HOME", home.path()).current_dir(home.path());
    let mut client = Client::of(&mut command);
    let said = client.initialize("2025-06-18");
    let listed = client.request("tools/list", json!({}));
    assert!(client.end().success());
    (said["instructions"].as_str().unwrap().to_owned(), listed["result"]["tools"].as_array().unwrap().clone())
}

#[test]
fn eg_021_what_a_model_sees_of_the_eight_tools_is_short() {
    let (_, tools) = listed();
    let size = |tool: &Value| {
        let seen = ["name", "description", "inputSchema", "annotations"].map(|part| (part, &tool[part]));
        assert!(seen.iter().all(|(_, part)| !part.is_null()), "{tool}");
        json!(seen.into_iter().collect::<std::collections::BTreeMap<_, _>>()).to_string().len()
    };
    let sizes: Vec<_> = tools.iter().map(|tool| (size(tool), tool["name"].as_str().unwrap())).collect();
    let mean = sizes.iter().map(|(size, _)| size).sum::<usize>().div_ceil(sizes.len());
    assert!(sizes.len() == 8 && mean <= 520, "{mean} bytes a tool: {sizes:?}");
}

#[test]
fn eg_012_eg_017_what_many_tools_take_is_told_once() {
    let (instructions, tools) = listed();
    for name in ["wait", "plan_token"] {
        let told: Vec<&Value> = tools.iter().map(|tool| &tool["inputSchema"]["properties"][name]).collect();
        let taken = told.iter().filter(|property| property.is_object());
        assert!(taken.count() > 1 && told.iter().all(|property| property["description"].is_null()), "{name}: {told:?}");
        assert_eq!(instructions.matches(&format!("`{name}`")).count(), 1, "{name}: {instructions}");
    }
    assert!(instructions.contains("`wait: false`") && instructions.contains("job://"), "{instructions}");
}
