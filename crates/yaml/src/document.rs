//! The span tree: every list, map, scalar and alias of a text with its place in it.

use crate::path::{Path, Segment};
use crate::place::{Limits, LineIndex, Place, Problem};
use crate::scalar::{Meaning, Scalar};
use crate::value::Yaml;
use std::collections::HashMap;
use std::ops::Range;

/// Number of a node in its document.
pub(crate) type NodeId = usize;

/// A parsed text and its tree.
#[derive(Debug, Clone)]
pub struct Document {
    pub(crate) text: String,
    pub(crate) lines: LineIndex,
    pub(crate) nodes: Vec<NodeData>,
    pub(crate) root: NodeId,
}

/// One node as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct NodeData {
    pub(crate) body: Body,
    pub(crate) style: Style,
    pub(crate) tag: Option<String>,
    pub(crate) anchor: Option<String>,
    /// Start with tag and anchor.
    pub(crate) start: usize,
    /// Start behind tag and anchor.
    pub(crate) content: usize,
    /// End of the last character that belongs to the node, without comments and line ends.
    pub(crate) end: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    Scalar { text: String, meaning: Meaning },
    Mapping(Vec<(NodeId, NodeId)>),
    Sequence(Vec<NodeId>),
    Alias { name: String, target: NodeId },
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A scalar of any type.
    Scalar,
    /// A map.
    Mapping,
    /// A list.
    Sequence,
    /// An alias (`*name`).
    Alias,
}

/// How a node is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A scalar without quotes; also an alias and an absent value.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
    /// A list or map told by indentation.
    Block,
    /// `[…]` or `{…}`
    Flow,
    /// The map that `[key: value]` makes without braces.
    Pair,
}

impl Document {
    /// Reads a text of one YAML document.
    ///
    /// # Errors
    ///
    /// Every problem found, in the order of the text: syntax (where reading ends), limits passed,
    /// duplicate keys, several documents, tags outside the core schema, keys that are no scalars,
    /// numbers that overflow.
    ///
    /// ```
    /// use pintle_yaml::{Document, Limits};
    ///
    /// let problems = Document::parse("a: 1\nb: 2\na: 3\n", Limits::default()).unwrap_err();
    /// assert_eq!(problems[0].to_string(), "3:1: key `a` is there twice, also at 1:1 (remove one of them)");
    /// ```
    pub fn parse(text: &str, limits: Limits) -> Result<Document, Vec<Problem>> {
        crate::parse::parse(text, limits)
    }

    /// Like [`Document::parse`] for the bytes of a file; they must be UTF-8.
    ///
    /// # Errors
    ///
    /// As [`Document::parse`], and the place of the first byte that is not UTF-8.
    pub fn parse_bytes(bytes: &[u8], limits: Limits) -> Result<Document, Vec<Problem>> {
        crate::parse::parse_bytes(bytes, limits)
    }

    /// The text, byte for byte as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The outermost node; of an empty text a null.
    pub fn root(&self) -> Node<'_> {
        self.node(self.root)
    }

    /// The place of a byte offset in the text.
    pub fn place(&self, offset: usize) -> Place {
        self.lines.place(&self.text, offset)
    }

    /// The whole document as JSON, aliases expanded; see [`Node::to_json`].
    pub fn to_json(&self) -> serde_json::Value {
        self.root().to_json()
    }

    /// The node at a path, aliases followed; `None` when there is none, or when `[name=x]` fits
    /// several items.
    pub fn find(&self, path: &Path) -> Option<Node<'_>> {
        path.segments().iter().try_fold(self.root(), |node, segment| match segment {
            Segment::Key(key) => node.get(key),
            Segment::Index(index) => node.items().nth(*index),
            Segment::Append => None,
            Segment::Where { key, value } => {
                let mut fitting = node.items().filter(|n| n.get(key).and_then(Node::source_text) == Some(value));
                fitting.next().filter(|_| fitting.next().is_none())
            }
        })
    }

    pub(crate) fn node(&self, id: NodeId) -> Node<'_> {
        Node { doc: self, id }
    }
}

