//! The stdio profile, which the official suite does not have.

use crate::{peer::text, process::StdioServer};
use rustix::process::Signal;
use serde_json::{Value, json};

const LIMIT: usize = 8 * 1024 * 1024;

async fn legacy(arguments: &[&str]) -> StdioServer {
    let mut server = StdioServer::start(arguments);
    server.peer.initialize("2025-11-25", json!({})).await;
    server
}

async fn ping(server: &mut StdioServer) {
    assert_eq!(server.peer.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn both_eras_in_one_process_in_any_order() {
    let mut server = StdioServer::start(&["--trial"]);
    let found = server.peer.modern("server/discover", json!({})).await;
    assert_eq!(found["result"]["supportedVersions"].as_array().unwrap().len(), 5);
    let called = json!({"name": "trial.echo", "arguments": {"text": "new"}});
    assert_eq!(text(&server.peer.modern("tools/call", called.clone()).await["result"]), "new");
    assert_eq!(server.peer.initialize("2025-06-18", json!({})).await["protocolVersion"], "2025-06-18");
    assert_eq!(text(&server.peer.call("trial.echo", json!({"text": "old"})).await), "old");
    assert_eq!(text(&server.peer.modern("tools/call", called).await["result"]), "new");
    let old = server.peer.request("tools/list", json!({})).await;
    let new = server.peer.modern("tools/list", json!({})).await;
    assert_eq!(old["result"]["tools"], new["result"]["tools"]);
    assert!(old["result"].get("resultType").is_none() && new["result"]["resultType"] == "complete");
}

#[tokio::test]
async fn ch_144_ch_145_eg_007_cw_02_an_6_01_noise_never_meets_the_protocol() {
    let mut server = legacy(&["--trial"]).await;
    // Eight calls are always on their way, so that noise and answers have every chance to meet.
    let mut open = Vec::new();
    for number in 0..1000 {
        open.push(server.peer.begin("tools/call", json!({"name": "trial.noisy", "arguments": {}})).await);
        if open.len() == 8 {
            let id = open.remove(0);
            let answer = server.peer.answer(id).await;
            assert_eq!(text(&answer["result"]), "3 lines of noise");
        }
        if number % 100 == 0 {
            // What a panic prints is noise too.
            assert_eq!(server.peer.call("trial.panic", json!({})).await["isError"], true);
        }
    }
    for id in open {
        server.peer.answer(id).await;
    }
    ping(&mut server).await;
}

#[tokio::test]
async fn eg_007_ch_148_every_one_of_ten_thousand_answers_is_whole_and_under_its_own_id() {
    let mut server = legacy(&["--trial"]).await;
    for round in 0..100 {
        let mut open = Vec::new();
        for number in 0..100 {
            let told = format!("{round} {number}\n{{\"id\": 1}}");
            let params = json!({"name": "trial.echo", "arguments": {"text": told}});
            open.push((server.peer.begin("tools/call", params).await, told));
        }
        for (id, told) in open {
            assert_eq!(text(&server.peer.answer(id).await["result"]), told);
        }
    }
    assert!(server.peer.told.is_empty(), "nobody answered what was not asked");
}

#[tokio::test]
async fn ch_144_ch_146_a_megabyte_of_json_like_text_is_no_message() {
    let mut server = legacy(&["--trial"]).await;
    let loud = server.peer.call("trial.noisy", json!({"lines": 20_000, "child": false})).await;
    assert_eq!(loud["structuredContent"]["answer"]["lines"], 20_000);
    let long = server.peer.call("trial.text", json!({"bytes": 1_000_000})).await;
    assert!(text(&long).len() <= 25_300, "{}", text(&long).len());
    ping(&mut server).await;
}

#[tokio::test]
async fn an_6_02_kw_49_kw_51_garbage_is_answered_and_the_next_ping_too() {
    let mut server = StdioServer::start(&["--trial"]);
    let peer = &mut server.peer;
    for garbage in [&b"{\n"[..], b"\xff\n", b"hello\n"] {
        peer.send_bytes(garbage).await;
        let answer = peer.next().await.unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Value::Null));
    }
    peer.send_bytes(b"\n\r\n").await;
    peer.send_bytes(b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"ping\"}\r\n").await;
    assert_eq!(peer.next().await.unwrap()["id"], "bom", "empty lines are nothing, BOM and CRLF are no harm");
    peer.send(json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])).await;
    assert_eq!(peer.next().await.unwrap()["error"]["code"], -32600, "a batch is refused");
    peer.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n").await;
    assert_eq!(peer.answer(1).await["result"]["protocolVersion"], "2025-11-25");

    let large = |size: usize| json!({"name": "trial.echo", "arguments": {"text": "x".repeat(size)}});
    let answer = server.peer.request("tools/call", large(5 * 1024 * 1024)).await;
    assert_eq!(answer["result"]["isError"], false, "5 MB are served");
    server.peer.begin("tools/call", large(LIMIT)).await;
    let refused = server.peer.next().await.unwrap();
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)));
    assert!(refused["error"]["message"].as_str().unwrap().contains("8 MiB"));
    ping(&mut server).await;
}

