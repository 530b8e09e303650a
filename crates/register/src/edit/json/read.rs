//! A tree of spans over JSON as editors write it: comments and trailing commas are read, and told.

use crate::edit::{BOM, FILE_LIMIT, Place, Refusal};
use serde_json::{Map, Value};

/// Deepest nesting that is read.
const DEPTH: usize = 200;

/// What was read.
#[derive(Debug)]
pub(super) struct Tree {
    /// The value; none in a text of blanks and comments.
    pub(super) root: Option<Node>,
    /// Byte offset of the first comment or trailing comma.
    pub(super) lenient: Option<usize>,
}

/// A value by its bytes.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Scalar,
    Array(Vec<Node>),
    Object(Vec<Member>),
}

/// A key with its value.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_start: usize,
    pub(super) key_end: usize,
    pub(super) value: Node,
}

impl Node {
    /// What it is, in a word with its article.
    pub(super) fn kind(&self, text: &str) -> &'static str {
        match self.body {
            Body::Object(_) => "a map",
            Body::Array(_) => "a list",
            Body::Scalar => match text.as_bytes().get(self.start) {
                Some(b'"') => "a text",
                Some(b't' | b'f') => "a boolean",
                Some(b'n') => "null",
                _ => "a number",
            },
        }
    }

    /// Its value. Of a key that is there twice the last one counts, as for most readers.
    pub(super) fn to_value(&self, text: &str) -> Value {
        match &self.body {
            Body::Scalar => {
                let raw = &text[self.start..self.end];
                // A text with half a surrogate pair has no value; its bytes stand for it.
                serde_json::from_str(raw).unwrap_or_else(|_| Value::String(raw.to_owned()))
            }
            Body::Array(items) => items.iter().map(|item| item.to_value(text)).collect(),
            Body::Object(members) => {
                let pairs = members.iter().map(|member| (member.key.clone(), member.value.to_value(text)));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// What it says, to the last digit and with every double key, leaving out that entry and the containers on the way
    /// that hold nothing else.
    pub(super) fn exact_without(&self, text: &str, container: &[&str], name: &str) -> Option<Value> {
        let raw = || Value::String(text[self.start..self.end].to_owned());
        let Body::Object(members) = &self.body else {
            return match &self.body {
                Body::Scalar if &text[self.start..self.end] == "null" => None,
                _ => Some(raw()),
            };
        };
        let pairs = members.iter().filter_map(|member| {
            let inner = match container.split_first() {
                None if member.key == name => return None,
                Some((key, deeper)) if member.key == *key => member.value.exact_without(text, deeper, name)?,
                _ => Value::String(text[member.value.start..member.value.end].to_owned()),
            };
            Some(Value::from(vec![Value::from(member.key.as_str()), inner]))
        });
        let pairs: Vec<Value> = pairs.collect();
        (!pairs.is_empty()).then(|| Value::Array(pairs))
    }
}

/// Reads a text.
pub(super) fn read(text: &str) -> Result<Tree, Refusal> {
    let start = if text.starts_with(BOM) { BOM.len_utf8() } else { 0 };
    let mut reader = Reader { text, at: start, lenient: None };
    if text.len() > FILE_LIMIT {
        return Err(reader.wrong(start, "the file is larger than 4 MiB".to_owned()));
    }
    reader.skip()?;
    if reader.peek().is_none() {
        return Ok(Tree { root: None, lenient: reader.lenient });
    }
    let root = reader.value(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.wrong(reader.at, "something stands behind the end of the value".to_owned()));
    }
    Ok(Tree { root: Some(root), lenient: reader.lenient })
}

/// The offset behind blanks and comments, in a text that parses.
pub(super) fn behind_blanks(text: &str, at: usize) -> usize {
    let mut reader = Reader { text, at, lenient: None };
    match reader.skip() {
        Ok(()) => reader.at,
        Err(_) => text.len(),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    lenient: Option<usize>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, at: usize, message: String) -> Refusal {
        Refusal::Malformed { place: Place::of(self.text, at), message }
    }

    fn unexpected(&self, wanted: &str) -> Refusal {
        let found = match self.text[self.at..].chars().next() {
            Some(c) => format!("`{}`", c.escape_debug()),
            None => "the end of the file".to_owned(),
        };
        self.wrong(self.at, format!("{wanted} is missing before {found}"))
    }

    fn tolerated(&mut self, at: usize) {
        self.lenient.get_or_insert(at);
    }

    /// Passes blanks and comments.
    fn skip(&mut self) -> Result<(), Refusal> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(b'/') => {
                    let rest = &self.text[self.at..];
                    let length = if rest.starts_with("//") {
                        rest.find(['\n', '\r']).unwrap_or(rest.len())
                    } else if let Some(comment) = rest.strip_prefix("/*") {
                        let Some(end) = comment.find("*/") else {
                            return Err(self.wrong(self.at, "the comment has no end".to_owned()));
                        };
                        end + 4
                    } else {
                        return Ok(());
                    };
                    self.tolerated(self.at);
                    self.at += length;
                }
                _ => return Ok(()),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, Refusal> {
        if depth > DEPTH {
            return Err(self.wrong(self.at, format!("nested deeper than {DEPTH} levels")));
        }
        let start = self.at;
        let body = match self.peek() {
            Some(b'{') => Body::Object(self.members(depth)?),
            Some(b'[') => Body::Array(self.items(depth)?),
            Some(b'"') => {
                self.string()?;
                Body::Scalar
            }
            _ => {
                self.word()?;
                Body::Scalar
            }
        };
        Ok(Node { start, end: self.at, body })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Refusal> {
        let mut members = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.closed(b'}', !members.is_empty()) {
                return Ok(members);
            }
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes, or `}`,"));
            }
            let key_start = self.at;
            let key = self.string()?;
            let key_end = self.at;
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.at += 1;
            self.skip()?;
            let value = self.value(depth + 1)?;
            members.push(Member { key, key_start, key_end, value });
            self.skip()?;
            if self.separated(b'}')? {
                return Ok(members);
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Refusal> {
        let mut items = Vec::new();
        self.at += 1;
        loop {
            self.skip()?;
            if self.closed(b']', !items.is_empty()) {
                return Ok(items);
            }
            items.push(self.value(depth + 1)?);
            self.skip()?;
            if self.separated(b']')? {
                return Ok(items);
            }
        }
    }

    /// Whether the list ends here, behind a comma if it has items.
    fn closed(&mut self, close: u8, behind_comma: bool) -> bool {
        if self.peek() != Some(close) {
            return false;
        }
        if behind_comma {
            self.tolerated(self.at);
        }
        self.at += 1;
        true
    }

    /// Whether the list ends here; if not, a comma is passed.
    fn separated(&mut self, close: u8) -> Result<bool, Refusal> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(found) if found == close => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.unexpected(if close == b'}' { "`,` or `}`" } else { "`,` or `]`" })),
        }
    }

    fn string(&mut self) -> Result<String, Refusal> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break self.at += 1,
                Some(b'\\') => {
                    let escape = bytes.get(self.at + 1).copied();
                    let hex = |range: std::ops::Range<usize>| {
                        bytes.get(range).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
                    };
                    self.at += match escape {
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                        Some(b'u') if hex(self.at + 2..self.at + 6) => 6,
                        _ => return Err(self.wrong(self.at, "this is no escape".to_owned())),
                    };
                }
                Some(byte) if byte < 0x20 => {
                    return Err(self.wrong(self.at, "a text does not go over the end of its line".to_owned()));
                }
                Some(_) => self.at += 1,
                None => return Err(self.wrong(start, "the text has no end".to_owned())),
            }
        }
        let raw = &self.text[start..self.at];
        Ok(serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()))
    }

    fn word(&mut self) -> Result<(), Refusal> {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !(c.is_alphanumeric() || "+-._".contains(c))).unwrap_or(rest.len());
        let word = &rest[..length];
        if word.is_empty() {
            return Err(self.unexpected("a value"));
        }
        if !matches!(word, "true" | "false" | "null") && serde_json::from_str::<serde_json::Number>(word).is_err() {
            return Err(self.wrong(self.at, format!("`{word}` is no value")));
        }
        self.at += length;
        Ok(())
    }
}
