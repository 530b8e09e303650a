//! Checked arguments.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

/// Arguments of one verb that passed [`Verb::check`](crate::Verb::check), in the verb's declared order.
///
/// Only a check makes them, so whoever holds them need not look again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct Arguments(pub(crate) IndexMap<String, Value>);

impl Arguments {
    /// The value of an option, if it was given.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The value of an option as text, if it was given: strings as they are, the rest as JSON.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// Name and value of each given option.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether no option was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The arguments as a JSON object, as another process checks them again.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        self.0.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}
