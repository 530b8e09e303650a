//! What an edit has made worse.

use super::{Report, Source};
use pintle_core::Problem;
use std::collections::HashMap;

/// The errors of `after` that `before` did not have. Lines may have moved, so places do not count; and a file that did
/// not parse before can only have become better.
#[must_use]
pub fn added(before: &[Source], after: &[Source], old: &Report, new: &Report) -> Vec<Problem> {
    let unreadable = |sources: &[Source], file: &str| {
        sources.iter().find(|source| source.file == file).is_some_and(|source| source.tree.is_err())
    };
    // What hangs on a file that parses only now could not be known before.
    let repaired = before.iter().any(|source| source.tree.is_err() && !unreadable(after, &source.file));
    let mut known: HashMap<(Option<&str>, String), usize> = HashMap::new();
    for problem in &old.errors {
        *known.entry(identity(problem)).or_default() += 1;
    }
    new.errors
        .iter()
        .filter(|problem| match known.get_mut(&identity(problem)) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => !repaired && !problem.file.as_deref().is_some_and(|file| unreadable(before, file)),
        })
        .cloned()
        .collect()
}

/// A problem without the lines in it.
fn identity(problem: &Problem) -> (Option<&str>, String) {
    let mut message = String::with_capacity(problem.message.len());
    let mut places = false;
    for c in problem.message.chars() {
        // `:12:5` within a message is a place too.
        places = c == ':' || places && c.is_ascii_digit();
        if !(places && c.is_ascii_digit()) {
            message.push(c);
        }
    }
    (problem.file.as_deref(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(errors: &[(&str, usize, &str)]) -> Report {
        let errors = errors.iter().map(|(file, line, message)| Problem::new(*message).at(*file, *line, 1)).collect();
        Report { errors, warnings: Vec::new() }
    }

    #[test]
    fn only_new_errors_count_wherever_the_old_ones_have_moved() {
        let old = report(&[("a", 3, "`x` is there twice, also at a:1:1"), ("a", 9, "`y` is empty")]);
        let new = report(&[
            ("a", 5, "`x` is there twice, also at a:2:1"),
            ("a", 11, "`y` is empty"),
            ("b", 1, "`y` is empty"),
        ]);
        assert_eq!(added(&[], &[], &old, &new), [Problem::new("`y` is empty").at("b", 1, 1)]);
        let twice = report(&[("a", 9, "`y` is empty"), ("a", 10, "`y` is empty")]);
        assert_eq!(added(&[], &[], &old, &twice).len(), 1, "the same error once more is a new one");
        let (broken, whole) = ([Source::new("a", b"a: [")], [Source::new("a", b"a: []")]);
        let fresh = report(&[("b", 1, "new")]);
        assert!(added(&broken, &whole, &old, &fresh).is_empty(), "a file that parses now is better");
        assert_eq!(
            added(&broken, &broken, &old, &fresh).len(),
            1,
            "one that is broken still excuses nothing elsewhere"
        );
    }
}
