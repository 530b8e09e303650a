//! One table of the text, read key by key. What is left over at the end is unknown.

use std::{cell::RefCell, ops::Range, time::Duration};

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::Report;
use crate::{
    Pattern, Template,
    suggest::{did_you_mean, one_of},
};

/// A value of the text with the place of its beginning.
#[derive(Clone, Copy)]
pub(super) struct Node<'d> {
    pub(super) value: &'d DeValue<'d>,
    pub(super) at: usize,
}

/// Something read, with its place.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) at: usize,
}

struct Entry<'d> {
    key: &'d str,
    key_span: Range<usize>,
    value: Node<'d>,
}

/// One table. Keys are taken in the order of the text.
pub(super) struct Fields<'d, 'r> {
    entries: Vec<Entry<'d>>,
    /// Keys that somebody asked for: those that are known.
    asked: RefCell<Vec<&'static str>>,
    at: usize,
    pub(super) report: &'r Report<'r>,
}

impl<'d, 'r> Fields<'d, 'r> {
    pub(super) fn new(table: &'d DeTable<'d>, at: usize, report: &'r Report<'r>) -> Self {
        let entry = |(key, value): (&'d Spanned<_>, &'d Spanned<DeValue<'d>>)| Entry {
            key: AsRef::<std::borrow::Cow<'d, str>>::as_ref(key),
            key_span: key.span(),
            value: Node { value: value.get_ref(), at: place(value.get_ref(), value.span(), key.span()) },
        };
        let mut entries: Vec<_> = table.iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.key_span.start);
        Self { entries, asked: RefCell::default(), at, report }
    }

    /// Where the table begins.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// The value of a key, which is known from now on.
    pub(super) fn take(&self, key: &'static str) -> Option<Node<'d>> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.entries.iter().find(|entry| entry.key == key).map(|entry| entry.value)
    }

    /// Reports every key that nobody asked for.
    pub(super) fn finish(self) {
        let known = self.asked.into_inner();
        for entry in self.entries.iter().filter(|entry| !known.contains(&entry.key)) {
            let hint = did_you_mean(entry.key, known.iter().copied())
                .unwrap_or_else(|| format!("known here: {}", known.join(", ")));
            self.report.add(entry.key_span.start, format!("unknown key `{}`", entry.key), Some(hint));
        }
    }

    /// Every entry of a table whose keys are names of the pack's author, with the place of each key.
    pub(super) fn named(&self) -> impl Iterator<Item = (At<&'d str>, Node<'d>)> {
        self.entries.iter().map(|entry| (At { value: entry.key, at: entry.key_span.start }, entry.value))
    }

    fn wrong(&self, at: usize, key: &str, wanted: &str) {
        self.report.add(at, format!("`{key}` must be {wanted}"), None);
    }

    fn missing(&self, key: &str) {
        self.report.add(self.at, format!("`{key}` is missing"), None);
    }

    pub(super) fn text(&self, key: &'static str) -> Option<At<String>> {
        let node = self.take(key)?;
        match node.value {
            DeValue::String(text) => Some(At { value: text.to_string(), at: node.at }),
            _ => {
                self.wrong(node.at, key, "a string");
                None
            }
        }
    }

    pub(super) fn need_text(&self, key: &'static str) -> Option<At<String>> {
        let present = self.entries.iter().any(|entry| entry.key == key);
        let text = self.text(key);
        if !present {
            self.missing(key);
        }
        text
    }

    pub(super) fn need(&self, key: &'static str) -> Option<Node<'d>> {
        let node = self.take(key);
        if node.is_none() {
            self.missing(key);
        }
        node
    }

    pub(super) fn boolean(&self, key: &'static str) -> Option<bool> {
        let node = self.take(key)?;
        match node.value {
            DeValue::Boolean(value) => Some(*value),
            _ => {
                self.wrong(node.at, key, "true or false");
                None
            }
        }
    }

    pub(super) fn integer(&self, key: &'static str) -> Option<i64> {
        let node = self.take(key)?;
        let number = integer(node.value);
        if number.is_none() {
            self.wrong(node.at, key, "a whole number");
        }
        number
    }

    /// A list of strings.
    pub(super) fn texts(&self, key: &'static str) -> Option<Vec<At<String>>> {
        let node = self.take(key)?;
        let texts = texts(node.value);
        if texts.is_none() {
            self.wrong(node.at, key, "a list of strings");
        }
        texts
    }

    /// A list of lists of strings.
    pub(super) fn groups(&self, key: &'static str) -> Vec<Vec<At<String>>> {
        let Some(node) = self.take(key) else { return Vec::new() };
        let groups = match node.value {
            DeValue::Array(items) => items.iter().map(|item| texts(item.get_ref())).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        if groups.is_none() {
            self.wrong(node.at, key, "a list of lists of strings");
        }
        groups.unwrap_or_default()
    }

    /// A list of whole numbers.
    pub(super) fn integers(&self, key: &'static str) -> Option<Vec<i64>> {
        let node = self.take(key)?;
        let numbers = match node.value {
            DeValue::Array(items) => items.iter().map(|item| integer(item.get_ref())).collect::<Option<Vec<_>>>(),
            _ => None,
        };
        if numbers.is_none() {
            self.wrong(node.at, key, "a list of whole numbers");
        }
        numbers
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&self, key: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(key)?;
        let found = words.iter().find(|(word, _)| *word == text.value).map(|(_, value)| *value);
        if found.is_none() {
            let known = || words.iter().map(|(word, _)| *word);
            let message = format!("`{key}` must be {}, not `{}`", one_of(known()), text.value);
            self.report.add(text.at, message, did_you_mean(&text.value, known()));
        }
        found
    }

    /// A time, such as `5s`, `10m` or `4h`.
    pub(super) fn duration(&self, key: &'static str) -> Option<Duration> {
        let text = self.text(key)?;
        let parsed = duration(&text.value);
        if parsed.is_none() {
            self.wrong(text.at, key, "a time such as `500ms`, `5s`, `10m` or `4h`");
        }
        parsed
    }

    pub(super) fn pattern(&self, key: &'static str) -> Option<At<Pattern>> {
        let text = self.text(key)?;
        self.compiled(&text)
    }

    pub(super) fn patterns(&self, key: &'static str) -> Option<Vec<At<Pattern>>> {
        Some(self.texts(key)?.iter().filter_map(|text| self.compiled(text)).collect())
    }

    fn compiled(&self, text: &At<String>) -> Option<At<Pattern>> {
        match Pattern::new(&text.value) {
            Ok(pattern) => Some(At { value: pattern, at: text.at }),
            Err(why) => {
                self.report.add(text.at, format!("bad pattern: {why}"), None);
                None
            }
        }
    }

    pub(super) fn template(&self, key: &'static str) -> Option<At<Template>> {
        let text = self.text(key)?;
        self.filled(&text)
    }

    pub(super) fn templates(&self, key: &'static str) -> Vec<At<Template>> {
        self.texts(key).unwrap_or_default().iter().filter_map(|text| self.filled(text)).collect()
    }

    fn filled(&self, text: &At<String>) -> Option<At<Template>> {
        match Template::new(&text.value) {
            Ok(template) => Some(At { value: template, at: text.at }),
            Err(why) => {
                self.report.add(text.at, why, None);
                None
            }
        }
    }

    pub(super) fn table(&self, key: &'static str) -> Option<Self> {
        let node = self.take(key)?;
        self.as_table(node, key)
    }

    /// The table that a node is.
    pub(super) fn as_table(&self, node: Node<'d>, key: &str) -> Option<Self> {
        match node.value {
            DeValue::Table(table) => Some(Fields::new(table, node.at, self.report)),
            _ => {
                self.wrong(node.at, key, "a table");
                None
            }
        }
    }

    /// A list of tables.
    pub(super) fn tables(&self, key: &'static str) -> Vec<Self> {
        let Some(node) = self.take(key) else { return Vec::new() };
        match node.value {
            DeValue::Array(items) => items
                .iter()
                .filter_map(|item| {
                    let at = place(item.get_ref(), item.span(), item.span());
                    self.as_table(Node { value: item.get_ref(), at }, key)
                })
                .collect(),
            _ => {
                self.wrong(node.at, key, "a list of tables");
                Vec::new()
            }
        }
    }
}

/// Tables made by dotted keys have no place of their own: their key has.
fn place(value: &DeValue, span: Range<usize>, key: Range<usize>) -> usize {
    if matches!(value, DeValue::Table(_)) && span.start < key.start { key.start } else { span.start }
}

fn integer(value: &DeValue) -> Option<i64> {
    match value {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

fn texts(value: &DeValue) -> Option<Vec<At<String>>> {
    let DeValue::Array(items) = value else { return None };
    let text = |item: &Spanned<DeValue>| match item.get_ref() {
        DeValue::String(text) => Some(At { value: text.to_string(), at: item.span().start }),
        _ => None,
    };
    items.iter().map(text).collect()
}

/// The JSON value of a string, whole number, boolean or list of strings.
pub(super) fn plain(node: Node) -> Option<Value> {
    match node.value {
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Boolean(value) => Some(Value::Bool(*value)),
        DeValue::Integer(_) => integer(node.value).map(Value::from),
        DeValue::Array(_) => {
            texts(node.value).map(|items| items.into_iter().map(|item| Value::from(item.value)).collect())
        }
        _ => None,
    }
}

fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u32 = text[..unit].parse().ok()?;
    let one = match &text[unit..] {
        "ms" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(3600),
        _ => return None,
    };
    (number > 0).then(|| one.saturating_mul(number))
}

impl<T> At<T> {
    /// Only what was read.
    pub(super) fn bare(self) -> T {
        self.value
    }
}

/// Only what was read.
pub(super) fn bare<T>(items: impl IntoIterator<Item = At<T>>) -> Vec<T> {
    items.into_iter().map(At::bare).collect()
}
