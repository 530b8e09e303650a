//! Where two structured or many-lined values differ, line by line.

use super::shown::{count, cut, visible};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// Lines of each side that are compared from the first difference on: the comparison is quadratic at worst.
const COMPARED: usize = 2_000;
/// Lines that are shown.
const SHOWN: usize = 120;
/// Longer lines are cut, in characters.
const LINE_LIMIT: usize = 400;

/// Which side a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// On both.
    Both,
    /// Only in what the plan expects.
    Expected,
    /// Only in what was there.
    Actual,
    /// Not a line: a note on lines that are not shown.
    Gap,
}

impl Side {
    /// The sign before the line.
    pub(super) const fn sign(self) -> char {
        match self {
            Self::Both => ' ',
            Self::Expected => '-',
            Self::Actual => '+',
            Self::Gap => '…',
        }
    }
}

/// One line of a difference, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) side: Side,
    pub(super) text: String,
}

impl Line {
    fn gap(text: String) -> Self {
        Self { side: Side::Gap, text }
    }
}

/// The difference, where seeing it line by line helps: both objects, both arrays, or texts of several lines that
/// should be equal. Keys are sorted first, since their order means nothing.
pub(super) fn difference(operator: &str, expected: &Value, actual: &Value) -> Option<Vec<Line>> {
    let (expected, actual) = match (expected, actual) {
        // What is expected is a schema, or a part: its lines do not answer those of what was there.
        _ if matches!(operator, "schema" | "contains" | "not_contains" | "one of") => return None,
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => (pretty(expected), pretty(actual)),
        (Value::String(expected), Value::String(actual))
            if matches!(operator, "equals" | "snapshot") && (expected.contains('\n') || actual.contains('\n')) =>
        {
            (visible(expected).into_owned(), visible(actual).into_owned())
        }
        _ => return None,
    };
    let lines = lines(&expected, &actual);
    (!lines.is_empty()).then_some(lines)
}

fn pretty(value: &Value) -> String {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    visible(&format!("{sorted:#}")).into_owned()
}

fn lines(expected: &str, actual: &str) -> Vec<Line> {
    let old: Vec<&str> = expected.split('\n').collect();
    let new: Vec<&str> = actual.split('\n').collect();
    let equal = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let from = equal.saturating_sub(CONTEXT);
    let window = |all: &[&str]| all.len().min(from + COMPARED);
    let (old_end, new_end) = (window(&old), window(&new));
    let diff = TextDiff::from_slices(&old[from..old_end], &new[from..new_end]);

    let mut shown = Vec::new();
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        let before = group.first().map_or(0, |op| op.old_range().start);
        if number > 0 {
            shown.push(Line::gap("more lines that are equal".into()));
        } else if from + before > 0 {
            shown.push(Line::gap(format!("{} before, equal", count(from + before, "line"))));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let side = match change.tag() {
                ChangeTag::Equal => Side::Both,
                ChangeTag::Delete => Side::Expected,
                ChangeTag::Insert => Side::Actual,
            };
            shown.push(Line { side, text: cut(change.value(), LINE_LIMIT).into_owned() });
        }
    }
    if shown.len() > SHOWN {
        let more = shown.len() - SHOWN;
        shown.truncate(SHOWN);
        shown.push(Line::gap(format!("{} of the difference not shown", count(more, "line"))));
    }
    let uncompared = old.len().max(new.len()) - old_end.max(new_end);
    if uncompared > 0 {
        shown.push(Line::gap(format!("{} not compared", count(uncompared, "line"))));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(operator: &str, expected: Value, actual: Value) -> Vec<String> {
        let lines = difference(operator, &expected, &actual).unwrap_or_default();
        lines.iter().map(|line| format!("{}{}", line.side.sign(), line.text)).collect()
    }

    #[test]
    fn key_order_is_no_difference_and_changed_members_are() {
        assert_eq!(shown("equals", json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})), Vec::<String>::new());
        let lines = shown("equals", json!({"a": 1, "b": [1, 2]}), json!({"b": [1, 3], "a": 1}));
        assert_eq!(
            lines,
            ["…1 line before, equal", "   \"a\": 1,", "   \"b\": [", "     1,", "-    2", "+    3", "   ]", " }"]
        );
    }

    #[test]
    fn only_where_it_helps() {
        assert!(difference("schema", &json!({"type": "object"}), &json!({"a": 1})).is_none());
        assert!(difference("contains", &json!("x"), &json!("a\nb")).is_none());
        assert!(difference("contains", &json!(["x"]), &json!(["a", "b"])).is_none());
        assert!(difference("equals", &json!("x"), &json!("y")).is_none());
        assert_eq!(shown("equals", json!("a\nb\n"), json!("a\nb")), [" a", " b", "-"]);
    }

    #[test]
    fn huge_values_are_compared_in_part_and_said_so() {
        let expected: Vec<_> = (0..50_000).collect();
        let actual: Vec<_> = (0..50_000).map(|n| if n > 9 { n + 1 } else { n }).collect();
        let lines = shown("equals", json!(expected), json!(actual));
        assert!(lines.contains(&"-  10,".to_owned()), "{lines:?}");
        assert!(lines.last().is_some_and(|line| line.ends_with("lines not compared")), "{lines:?}");
        let lines = shown("equals", json!(expected), json!(expected.iter().map(|n| -n - 1).collect::<Vec<i32>>()));
        assert!(lines.len() <= SHOWN + 3, "{}", lines.len());
    }
}
