//! A value that must not leave.

use serde::{Serialize, Serializer};
use std::fmt;

/// A secret: shown, printed and serialised only as `‹secret NAME›`.
///
/// Made by [`Call::secret`](crate::Call::secret), which also tells the call's redactor, so that copies of the value in
/// foreign text are masked on every way out.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    name: String,
    value: String,
}

impl Secret {
    /// A secret that no redactor knows; use [`Call::secret`](crate::Call::secret) where there is a call.
    #[must_use]
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }

    /// What to call it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "‹secret {}›", self.name)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_only_by_name() {
        let secret = Secret::new("TOKEN", "hunter2hunter2");
        let shown = format!("{secret} {secret:?} {}", serde_json::to_string(&secret).unwrap());
        assert!(!shown.contains("hunter2") && shown.contains("‹secret TOKEN›"), "{shown}");
    }
}
