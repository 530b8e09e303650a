//! Streamable HTTP in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use futures::StreamExt;
use futures::future::BoxFuture;
use pintle_client::{
    CallOptions, Closed, Endpoint, Era, EraChoice, Handler, Http, Raw, RpcError, ServerRequest, connect,
};
use serde_json::{Value, json};

use crate::support::{event, events, http, initialized, legacy, modern, options, plain, serve, status};

#[tokio::test]
async fn ch_071_json_and_event_stream_answers_both_work() {
    let fake = modern(|seen| match seen.rpc() {
        "tools/list" => seen.ok(json!({"tools": [{"name": "json"}]})),
        _ => seen.stream(
            &[json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}})],
            json!({"content": []}),
        ),
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    assert_eq!(session.era(), &Era::Modern);
    assert_eq!(session.server().name(), Some("fake"));
    let mut notifications = session.notifications();
    assert_eq!(session.list_tools(&plain()).await.unwrap()[0]["name"], "json");
    let result = session.call_tool("x", None, &plain()).await.unwrap();
    assert_eq!(result, json!({"content": []}));
    assert_eq!(notifications.recv().await.unwrap().method, "notifications/message");

    let old = legacy(|seen| match seen.rpc() {
        "tools/list" => seen.ok(json!({"tools": []})),
        _ => seen.stream(&[], json!({"content": []})),
    })
    .await;
    let session = connect(&http(&old), options()).await.unwrap();
    assert_eq!(session.era(), &Era::Legacy("2025-11-25".into()));
    session.list_tools(&plain()).await.unwrap();
    session.call_tool("x", None, &plain()).await.unwrap();
}

#[tokio::test]
async fn modern_requests_repeat_in_headers_what_they_say() {
    let fake = modern(|seen| seen.ok(json!({"content": [], "contents": []}))).await;
    let mut endpoint = Http::new(&fake.url()).unwrap();
    endpoint.headers.add("X-Key", "hush").unwrap();
    let session = connect(&Endpoint::Url(endpoint), options()).await.unwrap();
    session.call_tool("grüß", None, &plain()).await.unwrap();
    session.read_resource("test://a", &plain()).await.unwrap();
    let seen = fake.seen();
    let headers: Vec<_> = seen
        .iter()
        .map(|seen| {
            assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"));
            assert_eq!(seen.header("mcp-session-id"), None);
            assert_eq!(seen.header("x-key"), Some("hush"));
            assert_eq!(seen.header("accept"), Some("application/json, text/event-stream"));
            (seen.header("mcp-method"), seen.header("mcp-name"))
        })
        .collect();
    assert_eq!(
        headers,
        [
            (Some("server/discover"), None),
            (Some("tools/call"), Some("=?base64?Z3LDvMOf?=")),
            (Some("resources/read"), Some("test://a")),
        ]
    );
}

#[tokio::test]
async fn arguments_that_a_tool_wants_in_headers_are_sent_there() {
    let fake = modern(|seen| match seen.rpc() {
        "tools/list" => seen.ok(json!({"tools": [
            {"name": "good", "inputSchema": {"type": "object", "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"}}}},
            {"name": "bad", "inputSchema": {"type": "object", "properties": {
                "region": {"type": "number", "x-mcp-header": "Region"}}}}]})),
        _ if seen.header("mcp-param-region").is_none() => seen.err(400, -32020, "missing Mcp-Param-Region"),
        _ => seen.ok(json!({"content": []})),
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    // Not listed yet: the refusal leads to the list, and the list to the header.
    let arguments = json!({"region": "eu-1"});
    session.call_tool("good", Some(arguments), &plain()).await.unwrap();
    let tools = session.list_tools(&plain()).await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["good"]);
    let sent: Vec<_> = fake
        .seen()
        .iter()
        .filter(|seen| seen.rpc() == "tools/call")
        .map(|seen| seen.header("mcp-param-region").map(str::to_owned))
        .collect();
    assert_eq!(sent, [None, Some("eu-1".into())]);
}

#[tokio::test]
async fn ch_048_a_legacy_session_is_named_in_every_request_and_deleted_at_the_end() {
    let fake = legacy(|seen| seen.ok(json!({"tools": []}))).await;
    let session = connect(&http(&fake), options()).await.unwrap();
    session.list_tools(&plain()).await.unwrap();
    let closed = session.close().await.unwrap();
    assert_eq!(closed, Closed::Network { session_deleted: true });
    for seen in fake.seen() {
        match seen.rpc() {
            "server/discover" => {}
            "initialize" => assert_eq!(seen.header("mcp-session-id"), None),
            _ => {
                assert_eq!(seen.header("mcp-session-id"), Some("s-1"), "{seen:?}");
                assert_eq!(seen.header("mcp-protocol-version"), Some("2025-11-25"));
                assert_eq!(seen.header("mcp-method"), None);
            }
        }
    }
    assert!(fake.seen().iter().any(|seen| seen.method == "DELETE"));
}

#[tokio::test]
async fn ch_048_ch_050_a_dropped_session_is_deleted_and_leaves_no_socket() {
    let fake = legacy(|seen| seen.ok(json!({"tools": []}))).await;
    for _ in 0..2 {
        let session = connect(&http(&fake), options()).await.unwrap();
        session.list_tools(&plain()).await.unwrap();
        assert!(fake.open() > 0);
        drop(session);
    }
    fake.until(|seen| seen.method == "DELETE").await;
    for _ in 0..1000 {
        let deleted = fake.seen().iter().filter(|seen| seen.method == "DELETE").count();
        if (deleted, fake.open()) == (2, 0) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} sockets are left", fake.open());
}

