//! What is asked of a value.

use std::sync::Arc;

use pintle_core::one_of;
use pintle_yaml::{Node, Place};
use serde_json::Value;

use super::placed;
use super::same::{contains, same};
use crate::model::sink::Sink;
use crate::model::template;
use crate::outcome::Mismatch;
use crate::pattern::Pattern;

const OPERATORS: &[&str] = &[
    "equals",
    "not_equals",
    "contains",
    "not_contains",
    "matches",
    "not_matches",
    "type",
    "count",
    "between",
    "lt",
    "le",
    "gt",
    "ge",
    "exists",
    "absent",
    "schema",
];

const TYPES: &[&str] = &["null", "boolean", "integer", "number", "string", "array", "object"];

/// One test with what it compares to.
#[derive(Clone, Debug)]
pub(crate) struct Test {
    operator: &'static str,
    expected: Value,
    ask: Ask,
    place: Place,
}

#[derive(Clone)]
enum Ask {
    Equals,
    NotEquals,
    Contains,
    NotContains,
    Matches(Pattern),
    NotMatches(Pattern),
    Type(String),
    Count(u64),
    Between(f64, f64),
    Compare(fn(&f64, &f64) -> bool, f64),
    Exists(bool),
    Schema(Arc<jsonschema::Validator>),
    /// Holds a variable; asked once that is known.
    Later,
}

impl std::fmt::Debug for Ask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ask")
    }
}

impl Test {
    /// Reads `operator: argument`.
    pub(crate) fn read(key: Node<'_>, value: Node<'_>, sink: &mut Sink<'_>) -> Option<Self> {
        let word = key.key_text();
        let Some(operator) = OPERATORS.iter().find(|known| **known == word) else {
            sink.unknown(key, "test", word, OPERATORS.iter().copied());
            return None;
        };
        let what = format!("json `{word}`");
        let expected = value.to_json();
        let ask = match *operator {
            "equals" => Ask::Equals,
            "not_equals" => Ask::NotEquals,
            "contains" => Ask::Contains,
            "not_contains" => Ask::NotContains,
            "matches" => Ask::Matches(sink.pattern(value, &what)?),
            "not_matches" => Ask::NotMatches(sink.pattern(value, &what)?),
            "type" => kind(value, &what, sink)?,
            "count" => match value.source_text() {
                Some(text) if template::is_dynamic(text) => Ask::Later,
                _ => Ask::Count(sink.whole(value, &what, u64::MAX)?),
            },
            "between" => between(value, &what, sink)?,
            "exists" => Ask::Exists(sink.flag(value, &what)?),
            "absent" => Ask::Exists(!sink.flag(value, &what)?),
            "schema" => schema(value, &what, sink)?,
            "lt" => compare(f64::lt, value, &what, sink)?,
            "le" => compare(f64::le, value, &what, sink)?,
            "gt" => compare(f64::gt, value, &what, sink)?,
            _ => compare(f64::ge, value, &what, sink)?,
        };
        Some(Self { operator, expected, ask, place: sink.place(key) })
    }

    /// Whether what was found is as expected; if not, what is wrong.
    pub(crate) fn check(&self, subject: &str, found: Option<&Value>) -> Option<Mismatch> {
        let Some(actual) = found else {
            return match self.ask {
                Ask::Exists(false) => None,
                _ => Some(self.mismatch(subject, None)),
            };
        };
        let holds = match &self.ask {
            Ask::Equals => same(actual, &self.expected),
            Ask::NotEquals => !same(actual, &self.expected),
            Ask::Contains => each(&self.expected, |part| contains(actual, part)),
            Ask::NotContains => each(&self.expected, |part| !contains(actual, part)),
            Ask::Matches(pattern) => pattern.is_match(&text(actual)),
            Ask::NotMatches(pattern) => !pattern.is_match(&text(actual)),
            Ask::Type(kind) => is_type(actual, kind),
            Ask::Count(wanted) => count(actual) == Some(*wanted),
            Ask::Between(low, high) => number(actual).is_some_and(|n| (*low..=*high).contains(&n)),
            Ask::Compare(compare, bound) => number(actual).is_some_and(|n| compare(&n, bound)),
            // A list of nothing is what a JSONPath finds where nothing is.
            Ask::Exists(wanted) => *wanted != actual.as_array().is_some_and(|list| list.is_empty() && is_list(subject)),
            Ask::Schema(validator) => validator.is_valid(actual),
            Ask::Later => false,
        };
        (!holds).then(|| self.mismatch(subject, Some(self.shown(actual))))
    }

