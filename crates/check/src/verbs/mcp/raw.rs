//! `mcp: raw`: sends bytes or messages as they are, and says what must come back.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pintle_client::{Error, Incoming, Raw, Session};
use pintle_yaml::{Node, Place};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::json::placed;
use crate::json::same::covers;
use crate::matchers::{self, Matcher};
use crate::model::sink::Sink;
use crate::verbs::{Observation, Scene};

/// How long is listened when nothing says how long, in milliseconds.
const LISTEN: u64 = 500;

/// What is sent and what must come back.
#[derive(Debug)]
pub(super) struct RawAsk {
    send: Vec<Vec<u8>>,
    receive: Vec<(Value, Place)>,
    says_receive: Option<Place>,
    notifications: Notifications,
    pub(super) handshake: bool,
    listen: Option<Duration>,
}

/// What is said about notifications.
#[derive(Debug)]
enum Notifications {
    /// Nothing.
    Any,
    /// These, in this order, and no others.
    Exactly(Vec<String>, Place),
    /// How many of each.
    Counts(Vec<(String, Vec<Matcher>, Place)>),
}

impl Notifications {
    /// Whether enough have come to stop listening.
    fn are_enough(&self, methods: &[String]) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(wanted, _) => methods.len() >= wanted.len(),
            Self::Counts(counts) => counts.iter().all(|(method, matchers, _)| {
                let count = methods.iter().filter(|known| *known == method).count();
                matchers::check_all(matchers, method, &count.to_string()).next().is_none()
            }),
        }
    }
}

pub(super) fn read(body: Node<'_>, sink: &mut Sink<'_>) -> Option<RawAsk> {
    let send = body.get("send")?;
    let items = if send.is_sequence() { send.items().collect() } else { vec![send] };
    if items.is_empty() {
        sink.wrong(send, "send is an empty list");
    }
    let says_receive = body.entry("receive").map(|(key, _)| sink.place(key));
    let mut receive = Vec::new();
    if let Some(node) = body.get("receive") {
        let items = if node.is_sequence() { node.items().collect() } else { vec![node] };
        for item in items {
            if item.is_mapping() {
                receive.push((item.to_json(), sink.place(item)));
            } else {
                sink.wrong(item, format!("receive must be messages (maps), not a {}", item.kind_name()));
            }
        }
    }
    Some(RawAsk {
        send: items.into_iter().filter_map(|item| bytes(item, sink)).collect(),
        receive,
        says_receive,
        notifications: notifications(body, sink),
        handshake: body.get("handshake").and_then(|node| sink.flag(node, "handshake")).unwrap_or(true),
        listen: body.get("listen").and_then(|node| sink.duration(node, "listen")),
    })
}

/// A text as it is, a map as a message, `{base64: …}` as bytes.
fn bytes(node: Node<'_>, sink: &mut Sink<'_>) -> Option<Vec<u8>> {
    if !node.is_mapping() {
        if node.is_sequence() {
            return Some(node.to_json().to_string().into_bytes());
        }
        return sink.text(node, "send").map(String::into_bytes);
    }
    if node.entries().len() == 1
        && let Some(encoded) = node.get("base64")
    {
        let text = sink.text(encoded, "send `base64`")?;
        return match STANDARD.decode(&text) {
            Ok(bytes) => Some(bytes),
            Err(_) => {
                sink.wrong(encoded, format!("send `base64` is not base64: `{text}`"));
                None
            }
        };
    }
    Some(node.to_json().to_string().into_bytes())
}

fn notifications(body: Node<'_>, sink: &mut Sink<'_>) -> Notifications {
    let Some((key, node)) = body.entry("notifications") else { return Notifications::Any };
    if !node.is_mapping() {
        return Notifications::Exactly(sink.words(node, "notifications"), sink.place(key));
    }
    let counts = node.entries().map(|(method, value)| {
        let matchers = matchers::read(value, "notifications", sink);
        (method.key_text().to_owned(), matchers, sink.place(method))
    });
    Notifications::Counts(counts.collect())
}

