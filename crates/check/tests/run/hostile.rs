//! Servers that do everything wrong. Every case ends within its deadline, with a message that names the stage.

use std::time::{Duration, Instant};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::any;
use pintle_check::Server;

use crate::support::{bare_script, fails, passes, script, with};

/// Fails within its limit; the message begins as it must.
async fn stage(server: Server, step: &str, limit: Duration, wanted: &str) -> String {
    let began = Instant::now();
    let text = format!("a: {{check: x, {step}, timeout: {}ms}}", limit.as_millis());
    let message = fails(&text, with(server)).await;
    // A child that ignores everything has two more spans of grace.
    assert!(began.elapsed() < limit + Duration::from_secs(9), "{:?}", began.elapsed());
    assert!(message.starts_with(wanted), "{message}");
    message
}

const SHORT: Duration = Duration::from_millis(800);
const LONG: Duration = Duration::from_secs(20);

#[tokio::test]
async fn never_answers() {
    stage(bare_script("while read -r line; do :; done"), "mcp: ping", SHORT, "handshake: no answer within 800ms").await;
    stage(script("on() { :; }"), "mcp: ping", SHORT, "request ping: no answer within 800ms").await;
    stage(script("on() { :; }"), "mcp: list-tools", SHORT, "request tools/list: no answer within 800ms").await;
}

#[tokio::test]
async fn answers_twice() {
    let step = passes(
        "a: {check: x, mcp: list-tools}",
        with(script(r#"on() { ok "$2" '{"tools":[],"nextCursor":"2"}'; ok "$2" '{"tools":[]}'; on() { ok "$2" '{"tools":[]}'; }; }"#)),
    )
    .await;
    assert!(step.warnings[0].starts_with("a second answer to request "), "{:?}", step.warnings);
}

#[tokio::test]
async fn answers_with_a_wrong_id() {
    let message = stage(script("on() { ok 4711 '{}'; }"), "mcp: ping", SHORT, "request ping: no answer within").await;
    assert!(message.contains("4711"), "{message}");
}

#[tokio::test]
async fn ch_033_cw_41_gives_the_same_cursor_for_ever() {
    let server = script(r#"on() { ok "$2" '{"tools":[{"name":"a"}],"nextCursor":"again"}'; }"#);
    stage(server, "mcp: list-tools", LONG, "request tools/list: the server returned the cursor \"again\" again").await;
}

#[tokio::test]
async fn ch_033_gives_ever_new_cursors() {
    let server = script(r#"n=0; on() { n=$((n+1)); sleep 0.02; ok "$2" '{"tools":[],"nextCursor":"'$n'"}'; }"#);
    stage(server, "mcp: list-tools", SHORT, "request tools/list: no answer within 800ms").await;
}

#[tokio::test]
async fn answers_20_mb() {
    let server = script(
        r#"on() { printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"' "$2"; head -c 20000000 /dev/zero | tr '\0' x; printf '"}]}}\n'; }"#,
    );
    let wanted = "request tools/list: the answer is larger than 4 MiB and was cut while reading";
    stage(server, "mcp: list-tools", LONG, wanted).await;
}

#[tokio::test]
async fn drips() {
    let server = script(r#"on() { while :; do printf ' '; sleep 0.05; done; }"#);
    stage(server, "mcp: ping", SHORT, "request ping: no answer within 800ms").await;
}

#[tokio::test]
async fn dies_at_each_stage() {
    stage(bare_script("exit 3"), "mcp: ping", LONG, "handshake: ").await;
    stage(bare_script("read -r line; exit 3"), "mcp: ping", LONG, "handshake: ").await;
    stage(
        bare_script(
            "while read -r line; do case \"$line\" in *initialize*) exit 3 ;; *) err 1 -32601 no ;; esac; done",
        ),
        "mcp: ping",
        LONG,
        "handshake: ",
    )
    .await;
    stage(script("on() { exit 3; }"), "mcp: ping", LONG, "request ping: ").await;
    stage(script("on() { printf '{\"jsonrpc\":'; exit 3; }"), "mcp: ping", LONG, "request ping: ").await;
}

#[tokio::test]
async fn a_server_that_will_not_end_is_killed_and_that_is_told() {
    let step = passes(
        "a: {check: x, mcp: ping}",
        with(bare_script("trap '' TERM\non() { ok \"$2\" '{}'; }\nserve\nwhile :; do sleep 1; done")),
    )
    .await;
    assert_eq!(step.warnings, ["close: the server ended neither with its input nor on TERM and was killed"]);
}

async fn web(status: StatusCode, location: Option<&'static str>, body: &'static str) -> Server {
    let router = Router::new().route(
        "/mcp",
        any(move || async move {
            let mut response = (status, body).into_response();
            if let Some(location) = location {
                response.headers_mut().insert(header::LOCATION, location.parse().unwrap());
            }
            response
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    Server::url("web", format!("http://{address}/mcp"))
}

#[tokio::test]
async fn redirects_elsewhere() {
    let server = web(StatusCode::FOUND, Some("http://192.0.2.1/steal"), "").await;
    let message = stage(server, "mcp: ping", LONG, "connect: ").await;
    assert!(message.contains("redirected to http://192.0.2.1/steal, which is not followed"), "{message}");
}

#[tokio::test]
async fn is_no_mcp_server() {
    let server = web(StatusCode::OK, None, "<html>hello</html>").await;
    stage(server, "mcp: ping", LONG, "handshake: ").await;
    let server = web(StatusCode::INTERNAL_SERVER_ERROR, None, "oops").await;
    let message = stage(server, "mcp: ping", LONG, "handshake: ").await;
    assert!(message.contains("500"), "{message}");
}

#[tokio::test]
async fn a_failure_that_an_exit_status_expects_is_still_told() {
    let step = passes("a: {check: x, mcp: ping, exit_status: 1}", with(bare_script("exit 3"))).await;
    assert!(step.warnings.iter().any(|warning| warning.starts_with("handshake: ")), "{:?}", step.warnings);
}
