//! Assertions on structure: a query (JSON Pointer or JSONPath) and tests on what it finds.
//!
//! A pointer, or a JSONPath of names and indexes only, finds one value. Every other JSONPath finds a list, and its
//! tests are about that list.

pub(crate) mod query;
pub(crate) mod same;
pub(crate) mod test;

use pintle_yaml::{Node, Place};
use serde_json::Value;

use crate::model::sink::Sink;
use crate::outcome::Mismatch;
pub(crate) use query::At;
pub(crate) use test::Test;

/// One item of `json:`.
#[derive(Clone, Debug)]
pub(crate) struct JsonCheck {
    at: At,
    tests: Vec<Test>,
}

impl JsonCheck {
    /// Every test that does not hold.
    pub(crate) fn check(&self, value: &Value) -> Vec<Mismatch> {
        let found = self.at.find(value);
        self.tests.iter().filter_map(|test| test.check(self.at.source(), found.as_deref())).collect()
    }

    /// The mismatches when there is no structure at all.
    pub(crate) fn without_value(&self, text: &str) -> Vec<Mismatch> {
        self.tests
            .iter()
            .take(1)
            .map(|test| test.mismatch(self.at.source(), Some(Value::String(text.to_owned()))))
            .collect()
    }
}

/// Reads the list (or the one map) of `json:`.
pub(crate) fn read(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<JsonCheck> {
    if node.is_mapping() {
        return read_one(node, sink).into_iter().collect();
    }
    if !node.is_sequence() || node.items().len() == 0 {
        sink.wrong_hint(
            node,
            "json must be a list of queries with tests",
            "write `json: [{at: /content/0/text, equals: hi}]`",
        );
        return Vec::new();
    }
    node.items().filter_map(|item| read_one(item, sink)).collect()
}

fn read_one(node: Node<'_>, sink: &mut Sink<'_>) -> Option<JsonCheck> {
    if !node.is_mapping() {
        sink.wrong(node, format!("an item of json must be a map with `at`, not a {}", node.kind_name()));
        return None;
    }
    let Some(at) = node.get("at") else {
        sink.wrong_hint(node, "an item of json has no `at`", "add `at: /pointer` or `at: '$.path'`");
        return None;
    };
    let before = sink.count();
    let at = At::read(at, "at", sink);
    let mut tests = Vec::new();
    for (key, value) in node.entries().filter(|(key, _)| key.key_text() != "at") {
        tests.extend(Test::read(key, value, sink));
    }
    if tests.is_empty() && sink.count() == before {
        sink.wrong_hint(node, "an item of json tests nothing", "add `equals`, `exists: true` or another test");
    }
    Some(JsonCheck { at: at?, tests })
}

/// A place as a mismatch holds it.
pub(crate) fn placed(place: Place, subject: &str, operator: &str, expected: Value, actual: Option<Value>) -> Mismatch {
    Mismatch {
        line: place.line,
        column: place.column,
        subject: subject.to_owned(),
        operator: operator.to_owned(),
        expected,
        actual,
    }
}
