//! `mcp`: talks to an MCP server.
//!
//! The value is the method. The seed's seven are `ping`, `servers`, `list-tools`, `list-resources`, `list-prompts`,
//! `call` and `read`; ours are `get-prompt`, `list-templates`, `complete`, `snapshot` and `raw`.

mod dial;
mod methods;
mod output;
mod raw;
mod snapshot;

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_core::nearest;
use pintle_yaml::{Node, Place};
use serde_json::Value;

use super::{Observation, Probe, Read, Scene, Verb};
use crate::matchers::{self, Matcher};
use crate::model::sink::Sink;
use crate::model::template;
use raw::RawAsk;

pub(crate) use dial::{connect, endpoint};
pub(crate) use output::printed;
pub(crate) use snapshot::catalogue;

pub(crate) struct Mcp;

/// What a step asks of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Ping,
    Servers,
    ListTools,
    ListResources,
    ListPrompts,
    Call,
    Read,
    GetPrompt,
    ListTemplates,
    Complete,
    Snapshot,
    Raw,
}

struct Definition {
    word: &'static str,
    method: Method,
    /// Fields it needs.
    requires: &'static [&'static str],
    /// Fields it may have.
    allows: &'static [&'static str],
}

const METHODS: &[Definition] = &[
    Definition { word: "ping", method: Method::Ping, requires: &[], allows: &[] },
    Definition { word: "servers", method: Method::Servers, requires: &[], allows: &["count"] },
    Definition { word: "list-tools", method: Method::ListTools, requires: &[], allows: &["count", "not_tools"] },
    Definition { word: "list-resources", method: Method::ListResources, requires: &[], allows: &["count"] },
    Definition { word: "list-prompts", method: Method::ListPrompts, requires: &[], allows: &["count"] },
    Definition { word: "call", method: Method::Call, requires: &["tool"], allows: &["input"] },
    Definition { word: "read", method: Method::Read, requires: &["uri"], allows: &[] },
    Definition { word: "get-prompt", method: Method::GetPrompt, requires: &["prompt"], allows: &["input"] },
    Definition { word: "list-templates", method: Method::ListTemplates, requires: &[], allows: &["count"] },
    Definition {
        word: "complete",
        method: Method::Complete,
        requires: &["argument"],
        allows: &["prompt", "uri", "input"],
    },
    Definition { word: "snapshot", method: Method::Snapshot, requires: &["snapshot"], allows: &[] },
    Definition {
        word: "raw",
        method: Method::Raw,
        requires: &["send"],
        allows: &["receive", "notifications", "handshake", "listen"],
    },
];

const FIELDS: &[&str] = &[
    "mcp_name",
    "tool",
    "uri",
    "input",
    "prompt",
    "argument",
    "snapshot",
    "count",
    "not_tools",
    "send",
    "receive",
    "notifications",
    "handshake",
    "listen",
];

/// A step's question.
#[derive(Debug)]
struct Asks {
    method: Method,
    tool: String,
    uri: Option<String>,
    prompt: Option<String>,
    input: Option<Value>,
    /// Name and value of what is to be completed.
    argument: (String, String),
    snapshot: String,
    snapshot_place: Place,
    count: Vec<Matcher>,
    not_tools: Vec<(String, Place)>,
    raw: Option<RawAsk>,
}

impl Verb for Mcp {
    fn word(&self) -> &'static str {
        "mcp"
    }

    fn fields(&self) -> &'static [&'static str] {
        FIELDS
    }

    fn is_live(&self) -> bool {
        true
    }

    fn read(&self, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<Read> {
        let word = sink.word(value, "`mcp`")?;
        let Some(definition) = METHODS.iter().find(|definition| definition.word == word) else {
            let words = || METHODS.iter().map(|definition| definition.word);
            let all = words().collect::<Vec<_>>().join(", ");
            let hint = match nearest(&word, words()) {
                Some(near) => format!("did you mean `{near}`? methods: {all}"),
                None => format!("methods: {all}"),
            };
            sink.wrong_hint(value, format!("mcp: unknown method \"{word}\""), hint);
            return None;
        };
        for field in definition.requires {
            if body.get(field).is_none_or(Node::is_null) {
                sink.wrong(value, format!("mcp: {word} requires modifier \"{field}\""));
            }
        }
        for (key, _) in body.entries() {
            let field = key.key_text();
            let fits =
                field == "mcp_name" || definition.requires.contains(&field) || definition.allows.contains(&field);
            if FIELDS.contains(&field) && !fits {
                let owners: Vec<&str> = METHODS
                    .iter()
                    .filter(|other| other.requires.contains(&field) || other.allows.contains(&field))
                    .map(|other| other.word)
                    .collect();
                sink.wrong(key, format!("mcp: {word} takes no `{field}` ({} does)", owners.join(", ")));
            }
        }
        let asks = Asks::read(definition.method, value, body, sink);
        let mut read = Read::new(asks);
        read.method = Some(word);
        Some(read)
    }
}

