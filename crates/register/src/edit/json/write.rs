//! Replacements of a few bytes, in the style that the file has.

use super::read::{Body, Member, Node, behind_blanks};
use crate::edit::line_ending;
use serde_json::{Map, Value, json};

/// The value of what is missing below these keys.
pub(super) fn nest(keys: &[&str], name: &str, entry: &Map<String, Value>) -> Value {
    let inner = json!({name: entry});
    keys.iter().rev().fold(inner, |inner, key| json!({*key: inner}))
}

/// How a value is written.
struct Style<'a> {
    ending: &'static str,
    /// One step of indentation.
    unit: String,
    /// Indentation of the line that the value starts on; none where all is on one line.
    indent: Option<&'a str>,
    /// Whether a blank stands behind colons and commas on one line.
    airy: bool,
}

impl Style<'_> {
    fn render(&self, value: &Value) -> String {
        let mut out = String::new();
        self.value(value, 0, &mut out);
        out
    }

    fn value(&self, value: &Value, depth: usize, out: &mut String) {
        let comma = if self.airy { ", " } else { "," };
        match value {
            Value::Object(map) if !map.is_empty() => {
                out.push('{');
                for (index, (key, value)) in map.iter().enumerate() {
                    if index > 0 {
                        out.push_str(if self.indent.is_some() { "," } else { comma });
                    }
                    self.newline(depth + 1, out);
                    self.member(key, value, depth + 1, out);
                }
                self.newline(depth, out);
                out.push('}');
            }
            Value::Array(items) if !items.is_empty() => {
                // Arguments read best on one line.
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_str(comma);
                    }
                    self.value(item, depth + 1, out);
                }
                out.push(']');
            }
            other => out.push_str(&other.to_string()),
        }
    }

    fn member(&self, key: &str, value: &Value, depth: usize, out: &mut String) {
        out.push_str(&Value::from(key).to_string());
        out.push_str(if self.airy { ": " } else { ":" });
        self.value(value, depth, out);
    }

    fn newline(&self, depth: usize, out: &mut String) {
        if let Some(indent) = self.indent {
            out.push_str(self.ending);
            out.push_str(indent);
            out.push_str(&self.unit.repeat(depth));
        }
    }
}

/// Blanks at the start of the line of that offset.
fn indent_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
    let line = text[start..].trim_start_matches(crate::edit::BOM);
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Whether only blanks stand before it on its line.
fn leads_its_line(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
    start > 0 && text[start..at].chars().all(|c| c == ' ' || c == '\t')
}

/// One step of indentation in this text: how far its first indented key stands in.
fn unit(text: &str) -> String {
    let lines = text.lines().skip(1).filter(|line| line.trim_start().starts_with('"'));
    let mut depths = lines.map(|line| &line[..line.len() - line.trim_start().len()]).filter(|blank| !blank.is_empty());
    depths.next().map_or_else(|| "  ".to_owned(), str::to_owned)
}

/// A whole file, behind what there is of blanks and comments.
pub(super) fn fresh(text: &str, value: &Value) -> String {
    let style = Style { ending: line_ending(text), unit: "  ".to_owned(), indent: Some(""), airy: true };
    let bare = text.trim_start_matches(crate::edit::BOM);
    let gap = if bare.is_empty() || bare.ends_with('\n') { "" } else { style.ending };
    format!("{text}{gap}{}{}", style.render(value), style.ending)
}

