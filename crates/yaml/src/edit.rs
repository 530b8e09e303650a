//! Edits that leave every byte alone that they are not about.
//!
//! An edit becomes replacements of byte ranges of the old text. The new text is parsed again and its
//! value compared with what was wanted; on any difference the edit is refused and nothing changes.

use crate::change::Change;
use crate::document::{Body, Document, Kind, Node};
use crate::path::{Path, Segment};
use crate::place::{Limits, Place, Problem};
use crate::refusal::EditError;
use crate::splice::Splices;
use crate::value::{Layout, Yaml};
use crate::walk::{Walk, below_alias, not_a_list, positions, walk};

/// A text under edit. Every call edits the current text or, on an error, leaves it.
#[derive(Debug, Clone)]
pub struct Editor {
    doc: Document,
    limits: Limits,
}

impl Editor {
    /// Takes a text that parses.
    ///
    /// # Errors
    ///
    /// As [`Document::parse`].
    pub fn new(text: &str, limits: Limits) -> Result<Editor, Vec<Problem>> {
        Ok(Editor { doc: Document::parse(text, limits)?, limits })
    }

    /// The tree of the current text.
    pub fn document(&self) -> &Document {
        &self.doc
    }

    /// The current text.
    pub fn text(&self) -> &str {
        self.doc.text()
    }

    /// The current text, taken out.
    pub fn into_text(self) -> String {
        self.doc.text
    }

    /// Sets the value at a path. Missing maps on the way are made, `[+]` adds an item, a null on
    /// the way becomes the map or list that is needed. Where a map or list replaces one, entries
    /// that stay the same stay untouched. True when the text changed.
    ///
    /// # Errors
    ///
    /// See [`EditError`]; the text is then as before.
    pub fn set(&mut self, path: &Path, value: &Yaml) -> Result<bool, EditError> {
        self.atomically(|editor| editor.set_at(path, value))
    }

    /// Removes what a path names. The last entry of a list or map leaves `[]` or `{}`. Comments on
    /// lines of their own stay. False when it was not there.
    ///
    /// # Errors
    ///
    /// See [`EditError`]; the text is then as before.
    pub fn delete(&mut self, path: &Path) -> Result<bool, EditError> {
        let Walk { trail, rest, .. } = walk(&self.doc, path)?;
        match rest.first() {
            Some(Segment::Key(_)) => return Ok(false),
            Some(_) => return Err(EditError::Unfit { path: path.to_string() }),
            None => {}
        }
        let Some((&(parent, index), upper)) = trail.split_last() else {
            return Err(EditError::Unfit { path: path.to_string() });
        };
        let change = Change::new(&self.doc, &trail);
        change.check_anchors(change.child_span(parent, index))?;
        let mut splices = Splices::default();
        change.delete(&mut splices);
        let positions: Vec<usize> = upper.iter().map(|(_, index)| *index).collect();
        let wanted = self.wanted(&positions, |node| match node {
            Yaml::List(items, _) => drop(items.remove(index)),
            Yaml::Map(entries, _) => drop(entries.remove(index)),
            _ => {}
        });
        self.commit(path, splices, &wanted)
    }

    /// Adds items at the end of a list; a missing list or a null becomes one. Adds also what is
    /// there already. True when the text changed.
    ///
    /// # Errors
    ///
    /// See [`EditError`]; the text is then as before.
    pub fn append(&mut self, path: &Path, items: &[Yaml]) -> Result<bool, EditError> {
        self.atomically(|editor| editor.append_at(path, items))
    }

    /// Removes every item of a list that has this value. False when there is none, or no list.
    ///
    /// # Errors
    ///
    /// See [`EditError`]; the text is then as before.
    pub fn remove_item(&mut self, path: &Path, item: &Yaml) -> Result<bool, EditError> {
        self.atomically(|editor| {
            let found = walk(&editor.doc, path)?;
            let node = found.node;
            if !found.rest.is_empty() || node.is_null() {
                return Ok(false);
            }
            if node.kind() != Kind::Sequence {
                return Err(not_a_list(node, path, path.segments().len()));
            }
            let fitting: Vec<usize> =
                (0..).zip(node.items()).filter(|(_, n)| Yaml::of(*n).same_as(item)).map(|(index, _)| index).collect();
            for index in fitting.iter().rev() {
                editor.delete(&path.index(*index))?;
            }
            Ok(!fitting.is_empty())
        })
    }