/// Sends, listens, and compares.
pub(super) async fn exchange(raw: &RawAsk, session: &Session, scene: &Scene<'_>) -> Result<Observation, Error> {
    let mut incoming = session.incoming();
    for body in &raw.send {
        let one = Raw { messages: 0, within: scene.time.left(), ..Raw::new(body.clone()) };
        session.raw(one).await?;
    }
    let listen = raw.listen.unwrap_or(match raw.says_receive {
        Some(_) if !raw.receive.is_empty() => scene.time.left(),
        _ => Duration::from_millis(LISTEN),
    });
    let end = (Instant::now() + listen).min(scene.time.end);
    let mut heard = Heard::default();
    loop {
        let enough = raw.says_receive.is_some()
            && heard.answers.len() >= raw.receive.len()
            && !raw.receive.is_empty()
            && raw.notifications.are_enough(&heard.methods);
        if enough && raw.listen.is_none() {
            // What has come with the last answer counts, too.
            while let Ok(more) = incoming.try_recv() {
                heard.take(more);
            }
            break;
        }
        tokio::select! {
            biased;
            () = scene.cancel.cancelled() => break,
            more = incoming.recv() => match more {
                Some(more) => if heard.take(more) { break },
                None => break,
            },
            () = tokio::time::sleep_until(end) => break,
        }
    }
    Ok(judge(raw, heard))
}

#[derive(Default)]
struct Heard {
    stdout: String,
    answers: Vec<Value>,
    notifications: Vec<Value>,
    methods: Vec<String>,
    closed: Option<String>,
}

impl Heard {
    /// Takes one in; true when nothing more will come.
    fn take(&mut self, incoming: Incoming) -> bool {
        match incoming {
            Incoming::Message(message) => {
                self.stdout.push_str(&format!("{message}\n"));
                match (message.get("method").and_then(Value::as_str), message.get("id")) {
                    (Some(method), None) => {
                        self.methods.push(method.to_owned());
                        self.notifications.push(message);
                    }
                    _ => self.answers.push(message),
                }
                false
            }
            Incoming::Noise(line) => {
                self.stdout.push_str(&format!("[no message: {line}]\n"));
                false
            }
            Incoming::Closed(why) => {
                self.stdout.push_str(&format!("[closed: {why}]\n"));
                self.closed = Some(why);
                true
            }
        }
    }
}

fn judge(raw: &RawAsk, heard: Heard) -> Observation {
    let mut seen = Observation::default();
    for (index, (wanted, place)) in raw.receive.iter().enumerate() {
        let actual = heard.answers.get(index);
        if !actual.is_some_and(|actual| covers(actual, wanted)) {
            let subject = format!("receive {}", index + 1);
            seen.mismatches.push(placed(*place, &subject, "contains", wanted.clone(), actual.cloned()));
        }
    }
    if let Some(place) = raw.says_receive
        && let Some(extra) = heard.answers.get(raw.receive.len())
    {
        let count = Value::from(raw.receive.len());
        seen.mismatches.push(placed(place, "receive", "count", count, Some(extra.clone())));
    }
    match &raw.notifications {
        Notifications::Any => {}
        Notifications::Exactly(wanted, place) => {
            if *wanted != heard.methods {
                seen.mismatches.push(placed(
                    *place,
                    "notifications",
                    "equals",
                    json!(wanted),
                    Some(json!(heard.methods)),
                ));
            }
        }
        Notifications::Counts(counts) => {
            for (method, matchers, _) in counts {
                let count = heard.methods.iter().filter(|known| *known == method).count().to_string();
                let subject = format!("count of {method}");
                seen.mismatches.extend(matchers::check_all(matchers, &subject, &count));
            }
        }
    }
    if let Some(why) = heard.closed
        && !seen.mismatches.is_empty()
    {
        seen.failure = Some(format!("request raw: {why}"));
        seen.exit_status = 1;
    }
    seen.result = Some(json!({"received": heard.answers, "notifications": heard.notifications}));
    seen.stdout = heard.stdout;
    seen
}
