//! Places in a text, and why an edit is refused.

use pintle_core::Problem;
use std::fmt;

/// Line and column from 1; columns count characters, a byte order mark is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Place {
    /// The place of a byte offset; an offset behind the text is its end.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before[start..].trim_start_matches(super::BOM).chars().count() + 1;
        Self { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a file is not edited. It is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It does not parse.
    #[error("{message}")]
    Malformed { place: Place, message: String },
    /// A key on the way is there twice.
    #[error("`{key}` is there twice, also at {other}")]
    Twice { place: Place, other: Place, key: String },
    /// Something on the way is not what it must be.
    #[error("{what} is {found}, not {wanted}")]
    Kind { place: Place, what: String, found: String, wanted: &'static str },
    /// The edit would change more than our entry, or not make it what it must be.
    #[error("our entry cannot be written here without changing more: {why}")]
    Unproven { place: Place, why: String },
}

impl Refusal {
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Malformed { place, .. }
            | Self::Twice { place, .. }
            | Self::Kind { place, .. }
            | Self::Unproven { place, .. } => *place,
        }
    }

    /// As a problem of that file.
    pub(crate) fn problem(&self, file: &str) -> Problem {
        let hint = match self {
            Self::Malformed { .. } => "mend the file first; nothing of it was changed",
            Self::Twice { .. } => "remove one of the two; readers differ in which one they take",
            Self::Kind { .. } => "mend or remove it; nothing of the file was changed",
            Self::Unproven { .. } => "write the entry by hand; `--dry-run` shows the command",
        };
        let place = self.place();
        Problem::new(self.to_string()).at(file, place.line, place.column).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one_and_no_byte_order_mark() {
        let text = "\u{feff}{\r\n  \"ä\": 1}";
        assert_eq!(Place::of(text, 3).to_string(), "1:1");
        assert_eq!(Place::of(text, text.find('1').unwrap()).to_string(), "2:8");
        assert_eq!(Place::of(text, 999).to_string(), "2:10");
    }
}
