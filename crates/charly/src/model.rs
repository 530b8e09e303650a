//! The YAML of a project, read and judged: pure functions over texts, no file is touched.

pub mod compare;
pub mod fields;
pub mod layout;
pub mod names;
pub mod nodes;
pub mod places;
pub mod report;
pub mod resolve;
pub mod shapes;
pub mod source;
pub mod steps;
pub mod validate;

pub use compare::added;
pub use nodes::{Child, Content, Entity, EntityKind, Model};
pub use report::Report;
pub use source::Source;
pub use validate::{read, validate};
