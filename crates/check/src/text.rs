//! Every sentence about an assertion that does not hold.

use std::error::Error;

use pintle_core::Foreign;
use serde_json::Value;

use crate::outcome::Mismatch;

/// Characters of foreign text inside a message.
const SHOWN: usize = 200;

/// Text for a message: one line, without control codes, cut.
pub(crate) fn cut(text: &str) -> String {
    let line = Foreign::one_line(text);
    if line.chars().count() <= SHOWN {
        return line;
    }
    line.chars().take(SHOWN).chain(['…']).collect()
}

/// An error with everything below it.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// A value in a sentence: texts in quotes, others as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", cut(text)),
        other => cut(&other.to_string()),
    }
}

/// A list as `"a" or "b"`, another value as it is.
fn each(value: &Value) -> String {
    match value {
        Value::Array(items) if !items.is_empty() => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => shown(other),
    }
}

/// What is wrong, as a fragment.
pub(crate) fn sentence(mismatch: &Mismatch) -> String {
    let Mismatch { subject, operator, expected, actual, .. } = mismatch;
    let subject = if subject.is_empty() { "the result" } else { subject };
    let wanted = shown(expected);
    let Some(actual) = actual else {
        return match operator.as_str() {
            "exists" => format!("{subject} is not there"),
            _ => format!("{subject} is not there ({} {wanted} was expected)", operator.replace('_', " ")),
        };
    };
    let got = shown(actual);
    match operator.as_str() {
        "equals" => format!("{subject} is {got}, not {wanted}"),
        "not_equals" => format!("{subject} is {got}, which it must not be"),
        "contains" => format!("{subject} does not contain {}: {got}", each(expected)),
        "not_contains" => format!("{subject} contains {}: {got}", each(expected)),
        "matches" => format!("{subject} does not match {wanted}: {got}"),
        "not_matches" => format!("{subject} matches {wanted}: {got}"),
        "lt" => format!("{subject} is {got}, not below {wanted}"),
        "le" => format!("{subject} is {got}, not at most {wanted}"),
        "gt" => format!("{subject} is {got}, not above {wanted}"),
        "ge" => format!("{subject} is {got}, not at least {wanted}"),
        "type" => format!("{subject} is {got}, not of type {}", expected.as_str().unwrap_or("null")),
        "count" if actual.is_number() => format!("{subject} has {got} entries, not {wanted}"),
        "count" => format!("{subject} has no {wanted} entries: {got}"),
        "between" => format!("{subject} is {got}, not in {wanted}"),
        "exists" | "absent" => {
            let there = if expected == &Value::Bool(operator == "exists") { "is not there" } else { "is there" };
            format!("{subject} {there}: {got}")
        }
        "schema" => format!("{subject} does not fit the schema: {}", each(actual)),
        "within" => format!("{subject} took {}, more than {}", bare(actual), bare(expected)),
        "one of" => format!("{subject} is {got}, not one of {}", each(expected)),
        other => format!("{subject} is {got}, expected {other} {wanted}"),
    }
}

/// A text without quotes.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(operator: &str, expected: Value, actual: Option<Value>) -> String {
        sentence(&Mismatch {
            line: 1,
            column: 1,
            subject: "stdout".into(),
            operator: operator.into(),
            expected,
            actual,
        })
    }

    #[test]
    fn ch_081_sentences_name_the_matcher_and_cut_the_output() {
        for (operator, expected, actual, wanted) in [
            ("equals", json!("ok"), json!("no"), r#"stdout is "no", not "ok""#),
            ("equals", json!(0), json!("3"), r#"stdout is "3", not 0"#),
            ("contains", json!(["a", "b"]), json!("c"), r#"stdout does not contain "a", "b": "c""#),
            ("matches", json!("^v"), json!(""), r#"stdout does not match "^v": """#),
            ("gt", json!(3), json!("2"), r#"stdout is "2", not above 3"#),
            ("count", json!(3), json!(2), "stdout has 2 entries, not 3"),
            ("exists", json!(true), json!([]), "stdout is not there: []"),
            ("absent", json!(true), json!(1), "stdout is there: 1"),
            ("type", json!("array"), json!({}), "stdout is {}, not of type array"),
            ("one of", json!([200, 204]), json!(500), "stdout is 500, not one of 200, 204"),
            ("within", json!("200ms"), json!("1s"), "stdout took 1s, more than 200ms"),
        ] {
            assert_eq!(said(operator, expected, Some(actual)), wanted);
        }
        assert_eq!(said("equals", json!("x"), None), r#"stdout is not there (equals "x" was expected)"#);
        let long = said("contains", json!("needle"), Some(json!("x".repeat(5000))));
        assert!(long.chars().count() < 300 && long.ends_with("…\""), "{long}");
        assert!(!said("equals", json!("x"), Some(json!("a\u{1b}[31mb\nc"))).contains('\u{1b}'));
    }
}
