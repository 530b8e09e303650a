//! Tags: the core schema's, and no others.

use crate::build::Builder;
use crate::scalar::{self, Meaning, Overflow};
use saphyr_parser::{ScalarStyle, Tag};

const CORE: &str = "tag:yaml.org,2002:";

impl Builder<'_> {
    /// What a scalar means, by its tag or else by the core schema.
    pub(crate) fn meaning(&mut self, value: &str, style: ScalarStyle, tag: Option<&Tag>, at: usize) -> Meaning {
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

    /// A list or map may carry its own tag only.
    pub(crate) fn check_collection_tag(&mut self, start: usize, tag: Option<&Tag>, map: bool) {
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
    }
}

/// The tag in full.
pub(crate) fn tag_text(tag: &Tag) -> String {
    format!("{}{}", tag.handle, tag.suffix)
}
