//! Paths into a document: `web.box.base`, `steps[2]`, `env[name=HOME].value`, `"a.b".c`.

use crate::place::Limits;
use std::fmt;
use thiserror::Error;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// The value of a key.
    Key(String),
    /// `[2]`: an item of a list, counted from 0.
    Index(usize),
    /// `[+]`: a new item at the end of a list.
    Append,
    /// `[name=x]`: the item of a list, a map, whose key has that value.
    Where {
        /// The key looked at.
        key: String,
        /// The text of its value.
        value: String,
    },
}

/// A path from the root of a document. The empty path is the root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path {
    segments: Vec<Segment>,
}

/// A path that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("path `{path}`, column {column}: {message}")]
pub struct PathError {
    /// The path as given.
    pub path: String,
    /// Column in the path, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Path {
    /// Reads a path. Keys are separated by dots; a key that holds a dot, bracket, quote or blank
    /// is put in `"` (with `\"` and `\\`) or `'` (with `''`). Lists take `[2]` (from 0), `[+]`
    /// and `[name=x]`. Everything is literal from the root. A path has at most as many steps as
    /// [`Limits::default`] lets a document have levels, since each step is one.
    ///
    /// # Errors
    ///
    /// What is wrong and at which column of the path.
    ///
    /// ```
    /// use pintle_yaml::Path;
    ///
    /// let path: Path = "web.\"a.b\"[0]".parse()?;
    /// assert_eq!(path.segments().len(), 3);
    /// assert_eq!(Path::parse("web..base").unwrap_err().column, 5);
    /// # Ok::<(), pintle_yaml::PathError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Path, PathError> {
        Reader { text, chars: text.chars().collect(), at: 0 }.path()
    }

    /// A path of keys, each taken as it is.
    pub fn of_keys<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Path {
        Path { segments: keys.into_iter().map(|key| Segment::Key(key.into())).collect() }
    }

    /// The steps.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Is it the root?
    pub fn is_root(&self) -> bool {
        self.segments.is_empty()
    }

    /// This path with one more step.
    #[must_use]
    pub fn join(&self, segment: Segment) -> Path {
        let mut segments = self.segments.clone();
        segments.push(segment);
        Path { segments }
    }

    /// This path with one more key, taken as it is.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Path {
        self.join(Segment::Key(key.into()))
    }

    /// This path with one more list index, from 0.
    #[must_use]
    pub fn index(&self, index: usize) -> Path {
        self.join(Segment::Index(index))
    }
}

impl From<Vec<Segment>> for Path {
    fn from(segments: Vec<Segment>) -> Self {
        Path { segments }
    }
}

impl std::str::FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Path::parse(text)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Key(key) => {
                    if n > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(&quoted(key))?;
                }
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Append => f.write_str("[+]")?,
                Segment::Where { key, value } => write!(f, "[{}={}]", quoted(key), quoted(value))?,
            }
        }
        Ok(())
    }
}

/// The key as it must stand in a path.
fn quoted(key: &str) -> String {
    let plain =
        !key.is_empty() && !key.contains(|c: char| ".[]=\"'".contains(c) || c.is_whitespace() || c.is_control());
    if plain { key.to_owned() } else { format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\"")) }
}

struct Reader<'t> {
    text: &'t str,
    chars: Vec<char>,
    at: usize,
}

