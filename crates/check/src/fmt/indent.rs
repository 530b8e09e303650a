//! Blanks and blank lines.

use pintle_yaml::{Document, Node, Style};

use crate::model::plan::RESERVED;

const STEP: usize = 2;

/// What is known of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// Blank, or a comment.
    Loose,
    /// Starts an entry: its indentation is known.
    Entry { indent: usize },
    /// Goes on with a value that started on an earlier line.
    Inside {
        of: usize,
        /// Of a block scalar: the indentation it has, and the one it gets.
        block: Option<(usize, usize)>,
    },
}

struct Layout<'d> {
    document: &'d Document,
    /// Byte offsets of the starts of lines.
    starts: Vec<usize>,
    lines: Vec<Line>,
    /// Gaps to replace by one blank, in the order found.
    gaps: Vec<std::ops::Range<usize>>,
    /// Lines before which a blank line stands.
    apart: Vec<usize>,
}

/// The text with its blanks in order.
pub(super) fn lines(document: &Document) -> String {
    let text = document.text();
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    if starts.last() == Some(&text.len()) && starts.len() > 1 {
        starts.pop();
    }
    let mut layout =
        Layout { document, lines: vec![Line::Loose; starts.len()], starts, gaps: Vec::new(), apart: Vec::new() };
    layout.node(document.root(), 0);
    for (key, _) in document.root().entries() {
        if !RESERVED.contains(&key.key_text()) {
            layout.apart.push(key.pos().line - 1);
        }
    }
    layout.write()
}

