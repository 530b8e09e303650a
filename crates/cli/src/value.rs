//! One text from a command line as the JSON value that a schema asks for.

use serde_json::{Map, Value};

/// What a schema lets a value be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    pub(crate) string: bool,
    pub(crate) integer: bool,
    pub(crate) number: bool,
    pub(crate) boolean: bool,
    pub(crate) array: bool,
    pub(crate) object: bool,
}

impl Kinds {
    /// Of that schema; all of them when it does not say.
    pub(crate) fn of(schema: &Value) -> Self {
        let mut kinds = Self::default();
        kinds.add(schema);
        if kinds == Self::default() {
            return Self { string: true, integer: true, number: true, boolean: true, array: true, object: true };
        }
        kinds
    }

    fn add(&mut self, schema: &Value) {
        match &schema["type"] {
            Value::String(one) => self.add_type(one),
            Value::Array(several) => several.iter().filter_map(Value::as_str).for_each(|kind| self.add_type(kind)),
            _ => {}
        }
        if schema.get("type").is_none() {
            let constants = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
            constants.for_each(|value| self.add_value(value));
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            schema[keyword].as_array().into_iter().flatten().for_each(|inner| self.add(inner));
        }
    }

    fn add_type(&mut self, kind: &str) {
        match kind {
            "string" => self.string = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "boolean" => self.boolean = true,
            "array" => self.array = true,
            "object" => self.object = true,
            _ => {}
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::String(_) => self.string = true,
            Value::Number(number) if number.is_f64() => self.number = true,
            Value::Number(_) => self.integer = true,
            Value::Bool(_) => self.boolean = true,
            Value::Array(_) => self.array = true,
            Value::Object(_) => self.object = true,
            Value::Null => {}
        }
    }

    fn count(self) -> usize {
        let all = [self.string, self.integer || self.number, self.boolean, self.array, self.object];
        all.into_iter().filter(|kind| *kind).count()
    }

    /// Lists and maps only: written as JSON.
    pub(crate) fn nested(self) -> bool {
        (self.array || self.object) && !(self.string || self.integer || self.number || self.boolean)
    }

    fn holds(self, value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Bool(_) => self.boolean,
            Value::Number(number) => self.number || (self.integer && !number.is_f64()),
            Value::String(_) => self.string,
            Value::Array(_) => self.array,
            Value::Object(_) => self.object,
        }
    }
}

/// The value that `text` means for `schema`.
///
/// Text stays text wherever only text may stand. Lists and maps are JSON, or `@FILE` for JSON in a file. Where several
/// kinds may stand, JSON of one of them is taken as that, and anything else as text.
///
/// # Errors
/// What the text must be instead, as a fragment such as "must be an integer, not `x`".
pub fn value_of(text: &str, schema: &Value) -> Result<Value, String> {
    let kinds = Kinds::of(schema);
    if kinds.nested() {
        return nested(text, kinds);
    }
    if kinds.count() > 1 {
        if let Ok(value) = json(text)
            && !value.is_string()
            && kinds.holds(&value)
        {
            return Ok(value);
        }
        return if kinds.string { Ok(text.into()) } else { Err(format!("does not take `{}`", brief(text))) };
    }
    if kinds.string {
        return Ok(text.into());
    }
    if kinds.boolean {
        return match text {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(format!("must be true or false, not `{}`", brief(text))),
        };
    }
    if let Some(value) = integer(text) {
        return Ok(value);
    }
    if kinds.number {
        return match text.parse::<f64>() {
            Ok(number) if number.is_finite() && !text.contains(['n', 'N', 'i', 'I']) => Ok(number.into()),
            Ok(_) if text.contains(|c: char| c.is_ascii_digit()) => Err(format!("`{}` is out of range", brief(text))),
            _ => Err(format!("must be a number, not `{}`", brief(text))),
        };
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("`{}` is out of range", brief(text)));
    }
    Err(format!("must be an integer, not `{}`", brief(text)))
}

fn integer(text: &str) -> Option<Value> {
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

fn nested(text: &str, kinds: Kinds) -> Result<Value, String> {
    let value = match text.strip_prefix('@') {
        Some(file) => {
            let held = read(file)?;
            json(&held).map_err(|why| format!("`{file}` {why}"))?
        }
        None => json(text)?,
    };
    if kinds.holds(&value) {
        return Ok(value);
    }
    let wanted = match (kinds.array, kinds.object) {
        (true, true) => "a JSON array or object",
        (true, false) => "a JSON array",
        _ => "a JSON object",
    };
    Err(format!("must be {wanted}"))
}

/// JSON, with what is wrong and where.
pub(crate) fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        let place = format!("at line {} column {}", error.line(), error.column());
        if why.starts_with("recursion limit") {
            return format!("is nested deeper than 127 levels, {place}");
        }
        if why.starts_with("number out of range") {
            return format!("holds a number that is out of range, {place}");
        }
        let why = why.split(" at line").next().unwrap_or(&why).to_owned();
        format!("is not JSON: {why} {place}")
    })
}

