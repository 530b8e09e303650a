//! Events: newest first, each with its count.

use crate::rules::{
    events::{count, last_seen},
    finding::{Moment, age_text},
};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use pintle_core::{Foreign, Row};
use pintle_fleet::FleetRow;
use schemars::JsonSchema;
use serde::Serialize;

use crate::reading::{Grouped, Placed};

/// Characters of a message that a list shows.
const MESSAGE: usize = 300;

/// An event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct EventRow {
    /// When it was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_seen: Option<Moment>,
    /// Since then.
    age: String,
    /// `Warning` or `Normal`.
    #[serde(rename = "type")]
    kind: String,
    /// Why, in one word.
    reason: String,
    /// Namespace of the object.
    namespace: String,
    /// Kind and name of the object.
    object: String,
    /// How often it was seen.
    count: i32,
    /// What happened.
    message: String,
    #[serde(skip)]
    name: String,
}

impl EventRow {
    pub(crate) fn of(event: &Event, now: Timestamp) -> Self {
        let seen = last_seen(event);
        let object = &event.involved_object;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut message = Foreign::one_line(event.message.as_deref().unwrap_or_default());
        if let Some((end, _)) = message.char_indices().nth(MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        Self {
            last_seen: seen.map(Moment),
            age: seen.map_or_else(|| "unknown".to_owned(), |seen| age_text(Moment(seen).age(now))),
            kind: text(&event.type_),
            reason: Foreign::one_line(event.reason.as_deref().unwrap_or_default()),
            namespace: object.namespace.clone().or_else(|| event.metadata.namespace.clone()).unwrap_or_default(),
            object: format!(
                "{}/{}",
                object.kind.as_deref().unwrap_or("?"),
                Foreign::one_line(object.name.as_deref().unwrap_or("?"))
            ),
            count: count(event),
            message,
            name: format!("{}/{}", text(&event.metadata.namespace), text(&event.metadata.name)),
        }
    }

    fn seconds(&self) -> i64 {
        self.last_seen.map_or(0, |seen| seen.0.as_second())
    }
}

/// Keeps the newest rows of many, however many come.
pub(crate) fn keep_newest(rows: &mut Vec<EventRow>, limit: usize) {
    if rows.len() > limit {
        rows.sort_by(|a, b| b.seconds().cmp(&a.seconds()).then_with(|| a.name.cmp(&b.name)));
        rows.truncate(limit);
    }
}

impl Row for EventRow {
    fn key(&self) -> String {
        // Ascending keys, newest first: the time is counted down.
        format!("{:020}\u{1}{}", i64::MAX.saturating_sub(self.seconds().max(0)), self.name)
    }
}

impl Placed for EventRow {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl FleetRow for EventRow {
    const COLUMNS: &'static [&'static str] =
        &["LAST SEEN", "TYPE", "REASON", "NAMESPACE", "OBJECT", "COUNT", "MESSAGE"];
    const NOTHING: &'static str = "no events found";
    const BY_CLUSTER: bool = false;

    fn cells(&self) -> Vec<String> {
        vec![
            self.age.clone(),
            self.kind.clone(),
            self.reason.clone(),
            self.namespace.clone(),
            self.object.clone(),
            self.count.to_string(),
            self.message.clone(),
        ]
    }
}

impl Grouped for EventRow {
    const NOUN: &'static str = "events";

    fn group(&self) -> &str {
        &self.reason
    }
}
