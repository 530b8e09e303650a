//! Why an edit is refused.

use crate::place::{Place, Problem};
use thiserror::Error;

/// Why an edit was refused. The text is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    /// The path goes on with a key below something that is no map.
    #[error("`{path}` is {kind}, not a map")]
    NotAMap {
        /// Where that node is.
        place: Place,
        /// The part of the path that leads to it.
        path: String,
        /// What it is, with its article.
        kind: String,
    },
    /// The path goes on with an index, or an item is added, where there is no list.
    #[error("`{path}` is {kind}, not a list")]
    NotAList {
        /// Where that node is.
        place: Place,
        /// The part of the path that leads to it.
        path: String,
        /// What it is, with its article.
        kind: String,
    },
    /// No item of a list fits.
    #[error("`{path}` is not there; the list has {len} items")]
    NoItem {
        /// Where the list is.
        place: Place,
        /// The path with the item.
        path: String,
        /// Items in the list.
        len: usize,
    },
    /// Several items of a list fit.
    #[error("`{path}` fits several items, also the one at {other}")]
    Ambiguous {
        /// Where the first one is.
        place: Place,
        /// The path with the item.
        path: String,
        /// Where the second one is.
        other: Place,
    },
    /// The path leads through an alias.
    #[error("`{path}` is the alias `*{name}`; its content stands at {anchor}")]
    BelowAlias {
        /// Where the alias is.
        place: Place,
        /// The part of the path that leads to it.
        path: String,
        /// The alias, without `*`.
        name: String,
        /// Where the anchored content is.
        anchor: Place,
    },
    /// Something would go that an alias elsewhere needs.
    #[error("anchor `&{name}` is in use by an alias at {alias}")]
    AnchorInUse {
        /// Where the anchor is.
        place: Place,
        /// The anchor, without `&`.
        name: String,
        /// Where the first alias that uses it is.
        alias: Place,
    },
    /// The path means the whole document, or `[+]` where something must be there already.
    #[error("`{path}` does not name one thing that is there")]
    Unfit {
        /// The path.
        path: String,
    },
    /// The edit would need more than the lines it is about.
    #[error("cannot write `{path}` here without changing more: {reason}")]
    Unwritable {
        /// Where the edit would be.
        place: Place,
        /// The path.
        path: String,
        /// What stands in the way.
        reason: String,
    },
}

impl EditError {
    /// Where the refusal comes from; a path that fits nothing has none.
    pub fn place(&self) -> Option<Place> {
        match self {
            EditError::NotAMap { place, .. }
            | EditError::NotAList { place, .. }
            | EditError::NoItem { place, .. }
            | EditError::Ambiguous { place, .. }
            | EditError::BelowAlias { place, .. }
            | EditError::AnchorInUse { place, .. }
            | EditError::Unwritable { place, .. } => Some(*place),
            EditError::Unfit { .. } => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            EditError::NotAMap { kind, .. } if kind == "a list" => {
                "address an item with `[0]`, `[name=x]` or `[+]`, or set the whole list"
            }
            EditError::NotAMap { .. } => "set it to a map first, or use another path",
            EditError::NotAList { .. } => "set it to a list first, or use another path",
            EditError::NoItem { .. } => "items count from 0; `[+]` adds one",
            EditError::Ambiguous { .. } => "use the index, such as `[0]`",
            EditError::BelowAlias { .. } => "edit the content at its anchor, or replace the alias itself",
            EditError::AnchorInUse { .. } => "replace the aliases first",
            EditError::Unfit { .. } => "name a key or an item",
            EditError::Unwritable { .. } => "edit the file by hand here",
        }
    }

    /// The refusal as a problem of the file; without a place of its own at its start.
    pub fn problem(&self) -> Problem {
        let place = self.place().unwrap_or(Place { line: 1, column: 1 });
        Problem::new(place, self.to_string()).with_hint(self.hint())
    }
}
