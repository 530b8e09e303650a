//! Objects as far as the reads look at them, and how they look to people: pure functions, without I/O.
//!
//! What a type does not name is never built, so that five thousand pods cost little. Whatever may be `null` on the
//! wire is optional.

pub(crate) mod deployment;
pub(crate) mod event;
pub(crate) mod node;
pub(crate) mod pod;
pub(crate) mod service;

use crate::rules::finding::age_text;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::Deserialize;

/// Metadata of an object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Metadata {
    pub(crate) name: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) generation: Option<i64>,
    pub(crate) creation_timestamp: Option<Time>,
    pub(crate) deletion_timestamp: Option<Time>,
}

impl Metadata {
    /// How old it is, as people say it.
    pub(crate) fn age(&self, now: Timestamp) -> String {
        age_since(self.creation_timestamp.as_ref(), now)
    }
}

/// Since when, as people say it; empty when that is not known.
pub(crate) fn age_since(time: Option<&Time>, now: Timestamp) -> String {
    time.map_or_else(String::new, |time| age_text(now.as_second() - time.0.as_second()))
}

/// A condition of a status.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Condition {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
}

/// The condition of that type.
pub(crate) fn condition<'a>(conditions: Option<&'a Vec<Condition>>, kind: &str) -> Option<&'a Condition> {
    conditions?.iter().find(|condition| condition.kind.as_deref() == Some(kind))
}

impl Condition {
    pub(crate) fn is(&self, status: &str) -> bool {
        self.status.as_deref() == Some(status)
    }
}
