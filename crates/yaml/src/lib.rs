//! YAML as people write it: one tree with places for reading, and edits that leave every byte alone
//! that they are not about.
//!
//! Reading follows the core schema of YAML 1.2; `<<` is an ordinary key. A [`Document`] knows the
//! place of every node, reports all problems it can find at once, and refuses what is too large,
//! too deep or expands too far ([`Limits`]). [`Node`] is for readers of models: every error they
//! report can name a line and column.
//!
//! An [`Editor`] changes a text through a [`Path`]. Comments, blank lines, quotes, indentation, line
//! endings and brackets elsewhere survive, because an edit is a replacement of a few bytes. The
//! result is parsed again; if its value is not exactly what was asked for, the edit is refused.
//!
//! ```
//! use pintle_yaml::{Document, Editor, Limits, Path, Yaml};
//!
//! let text = "web:            # the front\n    candy: [svc]  # in order\n";
//! let document = Document::parse(text, Limits::default()).unwrap();
//! let candy = document.root().get("web").and_then(|web| web.get("candy")).unwrap();
//! assert_eq!(candy.pos().to_string(), "2:12");
//!
//! let mut editor = Editor::new(text, Limits::default()).unwrap();
//! editor.append(&Path::parse("web.candy").unwrap(), &[Yaml::text("proxy")]).unwrap();
//! editor.set(&Path::parse("web.base").unwrap(), &Yaml::text("scratch")).unwrap();
//! assert_eq!(
//!     editor.text(),
//!     "web:            # the front\n    candy: [svc, proxy]  # in order\n    base: scratch\n"
//! );
//! ```

mod build;
mod change;
mod document;
mod edit;
mod emit;
mod extent;
mod flow;
mod lex;
mod offsets;
mod parse;
mod path;
mod place;
mod refusal;
mod scalar;
mod splice;
mod syntax;
mod tags;
mod value;
mod walk;

pub use document::{Document, Kind, Node, Style};
pub use edit::Editor;
pub use path::{Path, PathError, Segment};
pub use place::{Limits, Place, Problem};
pub use refusal::EditError;
pub use scalar::Scalar;
pub use value::{Layout, Yaml};
