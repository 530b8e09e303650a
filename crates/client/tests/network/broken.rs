//! Servers that break the protocol, or do not answer.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response};
use pintle_client::{CallOptions, Stage, Transport, connect};
use serde_json::json;

use crate::support::{
    Seen, answer, at, discovered, events, http, legacy, modern, options, plain, serve, serve_later, status,
};

#[tokio::test]
async fn a_stream_that_ends_before_the_answer_is_told() {
    let fake = modern(|_| events(": nothing\n\nid: 1\ndata:\n\n")).await;
    let session = connect(&http(&fake), options()).await.unwrap();
    let error = session.call_tool("x", None, &plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/call: the stream ended before the answer");
    assert!(fake.seen().iter().all(|seen| seen.method == "POST"), "this era has no resumption");
}

#[tokio::test]
async fn nobody_there_fails_at_connect() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("http://user:hush@{address}/mcp?key=hush");
    let error = connect(&at(&url, Transport::Auto), options()).await.unwrap_err();
    assert_eq!(error.stage, Stage::Connect);
    let text = error.to_string();
    assert!(text.starts_with(&format!("connect: http://{address}/mcp cannot be reached: ")), "{text}");
    assert!(!text.contains("hush"), "{text}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_cut_off_at_every_stage() {
    let fake = serve_later(|seen| {
        Box::pin(async move {
            match seen.rpc() {
                "server/discover" => discovered(&seen),
                _ => std::future::pending().await,
            }
        })
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    let brief = CallOptions::within(Duration::from_millis(200));
    let error = session.call_tool("x", None, &brief).await.unwrap_err();
    assert_eq!(error.to_string(), "request tools/call: no answer within 200ms");

    let silent = serve_later(|_| Box::pin(std::future::pending())).await;
    let mut hasty = options();
    hasty.probe_limit = Duration::from_millis(200);
    hasty.connect_timeout = Duration::from_millis(600);
    let error = connect(&http(&silent), hasty).await.unwrap_err();
    assert_eq!(error.to_string(), "handshake: no answer within 600ms");
    let seen = silent.seen();
    let methods: Vec<_> = seen.iter().map(Seen::rpc).collect();
    assert_eq!(methods, ["server/discover", "initialize"]);
}

#[tokio::test]
async fn answers_that_break_the_protocol_are_told_apart() {
    type Reply = fn(&Seen) -> Response<Body>;
    let cases: &[(Reply, &str)] = &[
        (
            |_| answer(json!({"jsonrpc": "2.0", "id": 99, "result": {}})),
            "the request was not answered (an answer with the unknown id 99 came)",
        ),
        (|_| status(202), "the server took the request as a notification (HTTP 202) and gave no answer"),
        (
            |_| {
                let mut page = answer(json!("x"));
                page.headers_mut().insert("content-type", HeaderValue::from_static("text/html"));
                page
            },
            "content type \"text/html\" instead of application/json or text/event-stream",
        ),
        (
            |_| {
                let mut broken = answer(json!(null));
                *broken.body_mut() = Body::from("{\"jsonrpc\":");
                broken
            },
            "the answer is no JSON: EOF while parsing a value at line 1 column 11",
        ),
        (
            |_| {
                let mut failed = status(500);
                *failed.body_mut() = Body::from("\n  it broke\nsomewhere");
                failed
            },
            "HTTP status 500: it broke",
        ),
        (|seen| seen.err(404, -32601, "no such method"), "error -32601: no such method (HTTP 404)"),
        (|seen| seen.err(200, -32602, "bad"), "error -32602: bad"),
    ];
    for (reply, wanted) in cases {
        let fake = modern(*reply).await;
        let session = connect(&http(&fake), options()).await.unwrap();
        let error = session.request("x", None, &plain()).await.unwrap_err();
        assert_eq!(error.to_string(), format!("request x: {wanted}"));
    }
}

#[tokio::test]
async fn an_answer_of_20_mb_is_cut_in_both_forms() {
    let fake = modern(|seen| {
        let result = json!({"text": "x".repeat(20_000_000)});
        match seen.rpc() {
            "json" => seen.ok(result),
            _ => seen.stream(&[], result),
        }
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    for form in ["json", "stream"] {
        let error = session.request(form, None, &plain()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("request {form}: the answer is larger than 4 MiB and was cut while reading")
        );
    }
    session.ping(&plain()).await.unwrap();
}

#[tokio::test]
async fn an_unknown_session_is_told() {
    let fake = legacy(|_| status(404)).await;
    let session = connect(&http(&fake), options()).await.unwrap();
    let error = session.ping(&plain()).await.unwrap_err();
    assert_eq!(error.to_string(), "request ping: the server does not know the session any more (HTTP 404)");
}

#[tokio::test]
async fn a_modern_refusal_is_not_mistaken_for_an_old_server() {
    let fake = serve(|seen| seen.err(400, -32021, "elicitation is required")).await;
    let error = connect(&at(&fake.url(), Transport::Auto), options()).await.unwrap_err();
    assert_eq!(error.to_string(), "handshake: error -32021: elicitation is required (HTTP 400)");
    assert_eq!(fake.seen().len(), 1);
}
