//! Secrets that never leave: masked in answers, logs, job logs and the audit.

use std::borrow::Cow;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::Pattern;

/// What stands in place of a secret.
pub const MASKED: &str = "[masked]";

/// The name and the separator of `key = value` as JSON, YAML, TOML and shells write it.
const KEY: &str = r#"(?<quote>["']?)(?<key>[A-Za-z_][A-Za-z0-9_.-]*)["']?[ \t]*[:=][ \t]*"#;

/// A list or object that is longer in the text, in bytes, is masked to the end of its line.
const LONGEST_BRACKET: usize = 8 * 1024;

/// What is masked.
#[derive(Debug, Clone)]
pub struct Mask {
    members: Option<Pattern>,
    options: Vec<String>,
    patterns: Vec<Pattern>,
    key_text: Regex,
    option_text: Option<Regex>,
}

impl PartialEq for Mask {
    fn eq(&self, other: &Self) -> bool {
        (&self.members, &self.options, &self.patterns) == (&other.members, &other.options, &other.patterns)
    }
}

impl Mask {
    /// Masks members whose name matches, values after these options, and the group `secret` of these patterns.
    ///
    /// # Errors
    /// When the expression made of them does not compile; the text says why.
    pub fn new(members: Option<Pattern>, options: Vec<String>, patterns: Vec<Pattern>) -> Result<Self, String> {
        let key_text = Regex::new(KEY).map_err(|error| error.to_string())?;
        let names: Vec<_> = options.iter().map(|option| regex::escape(option)).collect();
        // A bare value ends before the quote of a text that it stands in: in JSON the rest must stay what it was.
        let value = r#"(?<secret>"[^"\n]*"|'[^'\n]*'|(?:\\.|[^\s"'\\])+)"#;
        let option_text = (!names.is_empty())
            .then(|| Regex::new(&format!(r"(?<before>(?:^|\s|['\x22])(?:{})(?:=|[ \t]+)){value}", names.join("|"))));
        let option_text = option_text.transpose().map_err(|error| error.to_string())?;
        Ok(Self { members, options, patterns, key_text, option_text })
    }

    /// Names of members whose values are masked.
    #[must_use]
    pub const fn members(&self) -> Option<&Pattern> {
        self.members.as_ref()
    }

    /// Options whose values are masked.
    #[must_use]
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// Patterns whose group `secret` is masked.
    #[must_use]
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// A text, such as output or a configuration file, with its secrets masked. Give whole lines.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        if let Some(members) = &self.members {
            text = self.members_of(text, members);
        }
        if let Some(options) = &self.option_text {
            text = replace(options, text, |found| Some(format!("{}{MASKED}", &found["before"])));
        }
        for pattern in &self.patterns {
            text = replace(pattern.regex(), text, |found| {
                let (whole, secret) = (found.get(0)?, found.name("secret")?);
                let (from, to) = (secret.start() - whole.start(), secret.end() - whole.start());
                Some(format!("{}{MASKED}{}", &whole.as_str()[..from], &whole.as_str()[to..]))
            });
        }
        text
    }

    /// The text with the values of members masked. Every byte is looked at a few times at most, whatever the text is.
    fn members_of<'t>(&self, text: Cow<'t, str>, members: &Pattern) -> Cow<'t, str> {
        let mut made = String::new();
        let (mut copied, mut at) = (0, 0);
        while let Some(found) = self.key_text.captures_at(&text, at) {
            let Some(whole) = found.get(0) else { break };
            at = whole.end();
            let rest = &text[at..];
            if rest.starts_with(MASKED) || !members.is_match(&found["key"]) {
                continue;
            }
            let bare = if !found["quote"].is_empty() {
                Bare::Json
            } else if in_brackets(&text[..whole.start()]) {
                Bare::Flow
            } else {
                Bare::Line
            };
            let Some((length, hidden)) = hidden_value(rest, bare) else { continue };
            made.push_str(&text[copied..at]);
            made.push_str(&hidden);
            at += length;
            copied = at;
        }
        if copied == 0 {
            return text;
        }
        made.push_str(&text[copied..]);
        Cow::Owned(made)
    }

    /// Masks secrets in a JSON value: whole members by name, and what [`Mask::text`] finds in strings.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    if self.members.as_ref().is_some_and(|members| members.is_match(key)) && !inner.is_null() {
                        *inner = MASKED.into();
                    } else {
                        self.value(inner);
                    }
                }
            }
            Value::Array(items) => {
                let mut after = false;
                for item in items {
                    // An argument vector holds the option and its value as two strings.
                    let option = item.as_str().is_some_and(|text| self.options.iter().any(|option| option == text));
                    if after && item.is_string() {
                        *item = MASKED.into();
                    } else {
                        self.value(item);
                    }
                    after = option;
                }
            }
            Value::String(text) => {
                if let Cow::Owned(masked) = self.text(text) {
                    *text = masked;
                }
            }
            _ => {}
        }
    }
}

