//! When a rule of a verb holds.

use indexmap::IndexMap;
use serde_json::Value;

/// Equality of options: all of one map, any of several maps; and options that must be given at all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Condition {
    /// Alternatives: one of them must hold. None asks nothing.
    pub any: Vec<IndexMap<String, Value>>,
    /// Options that must all be given.
    pub given: Vec<String>,
}

impl Condition {
    /// Whether it holds. `value` gives an option's value or its default, `given` tells whether the caller gave it.
    pub(crate) fn holds(&self, value: impl Fn(&str) -> Value, given: impl Fn(&str) -> bool) -> bool {
        let one =
            self.any.is_empty() || self.any.iter().any(|all| all.iter().all(|(name, wanted)| value(name) == *wanted));
        one && self.given.iter().all(|name| given(name))
    }

    /// The options that it looks at.
    pub(crate) fn options(&self) -> impl Iterator<Item = &str> {
        self.any.iter().flat_map(IndexMap::keys).chain(&self.given).map(String::as_str)
    }
}