impl Layout<'_> {
    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Notes that an entry starts here, if it is the first thing on its line.
    fn entry(&mut self, offset: usize, indent: usize) {
        let line = self.line_of(offset);
        if self.document.text()[self.starts[line]..offset].trim().is_empty() && self.lines[line] == Line::Loose {
            self.lines[line] = Line::Entry { indent };
        }
    }

    /// Notes the lines of a value behind the one on which its entry starts.
    fn inside(&mut self, from: usize, node: Node<'_>, indent: usize) {
        let first = self.line_of(from);
        let last = self.line_of(node.span().end.saturating_sub(1).max(from));
        let block = self.block_indent(node, first + 1..=last).map(|have| (have, indent + STEP));
        for line in first + 1..=last {
            self.lines[line] = Line::Inside { of: first, block };
        }
    }

    /// The indentation of a block scalar's content; none where its header says one, or where there is no content.
    fn block_indent(&self, node: Node<'_>, lines: std::ops::RangeInclusive<usize>) -> Option<usize> {
        if !matches!(node.style(), Style::Literal | Style::Folded) || node.alias().is_some() {
            return None;
        }
        let text = &self.document.text()[node.span()];
        let header = text.lines().next().unwrap_or_default();
        let indicators = &header[header.find(['|', '>'])?..];
        if indicators.split('#').next().unwrap_or_default().contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let indents = lines.map(|line| self.content(line)).filter(|line| !line.trim().is_empty());
        indents.map(|line| line.len() - line.trim_start_matches(' ').len()).min()
    }

    /// A node whose entries stand at `indent`.
    fn node(&mut self, node: Node<'_>, indent: usize) {
        if node.alias().is_some() || node.style() != Style::Block {
            return;
        }
        if node.is_mapping() {
            for (key, value) in node.entries() {
                self.entry(key.span().start, indent);
                self.value(key, value, indent);
            }
        } else if node.is_sequence() {
            for item in node.items() {
                self.item(item, indent);
            }
        }
    }

    fn value(&mut self, key: Node<'_>, value: Node<'_>, indent: usize) {
        let (end, start) = (key.span().end, value.span().start);
        let text = self.document.text();
        if end < start && text[end..start].starts_with(':') && !value.span().is_empty() {
            let between = &text[end + 1..start];
            if !between.is_empty() && between.chars().all(|c| c == ' ' || c == '\t') {
                self.gaps.push(end + 1..start);
            }
        }
        if is_block(value) {
            self.node(value, indent + STEP);
        } else {
            self.inside(key.span().start, value, indent);
        }
    }

    fn item(&mut self, item: Node<'_>, indent: usize) {
        let text = self.document.text();
        let start = item.span().start;
        let line_start = self.starts[self.line_of(start)];
        let before = &text[line_start..start];
        let Some(dash) = before.rfind('-').map(|at| line_start + at) else {
            // The dash is alone on an earlier line: the item is indented like a value below it.
            if let Some(dash) = self.lonely_dash(start) {
                self.entry(dash, indent);
            }
            if is_block(item) {
                self.node(item, indent + STEP);
            } else {
                self.entry(start, indent + STEP);
                self.inside(start, item, indent);
            }
            return;
        };
        self.entry(dash, indent);
        let between = &text[dash + 1..start];
        if !between.is_empty() && between.chars().all(|c| c == ' ' || c == '\t') {
            self.gaps.push(dash + 1..start);
        }
        if is_block(item) {
            self.node(item, indent + STEP);
        } else {
            self.inside(dash, item, indent);
        }
    }

    /// The dash that an item below it belongs to.
    fn lonely_dash(&self, start: usize) -> Option<usize> {
        let text = self.document.text();
        let mut line = self.line_of(start);
        while line > 0 {
            line -= 1;
            let content = text[self.starts[line]..].lines().next().unwrap_or_default();
            let trimmed = content.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            return (trimmed == "-" || trimmed.starts_with("- #"))
                .then(|| self.starts[line] + content.len() - content.trim_start().len());
        }
        None
    }

    fn content(&self, line: usize) -> &str {
        let end = self.starts.get(line + 1).copied().unwrap_or(self.document.text().len());
        self.document.text()[self.starts[line]..end].trim_end_matches('\n')
    }

    /// A line with its gaps closed, and how far its first character moved.
    fn closed(&self, line: usize) -> String {
        let start = self.starts[line];
        let mut text = self.content(line).to_owned();
        let end = start + text.len();
        let mut gaps: Vec<_> = self.gaps.iter().filter(|gap| gap.start >= start && gap.end <= end).cloned().collect();
        gaps.sort_by_key(|gap| std::cmp::Reverse(gap.start));
        gaps.dedup();
        for gap in gaps {
            text.replace_range(gap.start - start..gap.end - start, " ");
        }
        text
    }

    fn write(&self) -> String {
        let mut out: Vec<String> = Vec::new();
        let mut loose: Vec<usize> = Vec::new();
        for (line, kind) in self.lines.iter().enumerate() {
            match *kind {
                Line::Loose => loose.push(line),
                Line::Entry { indent } => {
                    self.between(&loose, indent, self.apart.contains(&line), &mut out);
                    loose.clear();
                    let text = self.closed(line);
                    out.push(format!("{}{}", " ".repeat(indent), text.trim()));
                }
                Line::Inside { of, block } => {
                    loose.clear();
                    out.push(self.moved(line, of, block));
                }
            }
        }
        self.between(&loose, 0, false, &mut out);
        while out.last().is_some_and(String::is_empty) {
            out.pop();
        }
        let mut text = out.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// Comments and blank lines before an entry.
    fn between(&self, loose: &[usize], indent: usize, apart: bool, out: &mut Vec<String>) {
        // The comment block that touches the entry belongs to it; the blank line comes before it.
        let touching = loose.iter().rev().take_while(|line| !self.content(**line).trim().is_empty()).count();
        let own = loose.len() - touching;
        for (index, line) in loose.iter().enumerate() {
            if index == own && apart {
                blank(out);
            }
            match self.content(*line).trim() {
                "" => blank(out),
                comment => out.push(format!("{}{comment}", " ".repeat(indent))),
            }
        }
        if touching == 0 && apart {
            blank(out);
        }
    }

    /// A line inside a value, moved as far as the line on which the value started.
    fn moved(&self, line: usize, of: usize, block: Option<(usize, usize)>) -> String {
        let text = self.content(line);
        if text.trim().is_empty() {
            // Blanks in a blank line of a block scalar may mean something only beyond its indentation.
            return text.trim_end_matches(['\r']).to_owned();
        }
        let Line::Entry { indent } = self.lines[of] else { return text.to_owned() };
        let have = text.len() - text.trim_start_matches(' ').len();
        let (from, to) = block.unwrap_or_else(|| {
            let entry = self.content(of);
            (entry.len() - entry.trim_start_matches(' ').len(), indent)
        });
        let now = (have + to).saturating_sub(from);
        format!("{}{}", " ".repeat(now), &text[have..])
    }
}

/// At most one blank line, none at the start.
fn blank(out: &mut Vec<String>) {
    if out.last().is_some_and(|line| !line.is_empty()) {
        out.push(String::new());
    }
}

/// A list or map told by indentation.
fn is_block(node: Node<'_>) -> bool {
    node.alias().is_none() && node.style() == Style::Block && (node.is_mapping() || node.is_sequence())
}