#[tokio::test]
async fn eg_020_ids_come_back_as_they_were() {
    let mut server = StdioServer::start(&[]);
    let ids = [json!("a"), json!(""), json!(0), json!(-7), json!(i64::MAX), json!(i64::MIN), json!(u64::MAX)];
    for id in ids {
        server.peer.send(json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {}})).await;
        assert!(server.peer.answer(id).await.get("result").is_some());
    }
    server.peer.send(json!({"jsonrpc": "2.0", "id": null, "method": "ping"})).await;
    assert_eq!(server.peer.next().await.unwrap()["error"]["code"], -32600);
    server.peer.send(json!({"id": 5, "method": "ping"})).await;
    assert_eq!(server.peer.next().await.unwrap()["error"]["code"], -32600, "jsonrpc is checked");
    server.peer.send(json!({"jsonrpc": "2.0", "method": "notifications/unheard-of"})).await;
    assert_eq!(server.peer.request("nothing/like-it", json!({})).await["error"]["code"], -32601);
    assert!(server.peer.told.is_empty(), "notifications are never answered");
}

#[tokio::test]
async fn eg_020_an_id_in_use_is_refused_until_its_request_is_over() {
    let mut server = legacy(&["--trial"]).await;
    let request = |id: &str, tool: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": format!("trial.{tool}")}});
    server.peer.send(request("hangs", "hang")).await;
    server.peer.send(request("hangs", "echo")).await;
    assert_eq!(server.peer.answer("hangs").await["error"]["code"], -32600, "no two answers under one id");
    for _ in 0..500 {
        server.peer.send(request("ends", "echo")).await;
        assert_eq!(text(&server.peer.answer("ends").await["result"]), "hello", "an id whose answer was read is free");
    }
    assert!(server.peer.told.is_empty());
}

#[tokio::test]
async fn eg_020_kw_52_the_last_line_needs_no_newline_and_the_end_of_input_is_the_end() {
    let mut server = legacy(&["--trial"]).await;
    let last = json!({"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": {"name": "trial.echo"}});
    server.peer.send_bytes(last.to_string().as_bytes()).await;
    server.peer.hang_up().await;
    assert_eq!(text(&server.peer.answer("last").await["result"]), "hello");
    assert!(server.peer.next().await.is_none());
    assert!(server.end().await.success());
}

#[tokio::test]
async fn ch_102_ch_149_hanging_work_does_not_keep_the_server_once_the_input_has_ended() {
    let mut server = legacy(&["--trial"]).await;
    server.peer.begin("tools/call", json!({"name": "trial.hang"})).await;
    ping(&mut server).await;
    server.peer.hang_up().await;
    while server.peer.next().await.is_some() {}
    assert!(server.end().await.success());
}

#[tokio::test]
async fn kw_52_a_signal_ends_the_server_though_the_input_stays_open() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = legacy(&["--trial"]).await;
        server.peer.begin("tools/call", json!({"name": "trial.hang"})).await;
        ping(&mut server).await;
        server.signal(signal);
        assert!(server.end().await.success(), "{signal:?}");
    }
}

#[tokio::test]
async fn eg_013_kw_50_ping_and_discover_are_answered_while_calls_hang() {
    let mut server = legacy(&["--trial"]).await;
    for _ in 0..200 {
        server.peer.begin("tools/call", json!({"name": "trial.hang"})).await;
    }
    ping(&mut server).await;
    assert!(server.peer.modern("server/discover", json!({})).await.get("result").is_some());
    assert_eq!(text(&server.peer.call("trial.echo", json!({})).await), "hello", "and so is any other call");
}

#[tokio::test]
async fn an_6_19_many_first_calls_at_once() {
    let mut server = StdioServer::start(&["--trial"]);
    let params = |peer: &crate::peer::Peer| peer.with_meta(json!({"name": "trial.rows", "arguments": {"count": 50}}));
    let mut open = Vec::new();
    for _ in 0..64 {
        let params = params(&server.peer);
        open.push(server.peer.begin("tools/call", params).await);
    }
    for id in open {
        let answer = server.peer.answer(id).await;
        assert_eq!(answer["result"]["structuredContent"]["answer"]["rows"].as_array().unwrap().len(), 50);
    }
}