impl Asks {
    fn read(method: Method, value: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Self {
        let mut asks = Self {
            method,
            tool: String::new(),
            uri: None,
            prompt: None,
            input: None,
            argument: Default::default(),
            snapshot: String::new(),
            snapshot_place: sink.place(value),
            count: Vec::new(),
            not_tools: Vec::new(),
            raw: None,
        };
        for (key, node) in body.entries().filter(|(_, node)| !node.is_null()) {
            match key.key_text() {
                "mcp_name" => {
                    sink.word(node, "mcp_name");
                }
                "tool" => asks.tool = sink.word(node, "tool").unwrap_or_default(),
                "uri" => asks.uri = sink.word(node, "uri"),
                "prompt" => asks.prompt = sink.word(node, "prompt"),
                "input" => asks.input = input(node, sink),
                "argument" => asks.argument = argument(node, sink),
                "snapshot" => {
                    asks.snapshot = sink.word(node, "snapshot").unwrap_or_default();
                    asks.snapshot_place = sink.place(key);
                }
                "count" => asks.count = count(node, sink),
                "not_tools" => {
                    for item in sink.list(node, "not_tools") {
                        if let Some(name) = sink.word(item, "not_tools") {
                            asks.not_tools.push((name, sink.place(item)));
                        }
                    }
                }
                _ => {}
            }
        }
        match method {
            Method::Complete if asks.prompt.is_some() == asks.uri.is_some() => {
                sink.wrong(value, "mcp: complete requires either modifier \"prompt\" or \"uri\"");
            }
            Method::Raw if body.get("send").is_some() => asks.raw = raw::read(body, sink),
            _ => {}
        }
        asks
    }
}

/// A JSON object as text, or a map.
fn input(node: Node<'_>, sink: &mut Sink<'_>) -> Option<Value> {
    if node.is_mapping() {
        return Some(node.to_json());
    }
    let text = sink.text(node, "input")?;
    let why = match serde_json::from_str::<Value>(&text) {
        Ok(input @ Value::Object(_)) => return Some(input),
        Err(_) if template::is_dynamic(&text) => return None,
        Ok(_) => format!("input is JSON, but no object: `{text}`"),
        Err(error) => format!("input is not a JSON object: {error}"),
    };
    sink.wrong_hint(node, why, "write `'{\"name\": 1}'` or a map");
    None
}

fn argument(node: Node<'_>, sink: &mut Sink<'_>) -> (String, String) {
    let mut argument = (String::new(), String::new());
    for (field, value) in sink.known_map(node, "argument", &["name", "value"]) {
        match field {
            "name" => argument.0 = sink.word(value, "argument name").unwrap_or_default(),
            _ => argument.1 = sink.text(value, "argument value").unwrap_or_default(),
        }
    }
    if node.is_mapping() && node.get("name").is_none() {
        sink.wrong(node, "argument has no `name`");
    }
    argument
}

fn count(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<Matcher> {
    if let Some(text) = node.source_text()
        && text.parse::<u64>().is_err()
        && !template::is_dynamic(text)
    {
        sink.wrong(node, format!("count must be a whole number, not `{text}`"));
        return Vec::new();
    }
    matchers::read(node, "count", sink)
}

impl Probe for Asks {
    fn observe<'a>(&'a self, scene: &'a Scene<'a>) -> BoxFuture<'a, Observation> {
        async move {
            if self.method == Method::Servers {
                return methods::servers(self, scene.snapshot);
            }
            let server = match (&scene.snapshot.endpoint, &scene.snapshot.endpoint_problem) {
                (Some(server), _) => server,
                (None, Some(problem)) => return Observation::failed(problem.clone()),
                (None, None) => return Observation::unable("no mcp server is declared"),
            };
            let mut seen = dial::with_session(self, scene, server).await;
            seen.endpoint = Some(server.endpoint());
            seen
        }
        .boxed()
    }
}
