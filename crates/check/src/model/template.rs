//! `${NAME}`, `${NAME:argument}`, `${env:NAME}` and `${file:PATH}` in texts of a plan.
//!
//! `$${` is a literal `${`. Only values are expanded, never keys.

use pintle_core::Secret;
use serde_json::Value;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// As it stands.
    Text(&'t str),
    /// A variable, and what follows its colon.
    Variable {
        /// Before the colon.
        name: &'t str,
        /// Behind it.
        argument: Option<&'t str>,
    },
}

/// What a variable stands for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// Text that may be shown.
    Text(String),
    /// Text that may not.
    Secret(Secret),
    /// A value that is no text; it stays what it is where the variable stands alone.
    Value(Value),
}

/// Whether a text holds a variable.
pub(crate) fn is_dynamic(text: &str) -> bool {
    text.contains("${")
}

/// Cuts a text into parts; the error says what is wrong with it.
pub(crate) fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            parts.push(Part::Text(&rest[..at - 1]));
            parts.push(Part::Text("${"));
            rest = &rest[at + 2..];
            continue;
        }
        if at > 0 {
            parts.push(Part::Text(&rest[..at]));
        }
        let inner = &rest[at + 2..];
        let end = inner.find('}').ok_or("`${` is not closed by `}`")?;
        let (name, argument) = match inner[..end].split_once(':') {
            Some((name, argument)) => (name, Some(argument)),
            None => (&inner[..end], None),
        };
        if !is_name(name) {
            return Err(format!("`${{{}}}` is not a variable (write `$${{` for a literal `${{`)", &inner[..end]));
        }
        parts.push(Part::Variable { name, argument });
        rest = &inner[end + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Ok(parts)
}

/// Letters, digits and `_`, not beginning with a digit.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Where variables are looked up.
pub(crate) trait Lookup {
    /// The value, or why there is none.
    fn find(&self, name: &str, argument: Option<&str>) -> Result<Found, String>;
}

/// Expands a text; secrets met are handed to `secrets`.
pub(crate) fn expand(text: &str, lookup: &dyn Lookup, secrets: &mut Vec<Secret>) -> Result<String, String> {
    if !is_dynamic(text) {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    for part in parts(text)? {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Variable { name, argument } => match lookup.find(name, argument)? {
                Found::Text(value) => out.push_str(&value),
                Found::Value(value) => out.push_str(&value.to_string()),
                Found::Secret(secret) => {
                    out.push_str(secret.expose());
                    secrets.push(secret);
                }
            },
        }
    }
    Ok(out)
}

/// Expands every text inside a value.
pub(crate) fn expand_value(value: &mut Value, lookup: &dyn Lookup, secrets: &mut Vec<Secret>) -> Result<(), String> {
    match value {
        Value::String(text) if is_dynamic(text) => match alone(text, lookup)? {
            Some(whole) => *value = whole,
            None => *text = expand(text, lookup, secrets)?,
        },
        Value::Array(items) => {
            for item in items {
                expand_value(item, lookup, secrets)?;
            }
        }
        Value::Object(map) => {
            for item in map.values_mut() {
                expand_value(item, lookup, secrets)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The value of a text that is one variable and nothing else, where that value is no text.
fn alone(text: &str, lookup: &dyn Lookup) -> Result<Option<Value>, String> {
    if let [Part::Variable { name, argument }] = parts(text)?.as_slice()
        && let Found::Value(value) = lookup.find(name, *argument)?
    {
        return Ok(Some(value));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Table;

    impl Lookup for Table {
        fn find(&self, name: &str, argument: Option<&str>) -> Result<Found, String> {
            match (name, argument) {
                ("A", None) => Ok(Found::Text("1".into())),
                ("N", None) => Ok(Found::Value(json!(3))),
                ("PORT", Some(port)) => Ok(Found::Text(format!("1{port}"))),
                ("env", Some(_)) => Ok(Found::Secret(Secret::new("T", "hush-hush"))),
                _ => Err(format!("nothing defines {name}")),
            }
        }
    }

    #[test]
    fn texts_are_expanded() {
        let mut secrets = Vec::new();
        for (text, wanted) in [
            ("plain $5 {x}", Ok("plain $5 {x}")),
            ("a${A}b${PORT:80}", Ok("a1b180")),
            ("$${A}", Ok("${A}")),
            ("x$${A}${A}", Ok("x${A}1")),
            ("${env:TOKEN}", Ok("hush-hush")),
            ("${B}", Err("nothing defines B")),
            ("${A", Err("`${` is not closed by `}`")),
            ("${}", Err("`${}` is not a variable (write `$${` for a literal `${`)")),
            ("${1a}", Err("`${1a}` is not a variable (write `$${` for a literal `${`)")),
        ] {
            let got = expand(text, &Table, &mut secrets);
            assert_eq!(got.as_deref().map_err(String::as_str), wanted, "{text}");
        }
        assert_eq!(secrets.len(), 1);
    }

    #[test]
    fn values_are_expanded_but_keys_are_not() {
        let mut value = json!({"${A}": ["${A}", 2, {"x": "-${A}-"}, "${N}", "${N}."]});
        expand_value(&mut value, &Table, &mut Vec::new()).unwrap();
        assert_eq!(value, json!({"${A}": ["1", 2, {"x": "-1-"}, 3, "3."]}));
    }
}
