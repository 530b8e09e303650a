//! Making terminal output readable as text.

use std::borrow::Cow;

/// Takes terminal control sequences out: CSI (colours, cursor), OSC (titles, links) and two-byte escapes.
pub fn strip_ansi(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\u{9b}']) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\u{9b}' => skip_csi(&mut rest),
            '\u{1b}' => match rest.next() {
                Some('[') => skip_csi(&mut rest),
                // String sequences end with BEL or ESC \.
                Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&mut rest),
                // Designations of a character set take one more character.
                Some('(' | ')' | '*' | '+' | '#' | '%') => {
                    rest.next();
                }
                _ => {}
            },
            other => kept.push(other),
        }
    }
    Cow::Owned(kept)
}

fn skip_csi(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for character in rest.by_ref() {
        if ('@'..='~').contains(&character) {
            return;
        }
    }
}

fn skip_string(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(character) = rest.next() {
        match character {
            '\u{7}' => return,
            '\u{1b}' => {
                rest.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

/// Keeps of every line what a terminal would show last where a program drew over it with carriage returns.
/// `\r\n` becomes `\n`.
pub fn collapse_progress(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let line = line.trim_end_matches('\r');
        kept.push_str(line.rsplit('\r').next().unwrap_or(line));
        kept.push_str(end);
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_3_2_control_sequences_are_stripped() {
        for (given, wanted) in [
            ("plain", "plain"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://example.org\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}(Bx\u{1b}=y", "xy"),
            ("\u{9b}2Kz", "z"),
            ("cut \u{1b}[3", "cut "),
        ] {
            assert_eq!(strip_ansi(given), wanted, "{given:?}");
        }
    }

    #[test]
    fn an_3_2_progress_collapses_to_its_last_state() {
        for (given, wanted) in [
            ("plain\n", "plain\n"),
            ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
            ("dos\r\nlines\r\n", "dos\nlines\n"),
            ("1\r2\r", "2"),
        ] {
            assert_eq!(collapse_progress(given), wanted, "{given:?}");
        }
    }
}
