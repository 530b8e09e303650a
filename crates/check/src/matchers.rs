//! The matchers of the seed, on text: a scalar means equals, a list means all, a map has one operator.

use pintle_yaml::{Node, Place};
use serde_json::Value;

use crate::model::sink::Sink;
use crate::model::template;
use crate::outcome::Mismatch;
use crate::pattern::Pattern;

/// What is asked of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Equals,
    NotEquals,
    Contains,
    NotContains,
    Matches,
    NotMatches,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Operator {
    pub(crate) const ALL: [(&'static str, Operator); 10] = [
        ("equals", Operator::Equals),
        ("not_equals", Operator::NotEquals),
        ("contains", Operator::Contains),
        ("not_contains", Operator::NotContains),
        ("matches", Operator::Matches),
        ("not_matches", Operator::NotMatches),
        ("lt", Operator::Lt),
        ("le", Operator::Le),
        ("gt", Operator::Gt),
        ("ge", Operator::Ge),
    ];

    pub(crate) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, operator)| *operator == self).map_or("", |(word, _)| word)
    }
}

/// One operator with what it compares to.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    pub(crate) operator: Operator,
    /// As in the plan, for reports.
    pub(crate) expected: Value,
    /// The texts of `expected`, as written.
    texts: Vec<String>,
    pattern: Option<Pattern>,
    pub(crate) place: Place,
}

impl Matcher {
    /// One that wants exactly this text.
    pub(crate) fn equal(text: &str, place: Place) -> Self {
        Self {
            operator: Operator::Equals,
            expected: Value::String(text.to_owned()),
            texts: vec![text.to_owned()],
            pattern: None,
            place,
        }
    }

    /// Whether `actual` is as expected; if not, what is wrong. `subject` names where the text came from.
    pub(crate) fn check(&self, subject: &str, actual: &str) -> Option<Mismatch> {
        let missing = match self.operator {
            Operator::Contains => self.only(|text| !actual.contains(text)),
            Operator::NotContains => self.only(|text| actual.contains(text)),
            _ if self.holds(actual) => return None,
            _ => self.expected.clone(),
        };
        if missing.is_null() {
            return None;
        }
        Some(Mismatch {
            line: self.place.line,
            column: self.place.column,
            subject: subject.to_owned(),
            operator: self.operator.word().to_owned(),
            expected: missing,
            actual: Some(Value::String(actual.to_owned())),
        })
    }

    fn holds(&self, actual: &str) -> bool {
        let same = || self.texts.first().is_some_and(|text| trimmed(actual) == trimmed(text));
        let found = || self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(actual));
        match self.operator {
            Operator::Equals => same(),
            Operator::NotEquals => !same(),
            Operator::Matches => found(),
            Operator::NotMatches => !found(),
            Operator::Lt => self.ordered(actual, f64::lt),
            Operator::Le => self.ordered(actual, f64::le),
            Operator::Gt => self.ordered(actual, f64::gt),
            Operator::Ge => self.ordered(actual, f64::ge),
            Operator::Contains | Operator::NotContains => false,
        }
    }

    fn ordered(&self, actual: &str, compare: impl Fn(&f64, &f64) -> bool) -> bool {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        match (number(actual), self.texts.first().and_then(|text| number(text))) {
            (Some(actual), Some(bound)) => compare(&actual, &bound),
            _ => false,
        }
    }

    /// The texts for which `wrong` holds: null for none, one text, or a list.
    fn only(&self, wrong: impl Fn(&str) -> bool) -> Value {
        let mut texts: Vec<Value> =
            self.texts.iter().filter(|text| wrong(text)).map(|text| Value::String(text.clone())).collect();
        match texts.len() {
            0 => Value::Null,
            1 => texts.remove(0),
            _ => Value::Array(texts),
        }
    }
}

/// `equals` ignores line ends at the end, and nothing else.
fn trimmed(text: &str) -> &str {
    text.trim_end_matches(['\r', '\n'])
}

/// Every matcher that does not hold.
pub(crate) fn check_all<'m>(
    matchers: &'m [Matcher],
    subject: &'m str,
    actual: &'m str,
) -> impl Iterator<Item = Mismatch> + 'm {
    matchers.iter().filter_map(move |matcher| matcher.check(subject, actual))
}

