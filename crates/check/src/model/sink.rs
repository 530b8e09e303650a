//! Collects what is wrong while nodes are read, and reads the simple kinds of values.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use pintle_core::nearest;
use pintle_yaml::{Node, Place, Problem};

use super::Dialect;
use super::duration;
use super::template;
use crate::pattern::Pattern;

/// Places of an expanded step in the file it was written in.
pub(crate) type Places = HashMap<Place, Place>;

/// Where readers tell what is wrong.
pub(crate) struct Sink<'a> {
    /// What is asked of steps.
    pub(crate) dialect: Dialect,
    /// Folder that relative files of the plan start at.
    pub(crate) directory: &'a Path,
    /// Set when an expanded copy of a step is read: its places are not those of the file.
    places: Option<&'a Places>,
    problems: Vec<Problem>,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(dialect: Dialect, directory: &'a Path) -> Self {
        Self { dialect, directory, places: None, problems: Vec::new() }
    }

    pub(crate) fn with_places(mut self, places: &'a Places) -> Self {
        self.places = Some(places);
        self
    }

    /// Everything told so far, in the order of the text.
    pub(crate) fn finish(mut self) -> Vec<Problem> {
        self.problems.sort_by_key(Problem::place);
        self.problems
    }

    pub(crate) fn count(&self) -> usize {
        self.problems.len()
    }

    /// Where a node is for people.
    pub(crate) fn place(&self, node: Node<'_>) -> Place {
        let place = node.pos();
        self.places.and_then(|places| places.get(&place)).copied().unwrap_or(place)
    }

    pub(crate) fn wrong(&mut self, node: Node<'_>, message: impl Into<String>) {
        let place = self.place(node);
        self.problems.push(Problem::new(place, message));
    }

    pub(crate) fn wrong_hint(&mut self, node: Node<'_>, message: impl Into<String>, hint: impl Into<String>) {
        let place = self.place(node);
        self.problems.push(Problem::new(place, message).with_hint(hint));
    }

    /// A word that is not among those known: with the nearest one, else with all of them.
    pub(crate) fn unknown<'w>(
        &mut self,
        node: Node<'_>,
        what: &str,
        word: &str,
        known: impl IntoIterator<Item = &'w str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", known.join(", ")),
        };
        self.wrong_hint(node, format!("unknown {what} `{word}`"), hint);
    }

    /// A scalar's text as written: numbers and booleans count, null does not.
    pub(crate) fn text(&mut self, node: Node<'_>, what: &str) -> Option<String> {
        match node.source_text() {
            Some(text) if !node.is_null() => Some(text.to_owned()),
            Some(_) => {
                self.wrong(node, format!("{what} is empty"));
                None
            }
            None => {
                self.wrong(node, format!("{what} must be a text, not a {}", node.kind_name()));
                None
            }
        }
    }

    /// A text that is not empty.
    pub(crate) fn word(&mut self, node: Node<'_>, what: &str) -> Option<String> {
        let text = self.text(node, what)?;
        if text.trim().is_empty() {
            self.wrong(node, format!("{what} is empty"));
            return None;
        }
        Some(text)
    }

    pub(crate) fn flag(&mut self, node: Node<'_>, what: &str) -> Option<bool> {
        let flag = node.as_bool();
        if flag.is_none() {
            self.wrong(node, format!("{what} must be true or false, not {}", shown(node)));
        }
        flag
    }

    /// A whole number; also as text, because an expanded variable is one.
    pub(crate) fn whole(&mut self, node: Node<'_>, what: &str, most: u64) -> Option<u64> {
        let text = self.text(node, what)?;
        if template::is_dynamic(&text) {
            return None;
        }
        match text.parse::<u64>() {
            Ok(number) if number <= most => Some(number),
            Ok(_) => {
                self.wrong(node, format!("{what} must be at most {most}, not {text}"));
                None
            }
            Err(_) => {
                self.wrong(node, format!("{what} must be a whole number, not `{text}`"));
                None
            }
        }
    }

    pub(crate) fn duration(&mut self, node: Node<'_>, what: &str) -> Option<Duration> {
        let text = self.text(node, what)?;
        match duration::parse(&text) {
            Ok(span) => Some(span),
            Err(error) => {
                let hint = match error {
                    duration::DurationError::NoUnit => format!("write `{text}s` or `{text}ms`"),
                    _ => "write it like `500ms`, `10s` or `1m30s`".to_owned(),
                };
                self.wrong_hint(node, format!("{what} `{text}` {error}"), hint);
                None
            }
        }
    }

    /// A regular expression; one that holds a variable is compiled once that is known.
    pub(crate) fn pattern(&mut self, node: Node<'_>, what: &str) -> Option<Pattern> {
        let source = self.text(node, what)?;
        match Pattern::new(&source) {
            Ok(pattern) => Some(pattern),
            Err(why) => {
                self.wrong(node, format!("{what} `{source}` is not a regular expression: {why}"));
                None
            }
        }
    }

    /// The items of a list, or the one scalar that stands for a list of one.
    pub(crate) fn list<'n>(&mut self, node: Node<'n>, what: &str) -> Vec<Node<'n>> {
        if node.is_sequence() {
            return node.items().collect();
        }
        if node.is_mapping() || node.is_null() {
            self.wrong(node, format!("{what} must be a list, not a {}", node.kind_name()));
            return Vec::new();
        }
        vec![node]
    }

    /// A list of texts that are not empty.
    pub(crate) fn words(&mut self, node: Node<'_>, what: &str) -> Vec<String> {
        self.list(node, what).into_iter().filter_map(|item| self.word(item, what)).collect()
    }

    /// The entries of a map; other kinds are told.
    pub(crate) fn map<'n>(&mut self, node: Node<'n>, what: &str) -> Vec<(Node<'n>, Node<'n>)> {
        if node.is_mapping() {
            return node.entries().collect();
        }
        self.wrong(node, format!("{what} must be a map, not a {}", node.kind_name()));
        Vec::new()
    }

    /// Entries of a map whose keys are all known.
    pub(crate) fn known_map<'n>(&mut self, node: Node<'n>, what: &str, known: &[&str]) -> Vec<(&'n str, Node<'n>)> {
        let mut kept = Vec::new();
        for (key, value) in self.map(node, what) {
            if known.contains(&key.key_text()) {
                kept.push((key.key_text(), value));
            } else {
                self.unknown(key, "field", key.key_text(), known.iter().copied());
            }
        }
        kept
    }
}

/// A value in a message: short.
fn shown(node: Node<'_>) -> String {
    match node.source_text() {
        Some(text) => format!("`{}`", text.chars().take(60).collect::<String>()),
        None => format!("a {}", node.kind_name()),
    }
}
