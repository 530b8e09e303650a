//! Regular expressions of packs: compiled once, compared and shown by their text.

use std::fmt;

use regex::Regex;

/// A regular expression that a pack wrote.
///
/// Patterns of arguments must match somewhere in the value, as in JSON Schema: write `^…$` for the whole.
#[derive(Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// What the compiler says in its last line, such as `unclosed group`.
    pub fn new(text: &str) -> Result<Self, String> {
        // Each pattern is small: what blows up is a mistake, and the text comes from a file.
        let built = regex::RegexBuilder::new(text).size_limit(1 << 20).build();
        built.map(Self).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error:").trim().to_owned()
        })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The compiled expression.
    #[must_use]
    pub const fn regex(&self) -> &Regex {
        &self.0
    }

    /// Whether it matches somewhere in the text.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Whether it has a group of that name.
    #[must_use]
    pub fn has_group(&self, name: &str) -> bool {
        self.0.capture_names().flatten().any(|group| group == name)
    }

    /// What the named group matched at the first match.
    #[must_use]
    pub fn group<'t>(&self, name: &str, text: &'t str) -> Option<&'t str> {
        Some(self.0.captures(text)?.name(name)?.as_str())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_and_mistakes_told_in_one_line() {
        let pattern = Pattern::new(r"Task Execution: (?<message>.+)").unwrap();
        assert!(pattern.has_group("message") && !pattern.has_group("total"));
        assert_eq!(pattern.group("message", "Task Execution: mksquashfs"), Some("mksquashfs"));
        assert_eq!(Pattern::new("(").unwrap_err(), "unclosed group");
        assert!(Pattern::new(r"\w{1000}{1000}").unwrap_err().contains("size limit"));
    }
}
