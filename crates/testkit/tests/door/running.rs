//! Calls that take their time: progress, signs of life, cancellation.

use crate::peer::{Peer, text};
use pintle_dispatch::Settings;
use pintle_mcp::ServerOptions;
use pintle_testkit::{World, trial_toolset};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

async fn until(what: &str, done: impl Fn() -> bool) {
    for _ in 0..6000 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never came: {what}");
}

fn values(told: impl IntoIterator<Item = Value>) -> Vec<f64> {
    let progress = told.into_iter().filter(|m| m["method"] == "notifications/progress");
    progress.map(|m| m["params"]["progress"].as_f64().unwrap()).collect()
}

#[tokio::test]
async fn eg_017_progress_is_told_to_whoever_asked_and_only_grows() {
    let world = Arc::new(World::default());
    let mut peer = Peer::trial(&world, Settings::default());
    peer.modern("tools/call", json!({"name": "trial.stream"})).await;
    assert!(values(peer.told.drain(..)).is_empty(), "nobody asked");
    for era in ["new", "old"] {
        let params = json!({"name": "trial.stream", "_meta": {"progressToken": era}});
        let result = if era == "new" {
            peer.modern("tools/call", params).await
        } else {
            peer.initialize("2025-06-18", json!({})).await;
            peer.request("tools/call", params).await
        };
        assert_eq!(text(&result["result"]), "counted to 3");
        peer.told.retain(|m| m["method"] == "notifications/progress");
        assert!(peer.told.iter().all(|m| m["params"]["progressToken"] == era));
        assert_eq!(values(peer.told.drain(..)), [1.0, 2.0, 3.0], "all before the answer");
    }
}

#[tokio::test]
async fn an_6_06_cw_03_a_silent_call_gives_signs_of_life() {
    let world = Arc::new(World::default());
    let mut options = ServerOptions::new("1");
    assert_eq!(options.heartbeat, Duration::from_secs(10));
    options.heartbeat = Duration::from_millis(15);
    let mut peer = Peer::serving(vec![trial_toolset(&world, 0)], Settings::default(), options);
    // Ten intervals between two numbers of its own.
    let slow = json!({"name": "trial.stream", "arguments": {"to": 3, "every": 150}, "_meta": {"progressToken": 7}});
    peer.modern("tools/call", slow).await;
    let told = values(peer.told.drain(..));
    assert!(told.len() >= 6, "{told:?}");
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
    assert!([1.0, 2.0, 3.0].iter().all(|own| told.contains(own)), "its own counting stays: {told:?}");
}

#[tokio::test]
async fn an_6_11_kw_50_a_cancelled_call_stops_and_is_not_answered() {
    let world = Arc::new(World::default());
    let mut peer = Peer::trial(&world, Settings::default());
    peer.initialize("2025-11-25", json!({})).await;
    for modern in [false, true] {
        let (hung, stopped) = (world.hanging(), world.cancelled());
        let params = json!({"name": "trial.hang", "arguments": {}});
        let params = if modern { peer.with_meta(params) } else { params };
        let id = peer.begin("tools/call", params).await;
        until("the call to hang", || world.hanging() > hung).await;
        peer.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
        until("the cancellation", || world.cancelled() > stopped).await;
        peer.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}}))
            .await;
        assert_eq!(text(&peer.call("trial.echo", json!({})).await), "hello", "the next call is fine");
        assert!(peer.told.iter().all(|m| m["id"] != id), "no answer");
    }
}

#[tokio::test]
async fn an_6_11_a_call_cancelled_before_it_has_begun_is_not_answered_either() {
    let world = Arc::new(World::default());
    let mut peer = Peer::trial(&world, Settings::default());
    peer.initialize("2025-11-25", json!({})).await;
    let mut cancelled = Vec::new();
    for _ in 0..50 {
        let id = peer.begin("tools/call", json!({"name": "trial.hang"})).await;
        peer.send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
        cancelled.push(json!(id));
    }
    assert_eq!(text(&peer.call("trial.echo", json!({})).await), "hello");
    until("the end of them all", || world.hanging() == 0).await;
    assert_eq!(text(&peer.call("trial.echo", json!({})).await), "hello");
    assert!(peer.told.iter().all(|m| !cancelled.contains(&m["id"])));
}

#[tokio::test]
async fn ch_102_the_end_of_the_input_cancels_what_still_runs() {
    let world = Arc::new(World::default());
    let mut peer = Peer::trial(&world, Settings::default());
    peer.initialize("2025-11-25", json!({})).await;
    peer.begin("tools/call", json!({"name": "trial.hang"})).await;
    until("the call to hang", || world.hanging() == 1).await;
    peer.hang_up().await;
    until("the cancellation", || world.cancelled() == 1).await;
    while peer.next().await.is_some() {}
}

#[tokio::test]
async fn ch_147_a_panic_is_an_answer_and_the_server_goes_on() {
    let mut peer = Peer::trial(&Arc::new(World::default()), Settings::default());
    peer.initialize("2025-11-25", json!({})).await;
    let broken = peer.call("trial.panic", json!({})).await;
    assert_eq!(
        (&broken["isError"], &broken["structuredContent"]["failure"]["code"]),
        (&json!(true), &json!("internal"))
    );
    assert!(text(&broken).contains("as it was asked to"));
    assert_eq!(text(&peer.call("trial.echo", json!({})).await), "hello");
}

#[tokio::test]
async fn ch_139_ch_140_ch_213_cw_18_every_answer_has_its_text() {
    let mut peer = Peer::trial(&Arc::new(World::default()), Settings::default());
    peer.initialize("2025-11-25", json!({})).await;
    let silent = peer.call("trial.silent", json!({})).await;
    assert_eq!(text(&silent), "(no output)");
    let shell = peer.call("trial.terminal", json!({})).await;
    assert_eq!(
        (&shell["isError"], &shell["structuredContent"]["failure"]["code"]),
        (&json!(true), &json!("needs_terminal"))
    );
    assert!(text(&shell).contains("call `trial.echo`"));
    let pieces = peer.call("trial.pieces", json!({})).await;
    let kinds: Vec<&Value> = pieces["content"].as_array().unwrap().iter().map(|c| &c["type"]).collect();
    assert_eq!(kinds, ["image", "resource", "resource_link"]);
    assert_eq!(pieces["structuredContent"]["answer"]["pieces"], 3);
}
