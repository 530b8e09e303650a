//! The older transport: HTTP+SSE of 2024-11-05.

use std::time::Duration;

use axum::body::Body;
use futures::StreamExt;
use pintle_client::{Era, Transport, connect};
use serde_json::json;

use crate::support::{Fake, at, event, events, http, options, plain, serve, status};

/// A server of 2024-11-05: an event stream at `/mcp`, messages at `/messages`.
async fn old(endpoint: &'static str) -> Fake {
    let (sender, _) = tokio::sync::broadcast::channel::<String>(16);
    serve(move |seen| match (seen.method.as_str(), seen.path.as_str()) {
        ("GET", "/mcp") => {
            let receiver = sender.subscribe();
            let first = format!("event: endpoint\ndata: {endpoint}\n\n");
            let rest = futures::stream::unfold(receiver, async |mut receiver| {
                let text = receiver.recv().await.ok()?;
                Some((Ok::<_, std::io::Error>(text), receiver))
            });
            events(Body::from_stream(futures::stream::iter([Ok(first)]).chain(rest)))
        }
        ("POST", "/messages") => {
            let result = match seen.rpc() {
                "initialize" => {
                    json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "old", "version": "1"}})
                }
                "tools/list" => json!({"tools": [{"name": "old"}]}),
                _ => return status(202),
            };
            let message = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result});
            sender.send(event(&message)).unwrap();
            status(202)
        }
        _ => status(405),
    })
    .await
}

#[tokio::test]
async fn ch_067_the_older_transport_works_when_asked_for() {
    let fake = old("/messages").await;
    let session = connect(&at(&fake.url(), Transport::Sse), options()).await.unwrap();
    assert_eq!(session.era(), &Era::Legacy("2024-11-05".into()));
    assert_eq!(session.list_tools(&plain()).await.unwrap()[0]["name"], "old");
    session.close().await.unwrap();
    for _ in 0..1000 {
        if fake.open() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} sockets are left", fake.open());
}

#[tokio::test]
async fn ch_067_the_older_transport_is_found_by_auto_only() {
    let fake = old("/messages").await;
    let session = connect(&at(&fake.url(), Transport::Auto), options()).await.unwrap();
    assert_eq!(session.server().name(), Some("old"));
    let error = connect(&http(&fake), options()).await.unwrap_err();
    assert_eq!(error.to_string(), "handshake: HTTP status 405");
}

#[tokio::test]
async fn an_endpoint_event_that_leads_elsewhere_is_refused() {
    let fake = old("http://127.0.0.2:9/messages").await;
    let error = connect(&at(&fake.url(), Transport::Sse), options()).await.unwrap_err();
    assert_eq!(error.to_string(), "connect: the endpoint event names another origin: http://127.0.0.2:9/messages");
}
