//! `http`: one request, and what its answer is like.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use pintle_client::Tls;
use pintle_core::one_of;
use pintle_yaml::{Node, Place};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::{Observation, Probe, Read, Scene, Verb};
use crate::json::placed;
use crate::matchers::{self, Matcher};
use crate::model::duration::Shown;
use crate::model::server;
use crate::model::sink::Sink;
use crate::model::template;
use crate::text::chain;

/// Answers are cut beyond this many bytes.
const LARGEST: usize = 4 * 1024 * 1024;
const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

pub(crate) struct Http;

#[derive(Debug)]
struct Asks {
    url: String,
    method: String,
    request_header: BTreeMap<String, String>,
    request_body: String,
    follow: bool,
    insecure: bool,
    status: Vec<Vec<Matcher>>,
    status_place: Place,
    body: Vec<Matcher>,
    header: Vec<(String, Vec<Matcher>, Place)>,
}

impl Verb for Http {
    fn word(&self) -> &'static str {
        "http"
    }

    fn fields(&self) -> &'static [&'static str] {
        &[
            "status",
            "body",
            "header",
            "method",
            "request_header",
            "request_body",
            "no_follow_redirects",
            "allow_insecure",
        ]
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let url = url(value, sink);
        let flag = |field: &str, sink: &mut Sink<'_>| {
            body.get(field).and_then(|node| sink.flag(node, field)).unwrap_or_default()
        };
        let asks = Asks {
            method: method(body, sink),
            request_header: body
                .get("request_header")
                .map(|node| server::texts(node, "request_header", sink))
                .unwrap_or_default(),
            request_body: body.get("request_body").map(|node| request_body(node, sink)).unwrap_or_default(),
            follow: !flag("no_follow_redirects", sink),
            insecure: flag("allow_insecure", sink),
            status: body.get("status").map(|node| status(node, sink)).unwrap_or_default(),
            status_place: sink.place(body.get("status").unwrap_or(value)),
            body: body.get("body").map(|node| matchers::read(node, "body", sink)).unwrap_or_default(),
            header: body.get("header").map(|node| headers(node, sink)).unwrap_or_default(),
            url: url?,
        };
        Some(Read { method: Some(asks.method.clone()), ..Read::new(asks) })
    }
}

fn url(value: Node<'_>, sink: &mut Sink<'_>) -> Option<String> {
    let text = sink.word(value, "`http`")?;
    if template::is_dynamic(&text) || text.contains("{{") {
        return Some(text);
    }
    match Url::parse(&text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.host().is_some() => Some(text),
        _ => {
            sink.wrong_hint(value, format!("`{text}` is no URL of http or https"), "write it like `http://host/path`");
            None
        }
    }
}

fn method(body: Node<'_>, sink: &mut Sink<'_>) -> String {
    let Some(node) = body.get("method") else { return "GET".to_owned() };
    let Some(word) = sink.word(node, "method") else { return String::new() };
    let upper = word.to_ascii_uppercase();
    if !METHODS.contains(&upper.as_str()) && !template::is_dynamic(&word) {
        sink.wrong(node, format!("method `{word}` is none (expected {})", one_of(METHODS.iter().copied())));
    }
    upper
}

/// Text as it is; a map or list as JSON.
fn request_body(node: Node<'_>, sink: &mut Sink<'_>) -> String {
    if node.is_mapping() || node.is_sequence() {
        return node.to_json().to_string();
    }
    sink.text(node, "request_body").unwrap_or_default()
}

/// One matcher, or a list of which one must hold: `[200, 204]`.
fn status(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<Vec<Matcher>> {
    let items = if node.is_sequence() { node.items().collect() } else { vec![node] };
    for item in &items {
        if let Some(text) = item.source_text()
            && !template::is_dynamic(text)
            && !text.parse::<u16>().is_ok_and(|status| (100..1000).contains(&status))
        {
            sink.wrong(*item, format!("status `{text}` is none: three digits"));
        }
    }
    if items.is_empty() {
        sink.wrong(node, "status is an empty list");
    }
    items.into_iter().map(|item| matchers::read(item, "status", sink)).collect()
}

/// A map from name to matcher, or a list of `Name: value`.
fn headers(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<(String, Vec<Matcher>, Place)> {
    if node.is_mapping() {
        return node
            .entries()
            .map(|(key, value)| (key.key_text().to_owned(), matchers::read(value, "header", sink), sink.place(key)))
            .collect();
    }
    let mut all = Vec::new();
    for item in sink.list(node, "header") {
        // `- Name: value` is a map in YAML.
        for (key, value) in item.entries() {
            all.push((key.key_text().to_owned(), matchers::read(value, "header", sink), sink.place(key)));
        }
        if item.is_mapping() {
            continue;
        }
        let Some(text) = sink.word(item, "header") else { continue };
        // A text names a header and maybe its value.
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value.trim())),
            None => (text.as_str(), None),
        };
        let matchers = value.map(|value| Matcher::equal(value, sink.place(item)));
        all.push((name.trim().to_owned(), matchers.into_iter().collect(), sink.place(item)));
    }
    all
}

