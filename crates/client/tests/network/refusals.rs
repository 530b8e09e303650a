//! Redirects and demands for authorization.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::{HeaderValue, Response};
use futures::future::BoxFuture;
use pintle_client::{Authorizer, Challenge, Endpoint, Era, Fault, Http, connect};
use serde_json::json;

use crate::support::{discovered, http, options, plain, redirect, serve, status};

#[tokio::test]
async fn redirects_to_another_origin_are_not_followed() {
    let elsewhere = serve(discovered).await;
    let to = elsewhere.url();
    for code in [301, 302, 307, 308] {
        let to = to.clone();
        let fake = serve(move |_| redirect(code, &to)).await;
        let mut endpoint = Http::new(&fake.url()).unwrap();
        endpoint.headers.add("Authorization", "Bearer hush").unwrap();
        let error = connect(&Endpoint::Url(endpoint), options()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("connect: HTTP status {code}: redirected to {}, which is not followed", elsewhere.url())
        );
    }
    assert_eq!(elsewhere.seen().len(), 0);
}

#[tokio::test]
async fn redirects_within_the_origin_are_followed_if_they_keep_the_request() {
    let fake = serve(|seen| match seen.path.as_str() {
        "/mcp" => redirect(307, "/mcp/"),
        _ => discovered(seen),
    })
    .await;
    let session = connect(&http(&fake), options()).await.unwrap();
    assert_eq!(session.era(), &Era::Modern);
    let looping = serve(|_| redirect(307, "/mcp")).await;
    let error = connect(&http(&looping), options()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Redirect { .. }), "{error}");
    let losing = serve(|_| redirect(302, "/mcp/")).await;
    let error = connect(&http(&losing), options()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Redirect { .. }), "{error}");
}

/// Gives out tokens one after the other.
struct Tokens {
    given: AtomicUsize,
    asked: Mutex<Vec<Challenge>>,
}

impl Authorizer for Tokens {
    fn current(&self) -> BoxFuture<'_, Option<HeaderValue>> {
        let given = self.given.load(Ordering::SeqCst);
        Box::pin(async move { (given > 0).then(|| HeaderValue::from_str(&format!("Bearer t{given}")).unwrap()) })
    }

    fn authorize(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>> {
        self.asked.lock().unwrap().push(challenge);
        self.given.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { Ok(()) })
    }
}

fn refused(code: u16, challenge: &'static str) -> Response<Body> {
    let mut response = status(code);
    response.headers_mut().insert("www-authenticate", HeaderValue::from_static(challenge));
    response
}

#[tokio::test]
async fn a_refusal_without_authorizer_is_told_as_one() {
    let fake = serve(|_| refused(401, "Bearer realm=\"x\"")).await;
    let error = connect(&http(&fake), options()).await.unwrap_err();
    assert_eq!(error.to_string(), "handshake: HTTP status 401: the server wants an authorization");
    assert_eq!(fake.seen().len(), 1, "and is not asked again");
}

#[tokio::test]
async fn an_authorizer_is_asked_for_a_token_and_for_more_scope() {
    let fake = serve(|seen| match (seen.header("authorization"), seen.rpc()) {
        (None, _) => refused(401, "Bearer realm=\"x\""),
        (Some("Bearer t1"), "tools/call") => refused(403, "Bearer error=\"insufficient_scope\", scope=\"more\""),
        (Some(_), "server/discover") => discovered(seen),
        _ => seen.ok(json!({"content": []})),
    })
    .await;
    let tokens = Arc::new(Tokens { given: AtomicUsize::new(0), asked: Mutex::default() });
    let mut authorized = options();
    authorized.authorizer = Some(tokens.clone());
    let session = connect(&http(&fake), authorized).await.unwrap();
    session.call_tool("x", None, &plain()).await.unwrap();
    let asked = tokens.asked.lock().unwrap();
    let statuses: Vec<_> = asked.iter().map(|challenge| challenge.status).collect();
    assert_eq!(statuses, [401, 403]);
    assert!(asked[1].header.as_deref().unwrap().contains("scope=\"more\""));
}

#[tokio::test]
async fn an_authorization_that_never_suffices_ends() {
    let fake = serve(|_| refused(401, "Bearer")).await;
    let mut authorized = options();
    authorized.authorizer = Some(Arc::new(Tokens { given: AtomicUsize::new(0), asked: Mutex::default() }));
    let error = connect(&http(&fake), authorized).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Unauthorized { status: 401, .. }), "{error}");
    assert_eq!(fake.seen().len(), 4);
}
