//! What a step asserts, whatever its verb.

use std::time::Duration;

use pintle_yaml::{Node, Place};

use super::sink::Sink;
use crate::json::{self, JsonCheck};
use crate::matchers::{self, Matcher};

/// The assertions of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expect {
    /// On the exit status; absent means 0, unless an error is expected.
    pub(crate) exit_status: Vec<Matcher>,
    pub(crate) stdout: Vec<Matcher>,
    pub(crate) stderr: Vec<Matcher>,
    pub(crate) json: Vec<JsonCheck>,
    pub(crate) tool_error: Option<ToolError>,
    pub(crate) error: Option<ProtocolError>,
    pub(crate) within: Option<(Duration, Place)>,
    pub(crate) stdout_pure: Option<Place>,
}

/// `tool_error:` the tool says itself that it failed.
#[derive(Clone, Debug)]
pub(crate) struct ToolError {
    /// Whether it is to fail.
    pub(crate) wanted: bool,
    /// On the text it gives.
    pub(crate) text: Vec<Matcher>,
    pub(crate) place: Place,
}

/// `error:` the request is answered by a JSON-RPC error.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProtocolError {
    pub(crate) code: Vec<Matcher>,
    pub(crate) message: Vec<Matcher>,
    /// On its data.
    pub(crate) data: Vec<JsonCheck>,
    pub(crate) place: Option<Place>,
}

impl Expect {
    /// Whether the step says itself what the outcome is, so that exit status 0 is not implied.
    pub(crate) fn says_outcome(&self) -> bool {
        !self.exit_status.is_empty()
            || self.error.is_some()
            || self.tool_error.as_ref().is_some_and(|error| error.wanted)
    }
}

/// Their names.
pub(crate) const FIELDS: &[&str] =
    &["exit_status", "stdout", "stderr", "json", "tool_error", "error", "within", "stdout_pure"];

/// Reads them from the body of a step.
pub(crate) fn read(body: Node<'_>, sink: &mut Sink<'_>) -> Expect {
    let mut expect = Expect::default();
    for (key, node) in body.entries() {
        match key.key_text() {
            "exit_status" => expect.exit_status = exit_status(node, sink),
            "stdout" => expect.stdout = matchers::read(node, "stdout", sink),
            "stderr" => expect.stderr = matchers::read(node, "stderr", sink),
            "json" => expect.json = json::read(node, sink),
            "tool_error" => expect.tool_error = tool_error(key, node, sink),
            "error" => expect.error = protocol_error(key, node, sink),
            "within" => expect.within = sink.duration(node, "within").map(|span| (span, sink.place(key))),
            "stdout_pure" if sink.flag(node, "stdout_pure") == Some(true) => {
                expect.stdout_pure = Some(sink.place(key));
            }
            _ => {}
        }
    }
    if expect.error.is_some() && expect.tool_error.as_ref().is_some_and(|error| error.wanted) {
        let node = body.get("tool_error").unwrap_or(body);
        sink.wrong(node, "`tool_error` and `error` exclude each other: a tool that fails has answered");
    }
    expect
}

fn exit_status(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<Matcher> {
    if let Some(text) = node.source_text()
        && !node.is_null()
        && text.parse::<i64>().is_err()
        && !super::template::is_dynamic(text)
    {
        sink.wrong(node, format!("exit_status must be a whole number, not `{text}`"));
        return Vec::new();
    }
    matchers::read(node, "exit_status", sink)
}

fn tool_error(key: Node<'_>, node: Node<'_>, sink: &mut Sink<'_>) -> Option<ToolError> {
    let place = sink.place(key);
    if let Some(wanted) = node.as_bool() {
        return Some(ToolError { wanted, text: Vec::new(), place });
    }
    let text = matchers::read(node, "tool_error", sink);
    (!text.is_empty()).then_some(ToolError { wanted: true, text, place })
}

fn protocol_error(key: Node<'_>, node: Node<'_>, sink: &mut Sink<'_>) -> Option<ProtocolError> {
    let mut error = ProtocolError { place: Some(sink.place(key)), ..ProtocolError::default() };
    if node.as_bool() == Some(true) {
        return Some(error);
    }
    if !node.is_mapping() {
        sink.wrong_hint(
            node,
            format!("error must be a map, not a {}", node.kind_name()),
            "write `error: {code: -32602}`, or `error: true` for any",
        );
        return None;
    }
    for (field, value) in sink.known_map(node, "error", &["code", "message", "data"]) {
        match field {
            "code" => error.code = matchers::read(value, "error code", sink),
            "message" => error.message = matchers::read(value, "error message", sink),
            _ => error.data = json::read(value, sink),
        }
    }
    Some(error)
}
