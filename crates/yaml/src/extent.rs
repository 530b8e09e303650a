//! Where nodes start and end.
//!
//! The events of saphyr-parser are exact about meaning, not about extent: a quoted scalar's mark
//! ends behind the blanks that follow, a block scalar's mark starts at its content, an unindented
//! list's mark starts behind its first dash. The extent is therefore measured on the text.

use crate::build::Builder;
use crate::document::{Body, NodeData, Style};
use crate::lex;
use crate::tags::tag_text;
use saphyr_parser::{ScalarStyle, Tag};

impl Builder<'_> {
    /// Name of the anchor among the properties that start at `start`.
    pub(crate) fn anchor_name(&self, start: usize, content: usize) -> Option<String> {
        let properties = self.text.get(start..content)?;
        // A tag may hold no `&`, so the first one starts the anchor.
        let at = start + properties.find('&')? + 1;
        let mut end = at;
        while end < self.text.len() && !lex::ends_word(lex::byte(self.text, end)) {
            end += 1;
        }
        self.text.get(at..end).map(str::to_owned)
    }

    /// The node of a scalar; `span` is what the parser says.
    pub(crate) fn scalar(
        &mut self,
        value: &str,
        style: ScalarStyle,
        span: std::ops::Range<usize>,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> NodeData {
        let count = usize::from(anchor > 0) + usize::from(tag.is_some());
        let absent = style == ScalarStyle::Plain && value.is_empty();
        let (mut start, mut content, mut end) = (span.start, span.start, span.end);
        if count > 0 {
            end = lex::skip_properties(self.text, start, count);
            content = if absent { end } else { lex::skip_trivia(self.text, end) };
        } else if absent {
            content = self.absent_place(span.start);
            (start, end) = (content, content);
        }
        match style {
            ScalarStyle::Plain if absent => {}
            ScalarStyle::Plain => end = span.end,
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                end = lex::quoted_end(self.text, content);
            }
            ScalarStyle::Literal | ScalarStyle::Folded => {
                if count == 0 {
                    content = lex::skip_indicators(self.text, self.cursor);
                    start = content;
                }
                let header = lex::header_line_end(self.text, content);
                let keep = self.text.get(content..header).is_some_and(|h| h.contains('+'));
                end = lex::block_scalar_end(self.text, content, span.end, keep);
            }
        }
        let meaning = self.meaning(value, style, tag, start);
        NodeData {
            body: Body::Scalar { text: value.to_owned(), meaning },
            style: match style {
                ScalarStyle::Plain => Style::Plain,
                ScalarStyle::SingleQuoted => Style::SingleQuoted,
                ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
                ScalarStyle::Literal => Style::Literal,
                ScalarStyle::Folded => Style::Folded,
            },
            tag: tag.map(tag_text),
            anchor: if anchor > 0 { self.anchor_name(start, content.max(end)) } else { None },
            start,
            content,
            end: end.max(content),
        }
    }

    /// Where an absent value would stand: behind the colon or dash.
    fn absent_place(&self, mark: usize) -> usize {
        let Some(frame) = self.stack.last() else { return self.cursor };
        match (&self.nodes[frame.id].body, frame.key) {
            (Body::Mapping(_), Some(key)) => {
                let end = self.nodes[key].end;
                lex::behind_colon(self.text, end).unwrap_or(end)
            }
            (Body::Sequence(_), _) => {
                let at = lex::skip_trivia(self.text, self.cursor);
                if lex::byte(self.text, at) == b'-' { at + 1 } else { at }
            }
            _ => mark,
        }
    }

    /// The first dash of a block list. As the value of a key it may be unindented, and then the
    /// parser's mark is behind that dash.
    pub(crate) fn list_start(&self, mark: usize) -> usize {
        let key = self.stack.last().and_then(|frame| frame.key);
        let found = key.and_then(|key| lex::behind_colon(self.text, self.nodes[key].end));
        match found.map(|at| lex::skip_trivia(self.text, at)) {
            Some(at) if lex::byte(self.text, at) == b'-' && at <= mark => at,
            _ => mark,
        }
    }
}