/// What a file holds, `-` being standard input.
pub(crate) fn read(file: &str) -> Result<String, String> {
    let read = if file == "-" { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(file) };
    read.map_err(|error| {
        if file == "-" {
            return format!("cannot be taken from standard input: {}", why(&error));
        }
        pintle_core::Failure::io(format!("names a file that cannot be read: `{file}`"), &error).message
    })
}

fn why(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => error.to_string(),
    }
}

/// A JSON object from the text itself, `@FILE` or `@-`.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, String> {
    let value = match text.strip_prefix('@') {
        Some(file) => json(&read(file)?).map_err(|why| format!("`{file}` {why}"))?,
        None => json(text)?,
    };
    match value {
        Value::Object(map) => Ok(map),
        _ => Err("must be a JSON object".to_owned()),
    }
}

fn brief(text: &str) -> String {
    let mut chars = text.chars();
    let head: String = chars.by_ref().take(60).collect();
    if chars.next().is_some() { format!("{head}…") } else { head }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(text: &str, schema: Value) -> Result<Value, String> {
        value_of(text, &schema)
    }

    #[test]
    fn ch_136_numbers_keep_their_kind() {
        assert_eq!(of("10", json!({"type": "integer"})), Ok(json!(10)));
        assert_eq!(of("18446744073709551615", json!({"type": "integer"})), Ok(json!(u64::MAX)));
        assert_eq!(of("10", json!({"type": "number"})).unwrap().to_string(), "10");
        assert_eq!(of("1.5", json!({"type": "number"})), Ok(json!(1.5)));
        assert_eq!(of("1.5", json!({"type": "integer"})), Err("must be an integer, not `1.5`".into()));
        assert_eq!(
            of("99999999999999999999", json!({"type": "integer"})),
            Err("`99999999999999999999` is out of range".into())
        );
        assert_eq!(of("1e400", json!({"type": "number"})), Err("`1e400` is out of range".into()));
        for word in ["inf", "NaN", "infinity", "x", ""] {
            assert!(of(word, json!({"type": "number"})).is_err(), "{word}");
        }
    }

    #[test]
    fn text_stays_text() {
        for text in ["true", "1", "null", "[1]", "@x", "a,b", " x "] {
            assert_eq!(of(text, json!({"type": "string"})), Ok(json!(text)));
            assert_eq!(of(text, json!({"enum": ["a", "b"]})), Ok(json!(text)), "the catalogue judges the words");
        }
    }

    #[test]
    fn nested_values_are_json_or_a_file_of_it() {
        let object = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        assert_eq!(of(r#"{"a": 1}"#, object.clone()), Ok(json!({"a": 1})));
        assert_eq!(of("[]", object.clone()), Err("must be a JSON object".into()));
        assert!(of("{", object.clone()).unwrap_err().starts_with("is not JSON: EOF while parsing an object at line 1"));
        let temp = std::env::temp_dir().join(format!("pintle-value-{}", std::process::id()));
        std::fs::write(&temp, r#"{"a": 2}"#).unwrap();
        assert_eq!(of(&format!("@{}", temp.display()), object.clone()), Ok(json!({"a": 2})));
        std::fs::remove_file(&temp).unwrap();
        let missing = of(&format!("@{}", temp.display()), object.clone()).unwrap_err();
        assert!(
            missing.starts_with("names a file that cannot be read: `")
                && missing.ends_with("no such file or directory"),
            "{missing}"
        );
        let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        assert!(of(&deep, json!({"type": "array"})).unwrap_err().starts_with("is nested deeper than 127 levels"));
        assert!(of(r#"{"a": 1e400}"#, object).unwrap_err().contains("out of range"));
    }

    #[test]
    fn where_several_kinds_may_stand_json_wins_and_the_rest_is_text() {
        let either = json!({"type": ["string", "integer"]});
        assert_eq!(of("5", either.clone()), Ok(json!(5)));
        assert_eq!(of("five", either.clone()), Ok(json!("five")));
        assert_eq!(of("\"5\"", either.clone()), Ok(json!("\"5\"")), "a text is never unquoted");
        assert_eq!(of("[1]", either), Ok(json!("[1]")), "not one of the kinds");
        assert_eq!(of("{\"a\": [null]}", json!({})), Ok(json!({"a": [null]})));
        assert_eq!(of("x", json!({})), Ok(json!("x")));
        assert!(of("x", json!({"type": ["integer", "boolean"]})).is_err());
    }
}
