//! The one envelope of every answer.

use crate::{Exit, Failure, InputRequest, Page, Plan, View};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Done.
    #[default]
    Ok,
    /// Done, and something was found.
    Findings,
    /// Done for some targets, failed for others.
    Partial,
    /// Not done.
    Failed,
    /// Not done yet: it needs a yes.
    Planned,
    /// Going on as a job.
    Started,
}

/// A piece of an answer that is not plain text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Text.
    Text(String),
    /// An image: MIME type and base64.
    Image {
        /// MIME type.
        mime: String,
        /// Base64.
        data: String,
    },
    /// Sound: MIME type and base64.
    Audio {
        /// MIME type.
        mime: String,
        /// Base64.
        data: String,
    },
    /// A resource with its contents.
    Resource(crate::Contents),
    /// A resource to be read by whoever wants it.
    Link(crate::Resource),
}

/// A program that needs a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attach {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// What an agent can do instead.
    pub instead: String,
}

/// What a tool gives back to the dispatcher.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// How it ended; `failed` together with an answer where both are told.
    pub outcome: Outcome,
    /// The typed answer.
    pub answer: Option<Value>,
    /// The answer as people read it.
    pub view: View,
    /// More pieces; where there are any, they stand in place of the text for agents.
    pub parts: Vec<Part>,
    /// What went wrong for some targets, or why an answered call counts as failed.
    pub failure: Option<Failure>,
    /// Where this page ends, if there is more.
    pub page: Option<PageEnd>,
    /// Whether the operation left something off by itself; a link among the parts says where the rest is.
    pub truncated: bool,
}

/// The end of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageEnd {
    /// Where.
    pub page: Page,
    /// How many rows were left off, if known.
    pub left: Option<usize>,
}

/// What comes back through both doors: flat, the same for every tool, absent fields left out.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reply {
    /// How it ended.
    pub outcome: Outcome,
    /// The tool's typed answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// What will happen, and how to say yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// Id of the job that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Whether something was left off; `next_cursor` or a link says where the rest is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Carried as `cursor` by a call for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The answer as people read it.
    #[serde(skip)]
    pub view: View,
    /// More pieces for agents.
    #[serde(skip)]
    pub parts: Vec<Part>,
    /// Questions to be answered by the same call sent again.
    #[serde(skip)]
    pub asked: Vec<InputRequest>,
    /// A program for the people's door to run.
    #[serde(skip)]
    pub attach: Option<Attach>,
    /// Whether agents are told that it is an error: a read only if every target failed, a change if any did.
    #[serde(skip)]
    pub is_error: bool,
}

impl Reply {
    /// A failed call.
    #[must_use]
    pub fn failed(failure: Failure) -> Self {
        Self {
            outcome: Outcome::Failed,
            view: View::text(failure.text()),
            failure: Some(failure),
            is_error: true,
            ..Self::default()
        }
    }

    /// What it means to a shell.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self.outcome {
            Outcome::Ok | Outcome::Findings | Outcome::Started => Exit::Ok,
            Outcome::Partial => Exit::Partial,
            Outcome::Failed => self.failure.as_ref().map_or(Exit::Failed, |failure| failure.code.exit()),
            Outcome::Planned => Exit::Denied,
        }
    }

    /// The envelope as a JSON value: `structuredContent` of the agents' door.
    #[must_use]
    pub fn envelope(&self) -> Value {
        serde_json::to_value(self).unwrap_or_else(|_| json!({"outcome": "failed"}))
    }
}

/// The output schema of a tool whose answer has that schema.
#[must_use]
pub fn envelope_schema(answer: Option<&Value>) -> Value {
    json!({
        "type": "object",
        "properties": {
            "outcome": {"enum": ["ok", "findings", "partial", "failed", "planned", "started"]},
            "answer": answer.cloned().unwrap_or_else(|| json!({})),
            "plan": {"type": "object", "properties": {
                "token": {"type": "string"}, "approval": {"type": "string"}, "expires": {"type": "string"},
                "preview": {"type": "string"}, "effects": {"type": "array", "items": {"type": "string"}}}},
            "job": {"type": "string"},
            "failure": {"type": "object", "properties": {
                "code": {"type": "string"}, "message": {"type": "string"},
                "hints": {"type": "array", "items": {"type": "string"}},
                "problems": {"type": "array", "items": {"type": "object"}},
                "retryable": {"type": "boolean"}}, "required": ["code", "message"]},
            "truncated": {"type": "boolean"},
            "next_cursor": {"type": "string"}
        },
        "required": ["outcome"]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    #[test]
    fn absent_fields_are_left_out_and_exit_codes_follow() {
        let ok = Reply { answer: Some(json!(1)), ..Reply::default() };
        assert_eq!(ok.envelope(), json!({"outcome": "ok", "answer": 1}));
        let denied = Reply::failed(Failure::new(Code::Denied, "no"));
        assert_eq!(denied.exit().code(), 77);
        assert_eq!(denied.envelope(), json!({"outcome": "failed", "failure": {"code": "denied", "message": "no"}}));
        let partial = Reply { outcome: Outcome::Partial, ..Reply::default() };
        assert_eq!(partial.exit().code(), 3);
    }
}
