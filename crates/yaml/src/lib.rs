//! YAML as people write it: one tree with places for reading, and edits that leave every byte alone
//! that they are not about.
//!
//! Reading follows the core schema of YAML 1.2; `<<` is an ordinary key. A [`Document`] knows the place of
//! every node, reports all problems it can find at once, and refuses what is too large, too deep or
//! expands too far ([`Limits`]).
//!
//! Editing (being written; this is the shape):
//!
//! ```text
//! Editor::new(text: &str, limits: Limits) -> Result<Editor, Vec<Problem>>
//! Editor::document(&self) -> &Document           // the tree of the current text
//! Editor::text(&self) -> &str;  Editor::into_text(self) -> String
//! Editor::set(&mut self, path: &Path, value: &Yaml) -> Result<bool, EditError>      // false: nothing changed
//! Editor::delete(&mut self, path: &Path) -> Result<bool, EditError>                 // false: was not there
//! Editor::append(&mut self, path: &Path, items: &[Yaml]) -> Result<bool, EditError> // makes the list if need be
//! Editor::remove_item(&mut self, path: &Path, item: &Yaml) -> Result<bool, EditError>
//! EditError::problem(&self) -> Problem            // place and words
//! Document::find(&self, path: &Path) -> Option<Node<'_>>
//! ```

mod document;
mod lex;
mod parse;
mod path;
mod place;
mod scalar;
mod value;

pub use document::{Document, Kind, Node, Style};
pub use path::{Path, PathError, Segment};
pub use place::{Limits, Place, Problem};
pub use scalar::Scalar;
pub use value::{Layout, Yaml};