#[tokio::test]
async fn a_server_that_does_not_delete_sessions_is_no_failure() {
    let fake = serve(|seen| match (seen.method.as_str(), seen.rpc()) {
        ("POST", "server/discover") => status(400),
        ("POST", "initialize") => {
            let mut response = initialized(seen);
            response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("s"));
            response
        }
        ("DELETE" | "GET", _) => status(405),
        _ => status(202),
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    assert_eq!(session.close().await.unwrap(), Closed::Network { session_deleted: false });
}

#[tokio::test]
async fn a_legacy_stream_that_breaks_is_resumed_where_it_broke() {
    let fake = serve(|seen| match (seen.method.as_str(), seen.rpc()) {
        ("POST", "server/discover") => status(400),
        ("POST", "initialize") => initialized(seen),
        ("POST", "tools/call") => events("id: e-7\nretry: 20\ndata:\n\n"),
        ("GET", _) if seen.header("last-event-id") == Some("e-7") => {
            events(format!("id: e-8\n{}", event(&json!({"jsonrpc": "2.0", "id": 3, "result": {"resumed": true}}))))
        }
        ("GET", _) => status(405),
        _ => status(202),
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    let result = session.call_tool("x", None, &plain()).await.unwrap();
    assert_eq!(result, json!({"resumed": true}));
}

#[tokio::test]
async fn the_own_stream_of_a_legacy_server_brings_notifications_and_questions() {
    let fake = serve(|seen| match (seen.method.as_str(), seen.rpc()) {
        ("POST", "server/discover") => status(400),
        ("POST", "initialize") => initialized(seen),
        ("GET", _) => events(Body::from_stream(
            futures::stream::iter([
                Ok::<_, std::io::Error>(event(&json!({"jsonrpc": "2.0", "id": "q", "method": "roots/list"}))),
                Ok(event(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))),
            ])
            .chain(futures::stream::pending()),
        )),
        _ => status(202),
    })
    .await;
    let mut with_roots = options();
    with_roots.handler = Arc::new(Roots);
    let session = connect(&http(&fake), with_roots).await.unwrap();
    let reply = fake.until(|seen| seen.body["id"] == "q").await;
    assert_eq!(reply.body["result"], json!({"roots": []}));
    drop(session);
}

struct Roots;

impl Handler for Roots {
    fn capabilities(&self) -> Value {
        json!({"roots": {}})
    }

    fn answer(&self, request: ServerRequest) -> BoxFuture<'_, Result<Value, RpcError>> {
        Box::pin(async move {
            match request.method.as_str() {
                "roots/list" => Ok(json!({"roots": []})),
                other => Err(RpcError::method_not_found(other)),
            }
        })
    }
}

#[tokio::test]
async fn a_modern_request_is_cancelled_by_closing_its_stream() {
    struct Gone(Arc<AtomicUsize>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let gone = Arc::new(AtomicUsize::new(0));
    let count = gone.clone();
    let fake = modern(move |_| {
        let guard = Gone(count.clone());
        events(Body::from_stream(futures::stream::poll_fn(
            move |_| -> std::task::Poll<Option<Result<String, std::io::Error>>> {
                let _held = &guard;
                std::task::Poll::Pending
            },
        )))
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    let brief = CallOptions::within(Duration::from_millis(200));
    session.call_tool("x", None, &brief).await.unwrap_err();
    for _ in 0..1000 {
        if gone.load(Ordering::SeqCst) == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(gone.load(Ordering::SeqCst), 1, "the stream was closed");
    assert!(fake.seen().iter().all(|seen| seen.rpc() != "notifications/cancelled"), "and nothing else was sent");
}

#[tokio::test]
async fn a_legacy_request_is_cancelled_by_a_notification() {
    let fake = legacy(|seen| match seen.rpc() {
        "tools/call" => events(Body::from_stream(futures::stream::pending::<Result<String, std::io::Error>>())),
        _ => status(202),
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    let brief = CallOptions::within(Duration::from_millis(200));
    session.call_tool("x", None, &brief).await.unwrap_err();
    let told = fake.until(|seen| seen.rpc() == "notifications/cancelled").await;
    assert_eq!(told.body["params"]["requestId"], 3);
    assert_eq!(told.header("mcp-session-id"), Some("s-1"));
}

#[tokio::test]
async fn raw_bodies_and_headers_go_as_they_are() {
    let fake = serve(|seen| match seen.body {
        Value::Null => seen.err(400, -32700, "parse error"),
        _ => seen.stream(&[json!({"jsonrpc": "2.0", "method": "notifications/x"})], json!({})),
    })
    .await;
    let mut bare = options();
    bare.era = EraChoice::Bare;
    let session = connect(&http(&fake), bare).await.unwrap();
    let mut raw = Raw::new("{not json");
    raw.headers.add("Mcp-Method", "something/else").unwrap();
    let exchange = session.raw(raw).await.unwrap();
    assert_eq!(exchange.http_status, Some(400));
    assert!(exchange.complete);
    let exchange =
        session.raw(Raw { messages: 2, ..Raw::new(r#"{"jsonrpc":"2.0","id":"own","method":"x"}"#) }).await.unwrap();
    assert_eq!(exchange.http_status, Some(200));
    assert_eq!(exchange.received.len(), 2);
    assert_eq!(fake.seen()[0].header("mcp-method"), Some("something/else"));
    assert_eq!(session.oddities(), []);
}