    pub(crate) fn mismatch(&self, subject: &str, actual: Option<Value>) -> Mismatch {
        placed(self.place, subject, self.operator, self.expected.clone(), actual)
    }

    /// What to show of the value: for a schema what it says, for a count the count.
    fn shown(&self, actual: &Value) -> Value {
        match &self.ask {
            Ask::Schema(validator) => {
                let errors: Vec<Value> = validator
                    .iter_errors(actual)
                    .take(5)
                    .map(|error| {
                        let at = error.instance_path().to_string();
                        Value::String(if at.is_empty() { error.to_string() } else { format!("{at}: {error}") })
                    })
                    .collect();
                Value::Array(errors)
            }
            Ask::Count(_) => count(actual).map_or_else(|| actual.clone(), Value::from),
            _ => actual.clone(),
        }
    }
}

/// All of a list, or the one value.
fn each(expected: &Value, holds: impl Fn(&Value) -> bool) -> bool {
    match expected {
        Value::Array(parts) => parts.iter().all(holds),
        one => holds(one),
    }
}

fn is_list(subject: &str) -> bool {
    subject.starts_with('$')
}

/// Texts as they are, other values as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Array(items) => Some(items.len() as u64),
        Value::Object(members) => Some(members.len() as u64),
        Value::String(text) => Some(text.chars().count() as u64),
        _ => None,
    }
}

