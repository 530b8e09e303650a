//! From the parser's events to the span tree.
//!
//! The events of saphyr-parser are exact about meaning, not about extent: a quoted scalar's mark
//! ends behind the blanks that follow, a block scalar's mark starts at its content, an unindented
//! list's mark starts behind its first dash. The extent is therefore measured on the text.

use crate::document::{Anchors, Body, Document, NodeData, NodeId, Style};
use crate::lex;
use crate::offsets::{ByteOffsets, Shadow};
use crate::place::{BOM, Limits, LineIndex, Place, Problem};
use crate::scalar::{self, Meaning, Overflow};
use crate::syntax::plain_words;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use std::collections::HashMap;

/// After so many problems the rest of the text is not looked at.
const MOST_PROBLEMS: usize = 100;

/// Open brackets that the parser is asked to look at. Its work grows with their square before
/// the first event comes, so the depth limit alone would come too late.
const MOST_BRACKETS: usize = 10_000;

const CORE: &str = "tag:yaml.org,2002:";

pub(crate) fn parse_bytes(bytes: &[u8], limits: Limits) -> Result<Document, Vec<Problem>> {
    check_size(bytes.len(), limits)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text, limits),
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let place = LineIndex::new(&good).place(&good, good.len());
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
            Err(vec![
                Problem::new(place, format!("byte 0x{byte:02x} is not UTF-8")).with_hint("save the file as UTF-8"),
            ])
        }
    }
}

pub(crate) fn parse(text: &str, limits: Limits) -> Result<Document, Vec<Problem>> {
    check_size(text.len(), limits)?;
    let lines = LineIndex::new(text);
    let unreadable = check_characters(text, &lines, limits);
    if !unreadable.is_empty() {
        return Err(unreadable);
    }
    let mut shadow = Shadow::new(text);
    let built = loop {
        let mut builder = Builder::new(text, &lines, limits, shadow.offsets());
        match builder.run() {
            Some(bracket) => shadow.shift(bracket),
            None => break (builder.nodes, builder.root, builder.problems),
        }
    };
    let (nodes, root, mut problems) = built;
    if !problems.is_empty() {
        problems.sort_by_key(Problem::place);
        return Err(problems);
    }
    Ok(Document { text: text.to_owned(), lines, nodes, root })
}

fn check_size(bytes: usize, limits: Limits) -> Result<(), Vec<Problem>> {
    if bytes <= limits.bytes {
        return Ok(());
    }
    let start = Place { line: 1, column: 1 };
    let message = format!("the file has {bytes} bytes, more than {} are refused", limits.bytes);
    Err(vec![Problem::new(start, message).with_hint("split the file")])
}

/// Characters that YAML forbids everywhere, and brackets without end.
fn check_characters(text: &str, lines: &LineIndex, limits: Limits) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut open = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' => open += 1,
            ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        let message = if open > MOST_BRACKETS {
            let depth = limits.depth;
            format!("{MOST_BRACKETS} brackets are open here; more than {depth} levels are refused")
        } else if !printable(c) || (c == '\u{feff}' && at > 0) {
            let code = u32::from(c);
            format!("character U+{code:04X} is not allowed in YAML")
        } else {
            continue;
        };
        let problem = Problem::new(lines.place(text, at), message);
        problems.push(if open > MOST_BRACKETS {
            problem
        } else {
            problem.with_hint("remove it, or write it as an escape in double quotes")
        });
        if problems.len() >= MOST_PROBLEMS || open > MOST_BRACKETS {
            break;
        }
    }
    problems
}

/// `c-printable` of the specification (5.1).
pub(crate) fn printable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}'
        | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

/// A list or map whose end has not come yet.
struct Frame {
    id: NodeId,
    /// The key whose value comes next.
    key: Option<NodeId>,
    /// Keys so far.
    seen: HashMap<String, NodeId>,
    /// Nodes below, aliases expanded, itself included.
    weight: usize,
    /// Levels below, aliases expanded, itself included.
    height: usize,
}

struct Builder<'t> {
    text: &'t str,
    lines: &'t LineIndex,
    limits: Limits,
    offsets: ByteOffsets<'t>,
    nodes: Vec<NodeData>,
    root: NodeId,
    stack: Vec<Frame>,
    /// End of what has been read.
    cursor: usize,
    documents: usize,
    anchors: Anchors,
    /// Weight and height of finished anchored nodes.
    sizes: HashMap<NodeId, (usize, usize)>,
    alias_nodes: usize,
    problems: Vec<Problem>,
    stop: bool,
}

