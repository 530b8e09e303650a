//! One thing that is wrong with one object: what, how bad, on what evidence, and what to do next.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use pintle_core::Foreign;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::{borrow::Cow, fmt};

/// How bad a finding is; the worst sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Users feel it, or the node is open.
    Critical,
    /// It does not work, or an attacker gains much.
    High,
    /// It works in part, or will stop working.
    Medium,
    /// Worth mending.
    Low,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// All of them, worst first.
    pub const ALL: [Self; 5] = [Self::Critical, Self::High, Self::Medium, Self::Low, Self::Info];

    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
            Self::Info => "info",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A point in time as the API server writes it: RFC 3339, UTC, whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(pub Timestamp);

impl Moment {
    /// Seconds from it to `now`; negative when it lies ahead.
    #[must_use]
    pub fn age(self, now: Timestamp) -> i64 {
        now.as_second() - self.0.as_second()
    }
}

impl From<&Time> for Moment {
    fn from(time: &Time) -> Self {
        Self(time.0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}", self.0)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Moment {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Moment".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// An age as people say it: the largest whole unit of `s`, `m`, `h`, `d`.
#[must_use]
pub fn age_text(seconds: i64) -> String {
    match seconds.max(0) {
        s @ 0..=119 => format!("{s}s"),
        s @ 120..=7_199 => format!("{}m", s / 60),
        s @ 7_200..=172_799 => format!("{}h", s / 3_600),
        s => format!("{}d", s / 86_400),
    }
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct ObjectRef {
    /// Kind, such as `Pod`.
    pub kind: String,
    /// Namespace; absent for what lies in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

impl ObjectRef {
    /// From an object's kind and metadata.
    #[must_use]
    pub fn of(kind: &str, meta: &ObjectMeta) -> Self {
        Self {
            kind: kind.to_owned(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone().or_else(|| meta.generate_name.clone()).unwrap_or_default(),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        write!(f, "{}/{}", self.kind.to_ascii_lowercase(), self.name)
    }
}

/// Longest text that one piece of evidence carries, in characters; messages of kubelets and webhooks can be pages.
const EVIDENCE_CHARS: usize = 400;

/// A field of the object that shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Path of the field, such as `status.conditions[Ready].reason`.
    pub field: String,
    /// What stands there; somebody else's text.
    pub value: Foreign,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Its stable name, such as `pod/crash-loop`.
    pub id: &'static str,
    /// How bad.
    pub severity: Severity,
    /// On what.
    pub object: ObjectRef,
    /// In which container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// What is wrong, as a fragment.
    pub message: String,
    /// The fields that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Since when, where an object tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Moment>,
    /// What to do next.
    pub next_step: String,
}

impl Finding {
    /// A finding without evidence yet.
    #[must_use]
    pub fn new(id: &'static str, severity: Severity, object: ObjectRef, message: impl Into<String>) -> Self {
        Self {
            id,
            severity,
            object,
            container: None,
            message: message.into(),
            evidence: Vec::new(),
            since: None,
            next_step: String::new(),
        }
    }

    /// In that container.
    #[must_use]
    pub fn in_container(mut self, name: &str) -> Self {
        self.container = Some(Foreign::one_line(name));
        self
    }

    /// Shown by that field. Line breaks go and long text is cut, since evidence is a pointer and not the record.
    #[must_use]
    pub fn shown_by(mut self, field: impl Into<String>, value: impl fmt::Display) -> Self {
        let line = Foreign::one_line(&value.to_string());
        let text = match line.char_indices().nth(EVIDENCE_CHARS) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line,
        };
        self.evidence.push(Evidence { field: field.into(), value: Foreign { text, lossy: false } });
        self
    }

    /// Shown by that field, where it is set.
    #[must_use]
    pub fn shown_by_option(self, field: impl Into<String>, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.shown_by(field, value),
            None => self,
        }
    }

    /// Since then.
    #[must_use]
    pub fn since(mut self, time: Option<&Time>) -> Self {
        self.since = time.map(Moment::from);
        self
    }

    /// What to do.
    #[must_use]
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next_step = step.into();
        self
    }

    /// What is said by that field, where it is among the evidence.
    #[must_use]
    pub fn evidence_of(&self, field: &str) -> Option<&str> {
        self.evidence.iter().find(|e| e.field == field).map(|e| e.value.text.as_str())
    }
}

/// Worst first, then by object, id and container: the same findings always stand in the same order.
pub fn sort(findings: &mut [Finding]) {
    findings
        .sort_by(|a, b| (a.severity, &a.object, a.id, &a.container).cmp(&(b.severity, &b.object, b.id, &b.container)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, name: &str) -> Finding {
        let object = ObjectRef { kind: "Pod".into(), namespace: Some("shop".into()), name: name.into() };
        Finding::new("pod/test", severity, object, "is wrong")
    }

    #[test]
    fn the_worst_stands_first_and_ties_are_stable() {
        let mut all =
            vec![finding(Severity::Info, "a"), finding(Severity::Critical, "z"), finding(Severity::Critical, "b")];
        sort(&mut all);
        assert_eq!(all.iter().map(|f| f.object.name.as_str()).collect::<Vec<_>>(), ["b", "z", "a"]);
        assert_eq!(all[0].object.to_string(), "shop/pod/b");
    }

    #[test]
    fn evidence_is_one_clean_line_cut_between_characters() {
        let long = "ü".repeat(500);
        let found = finding(Severity::Low, "a").shown_by("status.message", format!("\x1b[31mred\n{long}"));
        let text = found.evidence_of("status.message").unwrap();
        assert!(text.starts_with("red ü") && text.ends_with('…'));
        assert_eq!(text.chars().count(), 401);
    }

    #[test]
    fn moments_print_whole_seconds_and_ages_the_largest_unit() {
        let moment = Moment("2026-11-30T10:00:00.75Z".parse().unwrap());
        assert_eq!(serde_json::to_value(moment).unwrap(), "2026-11-30T10:00:00Z");
        assert_eq!(moment.age("2026-11-30T10:02:00Z".parse().unwrap()), 120);
        assert_eq!([59, 120, 7_200, 172_800, -5].map(age_text), ["59s", "2m", "2h", "2d", "0s"]);
    }
}