    /// Runs an edit of several steps: all of them or none.
    fn atomically(&mut self, edit: impl FnOnce(&mut Editor) -> Result<bool, EditError>) -> Result<bool, EditError> {
        let before = self.doc.clone();
        let done = edit(self);
        if done.is_err() {
            self.doc = before;
        }
        done
    }

    fn set_at(&mut self, path: &Path, value: &Yaml) -> Result<bool, EditError> {
        let Walk { trail, node, rest } = walk(&self.doc, path)?;
        if let Some((first, deeper)) = rest.split_first() {
            let value = wrapped(deeper, value, path)?;
            return match first {
                Segment::Key(key) if node.is_null() => {
                    let map = Yaml::map([(key.clone(), value)]);
                    self.replace(path, &map)
                }
                Segment::Key(key) => self.add_entry(path, key, value),
                _ if node.is_null() => self.replace(path, &Yaml::list([value])),
                _ => self.add_items(path, vec![value]),
            };
        }
        let old = Yaml::of(node);
        if old.same_as(value) {
            return Ok(false);
        }
        if node.kind() == Kind::Alias || (trail.is_empty() && !node.is_mapping()) {
            return self.replace(path, value);
        }
        match (&old, value) {
            (Yaml::Map(old, _), Yaml::Map(new, _)) if !old.is_empty() && !new.is_empty() => {
                let old: Vec<String> = old.iter().map(|(key, _)| key.clone()).collect();
                self.merge_map(path, &old, new)
            }
            (Yaml::List(old, _), Yaml::List(new, _)) if !old.is_empty() && !new.is_empty() => {
                self.merge_list(path, old, new, value)
            }
            _ => self.replace(path, value),
        }
    }

    /// Makes a map have these entries, touching only those that differ.
    fn merge_map(&mut self, path: &Path, old: &[String], new: &[(String, Yaml)]) -> Result<bool, EditError> {
        for (key, value) in new {
            self.set_at(&path.key(key.clone()), value)?;
        }
        for key in old.iter().filter(|key| !new.iter().any(|(other, _)| other == *key)) {
            self.delete(&path.key(key.clone()))?;
        }
        Ok(true)
    }

    /// Makes a list have these items: by adding at the end, by removing, item by item where the
    /// length stays, else as a whole.
    fn merge_list(&mut self, path: &Path, old: &[Yaml], new: &[Yaml], value: &Yaml) -> Result<bool, EditError> {
        if old.iter().zip(new).all(|(a, b)| a.same_as(b)) && new.len() > old.len() {
            return self.append_at(path, &new[old.len()..]);
        }
        if let Some(gone) = left_out(old, new) {
            for index in gone.iter().rev() {
                self.delete(&path.index(*index))?;
            }
            return Ok(true);
        }
        if old.len() == new.len() {
            for (index, item) in new.iter().enumerate() {
                self.set_at(&path.index(index), item)?;
            }
            return Ok(true);
        }
        self.replace(path, value)
    }

    fn append_at(&mut self, path: &Path, items: &[Yaml]) -> Result<bool, EditError> {
        let Walk { node, rest, .. } = walk(&self.doc, path)?;
        if items.is_empty() {
            return Ok(false);
        }
        if !rest.is_empty() {
            return self.set_at(path, &Yaml::list(items.to_vec()));
        }
        if node.kind() == Kind::Alias {
            return Err(below_alias(node, path, path.segments().len()));
        }
        if node.is_null() {
            return self.replace(path, &Yaml::list(items.to_vec()));
        }
        if node.kind() != Kind::Sequence {
            return Err(not_a_list(node, path, path.segments().len()));
        }
        self.add_items(path, items.to_vec())
    }

    /// Replaces the deepest node on the path that is there.
    fn replace(&mut self, path: &Path, value: &Yaml) -> Result<bool, EditError> {
        let Walk { trail, node, .. } = walk(&self.doc, path)?;
        let change = Change::new(&self.doc, &trail);
        change.check_anchors(node.span())?;
        let mut splices = Splices::default();
        change.replace(&mut splices, value).map_err(|reason| EditError::Unwritable {
            place: node.pos(),
            path: path.to_string(),
            reason: reason.to_owned(),
        })?;
        let wanted = self.wanted(&positions(&trail), |node| *node = value.clone());
        self.commit(path, splices, &wanted)
    }

