//! Values as YAML text, readable in YAML 1.1 and 1.2 alike.

use crate::parse::printable;
use crate::scalar::looks_typed;
use crate::value::{Layout, Yaml};

/// How a file is written: taken from what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Columns that a map stands to the right of its key.
    pub(crate) map_step: usize,
    /// Columns that a list stands to the right of its key; 0 for unindented lists.
    pub(crate) list_step: usize,
    /// May text of several lines be written as a literal (`|`)?
    pub(crate) literals: bool,
}

/// A value as it stands behind a colon or dash: what goes on that line, and whole lines below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) head: String,
    pub(crate) below: Vec<String>,
}

impl Manner {
    /// Is the value written over several lines in block context?
    pub(crate) fn is_block(value: &Yaml) -> bool {
        match value {
            Yaml::List(items, Layout::Block) => !items.is_empty(),
            Yaml::Map(entries, Layout::Block) => !entries.is_empty(),
            _ => false,
        }
    }

    /// Is the value text to be written as a literal?
    pub(crate) fn is_literal(self, value: &Yaml) -> bool {
        matches!(value, Yaml::Text(text) if self.literals && fits_literal(text))
    }

    /// A value behind the colon of a key in column `column`.
    pub(crate) fn behind_key(self, value: &Yaml, column: usize) -> Written {
        match value {
            _ if self.is_literal(value) => literal(value, column + self.map_step),
            Yaml::List(..) if Self::is_block(value) => {
                let below = self.block(value, column + self.list_step);
                Written { head: String::new(), below }
            }
            Yaml::Map(..) if Self::is_block(value) => {
                let below = self.block(value, column + self.map_step);
                Written { head: String::new(), below }
            }
            _ => Written { head: inline(value, false), below: Vec::new() },
        }
    }

    /// A value behind a dash, its content in column `column`.
    pub(crate) fn behind_dash(self, value: &Yaml, column: usize) -> Written {
        if self.is_literal(value) {
            return literal(value, column);
        }
        if !Self::is_block(value) {
            return Written { head: inline(value, false), below: Vec::new() };
        }
        let mut lines = self.block(value, column).into_iter();
        let head = lines.next().map(|line| line.trim_start().to_owned()).unwrap_or_default();
        Written { head, below: lines.collect() }
    }

    /// An entry of a block map in column `column`, as lines.
    pub(crate) fn entry(self, key: &str, value: &Yaml, column: usize) -> Vec<String> {
        let written = self.behind_key(value, column);
        let space = if written.head.is_empty() { "" } else { " " };
        let first = format!("{}{}:{space}{}", " ".repeat(column), scalar(key, false), written.head);
        std::iter::once(first).chain(written.below).collect()
    }

    /// An item of a block list whose dashes are in column `column`, as lines.
    pub(crate) fn item(self, value: &Yaml, column: usize) -> Vec<String> {
        let written = self.behind_dash(value, column + 2);
        let first = format!("{}- {}", " ".repeat(column), written.head);
        std::iter::once(first).chain(written.below).collect()
    }

    /// A list or map with something in it, as lines.
    pub(crate) fn block(self, value: &Yaml, column: usize) -> Vec<String> {
        match value {
            Yaml::List(items, _) => items.iter().flat_map(|i| self.item(i, column)).collect(),
            Yaml::Map(entries, _) => entries.iter().flat_map(|(key, v)| self.entry(key, v, column)).collect(),
            other => vec![format!("{}{}", " ".repeat(column), inline(other, false))],
        }
    }
}

