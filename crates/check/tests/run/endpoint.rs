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