impl Reader<'_> {
    fn path(mut self) -> Result<Path, PathError> {
        let mut segments = Vec::new();
        if self.chars.is_empty() {
            return Err(self.error(0, "the path is empty"));
        }
        let most = Limits::default().depth;
        while let Some(c) = self.peek() {
            if segments.len() == most {
                return Err(self.error(self.at, format!("the path goes deeper than {most} steps")));
            }
            match c {
                '[' => segments.push(self.bracket()?),
                '.' if segments.is_empty() => {
                    return Err(self.error(self.at, "a key is missing before the dot"));
                }
                '.' => {
                    self.at += 1;
                    segments.push(self.key_after_dot()?);
                }
                _ if segments.is_empty() => segments.push(Segment::Key(self.word(".[")?)),
                _ => return Err(self.error(self.at, "expected `.` or `[`")),
            }
        }
        Ok(Path { segments })
    }

    fn key_after_dot(&mut self) -> Result<Segment, PathError> {
        match self.peek() {
            None => Err(self.error(self.at, "a key is missing after the dot")),
            Some('.') => Err(self.error(self.at, "a key is missing between the dots")),
            Some('[') => Err(self.error(self.at, "a key is missing before `[`; leave the dot out")),
            Some(_) => Ok(Segment::Key(self.word(".[")?)),
        }
    }

    fn bracket(&mut self) -> Result<Segment, PathError> {
        let open = self.at;
        self.at += 1;
        let start = self.at;
        if self.peek() == Some(']') {
            return Err(self.error(open, "nothing in the brackets; use `[2]`, `[+]` or `[name=x]`"));
        }
        let quoted = matches!(self.peek(), Some('"' | '\''));
        let word = self.word("=]")?;
        if self.peek().is_none() {
            return Err(self.error(open, "the bracket is not closed"));
        }
        let segment = match self.peek() {
            Some('=') if word.is_empty() => {
                return Err(self.error(start, "a key is missing before `=`"));
            }
            Some('=') => {
                self.at += 1;
                Segment::Where { key: word, value: self.word("]")? }
            }
            _ if !quoted && word == "+" => Segment::Append,
            _ => match word.parse() {
                Ok(index) if !quoted && word.bytes().all(|b| b.is_ascii_digit()) => Segment::Index(index),
                _ => {
                    let message = format!("`{word}` is no list index; use `[2]`, `[+]` or `[name=x]`");
                    return Err(self.error(start, message));
                }
            },
        };
        if self.peek() != Some(']') {
            return Err(self.error(open, "the bracket is not closed"));
        }
        self.at += 1;
        Ok(segment)
    }

    /// A quoted word, or everything up to one of `ends`.
    fn word(&mut self, ends: &str) -> Result<String, PathError> {
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote),
            _ => {
                let mut word = String::new();
                while let Some(c) = self.peek().filter(|c| !ends.contains(*c)) {
                    if c == ']' && !ends.contains(']') {
                        return Err(self.error(self.at, "`]` without `[`; put the key in quotes"));
                    }
                    word.push(c);
                    self.at += 1;
                }
                Ok(word)
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, PathError> {
        let open = self.at;
        self.at += 1;
        let mut word = String::new();
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '\\' if quote == '"' => match self.peek() {
                    Some(next @ ('"' | '\\')) => {
                        self.at += 1;
                        word.push(next);
                    }
                    _ => return Err(self.error(self.at - 1, "only `\\\"` and `\\\\` are escapes")),
                },
                '\'' if quote == '\'' && self.peek() == Some('\'') => {
                    self.at += 1;
                    word.push('\'');
                }
                _ if c == quote => return Ok(word),
                _ => word.push(c),
            }
        }
        Err(self.error(open, "the quote is not closed"))
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn error(&self, at: usize, message: impl Into<String>) -> PathError {
        PathError { path: self.text.to_owned(), column: at + 1, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Segment {
        Segment::Key(text.to_owned())
    }

    #[test]
    fn cw_31_keys_with_dots_and_list_items_have_paths() {
        let parsed = |text: &str| Path::parse(text).unwrap().segments;
        assert_eq!(parsed("web.box.base"), [key("web"), key("box"), key("base")]);
        assert_eq!(parsed("\"a.b\".'c d'"), [key("a.b"), key("c d")]);
        assert_eq!(parsed(r#""a\"b\\".'it''s'"#), [key("a\"b\\"), key("it's")]);
        assert_eq!(parsed("a[2][+]"), [key("a"), Segment::Index(2), Segment::Append]);
        let named = Segment::Where { key: "name".to_owned(), value: "x.y".to_owned() };
        assert_eq!(parsed("a[name=x.y].b"), [key("a"), named.clone(), key("b")]);
        assert_eq!(parsed("a[\"name\"='x.y'].b"), [key("a"), named, key("b")]);
        assert_eq!(parsed("[0]"), [Segment::Index(0)]);
        assert_eq!(parsed("web-svc.a/b"), [key("web-svc"), key("a/b")]);
    }

    #[test]
    fn errors_name_the_column() {
        for (text, column, part) in [
            ("", 1, "empty"),
            (".a", 1, "before the dot"),
            ("a.", 3, "after the dot"),
            ("a..b", 3, "between the dots"),
            ("ä.[0]", 3, "leave the dot out"),
            ("a[", 2, "not closed"),
            ("a[]", 2, "nothing in the brackets"),
            ("a[x]", 3, "`x` is no list index"),
            ("a[-1]", 3, "`-1` is no list index"),
            ("a[=x]", 3, "before `=`"),
            ("a[name=x", 2, "not closed"),
            ("a]b", 2, "without `[`"),
            ("\"a", 1, "quote is not closed"),
            ("\"a\"b", 4, "expected `.` or `[`"),
            ("\"a\\n\"", 3, "escapes"),
            ("a[0]b", 5, "expected `.` or `[`"),
            ("a[99999999999999999999999]", 3, "no list index"),
        ] {
            let error = Path::parse(text).unwrap_err();
            assert_eq!((error.column, error.message.contains(part)), (column, true), "{error}");
        }
    }

    #[test]
    fn a_path_deeper_than_any_document_is_refused() {
        for (step, first) in [(".a", "a"), ("[+]", "a"), ("[0]", "a")] {
            let at_most = format!("{first}{}", step.repeat(99));
            assert_eq!(Path::parse(&at_most).unwrap().segments().len(), 100);
            for times in [100, 1_000_000] {
                let error = Path::parse(&format!("{first}{}", step.repeat(times))).unwrap_err();
                assert_eq!(error.message, "the path goes deeper than 100 steps");
            }
        }
    }

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["web.box.base", "a[2].b[+]", "a[name=x]", "\"a.b\"", "\"\"", "\"it's\""] {
            let path = Path::parse(text).unwrap();
            assert_eq!(path.to_string(), text);
        }
    }
}
