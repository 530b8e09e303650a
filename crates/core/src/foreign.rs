//! Text that somebody else wrote: data, never instructions, and never a terminal's commands.

use serde::Serialize;
use std::fmt;

/// Text of foreign origin without control codes; newlines and tabs stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Foreign {
    /// The text.
    pub text: String,
    /// Whether bytes that are not UTF-8 were replaced.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lossy: bool,
}

impl Foreign {
    /// From bytes of unknown encoding.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let lossy = matches!(text, std::borrow::Cow::Owned(_));
        Self { text: clean(&text), lossy }
    }

    /// From text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: clean(text), lossy: false }
    }

    /// One line: everything that breaks lines becomes a space.
    #[must_use]
    pub fn one_line(text: &str) -> String {
        clean(text).split(['\n', '\t']).map(str::trim).filter(|s| !s.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Drops terminal escape sequences, other control characters and the invisible marks that reorder text.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_until_final(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' | '\t' => out.push(c),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {}
            // Characters that no font shows but models read.
            '\u{e0000}'..='\u{e007f}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => skip_until_final(chars),
        // Operating system commands and their kin end with BEL or ESC \.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || c == '\u{9c}' {
                    break;
                }
                if c == '\u{1b}' {
                    chars.next();
                    break;
                }
            }
        }
        Some('(' | ')' | '#' | '%') => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_until_final(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for c in chars.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_6_10_escapes_and_controls_go_and_lossy_bytes_are_flagged() {
        let foreign = Foreign::from_bytes(b"\x1b[31mred\x1b[0m\x00\x1b]0;title\x07 ok\r\n\xff\xfe");
        assert_eq!(foreign.text, "red ok\n\u{fffd}\u{fffd}");
        assert!(foreign.lossy);
        assert!(!Foreign::new("plain\ttext").lossy);
        assert_eq!(Foreign::new("a\u{202e}b\u{e0041}c").text, "abc");
        assert_eq!(Foreign::one_line("two\r\n  lines\t\n"), "two lines");
    }
}
