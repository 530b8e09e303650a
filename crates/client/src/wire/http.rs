//! What both HTTP transports share: the connection, its trust, bounded bodies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::Response;
use reqwest::redirect::Policy;
use serde_json::Value;
use url::Url;

use crate::auth::{Authorizer, Challenge};
use crate::endpoint::{Http, Tls, shown};
use crate::error::{Error, Fault, Stage};
use crate::options::Options;
use crate::trust::{no_trust, trust};

/// Bodies of refusals are read up to this many bytes.
const REFUSAL: usize = 64 * 1024;
/// Redirects followed within the server's own origin.
const REDIRECTS: usize = 3;

/// How often one request may be sent again with a new authorization: a token may first be missing, then have
/// too little scope.
pub(crate) const AUTHORIZATIONS: usize = 3;

/// One server's connection.
pub(crate) struct Connection {
    client: reqwest::Client,
    pub(crate) url: Url,
    headers: HeaderMap,
    authorizer: Option<Arc<dyn Authorizer>>,
    /// Whether a request that is refused gets an authorization by itself.
    pub(crate) authorizes: AtomicBool,
    pub(crate) limit: usize,
    pub(crate) close_grace: Duration,
}

impl Connection {
    pub(crate) async fn new(http: &Http, options: &Options) -> Result<Self, Fault> {
        let mut url = http.url.clone();
        let mut headers = http.headers.map().clone();
        let mut builder = reqwest::Client::builder()
            .redirect(same_origin(url.clone()))
            .user_agent(format!("{}/{}", options.client_name, options.client_version));
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        if url.scheme() == "https" {
            builder = builder.tls_backend_preconfigured(trust(&http.tls)?);
            if let Some(name) = &http.tls.server_name {
                // SNI and the certificate follow the URL's host: give it the name, and the host's address.
                let host = url.host_str().unwrap_or_default().to_owned();
                let port = url.port_or_known_default().unwrap_or(443);
                let addresses: Vec<_> = tokio::net::lookup_host((host.trim_matches(['[', ']']), port))
                    .await
                    .map_err(|error| Fault::Unreachable(format!("no address for {host}: {error}")))?
                    .collect();
                let authority = match url.port() {
                    Some(port) => format!("{host}:{port}"),
                    None => host,
                };
                if let Ok(value) = HeaderValue::from_str(&authority) {
                    headers.entry(http::header::HOST).or_insert(value);
                }
                url.set_host(Some(name)).map_err(|error| Fault::Usage(format!("TLS server name {name:?}: {error}")))?;
                builder = builder.resolve_to_addrs(name, &addresses).no_proxy().http1_only();
            }
        } else {
            builder = builder.tls_backend_preconfigured(no_trust()?);
        }
        let client = builder.build().map_err(|error| Fault::Io(chain(&error)))?;
        Ok(Self {
            client,
            url,
            headers,
            authorizer: options.authorizer.clone(),
            authorizes: AtomicBool::new(true),
            limit: options.answer_limit,
            close_grace: options.close_grace,
        })
    }

    /// Sends one request. A demand for authorization is answered, and the request sent again.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Response, Fault> {
        let mut attempts = 0;
        loop {
            let token = match &self.authorizer {
                Some(authorizer) => authorizer.current().await,
                None => None,
            };
            let response = self.send_once(method.clone(), url, headers.clone(), body.clone(), token.clone()).await?;
            if !needs_authorization(&response) {
                return Ok(response);
            }
            let status = response.status().as_u16();
            let challenge = challenge(&response);
            let more = attempts < AUTHORIZATIONS && self.authorizes.load(Ordering::Relaxed);
            let Some(authorizer) = self.authorizer.as_ref().filter(|_| more) else {
                return Err(Fault::Unauthorized { status, challenge });
            };
            attempts += 1;
            let challenge = Challenge { url: self.url.clone(), status, header: challenge, refused: token };
            authorizer.authorize(challenge).await.map_err(Fault::Authorization)?;
        }
    }

    async fn send_once(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
        token: Option<HeaderValue>,
    ) -> Result<Response, Fault> {
        let mut all = self.headers.clone();
        // What the protocol says wins over what was configured.
        for (name, value) in &headers {
            all.insert(name, value.clone());
        }
        if let Some(token) = token {
            all.insert(AUTHORIZATION, token);
        }
        let mut request = self.client.request(method, url.clone()).headers(all);
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await.map_err(|error| fault(error, &self.url))?;
        let status = response.status();
        if status.is_redirection() && status != StatusCode::NOT_MODIFIED {
            return Err(redirected(&response));
        }
        Ok(response)
    }
}

