//! Where things are in a text, what is wrong with it, and how much of it is accepted.

use std::fmt;

/// A position in a text as people count it.
///
/// Lines and columns start at 1. Columns count characters; a tab is one, a byte order mark none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One thing that is wrong with a text. The caller knows the file's name and puts it in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem at a place.
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Self { line: place.line, column: place.column, message: message.into(), hint: None }
    }

    /// The same problem with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Where the problem is.
    pub fn place(&self) -> Place {
        Place { line: self.line, column: self.column }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// How much a text may ask for. Every limit that is passed becomes a [`Problem`] with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest text, in bytes.
    pub bytes: usize,
    /// Deepest nesting of lists and maps, aliases followed.
    pub depth: usize,
    /// Most nodes that aliases may stand for, all aliases together.
    pub alias_nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 4 * 1024 * 1024, depth: 100, alias_nodes: 100_000 }
    }
}

impl Limits {
    /// The same limits with another size limit, in bytes.
    #[must_use]
    pub fn with_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }
}

/// The byte order mark, which some editors put at the start of a file.
pub(crate) const BOM: &str = "\u{feff}";

/// Starts of lines, to turn byte offsets into places.
#[derive(Debug, Clone)]
pub(crate) struct LineIndex {
    /// Byte offset of the start of each line.
    starts: Vec<usize>,
    /// Byte length of the byte order mark at the start of the text, which counts as no column.
    skip: usize,
}

impl LineIndex {
    /// Line ends are `\n`, `\r\n` and a lone `\r`, as in the YAML specification (5.4).
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(at + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                starts.push(at + 1);
            }
        }
        let skip = if text.starts_with(BOM) { BOM.len() } else { 0 };
        Self { starts, skip }
    }

    /// The place of a byte offset; an offset behind the text is its end.
    pub(crate) fn place(&self, text: &str, offset: usize) -> Place {
        let offset = floor_boundary(text, offset);
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let mut start = self.starts.get(line - 1).copied().unwrap_or(0);
        if line == 1 {
            start = start.max(self.skip).min(offset);
        }
        Place { line, column: text.get(start..offset).map_or(0, |part| part.chars().count()) + 1 }
    }
}

/// The nearest character boundary at or before an offset.
fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_no_byte_order_mark() {
        let text = "\u{feff}ä: ö\r\n\tb: 1\rc";
        let index = LineIndex::new(text);
        let of = |needle: &str| index.place(text, text.find(needle).unwrap()).to_string();
        assert_eq!(of("ä"), "1:1");
        assert_eq!(of("ö"), "1:4");
        assert_eq!(of("b"), "2:2");
        assert_eq!(of("c"), "3:1");
        assert_eq!(index.place(text, 0).to_string(), "1:1");
        assert_eq!(index.place(text, 10_000).to_string(), "3:2");
    }
}