/// Puts a member at the end of an object.
pub(super) fn insert(text: &str, object: &Node, key: &str, value: &Value) -> String {
    let Body::Object(members) = &object.body else { return text.to_owned() };
    let close = object.end - 1;
    let ending = line_ending(text);
    let unit = unit(text);
    let base = indent_at(text, object.start);
    let one = |style: &Style<'_>| {
        let mut out = String::new();
        style.member(key, value, 0, &mut out);
        out
    };
    let Some(last) = members.last() else {
        let inner = &text[object.start + 1..close];
        let blank = inner.trim().is_empty();
        let on_one_line = blank && !text.trim_end().contains('\n') && text.len() > object.end - object.start + 1;
        if on_one_line {
            let airy = text.contains("\": ");
            let member = one(&Style { ending, unit, indent: None, airy });
            return format!("{}{member}{}", &text[..=object.start], &text[close..]);
        }
        let indent = format!("{base}{unit}");
        let member = one(&Style { ending, unit, indent: Some(&indent), airy: true });
        if blank {
            return format!("{}{ending}{indent}{member}{ending}{base}{}", &text[..=object.start], &text[close..]);
        }
        // Behind the last comment; a line comment ends before the line ending that follows.
        let end = object.start + 1 + inner.trim_end().len();
        let tail = if text[end..close].contains('\n') { String::new() } else { format!("{ending}{base}") };
        return format!("{}{ending}{indent}{member}{tail}{}", &text[..end], &text[end..]);
    };
    let after = behind_blanks(text, last.value.end);
    let trailing = text.as_bytes().get(after) == Some(&b',');
    let from = if trailing { after + 1 } else { last.value.end };
    // What is left before the brace are comments, then blanks.
    let end = from + text[from..close].trim_end().len();
    let comma = if trailing { "" } else { "," };
    let lines = text[object.start..last.key_start].contains('\n') || text[from..close].contains("//");
    if !lines {
        let airy = text[last.key_end..last.value.start].contains(' ');
        let member = one(&Style { ending, unit, indent: None, airy });
        let blank = if airy { " " } else { "" };
        let keep = if trailing { "," } else { "" };
        return format!("{}{comma}{}{blank}{member}{keep}{}", &text[..from], &text[from..end], &text[end..]);
    }
    let indent = if leads_its_line(text, last.key_start) {
        indent_at(text, last.key_start).to_owned()
    } else {
        format!("{base}{unit}")
    };
    let member = one(&Style { ending, unit, indent: Some(&indent), airy: true });
    let keep = if trailing { "," } else { "" };
    let tail = if text[end..close].contains('\n') { String::new() } else { format!("{ending}{base}") };
    format!("{}{comma}{}{ending}{indent}{member}{keep}{tail}{}", &text[..from], &text[from..end], &text[end..])
}

/// Puts a value in the place of another one.
pub(super) fn replace(text: &str, node: &Node, value: &Value) -> String {
    let one_line = !text.trim_end().contains('\n') || {
        let start = text[..node.start].rfind('\n').map_or(0, |line| line + 1);
        // A member that shares its line with others stays on it.
        matches!(node.body, Body::Scalar) && text[start..node.start].contains('{')
    };
    let airy = !one_line || text.contains("\": ");
    let indent = (!one_line).then(|| indent_at(text, node.start));
    let style = Style { ending: line_ending(text), unit: unit(text), indent, airy };
    format!("{}{}{}", &text[..node.start], style.render(value), &text[node.end..])
}

/// Takes a member out, with the one comma that goes with it and the line that it has to itself.
pub(super) fn remove(text: &str, object: &Node, member: &Member) -> String {
    let Body::Object(members) = &object.body else { return text.to_owned() };
    let close = object.end - 1;
    let index = members.iter().position(|other| other.key_start == member.key_start).unwrap_or(0);
    let after = behind_blanks(text, member.value.end);
    let has_comma = text.as_bytes().get(after) == Some(&b',');
    let blanks = |from: usize| from + (text[from..].len() - text[from..].trim_start_matches([' ', '\t']).len());
    // Comments between the value and its comma are nobody's but the reader's: only the comma goes.
    let (ours_end, comma) = match has_comma {
        true if text[member.value.end..after].trim().is_empty() => (after + 1, None),
        true => (member.value.end, Some(after)),
        false => (member.value.end, None),
    };
    let next = blanks(ours_end);
    let led = text[..member.key_start].trim_end_matches([' ', '\t']);
    let (start, end) = if next >= close {
        (led.len(), ours_end)
    } else if text[next..].starts_with(['\n', '\r']) {
        let line = led.strip_suffix('\n').map_or(led, |led| led.strip_suffix('\r').unwrap_or(led));
        (line.len(), next)
    } else {
        (member.key_start, next)
    };
    let before_comma = (!has_comma && index > 0)
        .then(|| behind_blanks(text, members[index - 1].value.end))
        .filter(|at| text.as_bytes().get(*at) == Some(&b','));
    let mut out = String::with_capacity(text.len());
    match before_comma {
        Some(at) => {
            out.push_str(&text[..at]);
            out.push_str(&text[at + 1..start.max(at + 1)]);
        }
        None => out.push_str(&text[..start]),
    }
    match comma {
        Some(at) => {
            out.push_str(&text[end..at]);
            out.push_str(&text[at + 1..]);
        }
        None => out.push_str(&text[end..]),
    }
    if members.len() == 1 {
        // Nothing but blanks between the braces: they close.
        let inner_end = out.len() - (text.len() - close);
        if out[object.start + 1..inner_end].trim().is_empty() {
            return format!("{}{}", &out[..=object.start], &out[inner_end..]);
        }
    }
    out
}