/// Where a value without quotes ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bare {
    /// Where JSON's numbers and words do.
    Json,
    /// At the next comma or bracket, as in `{a: 1, b: 2}`.
    Flow,
    /// With its line: what follows a comma may still be of the secret.
    Line,
}

/// Whether a bracket is open at the end of the text's last line.
fn in_brackets(before: &str) -> bool {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(LONGEST_BRACKET))..];
    let line = near.rsplit('\n').next().unwrap_or_default();
    let count = |brackets: [char; 2]| line.matches(brackets).count();
    count(['{', '[']) > count(['}', ']'])
}

/// Bytes of the value that a text begins with, and what stands there instead, in the quotes that keep the text what it
/// was. `None` when there is no value.
fn hidden_value(rest: &str, bare: Bare) -> Option<(usize, String)> {
    let line = rest.find('\n').unwrap_or(rest.len());
    let quoted = format!("\"{MASKED}\"");
    let near = &rest[..rest.floor_char_boundary(LONGEST_BRACKET)];
    let closed = |close: char| near.find(close).map(|at| at + 1);
    Some(match rest.chars().next()? {
        '"' => (string_end(&rest[..line]).unwrap_or(line), quoted),
        '\'' => (literal_end(&rest[..line]).unwrap_or(line), format!("'{MASKED}'")),
        '[' => (closed(']').unwrap_or(line), quoted),
        '{' => (closed('}').unwrap_or(line), quoted),
        '|' | '>' if rest[1..line].chars().all(|c| "+-0123456789 \t\r".contains(c)) => {
            (line + block_end(&rest[line..]), quoted)
        }
        ',' | ';' | '#' | '}' | ']' | '\n' | '\r' => return None,
        _ => {
            let end = if bare == Bare::Line { None } else { rest[..line].find([',', '}', ']']) };
            let hidden = if bare == Bare::Json { quoted } else { MASKED.to_owned() };
            (rest[..end.unwrap_or(line)].trim_end().len(), hidden)
        }
    })
}

/// Where a string in double quotes ends, its last quote included.
fn string_end(line: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return Some(at + 1),
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    None
}

/// Where a string in single quotes ends, its last quote included; two of them are one of its characters.
fn literal_end(line: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        at += line.get(at..)?.find('\'')? + 1;
        if !line[at..].starts_with('\'') {
            return Some(at);
        }
        at += 1;
    }
}

/// Bytes of the lines after the first newline that are indented: a block of YAML.
fn block_end(rest: &str) -> usize {
    let lines = rest.strip_prefix('\n').unwrap_or_default().split_inclusive('\n');
    let block: usize = lines.take_while(|line| line.starts_with([' ', '\t'])).map(str::len).sum();
    // The newline that ends the block stays.
    if rest.get(1..=block).is_some_and(|block| block.ends_with('\n')) { block } else { block + usize::from(block > 0) }
}

