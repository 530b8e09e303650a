//! The one path from end to end: what policy, permits, bounds and redaction make of the trial operations.

use crate::peer::{Peer, text};
use pintle_core::{Authority, Caller, Code, Door, Outcome, Part, Reply};
use pintle_dispatch::{Catalog, Policy, Request, Settings, StateFolder};
use pintle_testkit::{World, trial_toolset};
use serde_json::{Map, Value, json};
use std::{path::Path, sync::Arc, time::Duration};

fn catalog(world: &Arc<World>, settings: Settings) -> Catalog {
    Catalog::new(vec![trial_toolset(world, 0)], settings).unwrap()
}

fn policy(text: &str) -> Settings {
    Settings { policy: Policy::parse(text, Path::new("policy.toml")).unwrap(), ..Settings::default() }
}

fn request(door: Door, tool: &str, arguments: Value) -> Request {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    Request::new(tool, arguments, Caller { door, principal: "test".to_owned() })
}

async fn agent(catalog: &Catalog, tool: &str, arguments: Value) -> Reply {
    catalog.call(request(Door::Agents, tool, arguments)).await
}

fn code(reply: &Reply) -> Option<Code> {
    reply.failure.as_ref().map(|failure| failure.code)
}

#[tokio::test]
async fn a_dead_target_makes_a_read_partial_and_only_all_dead_make_it_fail() {
    let catalog = catalog(&Arc::default(), Settings::default());
    let some = agent(&catalog, "trial.fan-out", json!({})).await;
    assert_eq!((some.outcome, some.is_error, code(&some)), (Outcome::Partial, false, Some(Code::Unreachable)));
    assert!(some.view.plain().contains("dead    connection refused"));
    let none = agent(&catalog, "trial.fan-out", json!({"targets": ["dead"]})).await;
    assert_eq!((none.outcome, none.is_error), (Outcome::Failed, true));
}

#[tokio::test]
async fn a_plan_is_shown_carried_out_once_and_only_as_it_was_shown() {
    let world = Arc::new(World::default());
    let catalog = catalog(&world, Settings::default());
    let write = |value: &str, token: Option<&str>| {
        let mut arguments = json!({ "value": value });
        if let Some(token) = token {
            arguments["plan_token"] = token.into();
        }
        agent(&catalog, "trial.write", arguments)
    };
    let planned = write("second", None).await;
    assert_eq!((planned.outcome, world.writes()), (Outcome::Planned, 0));
    let plan = planned.plan.unwrap();
    assert_eq!((plan.preview.as_str(), plan.effects.as_slice()), ("-first\n+second", ["write".to_owned()].as_slice()));
    let token = plan.token.unwrap();
    assert_eq!(code(&write("third", Some(&token)).await), Some(Code::BadToken), "other arguments");
    world.meddle("moved");
    assert_eq!(code(&write("second", Some(&token)).await), Some(Code::Moved), "another state of the world");
    world.meddle("first");
    let done = write("second", Some(&token)).await;
    assert_eq!((done.outcome, world.value().as_str(), world.writes()), (Outcome::Ok, "second", 1));
    world.meddle("first");
    assert_eq!(code(&write("second", Some(&token)).await), Some(Code::BadToken), "a token is good once");
    let mut other = request(Door::Agents, "trial.write", json!({"value": "second"}));
    let again = write("second", None).await.plan.unwrap().token.unwrap();
    other.arguments.insert("plan_token".to_owned(), again.into());
    other.caller.principal = "somebody else".to_owned();
    assert_eq!(code(&catalog.call(other).await), Some(Code::BadToken), "a token is good for its caller");
}

