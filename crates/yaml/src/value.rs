//! Values to write: a tree without places, numbers kept as written.

use crate::document::{Body, Document, Node, Style};
use crate::place::{Limits, Problem};
use crate::scalar::{Meaning, Scalar};

/// A value that an edit writes.
///
/// Made from JSON with `From`, or from YAML text with [`Yaml::parse`]. A number keeps its text, so
/// that `1.10` stays `1.10` and an integer beyond 64 bits stays whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Yaml {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number as it is written in YAML.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Yaml>, Layout),
    /// A map; keys are unique.
    Map(Vec<(String, Yaml)>, Layout),
}

/// How a list or map is to be written where it has the choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// One entry a line, or the form of the list or map that is replaced.
    #[default]
    Block,
    /// `[a, b]` and `{a: 1}`.
    Flow,
}

impl Yaml {
    /// Reads a value from YAML text, as people give it on a command line: `8080`, `[a, b]`,
    /// `{base: scratch}`, or several lines.
    ///
    /// # Errors
    ///
    /// As [`Document::parse`]; places are in `text`.
    pub fn parse(text: &str, limits: Limits) -> Result<Yaml, Vec<Problem>> {
        Ok(Yaml::of(Document::parse(text, limits)?.root()))
    }

    /// Text.
    pub fn text(text: impl Into<String>) -> Yaml {
        Yaml::Text(text.into())
    }

    /// A list, one item a line.
    pub fn list(items: impl IntoIterator<Item = Yaml>) -> Yaml {
        Yaml::List(items.into_iter().collect(), Layout::Block)
    }

    /// A map, one entry a line. The keys must differ.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Yaml)>) -> Yaml {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
        Yaml::Map(entries, Layout::Block)
    }

    /// The same list or map written as `[…]` or `{…}`; other values are unchanged.
    #[must_use]
    pub fn in_flow(self) -> Yaml {
        match self {
            Yaml::List(items, _) => Yaml::List(items, Layout::Flow),
            Yaml::Map(entries, _) => Yaml::Map(entries, Layout::Flow),
            other => other,
        }
    }

    /// The value of a node, aliases expanded.
    pub(crate) fn of(node: Node<'_>) -> Yaml {
        let node = node.resolved();
        let layout = if node.style() == Style::Block { Layout::Block } else { Layout::Flow };
        match &node.data().body {
            Body::Scalar { text, meaning } => match *meaning {
                Meaning::Null => Yaml::Null,
                Meaning::Bool(value) => Yaml::Bool(value),
                Meaning::Str => Yaml::Text(text.clone()),
                number if number.is_number() => Yaml::Number(text.clone()),
                _ => Yaml::Null,
            },
            Body::Sequence(_) => Yaml::List(node.items().map(Yaml::of).collect(), layout),
            Body::Mapping(_) => {
                Yaml::Map(node.entries().map(|(k, v)| (k.key_text().to_owned(), Yaml::of(v))).collect(), layout)
            }
            // An alias resolves in one step, so nothing is left to follow.
            Body::Alias { .. } => Yaml::Null,
        }
    }

    /// The value as JSON; see [`Node::to_json`].
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Yaml::Null => Value::Null,
            Yaml::Bool(value) => (*value).into(),
            Yaml::Text(text) => text.as_str().into(),
            Yaml::Number(text) => match crate::scalar::resolve(text).map(|m| m.with(text)) {
                Ok(Scalar::Int(value)) => value.into(),
                Ok(Scalar::UInt(value)) => value.into(),
                Ok(Scalar::Float(value)) if value.is_finite() => value.into(),
                _ => text.as_str().into(),
            },
            Yaml::List(items, _) => items.iter().map(Yaml::to_json).collect(),
            Yaml::Map(entries, _) => Value::Object(entries.iter().map(|(k, v)| (k.clone(), v.to_json())).collect()),
        }
    }

    /// Equal but for layout and the order of keys.
    pub fn same_as(&self, other: &Yaml) -> bool {
        match (self, other) {
            (Yaml::List(a, _), Yaml::List(b, _)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_as(b)),
            (Yaml::Map(a, _), Yaml::Map(b, _)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, value)| b.iter().any(|(other, theirs)| other == key && value.same_as(theirs)))
            }
            (a, b) => a == b,
        }
    }
}

impl From<serde_json::Value> for Yaml {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Yaml::Null,
            serde_json::Value::Bool(value) => Yaml::Bool(value),
            serde_json::Value::Number(number) => Yaml::Number(number.to_string()),
            serde_json::Value::String(text) => Yaml::Text(text),
            serde_json::Value::Array(items) => Yaml::list(items.into_iter().map(Yaml::from)),
            serde_json::Value::Object(map) => Yaml::map(map.into_iter().map(|(key, value)| (key, Yaml::from(value)))),
        }
    }
}

impl From<&serde_json::Value> for Yaml {
    fn from(value: &serde_json::Value) -> Self {
        value.clone().into()
    }
}

impl From<&str> for Yaml {
    fn from(text: &str) -> Self {
        Yaml::Text(text.to_owned())
    }
}

impl From<String> for Yaml {
    fn from(text: String) -> Self {
        Yaml::Text(text)
    }
}

impl From<bool> for Yaml {
    fn from(value: bool) -> Self {
        Yaml::Bool(value)
    }
}

impl From<i64> for Yaml {
    fn from(value: i64) -> Self {
        Yaml::Number(value.to_string())
    }
}
