//! The list of tools, and how names and arguments are taken.

use crate::peer::{Peer, text};
use globset::{Glob, GlobSetBuilder};
use pintle_dispatch::{NameStyle, ReadOnly, Settings};
use pintle_mcp::ServerOptions;
use pintle_testkit::{World, trial_toolset};
use serde_json::{Value, json};
use std::sync::Arc;

async fn listed(peer: &mut Peer) -> Vec<Value> {
    peer.modern("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().clone()
}

fn trial(settings: Settings) -> Peer {
    Peer::trial(&Arc::new(World::default()), settings)
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn eg_014_kw_53_an_6_04_an_6_05_every_tool_has_schemas_and_all_four_hints() {
    fn lint(schema: &Value, at: &str) {
        let Some(map) = schema.as_object() else { return };
        if map.get("type") == Some(&json!("array")) {
            assert!(map.contains_key("items"), "{at}: an array says what it holds");
        }
        for known in map.keys() {
            assert!(!known.starts_with("x-"), "{at}: `{known}` is no keyword");
        }
        for (name, inner) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            lint(inner, &format!("{at}/{name}"));
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner) = map.get(keyword) {
                lint(inner, &format!("{at}/{keyword}"));
            }
        }
    }
    let mut peer = trial(Settings::default());
    for tool in listed(&mut peer).await {
        let name = tool["name"].as_str().unwrap();
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        assert!(tool["inputSchema"]["properties"].is_object(), "{name}");
        lint(&tool["inputSchema"], name);
        assert_eq!(tool["outputSchema"]["required"], json!(["outcome"]), "{name}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
    }
}

#[tokio::test]
async fn ch_103_ch_129_cw_09_read_only_servers_do_not_even_list_writers() {
    let mut peer = trial(Settings { read_only: ReadOnly::Strict, ..Settings::default() });
    let tools = listed(&mut peer).await;
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    assert!(!names(&tools).contains(&"trial.write") && !names(&tools).contains(&"trial.disclose"));
    let dropped = peer.modern("tools/call", json!({"name": "trial.write", "arguments": {"value": "x"}})).await;
    assert_eq!(dropped["error"]["code"], -32602);
    assert!(dropped["error"]["message"].as_str().unwrap().starts_with("unknown tool `trial.write`"));
}

#[tokio::test]
async fn cw_14_names_are_shown_in_one_style_and_taken_in_both() {
    let mut peer = trial(Settings { name_style: NameStyle::Underscore, ..Settings::default() });
    let tools = listed(&mut peer).await;
    assert!(names(&tools).iter().all(|name| !name.contains(['.', '-'])));
    for name in ["trial_fan_out", "trial.fan-out"] {
        let answer = peer.modern("tools/call", json!({"name": name})).await;
        assert_eq!(answer["result"]["structuredContent"]["outcome"], "partial", "{name}");
    }
    let near = peer.modern("tools/call", json!({"name": "trial_fan_uot"})).await;
    assert!(near["error"]["message"].as_str().unwrap().contains("did you mean `trial_fan_out`?"));
}

#[tokio::test]
async fn cw_13_a_server_shows_only_the_tools_it_was_told_to() {
    let globs = GlobSetBuilder::new().add(Glob::new("trial.e*").unwrap()).build().unwrap();
    let mut peer = trial(Settings { tools: Some(globs), ..Settings::default() });
    assert_eq!(names(&listed(&mut peer).await), ["trial.echo"]);
}

#[tokio::test]
async fn the_order_is_stable_pages_are_whole_and_caches_get_their_hints() {
    let serving = |page_size| {
        let mut options = ServerOptions::new("1");
        options.page_size = page_size;
        options.output_schemas = false;
        Peer::serving(vec![trial_toolset(&Arc::new(World::default()), 30)], Settings::default(), options)
    };
    let whole = serving(None).modern("tools/list", json!({})).await["result"].clone();
    assert!(whole["ttlMs"].as_u64().unwrap() > 0 && whole["cacheScope"] == "public");
    assert!(whole.get("nextCursor").is_none() && whole["tools"][0].get("outputSchema").is_none());
    let mut peer = serving(Some(7));
    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = peer.modern("tools/list", params).await["result"].clone();
        all.extend(page["tools"].as_array().unwrap().clone());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(Value::Array(all), whole["tools"]);
    assert_eq!(peer.modern("tools/list", json!({"cursor": "elsewhere"})).await["error"]["code"], -32602);
}

#[tokio::test]
async fn ch_120_ch_121_ch_141_ch_143_cw_17_bad_arguments_are_the_tools_answer_and_name_every_fault() {
    let mut peer = trial(Settings::default());
    let wrong = json!({"name": "trial.write", "arguments": {"valu": 3}});
    let answer = peer.modern("tools/call", wrong).await;
    let result = &answer["result"];
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["failure"]["code"]),
        (&json!(true), &json!("invalid_argument"))
    );
    let told = text(result);
    assert!(told.contains("argument `value` is missing") && told.contains("did you mean `value`?"), "{told}");
    let pointers: Vec<&Value> =
        result["structuredContent"]["failure"]["problems"].as_array().unwrap().iter().map(|p| &p["pointer"]).collect();
    assert!(pointers.contains(&&json!("/value")) && pointers.contains(&&json!("/valu")), "{pointers:?}");
    let none = peer.modern("tools/call", json!({"name": "trial.stream"})).await;
    assert_eq!(none["result"]["structuredContent"]["answer"]["counted"], 3, "absent arguments are none");
    let malformed = peer.modern("tools/call", json!({"arguments": {}})).await;
    assert_eq!(malformed["error"]["code"], -32602, "a call without a name is a fault of the protocol");
}