fn is_type(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

fn kind(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Ask> {
    // `type: null` is a null in YAML.
    let word = if node.is_null() { "null".to_owned() } else { sink.text(node, what)? };
    if template::is_dynamic(&word) {
        return Some(Ask::Later);
    }
    if !TYPES.contains(&word.as_str()) {
        sink.wrong(node, format!("{what} `{word}` is no type (expected {})", one_of(TYPES.iter().copied())));
        return None;
    }
    Some(Ask::Type(word))
}

fn bound(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Result<f64, ()>> {
    let text = sink.text(node, what)?;
    if template::is_dynamic(&text) {
        return Some(Err(()));
    }
    match text.parse::<f64>() {
        Ok(number) => Some(Ok(number)),
        Err(_) => {
            sink.wrong(node, format!("{what} must be a number, not `{text}`"));
            None
        }
    }
}

fn compare(compare: fn(&f64, &f64) -> bool, node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Ask> {
    Some(match bound(node, what, sink)? {
        Ok(number) => Ask::Compare(compare, number),
        Err(()) => Ask::Later,
    })
}

fn between(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Ask> {
    let items: Vec<_> = node.items().collect();
    let [low, high] = items.as_slice() else {
        sink.wrong(node, format!("{what} must be a list of two numbers"));
        return None;
    };
    match (bound(*low, what, sink)?, bound(*high, what, sink)?) {
        (Ok(low), Ok(high)) if low <= high => Some(Ask::Between(low, high)),
        (Ok(low), Ok(high)) => {
            sink.wrong(node, format!("{what} goes from {low} down to {high}"));
            None
        }
        _ => Some(Ask::Later),
    }
}

/// A schema in place, or the name of a file that holds one.
fn schema(node: Node<'_>, what: &str, sink: &mut Sink<'_>) -> Option<Ask> {
    let schema = match node.as_str() {
        Some(file) if template::is_dynamic(file) => return Some(Ask::Later),
        Some(file) => {
            let read = std::fs::read_to_string(sink.directory.join(file)).map_err(|error| error.to_string());
            match read.and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string())) {
                Ok(schema) => schema,
                Err(why) => {
                    sink.wrong(node, format!("{what} file `{file}`: {why}"));
                    return None;
                }
            }
        }
        None => node.to_json(),
    };
    match jsonschema::validator_for(&schema) {
        Ok(validator) => Some(Ask::Schema(Arc::new(validator))),
        Err(error) => {
            sink.wrong(node, format!("{what} is no JSON Schema: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::json::read;
    use crate::model::Dialect;
    use crate::model::sink::Sink;
    use pintle_yaml::{Document, Limits};
    use serde_json::{Value, json};
    use std::path::Path;

    fn check(yaml: &str, value: &Value) -> Result<usize, String> {
        let document = Document::parse(yaml, Limits::default()).unwrap();
        let mut sink = Sink::new(Dialect::Plan, Path::new(""));
        let checks = read(document.root(), &mut sink);
        match sink.finish().first() {
            Some(problem) => Err(problem.to_string()),
            None => Ok(checks.iter().map(|check| check.check(value).len()).sum()),
        }
    }

    #[test]
    fn cw_46_every_test_holds_and_does_not_hold() {
        let value = json!({
            "text": "hello", "n": 3, "f": 1.5, "yes": true, "nothing": null,
            "list": ["a", "b", "c"], "map": {"x": 1, "y": {"z": 2}},
        });
        for (good, bad) in [
            ("{at: /text, equals: hello}", "{at: /text, equals: hell}"),
            ("{at: /n, equals: 3.0}", "{at: /n, equals: '3'}"),
            ("{at: /map, equals: {y: {z: 2}, x: 1}}", "{at: /map, equals: {x: 1}}"),
            ("{at: /n, not_equals: 4}", "{at: /n, not_equals: 3}"),
            ("{at: /text, contains: ell}", "{at: /text, contains: elk}"),
            ("{at: /list, contains: [a, c]}", "{at: /list, contains: [a, d]}"),
            ("{at: /map, contains: {y: {z: 2}}}", "{at: /map, contains: {y: {z: 3}}}"),
            ("{at: '$.list[*]', contains: b, count: 3}", "{at: '$.list[*]', contains: b, count: 2}"),
            ("{at: /list, not_contains: z}", "{at: /list, not_contains: a}"),
            ("{at: /text, matches: '^h'}", "{at: /text, matches: '^e'}"),
            ("{at: /text, not_matches: '^e'}", "{at: /text, not_matches: '^h'}"),
            ("{at: /n, type: integer}", "{at: /f, type: integer}"),
            ("{at: /f, type: number}", "{at: /text, type: number}"),
            ("{at: /nothing, type: null}", "{at: /n, type: null}"),
            ("{at: /yes, type: boolean}", "{at: /yes, type: string}"),
            ("{at: /list, type: array}", "{at: /map, type: array}"),
            ("{at: /map, type: object, count: 2}", "{at: /map, count: 1}"),
            ("{at: /text, count: 5}", "{at: /n, count: 1}"),
            ("{at: /n, between: [3, 4]}", "{at: /n, between: [4, 5]}"),
            ("{at: /n, lt: 4, le: 3, gt: 2, ge: 3}", "{at: /n, lt: 3}"),
            ("{at: /nothing, exists: true}", "{at: /nope, exists: true}"),
            ("{at: /nope, absent: true}", "{at: /n, absent: true}"),
            ("{at: /nope, exists: false}", "{at: '$.list[7:]', exists: true}"),
            ("{at: '$.list[7:]', absent: true}", "{at: /n, exists: false}"),
            ("{at: /map, schema: {required: [x]}}", "{at: /map, schema: {required: [q]}}"),
        ] {
            assert_eq!(check(good, &value), Ok(0), "{good}");
            assert_eq!(check(bad, &value), Ok(1), "{bad}");
        }
    }

    #[test]
    fn nothing_there_fails_every_test_but_absence() {
        for test in ["equals: 1", "not_equals: 1", "not_contains: a", "type: null", "count: 0"] {
            assert_eq!(check(&format!("{{at: /nope, {test}}}"), &json!({})), Ok(1), "{test}");
        }
    }

    #[test]
    fn what_is_no_test_is_refused() {
        for (yaml, wanted) in [
            ("{at: /a}", "1:1: an item of json tests nothing (add `equals`, `exists: true` or another test)"),
            ("{equals: 1}", "1:1: an item of json has no `at` (add `at: /pointer` or `at: '$.path'`)"),
            ("{at: /a, eqals: 1}", "1:10: unknown test `eqals` (did you mean `equals`?)"),
            ("{at: a, equals: 1}", "1:6: at `a` is neither a JSON Pointer (`/a/0`) nor a JSONPath (`$.a[0]`)"),
            ("{at: /a, between: [1]}", "1:19: json `between` must be a list of two numbers"),
            ("{at: /a, between: [2, 1]}", "1:19: json `between` goes from 2 down to 1"),
            ("{at: /a, count: -1}", "1:17: json `count` must be a whole number, not `-1`"),
            (
                "{at: /a, type: text}",
                "1:16: json `type` `text` is no type \
                 (expected null, boolean, integer, number, string, array or object)",
            ),
            ("{at: /a, exists: 1}", "1:18: json `exists` must be true or false, not `1`"),
        ] {
            assert_eq!(check(yaml, &Value::Null).unwrap_err(), wanted, "{yaml}");
        }
        assert!(check("{at: /a, schema: {type: 7}}", &Value::Null).unwrap_err().contains("is no JSON Schema"));
    }
}
