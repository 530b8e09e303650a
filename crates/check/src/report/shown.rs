//! How foreign text, values and times are shown: nothing hidden, nothing that steers a terminal, nothing endless.

use crate::outcome::{Status, StepOutcome};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Longer values are cut, in characters.
const VALUE_LIMIT: usize = 500;

/// Longer lines of captured output are cut, in characters.
const LINE_LIMIT: usize = 400;

/// The text with everything that cannot be seen, or that would steer a terminal, in a visible form.
///
/// Line feeds and tabs stay. Control characters become their pictures (`␛`), marks that reorder or hide text become
/// `\u{202e}`. Reports show what a server sent, so nothing is dropped.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !unseen(c) => out.push(c),
            '\u{7f}' => out.push('␡'),
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

fn unseen(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Reordering marks, invisible separators, the byte order mark, tags, noncharacters (XML refuses some).
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => true,
        '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// The text on one line: runs of blanks and line ends become one blank.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()).collect();
    visible(&words.join(" ")).into_owned()
}

/// The text up to `limit` characters, with a mark that tells its length when it was cut.
pub(super) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}… ({} characters in all)", &text[..end], text.chars().count())),
    }
}

/// A value as JSON on one line, cut.
pub(super) fn value(value: &Value) -> String {
    cut(&visible(&value.to_string()), VALUE_LIMIT).into_owned()
}

/// Lines of captured output: the first and last of them when there are more than `limit`, long ones cut.
pub(super) fn output(text: &str, limit: usize) -> Vec<String> {
    let text = visible(text.strip_suffix('\n').unwrap_or(text)).into_owned();
    let lines: Vec<_> = text.split('\n').map(|line| cut(line, LINE_LIMIT).into_owned()).collect();
    if lines.len() <= limit {
        return lines;
    }
    let tail = limit / 2;
    let head = limit - tail;
    let mut shown = lines[..head].to_vec();
    shown.push(format!("… {} left out …", count(lines.len() - limit, "line")));
    shown.extend_from_slice(&lines[lines.len() - tail..]);
    shown
}

/// Milliseconds for people: `12 ms`, `1.2 s`, `2 min 5 s`.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `1 step`, `3 steps`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// `3 attempts, 1.2 s`; only the time when one attempt was enough.
pub(super) fn effort(attempts: u32, elapsed_ms: u64) -> String {
    match attempts {
        0 | 1 => duration(elapsed_ms),
        _ => format!("{attempts} attempts, {}", duration(elapsed_ms)),
    }
}

/// `mcp call`: the verb, and its method where it has one.
pub(super) fn verb(step: &StepOutcome) -> String {
    step.method.as_ref().map_or_else(|| step.verb.clone(), |method| format!("{} {method}", step.verb))
}

/// The word and the mark of a status; each alone tells them apart.
pub(super) const fn status(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Passed => ("passed", "✓"),
        Status::Failed => ("failed", "✗"),
        Status::Skipped => ("skipped", "-"),
        Status::Error => ("error", "!"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(visible("\u{fdd0}"), "\\u{fdd0}");
        assert_eq!(visible("a\u{1b}[31mb\0\r\n\tc\u{7f}"), "a␛[31mb␀␍\n\tc␡");
        assert_eq!(visible("\u{202e}x\u{9b}\u{ffff}"), "\\u{202e}x\\u{9b}\\u{ffff}");
        assert!(matches!(visible("grün 漢字 👩‍💻\n"), Cow::Borrowed(_)));
        assert_eq!(one_line(" a\r\n  b\u{7} "), "a b␇");
    }

    #[test]
    fn times_and_counts_read_well() {
        let shown: Vec<_> = [0, 999, 1_000, 1_250, 59_999, 125_000].map(duration).to_vec();
        assert_eq!(shown, ["0 ms", "999 ms", "1.0 s", "1.2 s", "59.9 s", "2 min 5 s"]);
        assert_eq!(
            [count(0, "step"), count(1, "step"), effort(1, 5), effort(2, 5)].join("|"),
            "0 steps|1 step|5 ms|2 attempts, 5 ms"
        );
    }

    #[test]
    fn long_output_keeps_head_and_tail() {
        let text: String = (1..=10).map(|n| format!("{n}\n")).collect();
        assert_eq!(output(&text, 4), ["1", "2", "… 6 lines left out …", "9", "10"]);
        assert_eq!(output("a\n\n", 4), ["a", ""]);
        assert_eq!(cut("äöü", 2), "äö… (3 characters in all)");
        assert_eq!(cut("äöü", 3), "äöü");
    }
}
