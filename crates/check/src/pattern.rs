//! Regular expressions of plans.

use std::fmt;

use regex::Regex;

use crate::model::template;

/// An unanchored regular expression. One that holds `${…}` has no machine: it is compiled when the step is expanded.
#[derive(Clone)]
pub(crate) struct Pattern {
    source: String,
    machine: Option<Regex>,
}

impl Pattern {
    /// Compiles it; the error is one line.
    pub(crate) fn new(source: &str) -> Result<Self, String> {
        let machine = if template::is_dynamic(source) {
            None
        } else {
            Some(Regex::new(source).map_err(|error| one_line(&error))?)
        };
        Ok(Self { source: source.to_owned(), machine })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.machine.as_ref().is_some_and(|machine| machine.is_match(text))
    }

    /// Every match replaced by the mark of masked text.
    pub(crate) fn mask(&self, text: &str) -> String {
        match &self.machine {
            Some(machine) => machine.replace_all(text, "‹masked›").into_owned(),
            None => text.to_owned(),
        }
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.source, f)
    }
}

/// The last line of the library's drawing says what is wrong.
fn one_line(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => format!("it needs more than {limit} bytes"),
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            last.trim_start_matches("error: ").to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ch_080_a_bad_expression_is_told_in_one_line() {
        assert_eq!(Pattern::new("(").unwrap_err(), "unclosed group");
        assert_eq!(Pattern::new("a{2,1}").unwrap_err().lines().count(), 1);
        assert!(Pattern::new("(?:x{1000}){1000}").unwrap_err().contains("bytes"));
        assert!(Pattern::new("v[0-9]+").unwrap().is_match("at v12."));
        assert!(!Pattern::new("${NAME}(").unwrap().is_match("anything"));
    }
}