impl Probe for Asks {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            let began = Instant::now();
            let asked = tokio::time::timeout(scene.time.left(), self.ask()).await;
            let mut seen = match asked {
                Ok(Ok(seen)) => seen,
                Ok(Err(why)) => Observation::failed(format!("http {}: {why}", self.shown())),
                Err(_) => {
                    Observation::failed(format!("http {}: no answer within {}", self.shown(), Shown(scene.time.limit)))
                }
            };
            seen.took = Some(began.elapsed());
            seen.endpoint = Some(self.shown());
            seen
        }
        .boxed()
    }
}

impl Asks {
    /// The URL without what may be secret in it.
    fn shown(&self) -> String {
        match Url::parse(&self.url) {
            Ok(url) => format!("{}{}", url.origin().ascii_serialization(), url.path()),
            Err(_) => self.url.clone(),
        }
    }

    async fn ask(&self) -> Result<Observation, String> {
        let url = Url::parse(&self.url).map_err(|error| error.to_string())?;
        let tls = Tls { insecure: self.insecure, ..Tls::default() }.client_config().map_err(|e| e.to_string())?;
        let policy = if self.follow { Policy::limited(10) } else { Policy::none() };
        let mut client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(policy)
            .user_agent(concat!("pintle/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&url) {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| chain(&error))?;
        let method = reqwest::Method::from_bytes(self.method.as_bytes()).map_err(|error| error.to_string())?;
        let mut request = client.request(method, url).body(self.request_body.clone());
        for (name, value) in &self.request_header {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header"))?;
            let value = HeaderValue::from_str(value).map_err(|_| format!("the value of `{name}` is not valid"))?;
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| chain(&error.without_url()))?;
        self.judge(response).await
    }

    async fn judge(&self, response: reqwest::Response) -> Result<Observation, String> {
        let mut seen = Observation::default();
        let status = response.status().as_u16();
        self.judge_status(status, &mut seen);
        for (name, wanted, place) in &self.header {
            let subject = format!("header {}", name.to_ascii_lowercase());
            match response.headers().get(name) {
                Some(value) => {
                    let value = String::from_utf8_lossy(value.as_bytes());
                    seen.mismatches.extend(matchers::check_all(wanted, &subject, &value));
                }
                None => seen.mismatches.push(placed(*place, &subject, "exists", Value::Bool(true), None)),
            }
        }
        let mut bytes = Vec::new();
        let mut stream = response.bytes_stream();
        while let Some(chunk) = stream.next().await {
            bytes.extend_from_slice(&chunk.map_err(|error| chain(&error.without_url()))?);
            if bytes.len() > LARGEST {
                return Err("the answer is larger than 4 MiB and was cut while reading".into());
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            seen.warnings.push("the body is not UTF-8 everywhere".into());
        }
        seen.mismatches.extend(matchers::check_all(&self.body, "body", &text));
        seen.stdout = text.into_owned();
        Ok(seen)
    }

    /// Without `status` every answer below 400 is a success.
    fn judge_status(&self, status: u16, seen: &mut Observation) {
        let text = status.to_string();
        if self.status.is_empty() {
            if status >= 400 {
                let why = format!("http {}: status {status}", self.shown());
                seen.exit_status = 1;
                seen.stderr.clone_from(&why);
                seen.failure = Some(why);
            }
            return;
        }
        let holds = |matchers: &Vec<Matcher>| matchers::check_all(matchers, "status", &text).next().is_none();
        if self.status.iter().any(holds) {
            return;
        }
        let mut wanted: Vec<Value> = self.status.iter().flatten().map(|matcher| matcher.expected.clone()).collect();
        let (operator, expected) = match self.status.as_slice() {
            [one] => (one.first().map_or("equals", |matcher| matcher.operator.word()), wanted.remove(0)),
            _ => ("one of", Value::Array(wanted)),
        };
        seen.mismatches.push(placed(self.status_place, "status", operator, expected, Some(Value::from(status))));
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
