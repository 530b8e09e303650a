//! The HTTP profile: who may come in, what is refused, and what happens to those who leave.

use crate::{
    peer::{CAPABILITIES, HANGS, VERSION, text},
    process::{HttpServer, refused},
};
use reqwest::{Client, Response, StatusCode, header};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

const TOKEN: &str = "a-token-that-nobody-guesses";

fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn client() -> Client {
    // Whoever comes first has installed it for all.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().timeout(HANGS).build().unwrap()
}

fn post(url: &str, body: &Value) -> reqwest::RequestBuilder {
    let request = client().post(url).json(body);
    let request = request.header(header::ACCEPT, "application/json, text/event-stream");
    let meta = body["params"]["_meta"].get(VERSION);
    let request = match meta.and_then(Value::as_str) {
        Some(version) => {
            request.header("Mcp-Protocol-Version", version).header("Mcp-Method", body["method"].as_str().unwrap())
        }
        None => request,
    };
    match body["params"]["name"].as_str().filter(|_| meta.is_some()) {
        Some(name) => request.header("Mcp-Name", name),
        None => request,
    }
}

async fn call(url: &str, tool: &str, arguments: Value) -> Value {
    let body = modern("tools/call", json!({"name": tool, "arguments": arguments}));
    let answer = post(url, &body).send().await.unwrap();
    assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/json", "plain answers are plain JSON");
    answer.json::<Value>().await.unwrap()["result"].clone()
}

/// The first message of an event stream that is so.
async fn event(mut stream: Response, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut text = String::new();
    loop {
        for line in text.lines().filter_map(|line| line.strip_prefix("data:")) {
            if let Ok(message) = serde_json::from_str::<Value>(line.trim())
                && wanted(&message)
            {
                return message;
            }
        }
        let chunk = stream.chunk().await.unwrap().unwrap_or_else(|| panic!("ended without it: {text}"));
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
}

/// Opens a session of the older era and gives its id.
async fn session(url: &str) -> String {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let opened =
        post(url, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).send().await.unwrap();
    assert_eq!(opened.status(), StatusCode::OK);
    opened.headers()["mcp-session-id"].to_str().unwrap().to_owned()
}

async fn in_session(url: &str, session: &str, body: Value) -> Response {
    post(url, &body)
        .header("Mcp-Session-Id", session)
        .header("Mcp-Protocol-Version", "2025-11-25")
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn ch_100_ch_101_ch_105_both_eras_at_one_path_and_nothing_elsewhere() {
    let server = HttpServer::start(&["--path", "/api/mcp"]).await;
    assert!(server.url.starts_with("http://127.0.0.1:") && server.url.ends_with("/api/mcp"), "{}", server.url);
    assert_eq!(text(&call(&server.url, "trial.echo", json!({})).await), "hello");
    let session = session(&server.url).await;
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "trial.echo"}});
    let answer = event(in_session(&server.url, &session, body).await, |m| m["id"] == 7).await;
    assert_eq!(text(&answer["result"]), "hello");
    for path in ["/", "/mcp", "/api", "/api/mcp/x", "/.well-known/oauth-protected-resource"] {
        let elsewhere = server.url.replace("/api/mcp", path);
        assert_eq!(client().get(&elsewhere).send().await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn an_6_14_cw_08_foreign_hosts_and_origins_are_turned_away() {
    let added = ["--allowed-host", "web.example:*", "--allowed-origin", "https://app.example"];
    let server = HttpServer::start(&added).await;
    let port = server.url.split(':').nth(2).unwrap().split('/').next().unwrap().to_owned();
    let status = |name: &'static str, value: String| {
        let request = post(&server.url, &modern("tools/list", json!({}))).header(name, value);
        async move { request.send().await.unwrap().status() }
    };
    for host in ["evil.example".to_owned(), format!("evil.example:{port}"), "127.0.0.1.evil.example".to_owned()] {
        assert_eq!(status("Host", host.clone()).await, StatusCode::FORBIDDEN, "{host}");
    }
    let known =
        ["localhost".to_owned(), format!("127.0.0.1:{port}"), format!("[::1]:{port}"), "web.example:81".to_owned()];
    for host in known {
        assert_eq!(status("Host", host.clone()).await, StatusCode::OK, "{host}");
    }
    for origin in ["http://evil.example", "null", "https://app.example:444", "http://localhost.evil.example"] {
        assert_eq!(status("Origin", origin.to_owned()).await, StatusCode::FORBIDDEN, "{origin}");
    }
    for origin in ["http://localhost:3000", "https://127.0.0.1", "https://app.example", "http://[::1]:5"] {
        assert_eq!(status("Origin", origin.to_owned()).await, StatusCode::OK, "{origin}");
    }
}

#[tokio::test]
async fn cw_07_a_token_opens_and_its_absence_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, TOKEN).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let server = HttpServer::start(&["--token-file", file.to_str().unwrap()]).await;
    let list = modern("tools/list", json!({}));
    let without = post(&server.url, &list).send().await.unwrap();
    assert_eq!(
        (without.status(), &without.headers()["www-authenticate"]),
        (StatusCode::UNAUTHORIZED, &"Bearer".parse().unwrap())
    );
    let wrong = post(&server.url, &list).bearer_auth("a-token-that-somebody-made-up").send().await.unwrap();
    assert_eq!(wrong.status(), StatusCode::UNAUTHORIZED);
    let right = post(&server.url, &list).bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(right.json::<Value>().await.unwrap()["result"]["cacheScope"], "private");
}