    fn add_entry(&mut self, path: &Path, key: &str, value: Yaml) -> Result<bool, EditError> {
        let Walk { trail, .. } = walk(&self.doc, path)?;
        let mut splices = Splices::default();
        Change::new(&self.doc, &trail).add_entry(&mut splices, key, &value);
        let wanted = self.wanted(&positions(&trail), |node| {
            if let Yaml::Map(entries, _) = node {
                entries.push((key.to_owned(), value));
            }
        });
        self.commit(path, splices, &wanted)
    }

    fn add_items(&mut self, path: &Path, items: Vec<Yaml>) -> Result<bool, EditError> {
        let Walk { trail, .. } = walk(&self.doc, path)?;
        let mut splices = Splices::default();
        Change::new(&self.doc, &trail).add_items(&mut splices, &items);
        let wanted = self.wanted(&positions(&trail), |node| {
            if let Yaml::List(list, _) = node {
                list.extend(items);
            }
        });
        self.commit(path, splices, &wanted)
    }

    /// The value of the document after a change of one node.
    fn wanted(&self, positions: &[usize], change: impl FnOnce(&mut Yaml)) -> Yaml {
        let mut whole = shape(self.doc.root());
        let mut node = &mut whole;
        for index in positions {
            node = match node {
                Yaml::List(items, _) => &mut items[*index],
                Yaml::Map(entries, _) => &mut entries[*index].1,
                other => other,
            };
        }
        change(node);
        whole
    }

    /// Makes the replacements if the text that comes out has the wanted value.
    fn commit(&mut self, path: &Path, splices: Splices, wanted: &Yaml) -> Result<bool, EditError> {
        let unwritable = |place: Place, reason: String| EditError::Unwritable { place, path: path.to_string(), reason };
        let start = self.doc.root().pos();
        let Some(text) = splices.apply(self.doc.text()) else {
            return Err(unwritable(start, "it would change one place twice".to_owned()));
        };
        if text == self.doc.text() {
            return Ok(false);
        }
        let doc = Document::parse(&text, self.limits).map_err(|problems| {
            let first = problems.first();
            let place = first.map_or(start, Problem::place);
            let reason = first.map_or_else(String::new, |p| p.message.clone());
            unwritable(place, reason)
        })?;
        if !identical(&shape(doc.root()), wanted) {
            let reason = "the file would not have the value that was asked for".to_owned();
            return Err(unwritable(start, reason));
        }
        self.doc = doc;
        Ok(true)
    }
}

/// The value below missing steps.
fn wrapped(steps: &[Segment], value: &Yaml, path: &Path) -> Result<Yaml, EditError> {
    steps.iter().rev().try_fold(value.clone(), |value, step| match step {
        Segment::Key(key) => Ok(Yaml::map([(key.clone(), value)])),
        Segment::Append => Ok(Yaml::list([value])),
        Segment::Index(_) | Segment::Where { .. } => Err(EditError::Unfit { path: path.to_string() }),
    })
}

/// The indexes of `old` that are missing in `new`, when `new` is `old` with items left out.
fn left_out(old: &[Yaml], new: &[Yaml]) -> Option<Vec<usize>> {
    let mut kept = new.iter().peekable();
    let mut gone = Vec::new();
    for (index, item) in old.iter().enumerate() {
        if kept.peek().is_some_and(|next| next.same_as(item)) {
            kept.next();
        } else {
            gone.push(index);
        }
    }
    kept.next().is_none().then_some(gone)
}

/// The value of a tree with aliases left as they are: an edit below an anchor changes what its
/// aliases stand for, and that is what the author of the anchor wants. An alias is written as a
/// number that no number can be.
fn shape(node: Node<'_>) -> Yaml {
    match &node.data().body {
        Body::Alias { name, .. } => Yaml::Number(format!("*{name}")),
        Body::Sequence(_) => Yaml::List(node.items().map(shape).collect(), Layout::Block),
        Body::Mapping(_) => {
            Yaml::Map(node.entries().map(|(k, v)| (k.key_text().to_owned(), shape(v))).collect(), Layout::Block)
        }
        Body::Scalar { .. } => Yaml::of(node),
    }
}

/// Equal but for layout.
fn identical(a: &Yaml, b: &Yaml) -> bool {
    match (a, b) {
        (Yaml::List(a, _), Yaml::List(b, _)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b)),
        (Yaml::Map(a, _), Yaml::Map(b, _)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && identical(&a.1, &b.1))
        }
        (a, b) => a == b,
    }
}