#[tokio::test]
async fn the_plan_token_is_an_argument_that_agents_see() {
    let world = Arc::new(World::default());
    let mut peer = Peer::trial(&world, Settings::default());
    let tools = peer.modern("tools/list", json!({})).await;
    let schema = |name: &str| {
        let tools = tools["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap()["inputSchema"]["properties"].clone()
    };
    assert!(schema("trial.write").get("plan_token").is_some() && schema("trial.echo").get("plan_token").is_none());
    let first = peer.modern("tools/call", json!({"name": "trial.write", "arguments": {"value": "x"}})).await;
    let plan = &first["result"]["structuredContent"]["plan"];
    assert!(text(&first["result"]).contains("call again with `plan_token`"));
    let second = json!({"name": "trial.write", "arguments": {"value": "x", "plan_token": plan["token"]}});
    assert_eq!(text(&peer.modern("tools/call", second).await["result"]), "first is now x");
}

#[tokio::test]
async fn policy_denies_by_tool_effect_and_path_and_can_let_through() {
    let world = Arc::new(World::default());
    for rule in ["tool = \"trial.write\"", "effect = \"write\"", "path = \"/trial\""] {
        let catalog = catalog(&world, policy(&format!("[[rule]]\n{rule}\nallow = false\n")));
        let denied = agent(&catalog, "trial.write", json!({"value": "x"})).await;
        assert_eq!((code(&denied), world.writes()), (Some(Code::Denied), 0), "{rule}");
        assert_eq!(agent(&catalog, "trial.echo", json!({})).await.outcome, Outcome::Ok);
    }
    let open = catalog(&world, policy("[[rule]]\npath = \"/trial/value\"\nallow = true\n"));
    assert_eq!(agent(&open, "trial.write", json!({"value": "x"})).await.outcome, Outcome::Ok);
}

#[tokio::test]
async fn a_write_beyond_its_permit_fails_closed() {
    let world = Arc::new(World::default());
    let catalog = catalog(&world, policy("[[rule]]\ntool = \"trial.reckless\"\nallow = true\n"));
    let stopped = agent(&catalog, "trial.reckless", json!({})).await;
    assert_eq!((code(&stopped), stopped.is_error, world.writes()), (Some(Code::Denied), true, 0));
    assert!(stopped.failure.unwrap().message.contains("no permit to write /trial/large"));
}

#[tokio::test]
async fn ch_206_cw_10_secrets_are_refused_to_agents_unless_the_operator_allows_them() {
    let world = Arc::new(World::default());
    let refused = agent(&catalog(&world, Settings::default()), "trial.disclose", json!({})).await;
    assert_eq!(code(&refused), Some(Code::Denied));
    assert!(!format!("{refused:?}").contains(World::SECRET));
    let open = catalog(&world, Settings { allow_secrets: true, ..Settings::default() });
    assert_eq!(agent(&open, "trial.disclose", json!({})).await.answer.unwrap()["secret"], World::SECRET);
    let people = catalog(&world, Settings::default()).call(request(Door::People, "trial.disclose", json!({}))).await;
    assert_eq!(people.outcome, Outcome::Ok, "people may see their own");
}

#[tokio::test]
async fn an_6_03_cw_20_a_long_text_is_cut_linked_and_read_on_without_its_secret() {
    let home = tempfile::tempdir().unwrap();
    let settings = Settings { state: Some(StateFolder::at(home.path())), ..Settings::default() };
    let mut peer = Peer::trial(&Arc::default(), settings.clone());
    let long = peer.modern("tools/call", json!({"name": "trial.text", "arguments": {"bytes": 200_000}})).await;
    let result = &long["result"];
    assert_eq!(result["structuredContent"]["truncated"], true);
    assert!(text(result).len() < 26_000 && text(result).contains("bytes left out"));
    let link = result["content"].as_array().unwrap().iter().find(|c| c["type"] == "resource_link").unwrap();
    let whole = peer.modern("resources/read", json!({"uri": link["uri"]})).await;
    let whole = whole["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(whole.len() > 199_000 && whole.contains("‹secret trial›") && !whole.contains(World::SECRET));
    let direct = agent(&catalog(&Arc::default(), settings), "trial.text", json!({"bytes": 200_000})).await;
    assert!(direct.parts.iter().any(|part| matches!(part, Part::Link(_))));
    let spilled: Vec<_> = walk(home.path());
    assert!(!spilled.is_empty() && spilled.iter().all(|file| !contains(file, World::SECRET)), "nor on the disk");
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

fn contains(file: &Path, needle: &str) -> bool {
    std::fs::read(file).unwrap().windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[tokio::test]
async fn many_rows_come_in_pages_that_fit_and_miss_nothing() {
    let catalog = catalog(&Arc::default(), Settings::default());
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut arguments = json!({"count": 3000});
        if let Some(cursor) = &cursor {
            arguments["cursor"] = cursor.as_str().into();
        }
        let page = agent(&catalog, "trial.rows", arguments).await;
        let envelope = page.envelope();
        assert!(envelope.to_string().len() < 26_500 && page.view.plain().len() < 26_500);
        assert_eq!(page.truncated, page.next_cursor.is_some());
        let rows = envelope["answer"]["rows"].as_array().unwrap().clone();
        seen.extend(rows.into_iter().map(|row| row["name"].as_str().unwrap().to_owned()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 3000);
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
}

#[tokio::test]
async fn cw_19_a_call_over_its_limit_says_which_limit() {
    let world = Arc::new(World::default());
    let catalog = catalog(&world, Settings::default());
    let mut request = request(Door::Agents, "trial.hang", json!({}));
    request.deadline = Some(Duration::from_millis(50));
    let late = catalog.call(request).await;
    assert_eq!(code(&late), Some(Code::TimedOut));
    assert!(late.failure.unwrap().message.contains("50 ms"));
    assert_eq!(world.cancelled(), 1, "and the operation was told");
}

#[tokio::test]
async fn cw_27_every_call_is_written_down_with_what_it_did() {
    let home = tempfile::tempdir().unwrap();
    let audit = home.path().join("audit.jsonl");
    let settings =
        Settings { audit: Some(audit.clone()), ..policy("[[rule]]\ntool = \"trial.write\"\nallow = true\n") };
    let mut peer = Peer::trial(&Arc::default(), settings);
    peer.modern("tools/call", json!({"name": "trial.write", "arguments": {"value": "x"}})).await;
    peer.modern("tools/call", json!({"name": "trial.panic"})).await;
    let text = std::fs::read_to_string(&audit).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["tool"], &lines[0]["outcome"]), (&json!("trial.write"), &json!("ok")));
    assert_eq!((&lines[0]["door"], &lines[0]["effects"]), (&json!("agents"), &json!(["write"])));
    assert!(lines[0]["principal"].as_str().unwrap().starts_with("stdio:"));
    assert_eq!(lines[1]["code"], "internal");
}

#[tokio::test]
async fn whoever_goes_round_the_path_has_nobody_to_give_a_permit() {
    let catalog = catalog(&Arc::default(), Settings::default());
    assert_eq!(agent(&catalog, "trial.echo", json!({})).await.outcome, Outcome::Ok);
    assert!(Authority::claim().is_none(), "there is one authority, and the path has it");
}