#[tokio::test]
async fn cw_07_what_cannot_be_served_safely_is_refused_at_start() {
    let (code, told) = refused(&["--listen", ":0"]).await;
    assert_eq!(code, 64);
    assert!(told.contains("--token-file") && told.contains("`:0`"), "{told}");
    let (code, told) = refused(&["--listen", "0.0.0.0:0"]).await;
    assert!(code == 64 && told.contains("--token-file"), "{told}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, TOKEN).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, told) = refused(&["--listen", "127.0.0.1:0", "--token-file", file.to_str().unwrap()]).await;
    assert!(code == 64 && told.contains("others can read it") && told.contains("chmod 600"), "{told}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, told) = refused(&["--listen", &address]).await;
    assert!(code == 1 && told.contains(&address) && told.contains("address already in use"), "{told}");
    let (code, told) = refused(&["--listen", "nonsense"]).await;
    assert!(code == 64 && told.contains("--listen `nonsense`"), "{told}");
}

#[tokio::test]
async fn ch_100_an_isolated_server_may_listen_everywhere() {
    let server = HttpServer::start(&["--listen", ":0", "--insecure"]).await;
    let port = server.url.split(':').next_back().unwrap().split('/').next().unwrap().to_owned();
    assert_eq!(text(&call(&format!("http://127.0.0.1:{port}/mcp"), "trial.echo", json!({})).await), "hello");
}

#[tokio::test]
async fn bodies_over_the_limit_and_bodies_that_are_none_are_refused() {
    let server = HttpServer::start(&[]).await;
    let large =
        |size: usize| modern("tools/call", json!({"name": "trial.echo", "arguments": {"text": "x".repeat(size)}}));
    assert_eq!(post(&server.url, &large(5 * 1024 * 1024)).send().await.unwrap().status(), StatusCode::OK);
    // The server may hang up before it has read it all.
    if let Ok(refused) = post(&server.url, &large(9 * 1024 * 1024)).send().await {
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    let garbage = post(&server.url, &json!({})).body("{").send().await.unwrap();
    assert_eq!(garbage.status(), StatusCode::BAD_REQUEST);
    let told: Value = garbage.json().await.unwrap();
    assert_eq!((&told["error"]["code"], &told["id"]), (&json!(-32700), &Value::Null));
    let plain = client().post(&server.url).header(header::ACCEPT, "application/json, text/event-stream");
    let plain = plain.header(header::CONTENT_TYPE, "text/plain").body("{}").send().await.unwrap();
    assert_eq!(plain.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(text(&call(&server.url, "trial.echo", json!({})).await), "hello", "and the next call is served");
}

/// Waits until the trial world counts so.
async fn counts(url: &str, of: &str, wanted: u64) {
    for _ in 0..6000 {
        if call(url, "trial.counts", json!({})).await["structuredContent"]["answer"][of] == wanted {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{of} never came to {wanted}");
}

#[tokio::test]
async fn an_6_11_a_client_that_leaves_takes_its_call_with_it() {
    let server = HttpServer::start(&[]).await;
    let calling = tokio::spawn(post(&server.url, &modern("tools/call", json!({"name": "trial.hang"}))).send());
    counts(&server.url, "hanging", 1).await;
    calling.abort();
    counts(&server.url, "cancelled", 1).await;
    // The same after the first event, when the answer has become a stream.
    let mut told = modern("tools/call", json!({"name": "trial.stream", "arguments": {"to": 1000, "every": 50}}));
    told["params"]["_meta"]["progressToken"] = 1.into();
    let streaming = post(&server.url, &told).send().await.unwrap();
    event(streaming, |m| m["method"] == "notifications/progress").await;
    counts(&server.url, "counting", 0).await;
}

#[tokio::test]
async fn cw_28_sessions_are_bounded_and_the_one_unused_for_longest_gives_way() {
    let server = HttpServer::start(&["--sessions", "3"]).await;
    let list = || json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list"});
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(session(&server.url).await);
    }
    assert_eq!(in_session(&server.url, &open[0], list()).await.status(), StatusCode::OK);
    let newest = session(&server.url).await;
    assert_eq!(in_session(&server.url, &open[1], list()).await.status(), StatusCode::NOT_FOUND, "unused for longest");
    for kept in [&open[0], &open[2], &newest] {
        assert_eq!(in_session(&server.url, kept, list()).await.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn cw_28_a_signal_lets_calls_end_and_then_ends_the_server() {
    let mut server = HttpServer::start(&[]).await;
    let slow = modern("tools/call", json!({"name": "trial.stream", "arguments": {"to": 2, "every": 1000}}));
    let calling = tokio::spawn(post(&server.url, &slow).send());
    let stream = session(&server.url).await;
    let listening = client().get(&server.url).header(header::ACCEPT, "text/event-stream");
    let listening = listening.header("Mcp-Session-Id", &stream).header("Mcp-Protocol-Version", "2025-11-25");
    assert_eq!(listening.send().await.unwrap().status(), StatusCode::OK, "a stream that never ends by itself");
    counts(&server.url, "counting", 1).await;
    server.signal(Signal::TERM);
    let answer: Value = calling.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(text(&answer["result"]), "counted to 2");
    assert!(server.end().await.success());
}

#[tokio::test]
async fn unknown_methods_versions_and_headers_have_the_status_of_the_newer_era() {
    let server = HttpServer::start(&[]).await;
    let unknown = post(&server.url, &modern("nothing/like-it", json!({}))).send().await.unwrap();
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
    assert_eq!(unknown.json::<Value>().await.unwrap()["error"]["code"], -32601);
    let mut future = modern("tools/list", json!({}));
    future["params"]["_meta"][VERSION] = "2099-01-01".into();
    let refused = post(&server.url, &future).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], -32022);
    let get = client().get(&server.url).header(header::ACCEPT, "text/event-stream");
    let get = get.header("Mcp-Protocol-Version", "2026-07-28").send().await.unwrap();
    assert_eq!(get.status(), StatusCode::METHOD_NOT_ALLOWED);
}
