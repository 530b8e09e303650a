//! What a client of either era sees.

use crate::peer::{CAPABILITIES, Peer, VERSION, text};
use pintle_dispatch::Settings;
use pintle_testkit::World;
use serde_json::json;
use std::sync::Arc;

fn trial() -> Peer {
    Peer::trial(&Arc::new(World::default()), Settings::default())
}

#[tokio::test]
async fn eg_010_eg_012_ch_106_initialize_agrees_on_a_version_and_says_who_we_are() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut peer = trial();
        let said = peer.initialize(asked, json!({})).await;
        assert_eq!(said["protocolVersion"], agreed);
        assert_eq!(said["serverInfo"], json!({"name": "pintle-trial", "version": "1"}));
        assert!(said["instructions"].as_str().unwrap().contains("plan_token"));
        assert_eq!(text(&peer.call("trial.echo", json!({})).await), "hello", "{asked} works end to end");
    }
}

#[tokio::test]
async fn eg_011_what_is_announced_is_there() {
    let mut peer = Peer::fixture();
    let said = peer.initialize("2025-11-25", json!({})).await;
    let lists = [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")];
    for (capability, method) in lists {
        assert_eq!(said["capabilities"][capability]["listChanged"], true);
        assert!(!peer.request(method, json!({})).await["result"][capability].as_array().unwrap().is_empty());
    }
    assert_eq!(said["capabilities"]["resources"]["subscribe"], true);
    assert!(said["capabilities"].get("completions").is_some() && said["capabilities"].get("logging").is_some());
}

#[tokio::test]
async fn a_version_nobody_knows_is_refused_with_the_ones_we_know() {
    let mut peer = trial();
    let params = json!({"_meta": {VERSION: "2099-01-01", CAPABILITIES: {}}});
    let refused = peer.request("server/discover", params).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert!(refused["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2026-07-28")));
    let half = peer.request("tools/list", json!({"_meta": {VERSION: "2026-07-28"}})).await;
    assert_eq!(half["error"]["code"], -32602, "capabilities belong to every request");
    assert_eq!(peer.modern("ping", json!({})).await["error"]["code"], -32601, "the newer era has no ping");
    assert!(peer.modern("tools/list", json!({})).await.get("result").is_some(), "and nothing of it did harm");
}

#[tokio::test]
async fn an_unknown_resource_has_the_code_of_its_era() {
    let mut peer = Peer::fixture();
    let wanted = json!({"uri": "test://nowhere"});
    let new = peer.modern("resources/read", wanted.clone()).await;
    assert_eq!((&new["error"]["code"], &new["error"]["data"]["uri"]), (&json!(-32602), &json!("test://nowhere")));
    peer.initialize("2025-11-25", json!({})).await;
    assert_eq!(peer.request("resources/read", wanted).await["error"]["code"], -32002);
}

#[tokio::test]
async fn eg_018_eg_019_resources_templates_and_prompts_are_listed_and_read() {
    let mut peer = Peer::fixture();
    peer.initialize("2025-11-25", json!({})).await;
    let listed = peer.request("resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], "test://static-text");
    let templates = peer.request("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "test://template/{id}/data");
    let read = peer.request("resources/read", json!({"uri": "test://template/7/data"})).await;
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("\"id\":\"7\""));
    let missing = peer.request("prompts/get", json!({"name": "test_prompt_with_arguments"})).await;
    assert_eq!(missing["error"]["code"], -32602);
    let unknown = peer.request("prompts/get", json!({"name": "test_simple_promt"})).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean `test_simple_prompt`?"));
    let reference = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
    let asked = json!({"ref": reference, "argument": {"name": "arg1", "value": "par"}});
    let completed = peer.request("completion/complete", asked).await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["paris", "park", "party"]));
}

#[tokio::test]
async fn cw_22_changes_of_lists_are_told_in_both_eras_to_whoever_listens() {
    let mut peer = Peer::fixture();
    peer.initialize("2025-11-25", json!({})).await;
    let wanted = peer.with_meta(json!({"notifications": {"toolsListChanged": true}}));
    let stream = peer.begin("subscriptions/listen", wanted).await;
    peer.until(|m| m["method"] == "notifications/subscriptions/acknowledged").await;
    peer.call("test_trigger_tool_change", json!({})).await;
    let changed = "notifications/tools/list_changed";
    let id = "io.modelcontextprotocol/subscriptionId";
    let on_stream = peer.until(|m| m["method"] == changed && m["params"]["_meta"][id] == stream).await;
    assert!(on_stream["params"]["_meta"].get(id).is_some());
    peer.until(|m| m["method"] == changed && m["params"]["_meta"].get(id).is_none()).await;

    peer.call("test_trigger_prompt_change", json!({})).await;
    peer.until(|m| m["method"] == "notifications/prompts/list_changed").await;
    peer.call("test_trigger_resource_update", json!({})).await;
    let watched = json!({"uri": "test://watched-resource"});
    peer.request("resources/subscribe", watched.clone()).await;
    peer.call("test_trigger_resource_update", json!({})).await;
    peer.until(|m| m["method"] == "notifications/resources/updated").await;
    peer.request("resources/unsubscribe", watched).await;
    peer.call("test_trigger_resource_update", json!({})).await;
    peer.call("test_simple_text", json!({})).await;
    assert!(
        peer.told.iter().all(|m| m["method"] != "notifications/resources/updated"),
        "told only while it is watched"
    );
}

#[tokio::test]
async fn cw_21_logging_follows_the_level_of_the_session_or_of_the_request() {
    let logged = |peer: &Peer| peer.told.iter().filter(|m| m["method"] == "notifications/message").count();
    let mut old = Peer::fixture();
    old.initialize("2025-11-25", json!({})).await;
    old.call("test_tool_with_logging", json!({})).await;
    assert_eq!(logged(&old), 3);
    old.request("logging/setLevel", json!({"level": "error"})).await;
    old.call("test_tool_with_logging", json!({})).await;
    assert_eq!(logged(&old), 3, "no more of them");

    let mut new = Peer::fixture();
    new.modern("tools/call", json!({"name": "test_tool_with_logging"})).await;
    assert_eq!(logged(&new), 0);
    new.meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    new.modern("tools/call", json!({"name": "test_tool_with_logging"})).await;
    assert_eq!(logged(&new), 3);
}
