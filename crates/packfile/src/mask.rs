//! Secrets that never leave: masked in answers, logs, job logs and the audit.

use std::borrow::Cow;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::Pattern;

/// What stands in place of a secret.
pub const MASKED: &str = "[masked]";

/// `key = value` as JSON, YAML, TOML and shells write it; values may be quoted, lists, small objects, YAML blocks or
/// the rest of the line.
const MEMBER: &str = r#"(?x)
    (?<before> (?<quote> ["']? ) (?<key> [A-Za-z_][A-Za-z0-9_.-]* ) ["']? [\ \t]* [:=] [\ \t]* )
    (?<value>
        "(?: [^"\\\n] | \\. )*"
      | '[^'\n]*'
      | \[ [^\]]* \]
      | \{ [^{}]* \}
      | [|>][+-]?[0-9]?[\ \t]*\n (?: [\ \t]+ [^\n]* \n? )+
      | [^\s"'\[{,;\#] [^\n,;}\]]*
    )"#;

/// What is masked.
#[derive(Debug, Clone)]
pub struct Mask {
    members: Option<Pattern>,
    options: Vec<String>,
    patterns: Vec<Pattern>,
    member_text: Regex,
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
        let member_text = Regex::new(MEMBER).map_err(|error| error.to_string())?;
        let names: Vec<_> = options.iter().map(|option| regex::escape(option)).collect();
        // A bare value ends before the quote of a text that it stands in: in JSON the rest must stay what it was.
        let value = r#"(?<secret>"[^"\n]*"|'[^'\n]*'|(?:\\.|[^\s"'\\])+)"#;
        let option_text = (!names.is_empty())
            .then(|| Regex::new(&format!(r"(?<before>(?:^|\s|['\x22])(?:{})(?:=|[ \t]+)){value}", names.join("|"))));
        let option_text = option_text.transpose().map_err(|error| error.to_string())?;
        Ok(Self { members, options, patterns, member_text, option_text })
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
            text = replace(&self.member_text, text, |found| {
                let hide = members.is_match(&found["key"]) && found["value"] != *MASKED;
                hide.then(|| hidden_member(found))
            });
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

/// A member with its value hidden, in the quotes that keep the text what it was.
fn hidden_member(found: &Captures) -> String {
    let (before, value) = (&found["before"], &found["value"]);
    let hidden = match value.chars().next() {
        Some('\'') => format!("'{MASKED}'"),
        Some('|' | '>') if value.ends_with('\n') => format!("\"{MASKED}\"\n"),
        Some('"' | '[' | '{' | '|' | '>') => format!("\"{MASKED}\""),
        _ if found["quote"].is_empty() => MASKED.to_owned(),
        // JSON: a bare number or word.
        _ => format!("\"{MASKED}\""),
    };
    format!("{before}{hidden}")
}

/// Replaces what `hide` answers for; what it leaves is looked at again from its second character, since one match may
/// hide the next.
fn replace<'t>(regex: &Regex, text: Cow<'t, str>, hide: impl Fn(&Captures) -> Option<String>) -> Cow<'t, str> {
    let mut made = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = regex.captures_at(&text, at) {
        let Some(whole) = found.get(0) else { break };
        match hide(&found) {
            Some(hidden) => {
                made.push_str(&text[copied..whole.start()]);
                made.push_str(&hidden);
                copied = whole.end();
                at = whole.end();
            }
            None => at = found.name("value").map_or(whole.end(), |value| value.start()).max(whole.start() + 1),
        }
        if at > text.len() || whole.is_empty() {
            break;
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    if copied == 0 && made.is_empty() {
        return text;
    }
    made.push_str(&text[copied..]);
    Cow::Owned(made)
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
            ("ü password=grüße, ü", "ü password=[masked], ü"),
            ("PASS=1", "PASS=[masked]"),
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
    fn masking_twice_changes_nothing_more() {
        let once = mask().text("password: a\nsecret: [1, 2]\nrun --password b").into_owned();
        assert_eq!(mask().text(&once), once);
    }
}