/// A node of a [`Document`].
///
/// The readers (`as_str`, `get`, `items`, …) look through aliases; `kind`, `style`, `span` and `pos`
/// tell about the node as it stands in the text.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    pub(crate) doc: &'a Document,
    pub(crate) id: NodeId,
}

impl<'a> Node<'a> {
    pub(crate) fn data(self) -> &'a NodeData {
        &self.doc.nodes[self.id]
    }

    /// The node that an alias stands for; every other node is itself.
    #[must_use]
    pub fn resolved(self) -> Node<'a> {
        // An alias points at an anchored node, and an alias cannot carry an anchor: one step.
        match self.data().body {
            Body::Alias { target, .. } => self.doc.node(target),
            _ => self,
        }
    }

    /// What the node is in the text.
    pub fn kind(self) -> Kind {
        match self.data().body {
            Body::Scalar { .. } => Kind::Scalar,
            Body::Mapping(_) => Kind::Mapping,
            Body::Sequence(_) => Kind::Sequence,
            Body::Alias { .. } => Kind::Alias,
        }
    }

    /// How the node is written in the text.
    pub fn style(self) -> Style {
        self.data().style
    }

    /// What the node is, in a word for messages, aliases followed: `map`, `list`, `text`,
    /// `integer`, `number`, `boolean` or `null`.
    pub fn kind_name(self) -> &'static str {
        match self.resolved().data().body {
            Body::Mapping(_) => "map",
            Body::Sequence(_) => "list",
            Body::Scalar { meaning, .. } => match meaning {
                Meaning::Null => "null",
                Meaning::Bool(_) => "boolean",
                Meaning::Int(_) | Meaning::UInt(_) | Meaning::BigInt => "integer",
                Meaning::Float(_) => "number",
                Meaning::Str => "text",
            },
            Body::Alias { .. } => "alias",
        }
    }

    /// The tag as resolved, such as `tag:yaml.org,2002:str`, or `!`.
    pub fn tag(self) -> Option<&'a str> {
        self.data().tag.as_deref()
    }

    /// The anchor's name, without `&`.
    pub fn anchor(self) -> Option<&'a str> {
        self.data().anchor.as_deref()
    }

    /// The name behind `*` when the node is an alias.
    pub fn alias(self) -> Option<&'a str> {
        match &self.data().body {
            Body::Alias { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The bytes of the node in the text, tag and anchor included, comments and the line end behind
    /// it not. Empty for an absent value.
    pub fn span(self) -> Range<usize> {
        self.data().start..self.data().end
    }

    /// Where the node starts. An absent value starts behind its colon or dash.
    pub fn pos(self) -> Place {
        self.doc.place(self.data().start)
    }

    /// The meaning of a scalar, aliases followed; `None` for lists and maps.
    pub fn scalar(self) -> Option<Scalar<'a>> {
        match &self.resolved().data().body {
            Body::Scalar { text, meaning } => Some(meaning.with(text)),
            _ => None,
        }
    }

    /// The text of a scalar before it became a number or boolean: `2026.100.0000`, `1.10`, `yes`.
    /// Quotes are off and escapes resolved. An absent value is the empty text.
    pub fn source_text(self) -> Option<&'a str> {
        match &self.resolved().data().body {
            Body::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The text, when the scalar is text in the core schema.
    pub fn as_str(self) -> Option<&'a str> {
        match self.scalar() {
            Some(Scalar::Str(text)) => Some(text),
            _ => None,
        }
    }

    /// The integer, when it fits.
    pub fn as_i64(self) -> Option<i64> {
        match self.scalar() {
            Some(Scalar::Int(value)) => Some(value),
            _ => None,
        }
    }

    /// The integer, when it is not negative and fits.
    pub fn as_u64(self) -> Option<u64> {
        match self.scalar() {
            Some(Scalar::Int(value)) => u64::try_from(value).ok(),
            Some(Scalar::UInt(value)) => Some(value),
            _ => None,
        }
    }

    /// The number; integers only where a float holds them exactly.
    pub fn as_f64(self) -> Option<f64> {
        const EXACT: i64 = 1 << 53;
        match self.scalar() {
            Some(Scalar::Float(value)) => Some(value),
            // Within 2^53 the conversion is exact.
            #[expect(clippy::cast_precision_loss)]
            Some(Scalar::Int(value)) if (-EXACT..=EXACT).contains(&value) => Some(value as f64),
            _ => None,
        }
    }

    /// The boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self.scalar() {
            Some(Scalar::Bool(value)) => Some(value),
            _ => None,
        }
    }

    /// Is it null or absent?
    pub fn is_null(self) -> bool {
        matches!(self.scalar(), Some(Scalar::Null))
    }

    /// Is it a map, aliases followed?
    pub fn is_mapping(self) -> bool {
        self.resolved().kind() == Kind::Mapping
    }

    /// Is it a list, aliases followed?
    pub fn is_sequence(self) -> bool {
        self.resolved().kind() == Kind::Sequence
    }

    /// The value of a key; `None` when the key is absent or the node is no map. Keys compare by
    /// their text, so `8080:` is found as `"8080"`.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        self.entry(key).map(|(_, value)| value)
    }

    /// Key and value of a key; the key's node has the place.
    pub fn entry(self, key: &str) -> Option<(Node<'a>, Node<'a>)> {
        self.entries().find(|(node, _)| node.source_text() == Some(key))
    }

    /// The entries of a map in their order; nothing for other nodes. Keys are scalars, so
    /// [`Node::key_text`] of a key is its name.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = (Node<'a>, Node<'a>)> + ExactSizeIterator {
        let pairs: &'a [(NodeId, NodeId)] = match &self.resolved().data().body {
            Body::Mapping(pairs) => pairs,
            _ => &[],
        };
        let doc = self.doc;
        pairs.iter().map(move |(key, value)| (doc.node(*key), doc.node(*value)))
    }

    /// The items of a list in their order; nothing for other nodes.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Node<'a>> + ExactSizeIterator {
        let items: &'a [NodeId] = match &self.resolved().data().body {
            Body::Sequence(items) => items,
            _ => &[],
        };
        let doc = self.doc;
        items.iter().map(move |item| doc.node(*item))
    }

    /// The text of a key, or of any scalar; the empty text for lists and maps.
    pub fn key_text(self) -> &'a str {
        self.source_text().unwrap_or_default()
    }

    /// The node as JSON: order kept, aliases expanded, keys as their text. What JSON has no number
    /// for (integers beyond 64 bits, `.inf`, `.nan`) becomes text as written.
    pub fn to_json(self) -> serde_json::Value {
        use serde_json::Value;
        let node = self.resolved();
        match &node.data().body {
            Body::Scalar { text, meaning } => match *meaning {
                Meaning::Null => Value::Null,
                Meaning::Bool(value) => value.into(),
                Meaning::Int(value) => value.into(),
                Meaning::UInt(value) => value.into(),
                Meaning::Float(value) if value.is_finite() => value.into(),
                Meaning::Float(_) | Meaning::BigInt | Meaning::Str => text.as_str().into(),
            },
            Body::Sequence(_) => node.items().map(Node::to_json).collect(),
            Body::Mapping(_) => {
                Value::Object(node.entries().map(|(k, v)| (k.key_text().to_owned(), v.to_json())).collect())
            }
            // An alias resolves in one step, so nothing is left to follow.
            Body::Alias { .. } => Value::Null,
        }
    }

    /// The node as a value to write elsewhere: numbers as written, aliases expanded, flow style
    /// remembered.
    pub fn to_yaml(self) -> Yaml {
        Yaml::of(self)
    }
}

/// Anchors by the number the parser gave them.
pub(crate) type Anchors = HashMap<usize, NodeId>;
