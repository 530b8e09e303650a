//! What is wrong with the text of a pack, and where.

use std::fmt;

/// One thing that is wrong with the text of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Problem {
    /// The problem at a byte of the text.
    pub(crate) fn at(text: &str, byte: usize, message: String, hint: Option<String>) -> Self {
        let before = text.get(..byte).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1, message, hint }
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

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let place = |byte| {
            let problem = Problem::at("a\nßb\n", byte, String::new(), None);
            (problem.line, problem.column)
        };
        assert_eq!(place(0), (1, 1));
        assert_eq!(place(2), (2, 1));
        assert_eq!(place(4), (2, 2), "characters, not bytes");
        assert_eq!(place(99), (3, 1), "beyond the end is the end");
        let problem = Problem::at("x", 0, "unknown key `x`".into(), Some("did you mean `y`?".into()));
        assert_eq!(problem.to_string(), "1:1: unknown key `x` (did you mean `y`?)");
    }
}
