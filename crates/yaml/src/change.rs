//! One change of one node, as replacements in the text: block style. Flow style is in `flow`.

use crate::document::{Body, Document, NodeData, NodeId, Style};
use crate::emit::{self, Manner};
use crate::lex;
use crate::refusal::EditError;
use crate::splice::Splices;
use crate::value::Yaml;
use std::ops::Range;

/// The node to change, with the way to it.
pub(crate) struct Change<'d> {
    pub(crate) doc: &'d Document,
    pub(crate) text: &'d str,
    /// The list or map around the node, and the node's position in it.
    parent: Option<(NodeId, usize)>,
    /// The same for that list or map.
    grandparent: Option<(NodeId, usize)>,
    /// The node.
    id: NodeId,
}

impl<'d> Change<'d> {
    /// The node at the end of a trail of (list or map, position).
    pub(crate) fn new(doc: &'d Document, trail: &[(NodeId, usize)]) -> Self {
        let parent = trail.last().copied();
        let id = parent.map_or(doc.root, |(id, index)| child(doc.node(id).data(), index).1);
        let grandparent = trail.len().checked_sub(2).and_then(|n| trail.get(n)).copied();
        Self { doc, text: doc.text(), parent, grandparent, id }
    }

    pub(crate) fn data(&self, id: NodeId) -> &'d NodeData {
        self.doc.node(id).data()
    }

    fn node(&self) -> &'d NodeData {
        self.data(self.id)
    }

    /// Column from 0 of an offset.
    pub(crate) fn column(&self, at: usize) -> usize {
        self.doc.place(at).column - 1
    }

    /// The bytes of an entry (key and value) or item.
    pub(crate) fn child_span(&self, parent: NodeId, index: usize) -> Range<usize> {
        let (first, last) = child(self.data(parent), index);
        let (first, last) = (self.data(first), self.data(last));
        first.start..last.end.max(first.end)
    }

    /// Refuses when an alias outside of these bytes needs an anchor inside.
    pub(crate) fn check_anchors(&self, span: Range<usize>) -> Result<(), EditError> {
        let inside = |node: &NodeData| span.start <= node.start && node.end <= span.end;
        for (id, node) in self.doc.nodes.iter().enumerate() {
            let Body::Alias { name, target } = &node.body else { continue };
            // An absent value has no bytes, so its neighbours could seem to be inside.
            if !inside(node) && inside(self.data(*target)) && !span.is_empty() {
                return Err(EditError::AnchorInUse {
                    place: self.doc.node(*target).pos(),
                    name: name.clone(),
                    alias: self.doc.node(id).pos(),
                });
            }
        }
        Ok(())
    }

    /// Where the value of the node goes when it has none: behind the colon or dash. `None` for the
    /// root and for an entry without a colon.
    fn anchor_point(&self) -> Option<usize> {
        self.parent.and_then(|around| self.point_in(around))
    }

    /// The same for any position in a list or map.
    fn point_in(&self, (parent, index): (NodeId, usize)) -> Option<usize> {
        if self.data(parent).style == Style::Flow && !is_map(self.data(parent)) {
            return None;
        }
        match &self.data(parent).body {
            Body::Mapping(entries) => lex::behind_colon(self.text, self.data(entries[index].0).end),
            _ => Some(self.dash(parent, index) + 1),
        }
    }

    /// The dash of an item of a block list.
    fn dash(&self, list: NodeId, index: usize) -> usize {
        let data = self.data(list);
        let mut at = data.content;
        for before in 0..index {
            let end = self.data(child(data, before).1).end;
            at = lex::skip_trivia(self.text, end.max(at + 1));
        }
        at
    }

    /// How new lines below a map are written: as its own children, else as the rest of the file.
    fn manner(&self, map: Option<NodeId>, at: usize) -> Manner {
        let own = map.map(|id| self.steps(std::iter::once(self.data(id)))).unwrap_or_default();
        let all = self.steps(self.doc.nodes.iter());
        let map_step = own.0.or(all.0).unwrap_or(2);
        let list_step = own.1.or(all.1).unwrap_or(map_step);
        // Without a line end behind it, a literal's last line end is in doubt.
        let literals = lex::line_end(self.text, at) < self.text.len();
        Manner { map_step, list_step, literals }
    }

    /// The most common steps of maps and of lists below these maps.
    fn steps<'n>(&self, maps: impl Iterator<Item = &'n NodeData>) -> (Option<usize>, Option<usize>) {
        let (mut of_maps, mut of_lists) = (Vec::new(), Vec::new());
        for map in maps.filter(|node| node.style == Style::Block) {
            let Body::Mapping(entries) = &map.body else { continue };
            let column = self.column(map.content);
            for value in entries.iter().map(|(_, value)| self.data(*value)) {
                let step = || self.column(value.content).saturating_sub(column);
                match (&value.body, value.style) {
                    (Body::Mapping(_), Style::Block) => of_maps.push(step()),
                    (Body::Sequence(_), Style::Block) => of_lists.push(step()),
                    _ => {}
                }
            }
        }
        of_maps.retain(|step| *step > 0);
        (most_common(&of_maps), most_common(&of_lists))
    }

    /// Is the node inside brackets?
    fn in_flow(&self) -> bool {
        self.parent.is_some_and(|(id, _)| self.data(id).style != Style::Block)
    }

    /// Replaces the node.
    pub(crate) fn replace(&self, splices: &mut Splices, value: &Yaml) -> Result<(), &'static str> {
        let node = self.node();
        let same_kind =
            matches!((&node.body, value), (Body::Mapping(_), Yaml::Map(..)) | (Body::Sequence(_), Yaml::List(..)));
        let stays_flow = same_kind && node.style == Style::Flow;
        if self.in_flow() {
            return self.replace_inline(splices, &emit::inline(value, true));
        }
        let map = self.parent.map(|(id, _)| id).filter(|id| is_map(self.data(*id)));
        let manner = self.manner(map, node.end);
        if stays_flow || !(Manner::is_block(value) || manner.is_literal(value)) {
            return self.replace_inline(splices, &emit::inline(value, false));
        }
        match self.parent {
            None => {
                self.replace_root(splices, manner, value);
                Ok(())
            }
            Some((parent, index)) if map.is_some() => {
                self.replace_in_map(splices, manner, value, parent, index, same_kind)
            }
            Some((parent, index)) => {
                self.replace_in_list(splices, manner, value, parent, index);
                Ok(())
            }
        }
    }

    /// Replaces the node by text on one line.
    fn replace_inline(&self, splices: &mut Splices, new: &str) -> Result<(), &'static str> {
        let node = self.node();
        let point = self.anchor_point();
        if node.start == node.end {
            return match (point, self.parent) {
                (Some(point), _) => {
                    splices.insert(point, format!(" {new}"));
                    Ok(())
                }
                (None, Some((parent, index))) => {
                    // `{a}` has neither colon nor value.
                    let (key, _) = child(self.data(parent), index);
                    splices.insert(self.data(key).end, format!(": {new}"));
                    Ok(())
                }
                (None, None) => {
                    self.write_below_all(splices, &[new.to_owned()]);
                    Ok(())
                }
            };
        }
        let below = point.filter(|point| self.starts_below(*point) && !self.in_flow());
        match below {
            Some(point) => {
                splices.insert(point, format!(" {new}"));
                splices.delete_lines(self.text, node.start, node.end);
            }
            None => match self.header(node) {
                Some(header) => {
                    splices.replace(node.start..header, new);
                    self.delete_content(splices, node, header);
                }
                None => splices.replace(node.start..node.end, new),
            },
        }
        Ok(())
    }

    /// Does the node start on a later line than its colon or dash?
    fn starts_below(&self, point: usize) -> bool {
        self.node().start > lex::line_end(self.text, point)
    }

    /// End of the header when the node is a block scalar with content below it.
    fn header(&self, node: &NodeData) -> Option<usize> {
        let block = matches!(node.style, Style::Literal | Style::Folded);
        let header = lex::header_line_end(self.text, node.content);
        (block && header < node.end).then_some(header)
    }

    fn delete_content(&self, splices: &mut Splices, node: &NodeData, header: usize) {
        splices.delete_lines(self.text, lex::next_line(self.text, header), node.end);
    }

    /// An empty document gets its first content.
    fn write_below_all(&self, splices: &mut Splices, lines: &[String]) {
        let end = self.text.len();
        let fresh = lex::line_start(self.text, end) == end;
        let eol = crate::splice::line_ending(self.text, end);
        let body = lines.join(eol);
        splices.insert(end, if fresh { format!("{body}{eol}") } else { format!("{eol}{body}") });
    }

    fn replace_root(&self, splices: &mut Splices, manner: Manner, value: &Yaml) {
        let node = self.node();
        // A comment behind the last line would become text of a literal.
        let manner = Manner { literals: false, ..manner };
        let lines = manner.block(value, self.column(node.start));
        if node.start == node.end {
            self.write_below_all(splices, &manner.block(value, 0));
        } else {
            let eol = crate::splice::line_ending(self.text, lex::line_end(self.text, node.end));
            splices.replace(node.start..node.end, lines.join(eol).trim_start());
        }
    }

    fn replace_in_map(
        &self,
        splices: &mut Splices,
        manner: Manner,
        value: &Yaml,
        map: NodeId,
        index: usize,
        same_kind: bool,
    ) -> Result<(), &'static str> {
        let node = self.node();
        let (key, _) = child(self.data(map), index);
        let point = self.anchor_point().ok_or("the key has no colon")?;
        let mut written = manner.behind_key(value, self.column(self.data(key).start));
        let below = node.start < node.end && self.starts_below(point);
        if below && same_kind && node.style == Style::Block {
            written.below = manner.block(value, self.column(node.content));
        }
        if below && !written.head.is_empty() && !self.directly_below(point) {
            // A comment stands between the colon and the value; it must not become text.
            return self.replace_inline(splices, &emit::inline(value, false));
        }
        let head = if written.head.is_empty() { String::new() } else { format!(" {}", written.head) };
        if below {
            splices.insert(point, head);
            splices.replace_lines(self.text, node.start, node.end, &written.below);
            return Ok(());
        }
        match self.header(node) {
            Some(header) => {
                splices.replace(point..header, head);
                let first = lex::next_line(self.text, header);
                splices.replace_lines(self.text, first, node.end, &written.below);
            }
            None => {
                splices.replace(point..node.end.max(point), head);
                splices.insert_lines(self.text, node.end.max(point), &written.below);
            }
        }
        Ok(())
    }

    fn directly_below(&self, point: usize) -> bool {
        lex::next_line(self.text, point) == lex::line_start(self.text, self.node().start)
    }

    fn replace_in_list(&self, splices: &mut Splices, manner: Manner, value: &Yaml, list: NodeId, index: usize) {
        let node = self.node();
        let dash = self.dash(list, index);
        let absent = node.start == node.end;
        let below = !absent && self.starts_below(dash);
        let column = if absent || below { self.column(dash) + 2 } else { self.column(node.start) };
        let written = manner.behind_dash(value, column);
        if absent {
            splices.insert(dash + 1, format!(" {}", written.head));
            splices.insert_lines(self.text, dash, &written.below);
        } else if below {
            splices.insert(dash + 1, format!(" {}", written.head));
            if written.below.is_empty() {
                splices.delete_lines(self.text, node.start, node.end);
            } else {
                splices.replace_lines(self.text, node.start, node.end, &written.below);
            }
        } else {
            match self.header(node) {
                Some(header) => {
                    splices.replace(node.start..header, written.head);
                    self.delete_content(splices, node, header);
                    splices.insert_lines(self.text, header, &written.below);
                }
                None => {
                    splices.replace(node.start..node.end, written.head);
                    splices.insert_lines(self.text, node.end, &written.below);
                }
            }
        }
    }

    /// Adds an entry at the end of the node, a map.
    pub(crate) fn add_entry(&self, splices: &mut Splices, key: &str, value: &Yaml) {
        let node = self.node();
        match node.style {
            Style::Flow => self.add_in_brackets(splices, self.id, &[emit::flow_entry(key, value)]),
            Style::Pair => {
                splices.insert(node.start, "{");
                splices.insert(node.end, format!(", {}}}", emit::flow_entry(key, value)));
            }
            _ => {
                let manner = self.manner(Some(self.id), node.end);
                let lines = manner.entry(key, value, self.column(node.content));
                splices.insert_lines(self.text, node.end, &lines);
            }
        }
    }

    /// Adds items at the end of the node, a list.
    pub(crate) fn add_items(&self, splices: &mut Splices, items: &[Yaml]) {
        let node = self.node();
        if node.style == Style::Flow {
            let items: Vec<String> = items.iter().map(|item| emit::inline(item, true)).collect();
            return self.add_in_brackets(splices, self.id, &items);
        }
        let manner = self.manner(None, node.end);
        let column = self.column(node.content);
        let lines: Vec<String> = items.iter().flat_map(|i| manner.item(i, column)).collect();
        splices.insert_lines(self.text, node.end, &lines);
    }

    /// Removes the node, with its key when it has one.
    pub(crate) fn delete(&self, splices: &mut Splices) {
        let Some((parent, index)) = self.parent else { return };
        let around = self.data(parent);
        if children(around) == 1 {
            return self.empty(splices, parent);
        }
        if around.style != Style::Block {
            return self.delete_in_brackets(splices, parent, index);
        }
        let span = self.child_span(parent, index);
        let start = if is_map(around) { self.entry_start(span.start) } else { self.dash(parent, index) };
        let end = span.end.max(start);
        if lex::first_on_line(self.text, start) {
            splices.delete_lines(self.text, start, end);
        } else {
            // The first entry behind a dash: what comes next moves up to the dash.
            let mut next = lex::next_line(self.text, end);
            while next < self.text.len() {
                let here = lex::byte(self.text, next);
                if !lex::is_blank(here) && !lex::is_break(here) {
                    break;
                }
                next += 1;
            }
            splices.replace(start..next, "");
        }
    }

    /// Start of an entry whose key starts at `key`: that, or the `?` before it.
    fn entry_start(&self, key: usize) -> usize {
        let line = lex::line_start(self.text, key);
        let lead = self.text.get(line..key).unwrap_or_default().trim_end();
        if lead.trim_start() == "?" { line + lead.len() - 1 } else { key }
    }

    /// Leaves `[]` or `{}` of a list or map, its tag and anchor kept.
    fn empty(&self, splices: &mut Splices, id: NodeId) {
        let node = self.data(id);
        let new = if is_map(node) { "{}" } else { "[]" };
        let point = self.grandparent.and_then(|around| self.point_in(around));
        match (node.style, point) {
            (Style::Flow, _) => splices.replace(node.content + 1..node.end - 1, ""),
            (Style::Block, Some(point)) if node.start > lex::line_end(self.text, point) => {
                splices.insert(point, format!(" {new}"));
                splices.delete_lines(self.text, node.start, node.end);
            }
            _ if node.start < node.content => {
                let count = usize::from(node.tag.is_some()) + usize::from(node.anchor.is_some());
                let end = lex::skip_properties(self.text, node.start, count);
                splices.replace(end..node.end, format!(" {new}"));
            }
            _ => splices.replace(node.start..node.end, new),
        }
    }
}

pub(crate) fn is_map(node: &NodeData) -> bool {
    matches!(node.body, Body::Mapping(_))
}

/// Entries or items of a list or map.
pub(crate) fn children(node: &NodeData) -> usize {
    match &node.body {
        Body::Mapping(entries) => entries.len(),
        Body::Sequence(items) => items.len(),
        _ => 0,
    }
}

/// First and last node of an entry (key, value) or item (twice the same).
pub(crate) fn child(node: &NodeData, index: usize) -> (NodeId, NodeId) {
    match &node.body {
        Body::Mapping(entries) => entries[index],
        Body::Sequence(items) => (items[index], items[index]),
        _ => (0, 0),
    }
}

/// The most frequent number; of equals the one that came first.
fn most_common(numbers: &[usize]) -> Option<usize> {
    let mut counts: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match counts.iter_mut().find(|(known, _)| known == number) {
            Some((_, count)) => *count += 1,
            None => counts.push((*number, 1)),
        }
    }
    // `max_by_key` takes the last of equals.
    counts.iter().rev().max_by_key(|(_, count)| *count).map(|(number, _)| *number)
}