/// Replaces every match by what `hide` answers.
fn replace<'t>(regex: &Regex, text: Cow<'t, str>, hide: impl Fn(&Captures) -> Option<String>) -> Cow<'t, str> {
    let made = regex.replace_all(&text, |found: &Captures| hide(found).unwrap_or_else(|| found[0].to_owned()));
    match made {
        Cow::Borrowed(_) => text,
        Cow::Owned(made) => Cow::Owned(made),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mask() -> Mask {
        let members = Pattern::new("(?i)pass(word|phrase)?$|secret|token").unwrap();
        let pattern = Pattern::new(r"chpasswd <<< (?<secret>\S+)").unwrap();
        Mask::new(Some(members), vec!["--password".into()], vec![pattern]).unwrap()
    }

    #[test]
    fn s_39_secrets_in_texts_of_all_shapes_are_masked() {
        for (text, masked) in [
            ("password: evolution\nuser: live\n", "password: [masked]\nuser: live\n"),
            ("{\"password\":\"a\\\"b\",\"user\":\"live\"}", "{\"password\":\"[masked]\",\"user\":\"live\"}"),
            ("{\"luks_passphrase\": 12, \"n\": 1}", "{\"luks_passphrase\": \"[masked]\", \"n\": 1}"),
            ("rootPassword = 'x y'\nnext = 1", "rootPassword = '[masked]'\nnext = 1"),
            ("tokens: [\n a,\n b\n]\nz: 1", "tokens: \"[masked]\"\nz: 1"),
            ("secret: |\n  one\n  two\nz: 1", "secret: \"[masked]\"\nz: 1"),
            ("outer: {password: x, a: 1}", "outer: {password: [masked], a: 1}"),
            ("run --password hush now", "run --password [masked] now"),
            ("run --password='hush now' -x", "run --password=[masked] -x"),
            (r#"{"run": "run --password hush\"x", "a": 1}"#, r#"{"run": "run --password [masked]", "a": 1}"#),
            ("chpasswd <<< hush; ok", "chpasswd <<< [masked] ok"),
            ("ü password=grü, ße\nü", "ü password=[masked]\nü"),
            ("PASS=1", "PASS=[masked]"),
            ("password: pa,ss; w]ord # x\n", "password: [masked]\n"),
            ("[coa] password: a, b", "[coa] password: [masked]"),
            ("[{\"password\":1,\"b\":2}]", "[{\"password\":\"[masked]\",\"b\":2}]"),
            ("password: 'it''s'\nx: 'y'", "password: '[masked]'\nx: 'y'"),
            ("secret: |-\n  one\n  two", "secret: \"[masked]\""),
            ("a=b=c;secret=[x\nnext", "a=b=c;secret=\"[masked]\"\nnext"),
            ("password: \"open\nnext", "password: \"[masked]\"\nnext"),
            ("password: \"a\\\\\", b", "password: \"[masked]\", b"),
        ] {
            assert_eq!(mask().text(text), masked, "{text}");
        }
        for same in ["passenger: 7\n", "compass", "password:", "nothing here", "https://host:80/x"] {
            assert!(matches!(mask().text(same), Cow::Borrowed(text) if text == same), "{same}");
        }
    }

    #[test]
    fn s_39_secrets_in_values_are_masked() {
        let mut value = json!({
            "plan": {"user": {"name": "live", "Password": {"hash": "x"}, "token": null}, "lines": ["password: x"]},
            "argv": ["--password", "hush", "--clone"],
            "text": "secret=abc",
        });
        mask().value(&mut value);
        assert_eq!(
            value,
            json!({
                "plan": {"user": {"name": "live", "Password": MASKED, "token": null}, "lines": ["password: [masked]"]},
                "argv": ["--password", MASKED, "--clone"],
                "text": "secret=[masked]",
            })
        );
    }

    #[test]
    fn hostile_texts_are_masked_in_one_walk() {
        // Each of these once made a walk over the whole rest of the text for each of its keys.
        for piece in ["secret=[", "secret=[\n", "a=[", "secret: \"\\", "secret: |\n", "a"] {
            let text = piece.repeat(20_000);
            let masked = mask().text(&text).into_owned();
            assert!(masked.len() <= text.len() * 3, "{piece}");
        }
    }

    #[test]
    fn masking_twice_changes_nothing_more() {
        let once = mask().text("password: a\nsecret: [1, 2]\nrun --password b").into_owned();
        assert_eq!(mask().text(&once), once);
    }
}
