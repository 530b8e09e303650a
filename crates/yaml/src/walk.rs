//! Following a path for a change.

use crate::document::{Body, Document, Kind, Node, NodeId};
use crate::path::{Path, Segment};
use crate::refusal::EditError;

/// Where a path leads: the nodes passed with the position taken in each, the deepest node that is
/// there, and the steps that are missing.
pub(crate) struct Walk<'d, 'p> {
    pub(crate) trail: Vec<(NodeId, usize)>,
    pub(crate) node: Node<'d>,
    pub(crate) rest: &'p [Segment],
}

/// The positions taken.
pub(crate) fn positions(trail: &[(NodeId, usize)]) -> Vec<usize> {
    trail.iter().map(|(_, index)| *index).collect()
}

/// Follows a path as far as it goes. Aliases are not followed: nothing may be changed through them.
pub(crate) fn walk<'d, 'p>(doc: &'d Document, path: &'p Path) -> Result<Walk<'d, 'p>, EditError> {
    let mut trail = Vec::new();
    let mut node = doc.root();
    for (depth, segment) in path.segments().iter().enumerate() {
        if node.kind() == Kind::Alias {
            return Err(below_alias(node, path, depth));
        }
        let rest = &path.segments()[depth..];
        let index = match segment {
            _ if node.is_null() && !matches!(segment, Segment::Index(_) | Segment::Where { .. }) => {
                return Ok(Walk { trail, node, rest });
            }
            Segment::Key(_) if !node.is_mapping() => {
                let kind = article(node.kind_name());
                return Err(EditError::NotAMap { place: node.pos(), path: part(path, depth), kind });
            }
            Segment::Key(key) => match node.entries().position(|(k, _)| k.key_text() == key) {
                Some(index) => index,
                None => return Ok(Walk { trail, node, rest }),
            },
            _ if !node.is_sequence() => return Err(not_a_list(node, path, depth)),
            Segment::Append => return Ok(Walk { trail, node, rest }),
            Segment::Index(index) if *index < node.items().len() => *index,
            Segment::Index(_) => return Err(no_item(node, path, depth)),
            Segment::Where { key, value } => item_where(node, key, value, path, depth)?,
        };
        trail.push((node.id, index));
        node = match &node.data().body {
            Body::Mapping(entries) => doc.node(entries[index].1),
            Body::Sequence(items) => doc.node(items[index]),
            _ => node,
        };
    }
    Ok(Walk { trail, node, rest: &[] })
}

fn item_where(node: Node<'_>, key: &str, value: &str, path: &Path, depth: usize) -> Result<usize, EditError> {
    let fits = |item: &Node<'_>| item.get(key).and_then(Node::source_text) == Some(value);
    let mut fitting = node.items().enumerate().filter(|(_, item)| fits(item));
    match (fitting.next(), fitting.next()) {
        (Some((index, _)), None) => Ok(index),
        (None, _) => Err(no_item(node, path, depth)),
        (Some((_, first)), Some((_, second))) => {
            Err(EditError::Ambiguous { place: first.pos(), path: part(path, depth + 1), other: second.pos() })
        }
    }
}

fn part(path: &Path, depth: usize) -> String {
    if depth == 0 {
        return "the document".to_owned();
    }
    Path::from(path.segments()[..depth].to_vec()).to_string()
}

fn article(kind: &str) -> String {
    match kind {
        "text" | "null" => kind.to_owned(),
        "integer" => "an integer".to_owned(),
        other => format!("a {other}"),
    }
}

/// The refusal for a node that is no list, at a depth of the path.
pub(crate) fn not_a_list(node: Node<'_>, path: &Path, depth: usize) -> EditError {
    if node.kind() == Kind::Alias {
        return below_alias(node, path, depth);
    }
    let kind = article(node.kind_name());
    EditError::NotAList { place: node.pos(), path: part(path, depth), kind }
}

fn no_item(node: Node<'_>, path: &Path, depth: usize) -> EditError {
    let len = node.items().len();
    EditError::NoItem { place: node.pos(), path: part(path, depth + 1), len }
}

/// The refusal for a node that is an alias, at a depth of the path.
pub(crate) fn below_alias(node: Node<'_>, path: &Path, depth: usize) -> EditError {
    EditError::BelowAlias {
        place: node.pos(),
        path: part(path, depth),
        name: node.alias().unwrap_or_default().to_owned(),
        anchor: node.resolved().pos(),
    }
}
