//! OAuth against a small authorization server: first token, more scope, refusals.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response};
use futures::future::BoxFuture;
use pintle_client::{Browser, CallOptions, Grant, OAuth, OAuthSettings, Options, connect};
use serde_json::{Value, json};

use crate::support::{Fake, Seen, answer, discovered, http, options, plain, serve, status};

/// How long a person takes; longer than the probe and the handshake may.
const CONSENT: Duration = Duration::from_secs(2);

/// A resource and its authorization server in one. Tokens are named after the scope they have.
async fn guarded() -> Fake {
    serve(|seen| {
        let origin = format!("http://{}", seen.header("host").unwrap_or_default());
        match seen.path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => answer(json!({
                "resource": format!("{origin}/mcp"), "authorization_servers": [origin], "scopes_supported": ["read"]})),
            "/.well-known/oauth-authorization-server" => answer(json!({
                "issuer": origin, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"), "registration_endpoint": format!("{origin}/register"),
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"]})),
            "/register" => {
                let mut registered = answer(json!({
                    "client_id": "registered", "redirect_uris": seen.body["redirect_uris"]}));
                *registered.status_mut() = axum::http::StatusCode::CREATED;
                registered
            }
            "/token" => answer(json!({"access_token": "the-token", "token_type": "Bearer", "expires_in": 3600})),
            "/mcp" => resource(seen, &origin),
            _ => status(404),
        }
    })
    .await
}

fn resource(seen: &Seen, origin: &str) -> Response<Body> {
    match (seen.header("authorization"), seen.rpc()) {
        (Some("Bearer the-token"), "server/discover") => discovered(seen),
        (Some("Bearer the-token"), _) => seen.ok(json!({"content": []})),
        _ => {
            let mut refused = status(401);
            let challenge = format!("Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\"");
            refused.headers_mut().insert("www-authenticate", HeaderValue::from_str(&challenge).unwrap());
            refused
        }
    }
}

/// Consents, and remembers to what; or refuses.
#[derive(Default)]
struct Person {
    refuses: bool,
    seen: Mutex<Vec<url::Url>>,
    visits: AtomicUsize,
}

impl Browser for Person {
    fn visit(&self, url: &str) -> BoxFuture<'_, Result<String, String>> {
        let url = url::Url::parse(url).unwrap();
        self.seen.lock().unwrap().push(url.clone());
        self.visits.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if self.refuses {
                return Err("nobody consented".into());
            }
            let state = parameter(&url, "state").unwrap();
            tokio::time::sleep(CONSENT).await;
            Ok(format!("http://localhost:3000/callback?code=c&state={state}"))
        })
    }
}

fn parameter(url: &url::Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn with(person: &Arc<Person>) -> Options {
    let settings = OAuthSettings {
        redirect_uri: "http://localhost:3000/callback".into(),
        client_name: "pintle".into(),
        ..OAuthSettings::default()
    };
    Options { authorizer: Some(Arc::new(OAuth::new(settings, person.clone()).unwrap())), ..options() }
}

#[tokio::test]
async fn a_guarded_server_is_reached_after_one_consent() {
    let fake = guarded().await;
    let person = Arc::new(Person::default());
    let brief = Options { probe_limit: CONSENT / 2, connect_timeout: CONSENT / 2, ..with(&person) };
    let session = connect(&http(&fake), brief).await.unwrap();
    let call: CallOptions = plain();
    session.call_tool("x", None, &call).await.unwrap();
    session.call_tool("x", None, &call).await.unwrap();
    assert_eq!(person.visits.load(Ordering::SeqCst), 1);
    let asked = person.seen.lock().unwrap()[0].clone();
    assert_eq!(parameter(&asked, "client_id").as_deref(), Some("registered"));
    assert_eq!(parameter(&asked, "scope").as_deref(), Some("read"));
    assert_eq!(parameter(&asked, "code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(parameter(&asked, "resource"), Some(fake.url()));
    let registered = fake.seen().into_iter().find(|seen| seen.path == "/register").unwrap();
    assert_eq!(registered.body["client_name"], Value::from("pintle"));
}

#[tokio::test]
async fn a_refused_consent_is_told() {
    let fake = guarded().await;
    let person = Arc::new(Person { refuses: true, ..Person::default() });
    let error = connect(&http(&fake), with(&person)).await.unwrap_err();
    assert_eq!(error.to_string(), "handshake: authorization failed: OAuth authorization failed: nobody consented");
    assert_eq!(person.visits.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_machine_gets_a_token_of_its_own_without_any_person() {
    let fake = guarded().await;
    let person = Arc::new(Person::default());
    let settings = OAuthSettings {
        grant: Grant::ClientCredentials,
        client_id: Some("machine".into()),
        client_secret: Some("hush".into()),
        ..OAuthSettings::default()
    };
    assert!(!format!("{settings:?}").contains("hush"));
    let authorizer = OAuth::new(settings, person.clone()).unwrap();
    let options = Options { authorizer: Some(Arc::new(authorizer)), ..options() };
    connect(&http(&fake), options).await.unwrap();
    assert_eq!(person.visits.load(Ordering::SeqCst), 0);
}