/// Reads a scalar, a list or a map. `what` is the field.
pub(crate) fn read(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Vec<Matcher> {
    if !node.is_sequence() {
        return read_one(node, what, sink).into_iter().collect();
    }
    if node.items().len() == 0 {
        sink.wrong_hint(node, format!("{what} is an empty list"), "an empty list asserts nothing: remove it");
    }
    node.items().filter_map(|item| read_one(item, what, sink)).collect()
}

fn read_one(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Matcher> {
    if node.is_sequence() {
        sink.wrong(node, format!("{what} has a list inside a list"));
        return None;
    }
    if !node.is_mapping() {
        let text = sink.text(node, what)?;
        return Some(Matcher {
            operator: Operator::Equals,
            expected: node.to_json(),
            texts: vec![text],
            pattern: None,
            place: sink.place(node),
        });
    }
    let mut entries = node.entries();
    let Some((key, value)) = entries.next() else {
        sink.wrong(node, format!("{what} has no operator"));
        return None;
    };
    if let Some((second, _)) = entries.next() {
        let message = format!("{what} has two operators in one map: `{}` and `{}`", key.key_text(), second.key_text());
        sink.wrong_hint(second, message, "write a list with one operator an item");
        return None;
    }
    read_operator(key, value, what, sink)
}

/// Reads one `operator: argument`.
pub(crate) fn read_operator(key: Node<'_>, value: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Matcher> {
    let Some((word, operator)) = Operator::ALL.iter().find(|(word, _)| *word == key.key_text()) else {
        sink.unknown(key, "operator", key.key_text(), Operator::ALL.iter().map(|(word, _)| *word));
        return None;
    };
    let named = format!("{what} `{word}`");
    let mut pattern = None;
    let texts = match operator {
        Operator::Contains | Operator::NotContains => {
            let items = sink.list(value, &named);
            if value.is_sequence() && items.is_empty() {
                sink.wrong(value, format!("{named} is an empty list"));
            }
            items.into_iter().filter_map(|item| sink.text(item, &named)).collect()
        }
        Operator::Matches | Operator::NotMatches => {
            let read = sink.pattern(value, &named)?;
            let texts = vec![read.source().to_owned()];
            pattern = Some(read);
            texts
        }
        Operator::Lt | Operator::Le | Operator::Gt | Operator::Ge => {
            let text = sink.text(value, &named)?;
            if text.trim().parse::<f64>().is_err() && !template::is_dynamic(&text) {
                sink.wrong(value, format!("{named} must be a number, not `{text}`"));
                return None;
            }
            vec![text]
        }
        Operator::Equals | Operator::NotEquals => vec![sink.text(value, &named)?],
    };
    if texts.is_empty() {
        return None;
    }
    Some(Matcher { operator: *operator, expected: value.to_json(), texts, pattern, place: sink.place(key) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Dialect;
    use pintle_yaml::{Document, Limits};
    use std::path::Path;

    fn matchers(yaml: &str) -> Result<Vec<Matcher>, String> {
        let document = Document::parse(yaml, Limits::default()).unwrap();
        let mut sink = Sink::new(Dialect::Plan, Path::new(""));
        let matchers = read(document.root(), "stdout", &mut sink);
        let problems = sink.finish();
        if problems.is_empty() { Ok(matchers) } else { Err(problems[0].to_string()) }
    }

    fn holds(yaml: &str, actual: &str) -> bool {
        let matchers = matchers(yaml).unwrap();
        assert!(!matchers.is_empty());
        check_all(&matchers, "stdout", actual).count() == 0
    }

    #[test]
    fn ch_077_ch_078_operators_hold_and_do_not_hold() {
        for (yaml, good, bad) in [
            ("ok", "ok", "no"),
            ("3", "3", "3.0"),
            ("true", "true", "false"),
            ("''", "", "x"),
            ("equals: ok", "ok", "okay"),
            ("not_equals: ok", "okay", "ok"),
            ("contains: b", "abc", "ac"),
            ("contains: [a, c]", "abc", "ab"),
            ("not_contains: b", "ac", "abc"),
            ("not_contains: [x, b]", "ac", "abc"),
            ("matches: '^v[0-9]+$'", "v12", "v12x"),
            ("matches: b", "abc", "ac"),
            ("not_matches: '[0-9]'", "abc", "ab1"),
            ("lt: 3", "2\n", "3"),
            ("le: 3", "3", "3.5"),
            ("gt: 1.5", "2", "1.5"),
            ("ge: 2", "2", "x"),
            ("[{contains: a}, {contains: b}]", "ab", "a"),
            ("[abc, {matches: b}]", "abc", "abcd"),
        ] {
            assert!(holds(yaml, good), "{yaml} should hold for {good}");
            assert!(!holds(yaml, bad), "{yaml} should not hold for {bad}");
        }
    }

    #[test]
    fn ch_079_equals_ignores_line_ends_at_the_end_only() {
        assert!(holds("equals: ok", "ok\r\n\n"));
        assert!(holds("equals: \"ok\\n\"", "ok"));
        for actual in ["ok ", " ok", "\nok", "ok\n\t"] {
            assert!(!holds("equals: ok", actual), "{actual:?}");
        }
        assert!(!holds("not_equals: ok", "ok\n"));
    }

    #[test]
    fn ch_080_contains_tells_only_what_is_missing() {
        let matchers = matchers("contains: [a, x, y]").unwrap();
        let mismatch = matchers[0].check("stdout", "abc").unwrap();
        assert_eq!(mismatch.expected, serde_json::json!(["x", "y"]));
        assert_eq!((mismatch.line, mismatch.column), (1, 1));
    }

    #[test]
    fn ch_078_ch_080_what_is_no_matcher_is_refused() {
        for (yaml, wanted) in [
            ("contians: a", "1:1: unknown operator `contians` (did you mean `contains`?)"),
            ("matches: '('", "1:10: stdout `matches` `(` is not a regular expression: unclosed group"),
            ("lt: many", "1:5: stdout `lt` must be a number, not `many`"),
            ("[]", "1:1: stdout is an empty list (an empty list asserts nothing: remove it)"),
            ("{}", "1:1: stdout has no operator"),
            ("[[a]]", "1:2: stdout has a list inside a list"),
            ("", "1:1: stdout is empty"),
            ("contains: {a: 1}", "1:11: stdout `contains` must be a list, not a map"),
            ("contains: []", "1:11: stdout `contains` is an empty list"),
            (
                "{contains: a, matches: b}",
                "1:15: stdout has two operators in one map: `contains` and `matches` \
                 (write a list with one operator an item)",
            ),
        ] {
            assert_eq!(matchers(yaml).unwrap_err(), wanted, "{yaml}");
        }
    }
}
