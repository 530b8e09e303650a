//! A JSON value as YAML that every reader takes for the same value.

use serde_json::Value;

/// The value in block style, with a final newline.
pub(crate) fn text_of(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Array(items) if !items.is_empty() => list(items, 0, &mut out),
        Value::Object(map) if !map.is_empty() => entries(map, 0, &mut out),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
    out
}

fn entries(map: &serde_json::Map<String, Value>, depth: usize, out: &mut String) {
    for (index, (key, value)) in map.iter().enumerate() {
        if index > 0 {
            indent(depth, out);
        }
        out.push_str(&string(key));
        out.push(':');
        below(value, depth, out);
    }
}

fn list(items: &[Value], depth: usize, out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            indent(depth, out);
        }
        out.push('-');
        match item {
            Value::Object(map) if !map.is_empty() => {
                out.push(' ');
                entries(map, depth + 2, out);
            }
            Value::Array(inner) if !inner.is_empty() => {
                out.push(' ');
                list(inner, depth + 2, out);
            }
            scalar => line(scalar, out),
        }
    }
}

/// What stands behind the colon of a key.
fn below(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            indent(depth + 2, out);
            entries(map, depth + 2, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            indent(depth, out);
            list(items, depth, out);
        }
        scalar => line(scalar, out),
    }
}

fn line(value: &Value, out: &mut String) {
    out.push(' ');
    out.push_str(&inline(value));
    out.push('\n');
}

fn indent(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', depth));
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        other => other.to_string(),
    }
}

/// Plain where that is safe in YAML 1.1 and 1.2 alike; else in double quotes as JSON writes them, which YAML reads.
fn string(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || "_-./ ".contains(c);
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(word)
        && !text.ends_with(' ')
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if plain {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    for c in Value::from(text).to_string().chars() {
        // JSON leaves these as they are, but YAML takes them for line ends or not at all.
        if matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}') {
            quoted.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            quoted.push(c);
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_yaml::{Document, Limits};
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn values_read_well() {
        let value =
            json!({"name": "web", "tags": ["a", {"k": 1, "l": [true]}, [2]], "none": null, "empty": [], "m": {}});
        assert_eq!(
            text_of(&value),
            "name: web\ntags:\n- a\n- k: 1\n  l:\n  - true\n- - 2\nnone: null\nempty: []\nm: {}\n"
        );
        assert_eq!(text_of(&json!("a: b")), "\"a: b\"\n");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
            "[yn~0-9.:#-]{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z:# ]{0,5}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in any_value()) {
            let text = text_of(&value);
            let read = Document::parse(&text, Limits::default()).map(|document| document.to_json());
            prop_assert_eq!(read, Ok(value), "{}", text);
        }
    }
}