fn needs_authorization(response: &Response) -> bool {
    match response.status() {
        StatusCode::UNAUTHORIZED => true,
        // 403 has many meanings; one with a challenge asks for more scope.
        StatusCode::FORBIDDEN => response.headers().contains_key(WWW_AUTHENTICATE),
        _ => false,
    }
}

fn challenge(response: &Response) -> Option<String> {
    let values: Vec<&str> =
        response.headers().get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn redirected(response: &Response) -> Fault {
    let to = response
        .headers()
        .get(http::header::LOCATION)
        .and_then(|location| location.to_str().ok())
        .map(|location| match response.url().join(location) {
            Ok(url) => shown(&url),
            Err(_) => "a place that is no URL".to_owned(),
        })
        .unwrap_or_else(|| "nowhere".to_owned());
    Fault::Redirect { status: response.status().as_u16(), to }
}

/// Follows redirects that keep method and body, and only within the origin.
fn same_origin(home: Url) -> Policy {
    Policy::custom(move |attempt| {
        let keeps = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        if keeps && attempt.url().origin() == home.origin() && attempt.previous().len() <= REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// An accepted kind of body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Json,
    Events,
    Other,
}

pub(crate) fn body_kind(response: &Response) -> Body {
    match content_type(response).as_str() {
        "application/json" => Body::Json,
        "text/event-stream" => Body::Events,
        _ => Body::Other,
    }
}

pub(crate) fn content_type(response: &Response) -> String {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// Reads a body of at most `limit` bytes.
pub(crate) async fn read(response: Response, limit: usize, url: &Url) -> Result<Vec<u8>, Fault> {
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(Fault::TooLarge { limit });
    }
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| fault(error, url))?;
        if body.len() + chunk.len() > limit {
            return Err(Fault::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What a status that is no success means: the JSON-RPC error in the body, if there is one.
pub(crate) async fn refusal(response: Response, url: &Url) -> Fault {
    let status = response.status().as_u16();
    let body = match read(response, REFUSAL, url).await {
        Ok(body) => body,
        Err(Fault::TooLarge { .. }) => Vec::new(),
        Err(other) => return other,
    };
    if let Ok(message) = serde_json::from_slice::<Value>(&body)
        && let Ok(crate::message::Message::Answer { outcome: Err(mut error), .. }) = crate::message::classify(message)
    {
        error.http_status = Some(status);
        return Fault::Rpc(Box::new(error));
    }
    Fault::Http { status, body: String::from_utf8_lossy(&body).chars().take(2000).collect() }
}

/// Says what kept a request from being answered.
pub(crate) fn fault(error: reqwest::Error, url: &Url) -> Fault {
    let text = chain(&error);
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(one) = source {
        if let Some(error) = one.downcast_ref::<rustls::Error>() {
            return Fault::Tls(error.to_string());
        }
        if let Some(error) = one.downcast_ref::<std::io::Error>().and_then(tls_in) {
            return Fault::Tls(error.to_string());
        }
        source = one.source();
    }
    if error.is_connect() {
        return Fault::Unreachable(format!("{} cannot be reached: {text}", shown(url)));
    }
    Fault::Closed(format!("the connection broke: {text}"))
}

/// I/O errors of TLS hold their cause, several deep, without naming it as their source.
fn tls_in(error: &std::io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref::<rustls::Error>().or_else(|| tls_in(inner.downcast_ref::<std::io::Error>()?))
}

/// The innermost causes of an error, without the URL, which may hold secrets.
fn chain(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut source = std::error::Error::source(error);
    while let Some(one) = source {
        let part = one.to_string();
        if !text.contains(&part) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(&part);
        }
        source = one.source();
    }
    if text.is_empty() {
        text.push_str("the request failed");
    }
    text
}

/// A client without server: follows no redirects.
pub(crate) fn plain_client(tls: &Tls) -> Result<reqwest::Client, Error> {
    trust(tls)
        .and_then(|trust| {
            reqwest::Client::builder()
                .redirect(Policy::none())
                .tls_backend_preconfigured(trust)
                .build()
                .map_err(|error| Fault::Io(chain(&error)))
        })
        .map_err(|fault| Error::new(Stage::Connect, fault))
}

/// Builds a header map from pairs.
pub(crate) fn header_map(headers: Vec<(HeaderName, HeaderValue)>) -> HeaderMap {
    headers.into_iter().collect()
}
