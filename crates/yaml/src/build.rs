//! From the parser's events to the span tree.

use crate::document::{Anchors, Body, NodeData, NodeId, Style};
use crate::lex;
use crate::offsets::ByteOffsets;
use crate::place::{BOM, Limits, LineIndex, Problem};
use crate::scalar::Meaning;
use crate::syntax::plain_words;
use crate::tags::tag_text;
use saphyr_parser::{Event, Parser, ScanError, Span, Tag};
use std::collections::HashMap;

/// After so many problems the rest of the text is not looked at.
pub(crate) const MOST_PROBLEMS: usize = 100;

/// A list or map whose end has not come yet.
pub(crate) struct Frame {
    pub(crate) id: NodeId,
    /// The key whose value comes next.
    pub(crate) key: Option<NodeId>,
    /// Keys so far, of a map that is not small.
    seen: HashMap<String, NodeId>,
    /// Nodes below, aliases expanded, itself included.
    weight: usize,
    /// Levels below, aliases expanded, itself included.
    height: usize,
}

/// A map with fewer keys is looked through for a key that is there twice: most are small, and a table for each of them
/// costs more than it saves.
const SMALL: usize = 12;

impl Frame {
    /// The key of this text that the map has already; else `id` is that key from now on.
    fn earlier(&mut self, nodes: &[NodeData], id: NodeId, text: &str) -> Option<NodeId> {
        let Body::Mapping(entries) = &nodes[self.id].body else { return None };
        let of = |key: NodeId| match &nodes[key].body {
            Body::Scalar { text, .. } => text.as_str(),
            _ => "",
        };
        if entries.len() < SMALL {
            return entries.iter().map(|(key, _)| *key).find(|key| of(*key) == text);
        }
        if self.seen.is_empty() {
            // From the last to the first, so that of two the first one stays.
            self.seen.extend(entries.iter().rev().map(|(key, _)| (of(*key).to_owned(), *key)));
        }
        let earlier = self.seen.get(text).copied();
        if earlier.is_none() {
            self.seen.insert(text.to_owned(), id);
        }
        earlier
    }
}

/// Makes the tree of one text from the parser's events.
pub(crate) struct Builder<'t> {
    pub(crate) text: &'t str,
    pub(crate) lines: &'t LineIndex,
    pub(crate) limits: Limits,
    pub(crate) offsets: ByteOffsets<'t>,
    pub(crate) nodes: Vec<NodeData>,
    pub(crate) root: NodeId,
    pub(crate) stack: Vec<Frame>,
    /// End of what has been read.
    pub(crate) cursor: usize,
    documents: usize,
    anchors: Anchors,
    /// Weight and height of finished anchored nodes.
    sizes: HashMap<NodeId, (usize, usize)>,
    alias_nodes: usize,
    pub(crate) problems: Vec<Problem>,
    /// Was there a syntax error?
    pub(crate) broken: bool,
    stop: bool,
}

impl<'t> Builder<'t> {
    pub(crate) fn new(text: &'t str, lines: &'t LineIndex, limits: Limits, offsets: ByteOffsets<'t>) -> Self {
        let base = if text.starts_with(BOM) { BOM.len() } else { 0 };
        Self {
            text,
            lines,
            limits,
            offsets,
            nodes: Vec::new(),
            root: 0,
            stack: Vec::new(),
            cursor: base,
            documents: 0,
            anchors: Anchors::new(),
            sizes: HashMap::new(),
            alias_nodes: 0,
            problems: Vec::new(),
            broken: false,
            stop: false,
        }
    }

