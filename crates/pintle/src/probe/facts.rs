//! `mcp probe`: what can be known of a server without calling a tool.

use super::Answer;
use pintle_client::{CallOptions, Closed, EndedBy, Era, Error, Fault, List, Session};
use pintle_core::Foreign;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// What is listed, and how it is called.
const LISTS: [(List, &str); 4] = [
    (List::Tools, "tools"),
    (List::Resources, "resources"),
    (List::ResourceTemplates, "templates"),
    (List::Prompts, "prompts"),
];

const METHOD_NOT_FOUND: i64 = -32601;

/// Looks at an open session.
///
/// # Errors
/// A list or a ping that failed. What the server does not offer is a fact, not a failure.
pub(super) async fn look(session: &Session, options: &CallOptions, connected: Duration) -> Result<Answer, Error> {
    let server = session.server();
    let mut facts = Map::new();
    facts.insert("server".into(), json!({"name": server.name(), "version": server.version()}));
    facts.insert("era".into(), json!(era(session.era())));
    facts.insert("protocol".into(), json!(session.era().version()));
    facts.insert("capabilities".into(), server.capabilities.clone());
    facts.insert("instructions".into(), json!(server.instructions));
    let mut took = Map::from_iter([("connect".to_owned(), millis(connected))]);
    let begun = Instant::now();
    let pinged = session.ping(options).await;
    match pinged {
        Ok(()) => {
            took.insert("ping".into(), millis(begun.elapsed()));
        }
        Err(Error { fault: Fault::Capability(_), .. }) => {}
        Err(error) => return Err(error),
    }
    for (list, name) in LISTS {
        let begun = Instant::now();
        let count = match session.list(list, options).await {
            Ok(items) => {
                took.insert(name.to_owned(), millis(begun.elapsed()));
                json!(items.len())
            }
            Err(Error { fault: Fault::Capability(_), .. }) => Value::Null,
            // Many servers with resources know no templates.
            Err(error) if error.rpc().is_some_and(|rpc| rpc.code == METHOD_NOT_FOUND) => Value::Null,
            Err(error) => return Err(error),
        };
        facts.insert(name.to_owned(), count);
    }
    let noise = session.noise();
    facts.insert("noise".into(), json!({"lines": noise.lines, "first": noise.first.first()}));
    let odd: Vec<String> = session.oddities().iter().map(ToString::to_string).collect();
    facts.insert("oddities".into(), json!(odd));
    facts.insert("ms".into(), Value::Object(took));
    let value = Value::Object(facts);
    Ok(Answer { text: text(&value), value, failure: None })
}

/// Adds how the session ended.
pub(super) fn end(answer: &mut Answer, closed: &Closed, took: Duration) {
    let how = match closed {
        Closed::Child { by, .. } => match by {
            EndedBy::Itself => "had ended before",
            EndedBy::InputEnd => "ended with its input",
            EndedBy::Term => "needed TERM to end",
            EndedBy::Kill => "ended neither with its input nor on TERM and was killed",
        },
        Closed::Network { session_deleted: true } => "session deleted",
        Closed::Network { session_deleted: false } => "no session to delete",
    };
    answer.value["close"] = json!(how);
    answer.value["ms"]["close"] = millis(took);
    answer.text = text(&answer.value);
}

fn era(era: &Era) -> &'static str {
    match era {
        Era::Modern => "without initialize",
        Era::Legacy(_) => "initialize",
        Era::Bare => "no handshake",
    }
}

/// Milliseconds with two digits behind the point.
fn millis(span: Duration) -> Value {
    json!((span.as_secs_f64() * 100_000.0).round() / 100.0)
}

/// The facts, a line each.
fn text(facts: &Value) -> String {
    let word = |value: &Value| value.as_str().map(Foreign::one_line).unwrap_or_default();
    let mut lines: Vec<(&str, String)> = Vec::new();
    let server = &facts["server"];
    lines.push(("server", format!("{} {}", word(&server["name"]), word(&server["version"])).trim().to_owned()));
    lines.push(("protocol", format!("{} ({})", word(&facts["protocol"]), word(&facts["era"]))));
    let capabilities: Vec<String> =
        facts["capabilities"].as_object().into_iter().flatten().map(|(name, _)| Foreign::one_line(name)).collect();
    lines.push(("capabilities", if capabilities.is_empty() { "none".into() } else { capabilities.join(", ") }));
    for (_, name) in LISTS {
        lines.push((name, facts[name].as_u64().map_or("not offered".to_owned(), |count| count.to_string())));
    }
    if let Some(text) = facts["instructions"].as_str() {
        lines.push(("instructions", format!("{} bytes", text.len())));
    }
    let noise = &facts["noise"];
    lines.push((
        "noise",
        match noise["lines"].as_u64() {
            None | Some(0) => "none on standard output".to_owned(),
            Some(lines) => format!("{lines} lines that are no messages, first: {}", word(&noise["first"])),
        },
    ));
    for odd in facts["oddities"].as_array().into_iter().flatten() {
        lines.push(("oddity", word(odd)));
    }
    if facts["close"].is_string() {
        lines.push(("close", word(&facts["close"])));
    }
    let took: Vec<String> =
        facts["ms"].as_object().into_iter().flatten().map(|(name, ms)| format!("{name} {ms}")).collect();
    lines.push(("ms", took.join(", ")));
    lines.into_iter().map(|(name, value)| format!("{name:13} {value}\n")).collect()
}