/// A value on one line; `in_flow` when it stands inside brackets.
pub(crate) fn inline(value: &Yaml, in_flow: bool) -> String {
    match value {
        Yaml::Null => "null".to_owned(),
        Yaml::Bool(value) => value.to_string(),
        Yaml::Number(text) => text.clone(),
        Yaml::Text(text) => scalar(text, in_flow),
        Yaml::List(items, _) => {
            let items: Vec<String> = items.iter().map(|item| inline(item, true)).collect();
            format!("[{}]", items.join(", "))
        }
        Yaml::Map(entries, _) => {
            let entries: Vec<String> = entries.iter().map(|(k, v)| flow_entry(k, v)).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// `key: value` inside braces.
pub(crate) fn flow_entry(key: &str, value: &Yaml) -> String {
    format!("{}: {}", scalar(key, true), inline(value, true))
}

/// Text as a scalar on one line: plain where every reader takes it for the same text, else in
/// double quotes.
pub(crate) fn scalar(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) { text.to_owned() } else { quoted(text) }
}

fn is_plain(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    if looks_typed(text) || text.starts_with("---") || text.starts_with("...") {
        return false;
    }
    // A dash may start text when a word follows at once, as in `--flag` or `-x`.
    let dash = first == '-' && text[1..].starts_with(|c: char| c == '-' || c.is_alphanumeric());
    if "-?:,[]{}#&*!|>'\"%@`=~<".contains(first) && !dash {
        return false;
    }
    if text.ends_with([' ', ':']) || first == ' ' || text.contains(": ") || text.contains(" #") {
        return false;
    }
    if in_flow && text.contains([',', '[', ']', '{', '}', ':', '?']) {
        return is_address(text);
    }
    text.chars().all(|c| printable(c) && !is_odd(c))
}

/// Colons inside brackets are fine where a letter or digit or slash follows, as in `host:80` and
/// `https://x`; old readers trip over the rest.
fn is_address(text: &str) -> bool {
    let followed = text.split(':').skip(1);
    !text.contains([',', '[', ']', '{', '}', '?'])
        && followed.into_iter().all(|rest| rest.starts_with(|c: char| c == '/' || c == '_' || c.is_alphanumeric()))
        && text.chars().all(|c| printable(c) && !is_odd(c))
}

/// Characters that are printable but break lines, or are not seen.
fn is_odd(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Text in double quotes, on one line.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ if printable(c) && !is_odd(c) => out.push(c),
            _ => {
                let code = u32::from(c);
                let escape = match code {
                    0..=0xff => format!("\\x{code:02x}"),
                    0x100..=0xffff => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                };
                out.push_str(&escape);
            }
        }
    }
    out.push('"');
    out
}

/// Can the text be a literal that every reader reads the same way?
///
/// Not when its first line is blank or indented (an indentation indicator would be needed), when
/// a line ends in blanks that editors strip, or when more than one line end stands at its end.
fn fits_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    (body.contains('\n') || (text.len() > body.len() && !body.is_empty()))
        && !body.starts_with(['\n', ' '])
        && !body.ends_with('\n')
        && body.lines().all(|line| !line.ends_with(' '))
        && text.chars().all(|c| c == '\n' || (printable(c) && !is_odd(c)))
}

/// A literal whose content stands in column `column`.
fn literal(value: &Yaml, column: usize) -> Written {
    let text = if let Yaml::Text(text) = value { text.as_str() } else { "" };
    let (head, body) = match text.strip_suffix('\n') {
        Some(body) => ("|", body),
        None => ("|-", text),
    };
    let indent = " ".repeat(column);
    let line = |line: &str| {
        if line.is_empty() { String::new() } else { format!("{indent}{line}") }
    };
    Written { head: head.to_owned(), below: body.split('\n').map(line).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_plain_only_where_every_reader_agrees() {
        for (text, block, flow) in [
            ("web", "web", "web"),
            ("2026.100.0000", "2026.100.0000", "2026.100.0000"),
            ("quay.io/fedora/fedora:43", "quay.io/fedora/fedora:43", "quay.io/fedora/fedora:43"),
            ("a b", "a b", "a b"),
            ("--flag", "--flag", "--flag"),
            ("a, b", "a, b", "\"a, b\""),
            ("yes", "\"yes\"", "\"yes\""),
            ("8080", "\"8080\"", "\"8080\""),
            ("2026-11-30", "\"2026-11-30\"", "\"2026-11-30\""),
            ("", "\"\"", "\"\""),
            ("@host/x:v1", "\"@host/x:v1\"", "\"@host/x:v1\""),
            ("a: b", "\"a: b\"", "\"a: b\""),
            ("a #b", "\"a #b\"", "\"a #b\""),
            ("a:", "\"a:\"", "\"a:\""),
            (" a", "\" a\"", "\" a\""),
            ("- a", "\"- a\"", "\"- a\""),
            ("---", "\"---\"", "\"---\""),
            ("<<", "\"<<\"", "\"<<\""),
            ("a\"\\\tb\u{1}\u{2028}", "\"a\\\"\\\\\\tb\\x01\\u2028\"", "\"a\\\"\\\\\\tb\\x01\\u2028\""),
        ] {
            assert_eq!((scalar(text, false).as_str(), scalar(text, true).as_str()), (block, flow));
        }
    }

    #[test]
    fn literals_where_they_mean_the_same_everywhere() {
        for text in ["a\nb\n", "a\n\n  b", "a\n"] {
            assert!(fits_literal(text), "{text:?}");
        }
        for text in ["a", "", "\n", "\na\n", " a\nb\n", "a\n\n", "a \nb\n", "a\r\nb\n", "a\n\tb\n"] {
            assert!(!fits_literal(text), "{text:?}");
        }
    }
}
