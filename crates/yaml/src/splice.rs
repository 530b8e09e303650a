//! Replacements in a text, told by byte offsets, and what is known about its lines.

use crate::lex;
use std::ops::Range;

/// Replacements that do not overlap; everything else of the text stays.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Splices {
    parts: Vec<(Range<usize>, String)>,
}

impl Splices {
    pub(crate) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.parts.push((range, text.into()));
    }

    pub(crate) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Puts whole lines below the line that holds `at`. They take that line's ending; a text
    /// without a final line end keeps none.
    pub(crate) fn insert_lines(&mut self, text: &str, at: usize, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let end = lex::line_end(text, at);
        let eol = line_ending(text, end);
        let added: String = lines.iter().flat_map(|line| [eol, line.as_str()]).collect();
        self.insert(end, added);
    }

    /// Replaces the lines from the one that holds `first` to the one that holds `last`.
    pub(crate) fn replace_lines(&mut self, text: &str, first: usize, last: usize, lines: &[String]) {
        let end = lex::line_end(text, last);
        let eol = line_ending(text, end);
        self.replace(lex::line_start(text, first)..end, lines.join(eol));
    }

    /// Removes the lines from the one that holds `first` to the one that holds `last`.
    pub(crate) fn delete_lines(&mut self, text: &str, first: usize, last: usize) {
        let mut start = lex::line_start(text, first);
        let end = lex::next_line(text, last);
        // The last line goes with the line end before it, when it has none of its own.
        if end == lex::line_end(text, last) {
            start -= lex::trailing_break(text, start);
        }
        self.replace(start..end, "");
    }

    /// The text with all replacements made; `None` when they overlap.
    pub(crate) fn apply(mut self, text: &str) -> Option<String> {
        self.parts.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(text.len() + 64);
        let mut at = 0;
        for (range, new) in &self.parts {
            out.push_str(text.get(at..range.start)?);
            out.push_str(new);
            at = range.end;
        }
        out.push_str(text.get(at..)?);
        Some(out)
    }
}

/// The line ending at `end`, or the one before it, or `\n`.
pub(crate) fn line_ending(text: &str, end: usize) -> &str {
    let length = lex::break_len(text, end);
    if length > 0 {
        return text.get(end..end + length).unwrap_or("\n");
    }
    let start = lex::line_start(text, end);
    let length = lex::trailing_break(text, start);
    if length > 0 { text.get(start - length..start).unwrap_or("\n") } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(text: &str, edit: impl Fn(&mut Splices)) -> String {
        let mut splices = Splices::default();
        edit(&mut splices);
        splices.apply(text).unwrap()
    }

    #[test]
    fn lines_take_the_ending_of_the_line_before() {
        let new = ["x".to_owned()];
        let below = |text: &str, at| done(text, |s| s.insert_lines(text, at, &new));
        assert_eq!(below("a\r\nb\n", 0), "a\r\nx\r\nb\n");
        assert_eq!(below("a\r\nb\n", 3), "a\r\nb\nx\n");
        assert_eq!(below("a\r\nb", 3), "a\r\nb\r\nx");
        assert_eq!(below("a", 0), "a\nx");
    }

    #[test]
    fn a_text_without_final_line_end_keeps_none() {
        let delete = |text: &str, at| done(text, |s| s.delete_lines(text, at, at));
        assert_eq!(delete("a\r\nb\r\nc", 6), "a\r\nb");
        assert_eq!(delete("a\nb\n", 2), "a\n");
        assert_eq!(delete("\u{feff}a\nb\n", 3), "\u{feff}b\n");
        assert_eq!(delete("a", 0), "");
    }

    #[test]
    fn overlapping_replacements_are_refused() {
        let mut splices = Splices::default();
        splices.replace(0..2, "");
        splices.replace(1..3, "");
        assert_eq!(splices.apply("abc"), None);
    }
}
