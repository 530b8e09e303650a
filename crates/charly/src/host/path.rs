//! Paths inside a project, as callers write them.

use pintle_core::{Code, Failure};
use std::{
    fmt,
    path::{Component, Path, PathBuf},
};

/// A relative path without `..`, as written by a caller. Where it leads is not known yet: links may stand on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside(String);

impl Inside {
    /// Reads the value of the argument `argument`.
    ///
    /// # Errors
    /// Code `invalid_argument` for an empty path or one with control characters, `outside_project` for an absolute one
    /// or one with `..`.
    pub fn parse(argument: &str, text: &str) -> Result<Self, Failure> {
        let refused = |why: &str| {
            Failure::new(Code::OutsideProject, format!("argument `{argument}`: `{}` {why}", text.escape_debug()))
                .hint("give a path relative to the project, such as `candy/web/charly.yml`")
        };
        if text.chars().any(char::is_control) {
            let shown = text.escape_debug();
            return Err(Failure::invalid_argument(argument, format!("`{shown}` holds a control character")));
        }
        let mut names = Vec::new();
        for component in Path::new(text).components() {
            match component {
                Component::Normal(name) => names.push(name.to_string_lossy()),
                Component::CurDir => {}
                Component::ParentDir => return Err(refused("holds `..`")),
                Component::RootDir | Component::Prefix(_) => return Err(refused("is absolute")),
            }
        }
        if names.is_empty() {
            return Err(Failure::invalid_argument(argument, "names no file"));
        }
        Ok(Self(names.join("/")))
    }

    /// A path of ours, made of names that were checked before.
    #[must_use]
    pub fn of(path: impl Into<String>) -> Self {
        Self(path.into())
    }

    /// The path with `/` between the names.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether one of the names on the way is git's own folder, where a file can mean code that runs later.
pub(crate) fn is_git(path: &Path) -> bool {
    path.components().any(|c| c.as_os_str().to_str().is_some_and(|name| name.eq_ignore_ascii_case(".git")))
}

/// A path as messages and answers show it.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A path from a caller that may be absolute, taken from `base` if it is not.
pub(crate) fn from_caller(argument: &str, text: &str, base: &Path) -> Result<PathBuf, Failure> {
    if text.is_empty() {
        return Err(Failure::invalid_argument(argument, "must not be empty"));
    }
    if text.chars().any(char::is_control) {
        let shown = text.escape_debug();
        return Err(Failure::invalid_argument(argument, format!("`{shown}` holds a control character")));
    }
    Ok(base.join(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ch_194_absolute_and_climbing_paths_are_refused_by_name() {
        for (text, code, part) in [
            ("/etc/passwd", Code::OutsideProject, "`/etc/passwd` is absolute"),
            ("a/../../b", Code::OutsideProject, "`a/../../b` holds `..`"),
            ("a/..", Code::OutsideProject, "holds `..`"),
            ("a\0b", Code::InvalidArgument, "`a\\0b` holds a control character"),
            ("", Code::InvalidArgument, "names no file"),
            ("./.", Code::InvalidArgument, "names no file"),
        ] {
            let failure = Inside::parse("path", text).unwrap_err();
            assert_eq!(failure.code, code, "{text:?}");
            assert!(failure.message.contains(part), "{}", failure.message);
        }
        assert_eq!(Inside::parse("path", "./a//b/").unwrap().as_str(), "a/b");
        assert!(is_git(Path::new("x/.GIT/hooks")) && !is_git(Path::new(".gitignore")));
    }
}
