//! Changes inside brackets: `[a, b]` and `{a: 1}`, on one line or several.

use crate::change::{Change, children};
use crate::document::NodeId;
use crate::lex;
use crate::splice::{Splices, line_ending};

impl Change<'_> {
    /// Adds entries or items, written already, before the closing bracket.
    pub(crate) fn add_in_brackets(&self, splices: &mut Splices, id: NodeId, pieces: &[String]) {
        let node = self.data(id);
        let (open, close) = (node.content + 1, node.end - 1);
        let count = children(node);
        if count == 0 {
            let inner = self.text.get(open..close).unwrap_or_default();
            let end = if inner.trim().is_empty() { close } else { open };
            splices.replace(open..end, pieces.join(", "));
            return;
        }
        let last = self.child_span(id, count - 1);
        let comma = self.comma_after(last.end);
        let own_lines =
            lex::first_on_line(self.text, last.start) && close > lex::line_end(self.text, comma.unwrap_or(last.end));
        if !own_lines {
            match comma {
                Some(comma) => splices.insert(comma + 1, format!(" {},", pieces.join(", "))),
                None => splices.insert(last.end, format!(", {}", pieces.join(", "))),
            }
            return;
        }
        let line = lex::line_start(self.text, last.start);
        let indent = self.text.get(line..last.start).unwrap_or_default();
        let end = lex::line_end(self.text, comma.unwrap_or(last.end));
        let eol = line_ending(self.text, end);
        let mut added = String::new();
        for (n, piece) in pieces.iter().enumerate() {
            let more = if n + 1 < pieces.len() || comma.is_some() { "," } else { "" };
            added.extend([eol, indent, piece, more]);
        }
        if comma.is_none() {
            splices.insert(last.end, ",");
        }
        splices.insert(end, added);
    }

    /// Removes an entry or item, with one comma.
    pub(crate) fn delete_in_brackets(&self, splices: &mut Splices, id: NodeId, index: usize) {
        let count = children(self.data(id));
        let span = self.child_span(id, index);
        let comma = self.comma_after(span.end);
        let before = index.checked_sub(1).map(|before| self.child_span(id, before).end);
        if self.has_own_lines(span.start, comma.map_or(span.end, |comma| comma + 1)) {
            splices.delete_lines(self.text, span.start, comma.unwrap_or(span.end));
            if let (None, Some(comma)) = (comma, before.and_then(|end| self.comma_after(end))) {
                splices.replace(comma..comma + 1, "");
            }
            return;
        }
        let next = (index + 1 < count).then(|| self.child_span(id, index + 1).start);
        let (from, to) = match (before, next) {
            (_, Some(next)) if !self.breaks(span.end, next) || before.is_none() => (span.start, next),
            (Some(before), _) => (before, span.end),
            (None, _) => (span.start, span.end),
        };
        if self.text.get(from..to).is_some_and(|gone| gone.contains('#')) {
            // A comment stands in between: it stays, and so does the comma before.
            let end = comma.map_or(span.end, |comma| comma + 1);
            splices.replace(span.start..end, "");
        } else {
            splices.replace(from..to, "");
        }
    }

    /// The comma that follows an entry or item.
    fn comma_after(&self, end: usize) -> Option<usize> {
        let at = lex::skip_trivia(self.text, end);
        (lex::byte(self.text, at) == b',').then_some(at)
    }

    /// Does the text from `start` to `end` stand on lines of its own, a comment apart?
    fn has_own_lines(&self, start: usize, end: usize) -> bool {
        let rest = lex::skip_blanks(self.text, end);
        let over = lex::is_break(lex::byte(self.text, rest)) || rest >= self.text.len();
        lex::first_on_line(self.text, start) && (over || lex::trailing_comment(self.text, end).is_some())
    }

    /// Is there a line end between two offsets?
    fn breaks(&self, from: usize, to: usize) -> bool {
        self.text.get(from..to).is_some_and(|between| between.contains(['\n', '\r']))
    }
}