    /// Reads all there is. Gives the place of a closing bracket that the parser finds too far
    /// left, when another try with a [`Shadow`] can help.
    pub(crate) fn run(&mut self) -> Option<usize> {
        for event in Parser::new_from_str(self.offsets.body()) {
            match event {
                Ok((event, span)) => self.event(event, span),
                Err(error) => {
                    self.syntax(&error);
                    let at = self.offsets.of(error.marker().index());
                    let bracket = matches!(lex::byte(self.text, at), b']' | b'}')
                        && lex::first_on_line(self.text, at)
                        && error.info() == "invalid indentation";
                    if bracket {
                        return Some(at);
                    }
                    break;
                }
            }
            if self.stop || self.problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        if self.nodes.is_empty() {
            let end = self.text.len();
            self.root = self.push_null(end);
        }
        None
    }

    pub(crate) fn problem(&mut self, at: usize, message: impl Into<String>) -> &mut Problem {
        let problem = Problem::new(self.lines.place(self.text, at), message);
        let last = self.problems.len();
        self.problems.push(problem);
        &mut self.problems[last]
    }

    fn syntax(&mut self, error: &ScanError) {
        self.broken = true;
        let at = self.offsets.of(error.marker().index());
        let (message, hint) = plain_words(error.info(), self.text.get(at..).unwrap_or_default());
        self.problem(at, message).hint = hint;
    }

    fn event(&mut self, event: Event<'_>, span: Span) {
        let start = self.offsets.of(span.start.index());
        match event {
            Event::DocumentStart(explicit) => {
                self.documents += 1;
                if explicit {
                    self.cursor = self.offsets.of(span.end.index());
                }
                if self.documents == 2 {
                    self.problem(start, "a second document starts here, one is allowed").hint =
                        Some("move it to a file of its own".to_owned());
                    self.stop = true;
                }
            }
            Event::Scalar(value, style, anchor, tag) => {
                let end = self.offsets.of(span.end.index());
                let node = self.scalar(&value, style, start..end, anchor, tag.as_deref());
                self.leaf(node, anchor);
            }
            Event::Alias(anchor) => self.alias(start, anchor),
            Event::MappingStart(anchor, tag) => {
                self.open(start, span.is_empty(), anchor, tag.as_deref(), true);
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(start, span.is_empty(), anchor, tag.as_deref(), false);
            }
            Event::MappingEnd | Event::SequenceEnd => self.close(start),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }

    fn alias(&mut self, start: usize, anchor: usize) {
        let mut end = start + 1;
        while end < self.text.len() && !lex::ends_word(lex::byte(self.text, end)) {
            end += 1;
        }
        let name = self.text.get(start + 1..end).unwrap_or_default().to_owned();
        let target = self.anchors.get(&anchor).copied();
        let (Some(target), Some((weight, height))) = (target, target.and_then(|t| self.sizes.get(&t).copied())) else {
            self.problem(start, format!("alias `*{name}` stands inside what it stands for"));
            self.stop = true;
            return;
        };
        self.alias_nodes = self.alias_nodes.saturating_add(weight);
        if self.alias_nodes > self.limits.alias_nodes {
            let most = self.limits.alias_nodes;
            let message = format!("aliases up to here stand for more than {most} nodes");
            self.problem(start, message);
            self.stop = true;
            return;
        }
        if self.stack.len() + height > self.limits.depth {
            let depth = self.limits.depth;
            let message = format!("alias `*{name}` nests deeper than {depth} levels");
            self.problem(start, message);
            self.stop = true;
            return;
        }
        let node = NodeData {
            body: Body::Alias { name, target },
            style: Style::Plain,
            tag: None,
            anchor: None,
            start,
            content: start,
            end,
        };
        self.cursor = end;
        let id = self.push(node);
        self.attach(id, weight, height);
    }

    fn push(&mut self, node: NodeData) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn push_null(&mut self, at: usize) -> NodeId {
        self.push(NodeData {
            body: Body::Scalar { text: String::new(), meaning: Meaning::Null },
            style: Style::Plain,
            tag: None,
            anchor: None,
            start: at,
            content: at,
            end: at,
        })
    }

    fn leaf(&mut self, node: NodeData, anchor: usize) {
        self.cursor = node.end.max(self.cursor);
        let id = self.push(node);
        if anchor > 0 {
            self.anchors.insert(anchor, id);
            self.sizes.insert(id, (1, 0));
        }
        self.attach(id, 1, 0);
    }

    fn open(&mut self, start: usize, empty: bool, anchor: usize, tag: Option<&Tag>, map: bool) {
        let count = usize::from(anchor > 0) + usize::from(tag.is_some());
        let mut content = start;
        if count > 0 {
            content = lex::skip_trivia(self.text, lex::skip_properties(self.text, start, count));
        }
        let bracket = if map { b'{' } else { b'[' };
        let in_flow = self.stack.last().is_some_and(|f| self.nodes[f.id].style != Style::Block);
        let style = if lex::byte(self.text, content) == bracket && (count > 0 || !empty) {
            Style::Flow
        } else if in_flow {
            Style::Pair
        } else {
            Style::Block
        };
        if style == Style::Block && !map && count == 0 {
            content = self.list_start(start);
        }
        let start = if count > 0 { start } else { content };
        if self.stack.len() >= self.limits.depth {
            let depth = self.limits.depth;
            self.problem(start, format!("nesting deeper than {depth} levels"));
            self.stop = true;
            return;
        }
        self.check_collection_tag(start, tag, map);
        let node = NodeData {
            body: if map { Body::Mapping(Vec::new()) } else { Body::Sequence(Vec::new()) },
            style,
            tag: tag.map(tag_text),
            anchor: if anchor > 0 { self.anchor_name(start, content) } else { None },
            start,
            content,
            end: content,
        };
        self.cursor = if style == Style::Flow { content + 1 } else { content };
        let id = self.push(node);
        if anchor > 0 {
            self.anchors.insert(anchor, id);
        }
        self.stack.push(Frame { id, key: None, seen: HashMap::new(), weight: 1, height: 1 });
    }

    fn close(&mut self, mark: usize) {
        let Some(frame) = self.stack.pop() else { return };
        let last = match &self.nodes[frame.id].body {
            Body::Mapping(entries) => entries.last().map(|(key, value)| (*key).max(*value)),
            Body::Sequence(items) => items.last().copied(),
            _ => None,
        };
        let node = &self.nodes[frame.id];
        let end = match (node.style, last) {
            (Style::Flow, _) => self.bracket_from(mark) + 1,
            (_, Some(last)) => self.nodes[last].end.max(node.content),
            (_, None) => node.content,
        };
        self.nodes[frame.id].end = end;
        self.cursor = end.max(self.cursor);
        if self.nodes[frame.id].anchor.is_some() {
            self.sizes.insert(frame.id, (frame.weight, frame.height));
        }
        self.attach(frame.id, frame.weight, frame.height);
    }

    /// The closing bracket of a list or map that the parser says ends at `mark`: of a map with a comma behind its last
    /// entry, the parser names the comma.
    fn bracket_from(&self, mark: usize) -> usize {
        let comma = lex::byte(self.text, mark) == b',';
        if comma { lex::skip_trivia(self.text, mark + 1) } else { mark }
    }

    /// Hangs a finished node into the list or map that is open.
    fn attach(&mut self, id: NodeId, weight: usize, height: usize) {
        let Some(frame) = self.stack.last_mut() else {
            self.root = id;
            return;
        };
        frame.weight = frame.weight.saturating_add(weight);
        frame.height = frame.height.max(height + 1);
        let (parent, key) = (frame.id, frame.key.take());
        match (&mut self.nodes[parent].body, key) {
            (Body::Sequence(items), _) => items.push(id),
            (Body::Mapping(entries), Some(key)) => entries.push((key, id)),
            _ => {
                if let Some(frame) = self.stack.last_mut() {
                    frame.key = Some(id);
                }
                self.check_key(id);
            }
        }
    }

    fn check_key(&mut self, id: NodeId) {
        let node = &self.nodes[id];
        let start = node.start;
        let text = match &node.body {
            Body::Scalar { text, .. } if text.is_empty() && node.style == Style::Plain => {
                self.problem(start, "a key is missing before the colon");
                return;
            }
            Body::Scalar { text, .. } => text,
            Body::Alias { name, .. } => {
                let message = format!("alias `*{name}` cannot be a key");
                self.problem(start, message).hint = Some("write the key out".to_owned());
                return;
            }
            Body::Mapping(_) | Body::Sequence(_) => {
                let what = if matches!(node.body, Body::Mapping(_)) { "map" } else { "list" };
                self.problem(start, format!("a {what} cannot be a key")).hint =
                    Some("keys are text; put values with braces in quotes".to_owned());
                return;
            }
        };
        let earlier = self.stack.last_mut().and_then(|frame| frame.earlier(&self.nodes, id, text));
        if let Some(earlier) = earlier {
            let text = text.clone();
            let other = self.lines.place(self.text, self.nodes[earlier].start);
            let message = format!("key `{text}` is there twice, also at {other}");
            self.problem(start, message).hint = Some("remove one of them".to_owned());
        }
    }
}
