//! Regular expressions of plans.

use std::fmt;
use std::sync::OnceLock;

use regex::Regex;

use crate::model::template;

/// Expressions up to this length, in bytes, that repeat nothing by a count cannot become too big.
const SMALL: usize = 200;

/// An unanchored regular expression.
///
/// It is checked when it is read, but most are compiled only when they are used: compiling takes far longer, and a
/// plan may have thousands. One that holds `${…}` is looked at when the step is expanded.
#[derive(Clone)]
pub(crate) struct Pattern {
    source: String,
    machine: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Checks it; the error is one line.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let pattern = Self { source: source.to_owned(), machine: OnceLock::new() };
        if template::is_dynamic(source) {
            return Ok(pattern);
        }
        if source.len() > SMALL || source.contains('{') {
            let machine = Regex::new(source).map_err(|error| match error {
                regex::Error::CompiledTooBig(limit) => format!("it needs more than {limit} bytes"),
                other => last_line(&other.to_string()),
            })?;
            return Ok(Self { machine: Some(machine).into(), ..pattern });
        }
        if has_names_or_flags(source) {
            regex_syntax::parse(source).map_err(|error| last_line(&error.to_string()))?;
        } else {
            regex_syntax::ast::parse::Parser::new().parse(source).map_err(|error| last_line(&error.to_string()))?;
        }
        Ok(pattern)
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    fn machine(&self) -> Option<&Regex> {
        self.machine.get_or_init(|| Regex::new(&self.source).ok()).as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.machine().is_some_and(|machine| machine.is_match(text))
    }

    /// Every match replaced by the mark of masked text.
    pub(crate) fn mask(&self, text: &str) -> String {
        match self.machine() {
            Some(machine) => machine.replace_all(text, "‹masked›").into_owned(),
            None => text.to_owned(),
        }
    }
}

/// Whether more than the grammar decides if an expression is right: the names of Unicode classes (`\pL`), and what flags
/// such as `(?-u)` allow. Looking into those means to build every class, and `\w` alone has hundreds of ranges.
fn has_names_or_flags(source: &str) -> bool {
    ["\\p", "\\P", "(?"].iter().any(|mark| source.contains(mark))
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.source, f)
    }
}

/// The last line of the library's drawing says what is wrong.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ch_080_a_bad_expression_is_told_in_one_line() {
        assert_eq!(Pattern::new("(").unwrap_err(), "unclosed group");
        assert_eq!(Pattern::new("a{2,1}").unwrap_err().lines().count(), 1);
        assert!(Pattern::new("(?:x{1000}){1000}").unwrap_err().contains("bytes"));
        assert_eq!(Pattern::new(r"\pY").unwrap_err(), "Unicode property not found");
        assert_eq!(Pattern::new(r"(?-u)\xff").unwrap_err(), "pattern can match invalid UTF-8");
        assert_eq!(Pattern::new("[z-a]").unwrap_err(), "invalid character class range, the start must be <= the end");
        assert!(Pattern::new(r"\w+ \d").unwrap().is_match("say 1"));
        assert!(Pattern::new("v[0-9]+").unwrap().is_match("at v12."));
        assert!(!Pattern::new("${NAME}(").unwrap().is_match("anything"));
    }
}
