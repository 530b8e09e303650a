//! Which server a step talks to, and how.

use pintle_check::{RunOptions, Server, Status};

use crate::fixture::{Fixture, Manner};
use crate::support::{fails, passes, plan, with};

#[tokio::test]
async fn ch_051_ch_052_ch_053_one_of_several_servers() {
    let one = Fixture::start(Manner::default()).await;
    let two = Fixture::start(Manner::default()).await;
    let servers = format!(
        "servers:\n  jupyter: {{url: 'http://{}/mcp'}}\n  chrome-devtools: {{url: 'http://{}/mcp'}}\n",
        one.address, two.address
    );
    let only = format!("servers:\n  jupyter: {{url: 'http://{}/mcp'}}\n", one.address);
    passes(&format!("{only}a: {{check: x, mcp: ping}}"), RunOptions::default()).await;
    let message = fails(&format!("{servers}a: {{check: x, mcp: ping}}"), RunOptions::default()).await;
    assert_eq!(message, "plan provides multiple mcp servers; use mcp_name (available: jupyter, chrome-devtools)");
    let text = format!("{servers}a: {{check: x, mcp: ping, mcp_name: chrome-devtools}}");
    let step = passes(&text, RunOptions::default()).await;
    assert_eq!(step.endpoint, Some(format!("http://{}/mcp", two.address)));
    assert!(two.count("ping") == 1 && one.count("ping") == 1);
    let message = fails("a: {check: x, mcp: ping, mcp_name: other}", with(one.server())).await;
    assert_eq!(message, "plan provides no mcp server \"other\" (available: jupyter)");
}

#[tokio::test]
async fn the_server_of_the_command_line_is_for_steps_that_name_none() {
    let one = Fixture::start(Manner::default()).await;
    let two = Fixture::start(Manner::default()).await;
    let text = format!(
        "servers:\n  own: {{url: 'http://{}/mcp'}}\na: {{check: x, mcp: ping}}\nb: {{check: x, mcp: ping, mcp_name: own}}\n",
        two.address
    );
    let outcome = plan(&text, with(one.server())).await;
    assert!(outcome.steps().all(|step| step.status == Status::Passed));
    assert_eq!((one.count("ping"), two.count("ping")), (1, 1));
    assert_eq!(outcome.target, format!("http://{}/mcp", one.address));
}

#[tokio::test]
async fn ch_047_ch_065_ch_066_ch_069_ch_070_words_for_streamable_http() {
    let fixture = Fixture::start(Manner::default()).await;
    for word in ["", "http", "HTTP", "streamable", "Streamable-HTTP"] {
        let server = Server { transport: word.into(), ..fixture.server() };
        passes("a: {check: x, mcp: ping}", with(server)).await;
    }
}

#[tokio::test]
async fn ch_068_an_unknown_transport_fails_when_it_is_dialled() {
    let server = Server { transport: "WebSocket".into(), ..Server::url("a", "http://127.0.0.1:9/") };
    let text = "
a: {check: x, mcp: ping}
b: {check: x, mcp: servers}
";
    let outcome = plan(text, with(server)).await;
    let steps: Vec<_> = outcome.steps().collect();
    assert_eq!(steps[0].message, "connect: unsupported mcp transport \"WebSocket\" (expected http or sse)");
    assert_eq!((steps[0].status, steps[1].status), (Status::Failed, Status::Passed));
}

#[tokio::test]
async fn a_box_says_what_it_lacks() {
    let fields = serde_json::json!({"check": "x", "mcp": "ping"});
    let registry = pintle_check::Registry::new();
    let step = pintle_check::read_labelled_step("a", &fields, &registry).unwrap();
    let skip = pintle_check::box_skip_text(&step);
    assert_eq!(skip, "mcp: ping requires a running container (skip under charly check box)");
    let plan = pintle_check::Plan {
        file: "image".into(),
        directory: Default::default(),
        source: String::new(),
        dialect: pintle_check::Dialect::Candy,
        servers: Vec::new(),
        vars: Vec::new(),
        timeout: None,
        steps: vec![step.into()],
    };
    let set = pintle_check::PlanSet { plans: vec![plan] };
    let events = std::sync::Arc::new(|_: &pintle_check::Event| ());
    let outcome = pintle_check::run(set, RunOptions::default(), events, Default::default()).await.unwrap();
    let step = outcome.steps().next().unwrap();
    assert_eq!((step.status, step.message.as_str()), (Status::Failed, "box declares no mcp_provide entries"));
}

/// A server of 2024-11-05: answers come on the stream that a GET opens.
async fn older() -> String {
    use axum::extract::State;
    use axum::response::IntoResponse;
    use std::sync::Arc;
    use tokio::sync::{Mutex, mpsc};

    type Stream = Arc<Mutex<Option<mpsc::UnboundedSender<String>>>>;
    async fn open(State(stream): State<Stream>) -> impl IntoResponse {
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send("event: endpoint\ndata: /messages\n\n".to_owned()).unwrap();
        *stream.lock().await = Some(sender);
        let body = futures::stream::unfold(receiver, |mut receiver| async {
            let text = receiver.recv().await?;
            Some((Ok::<_, std::io::Error>(text), receiver))
        });
        ([("content-type", "text/event-stream")], axum::body::Body::from_stream(body))
    }
    async fn post(State(stream): State<Stream>, body: String) -> axum::http::StatusCode {
        let message: serde_json::Value = serde_json::from_str(&body).unwrap();
        let result = match message["method"].as_str().unwrap() {
            "initialize" => serde_json::json!({
                "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"},
            }),
            _ => serde_json::json!({}),
        };
        if let (Some(id), Some(stream)) = (message.get("id"), &*stream.lock().await) {
            let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result});
            stream.send(format!("event: message\ndata: {answer}\n\n")).unwrap();
        }
        axum::http::StatusCode::ACCEPTED
    }
    let router = axum::Router::new()
        .route("/sse", axum::routing::get(open))
        .route("/messages", axum::routing::post(post))
        .with_state(Stream::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}/sse")
}

#[tokio::test]
async fn ch_067_the_older_transport_is_spoken_on_request() {
    let url = older().await;
    for word in ["sse", "SSE"] {
        let server = Server { transport: word.into(), ..Server::url("old", &url) };
        passes("a: {check: x, mcp: ping, stdout: ok}", with(server)).await;
    }
}