impl<'t> Builder<'t> {
    fn new(text: &'t str, lines: &'t LineIndex, limits: Limits, offsets: ByteOffsets<'t>) -> Self {
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
            stop: false,
        }
    }

    /// Reads all there is. Gives the place of a closing bracket that the parser finds too far
    /// left, when another try with a [`Shadow`] can help.
    fn run(&mut self) -> Option<usize> {
        for event in Parser::new_from_str(self.offsets.body()) {
            match event {
                Ok((event, span)) => self.event(event, span),
                Err(error) => {
                    let at = self.offsets.of(error.marker().index());
                    if self.problems.is_empty()
                        && error.info() == "invalid indentation"
                        && self.offsets.may_shift(self.text, at)
                    {
                        return Some(at);
                    }
                    self.syntax(&error);
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

    fn problem(&mut self, at: usize, message: impl Into<String>) -> &mut Problem {
        let problem = Problem::new(self.lines.place(self.text, at), message);
        let last = self.problems.len();
        self.problems.push(problem);
        &mut self.problems[last]
    }

    fn syntax(&mut self, error: &ScanError) {
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

    /// Name of the anchor among the properties that start at `start`.
    fn anchor_name(&self, start: usize, content: usize) -> Option<String> {
        let properties = self.text.get(start..content)?;
        // A tag may hold no `&`, so the first one starts the anchor.
        let at = start + properties.find('&')? + 1;
        let mut end = at;
        while end < self.text.len() && !lex::ends_word(lex::byte(self.text, end)) {
            end += 1;
        }
        self.text.get(at..end).map(str::to_owned)
    }

    fn scalar(
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

    fn meaning(&mut self, value: &str, style: ScalarStyle, tag: Option<&Tag>, at: usize) -> Meaning {
        let wanted = match tag.map(tag_text) {
            None if style == ScalarStyle::Plain => None,
            None => return Meaning::Str,
            Some(tag) if tag == "!" => return Meaning::Str,
            Some(tag) => match tag.strip_prefix(CORE) {
                Some("str") => return Meaning::Str,
                Some(name @ ("null" | "bool" | "int" | "float")) => Some(name.to_owned()),
                Some("map" | "seq") => {
                    self.problem(at, format!("tag `{tag}` does not fit a scalar"));
                    return Meaning::Str;
                }
                _ => {
                    self.foreign_tag(at, &tag);
                    return Meaning::Str;
                }
            },
        };
        let Ok(meaning) = scalar::resolve(value) else {
            self.overflow(at, value);
            return Meaning::Null;
        };
        let (name, fits) = match (wanted.as_deref(), meaning) {
            (None, _) => return meaning,
            (Some("float"), Meaning::Int(_) | Meaning::UInt(_) | Meaning::BigInt) => {
                return self.whole_float(value, at);
            }
            (Some(name), meaning) => (
                name,
                match name {
                    "null" => meaning == Meaning::Null,
                    "bool" => matches!(meaning, Meaning::Bool(_)),
                    "float" => matches!(meaning, Meaning::Float(_)),
                    _ => matches!(meaning, Meaning::Int(_) | Meaning::UInt(_) | Meaning::BigInt),
                },
            ),
        };
        if !fits {
            self.problem(at, format!("`{value}` is not what its tag `!!{name}` says"));
        }
        meaning
    }

    /// `!!float 3`
    fn whole_float(&mut self, value: &str, at: usize) -> Meaning {
        match scalar::float(value) {
            Ok(Some(float)) => Meaning::Float(float),
            Err(Overflow) => {
                self.overflow(at, value);
                Meaning::Null
            }
            Ok(None) => {
                self.problem(at, format!("`{value}` is not what its tag `!!float` says"));
                Meaning::Null
            }
        }
    }

    fn overflow(&mut self, at: usize, value: &str) {
        self.problem(at, format!("number `{value}` is too large")).hint = Some("quote it if it is text".to_owned());
    }

    fn foreign_tag(&mut self, at: usize, tag: &str) {
        self.problem(at, format!("tag `{tag}` is not known")).hint =
            Some("only the core tags !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are".to_owned());
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
        if let Some(tag) = tag.map(tag_text) {
            let fits = if map { "map" } else { "seq" };
            match tag.strip_prefix(CORE) {
                _ if tag == "!" => {}
                Some(name) if name == fits => {}
                Some("str" | "int" | "float" | "bool" | "null" | "map" | "seq") => {
                    let what = if map { "map" } else { "list" };
                    self.problem(start, format!("tag `{tag}` does not fit a {what}"));
                }
                _ => self.foreign_tag(start, &tag),
            }
        }
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

    /// The first dash of a block list. As the value of a key it may be unindented, and then the
    /// parser's mark is behind that dash.
    fn list_start(&self, mark: usize) -> usize {
        let key = self.stack.last().and_then(|frame| frame.key);
        let found = key.and_then(|key| lex::behind_colon(self.text, self.nodes[key].end));
        match found.map(|at| lex::skip_trivia(self.text, at)) {
            Some(at) if lex::byte(self.text, at) == b'-' && at <= mark => at,
            _ => mark,
        }
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
            (Style::Flow, _) => mark + 1,
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
            Body::Scalar { text, .. } => text.clone(),
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
        let earlier = self.stack.last_mut().and_then(|f| {
            let earlier = f.seen.get(&text).copied();
            if earlier.is_none() {
                f.seen.insert(text.clone(), id);
            }
            earlier
        });
        if let Some(earlier) = earlier {
            let other = self.lines.place(self.text, self.nodes[earlier].start);
            let message = format!("key `{text}` is there twice, also at {other}");
            self.problem(start, message).hint = Some("remove one of them".to_owned());
        }
    }
}

fn tag_text(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}
