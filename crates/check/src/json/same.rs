//! When two values count as the same, and when one holds another.

use serde_json::Value;

/// Equal, where `1` and `1.0` are one number and the order of members does not matter.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            a.as_f64().is_some() && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Whether `whole` has every member that `part` has, all the way down. Lists must be as long as each other; other
/// values must be the same.
pub(crate) fn covers(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| covers(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| covers(whole, part))
        }
        _ => same(whole, part),
    }
}

/// What `contains` means: a text holds a text, a list an item that covers it, a map its members.
pub(crate) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => whole.contains(part.as_str()),
        (Value::String(whole), Value::Number(_) | Value::Bool(_)) => whole.contains(&part.to_string()),
        (Value::Array(items), part) => items.iter().any(|item| covers(item, part)),
        (Value::Object(_), Value::Object(_)) => covers(whole, part),
        (Value::Object(members), Value::String(key)) => members.contains_key(key),
        _ => same(whole, part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_compared_by_value() {
        assert!(same(&json!(1), &json!(1.0)));
        assert!(same(&json!({"a": [1], "b": 2}), &json!({"b": 2.0, "a": [1]})));
        assert!(!same(&json!(1), &json!("1")));
        assert!(!same(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
    }

    #[test]
    fn contains_by_kind() {
        for (whole, part, wanted) in [
            (json!("abc"), json!("b"), true),
            (json!("a1c"), json!(1), true),
            (json!(["a", "b"]), json!("b"), true),
            (json!(["ab"]), json!("b"), false),
            (json!([{"name": "a", "x": 1}]), json!({"name": "a"}), true),
            (json!({"a": 1, "b": {"c": 2, "d": 3}}), json!({"b": {"c": 2}}), true),
            (json!({"a": 1}), json!({"a": 2}), false),
            (json!({"a": 1}), json!("a"), true),
            (json!(12), json!(1), false),
        ] {
            assert_eq!(contains(&whole, &part), wanted, "{whole} {part}");
        }
    }
}
