//! Arguments for a tool or a prompt: `key=value`, and `--json ARGS`.

use clap::{Arg, ArgAction, ArgMatches};
use pintle_cli::value_of;
use pintle_core::{Code, Failure};
use serde_json::{Map, Value, json};

/// The flags.
pub(super) fn flags() -> Vec<Arg> {
    vec![
        Arg::new("pairs")
            .value_name("KEY=VALUE")
            .action(ArgAction::Append)
            .num_args(0..)
            .help("Arguments one by one; a list is given once for each item, nested values are JSON or @FILE"),
        Arg::new("json").long("json").value_name("ARGS").help("Arguments as JSON, @FILE, or @- for standard input"),
    ]
}

/// What was given.
pub(super) struct Arguments {
    json: Option<Map<String, Value>>,
    /// In the order of their first mention, with every value.
    pairs: Vec<(String, Vec<String>)>,
}

impl Arguments {
    /// From what clap found.
    ///
    /// # Errors
    /// Code `invalid_argument`: no object, or a pair without `=`.
    pub(super) fn of(matches: &ArgMatches) -> Result<Self, Failure> {
        let json = match matches.get_one::<String>("json").map(|text| value_of(text, &json!({"type": "object"}))) {
            None => None,
            Some(Ok(Value::Object(map))) => Some(map),
            Some(Ok(_)) => return Err(not_an_object("must be a JSON object")),
            Some(Err(why)) => return Err(not_an_object(&why)),
        };
        let mut pairs: Vec<(String, Vec<String>)> = Vec::new();
        for pair in matches.get_many::<String>("pairs").into_iter().flatten() {
            let (key, value) = pair.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
                Failure::new(Code::InvalidArgument, format!("`{pair}` is not KEY=VALUE"))
                    .hint("arguments are given by name; `--json` takes them as one JSON object")
            })?;
            if json.as_ref().is_some_and(|map| map.contains_key(key)) {
                return Err(wrong(key, "is in `--json` as well"));
            }
            match pairs.iter_mut().find(|(known, _)| known == key) {
                Some((_, values)) => values.push(value.to_owned()),
                None => pairs.push((key.to_owned(), vec![value.to_owned()])),
            }
        }
        Ok(Self { json, pairs })
    }

    /// Whether a schema would tell what the values are.
    pub(super) fn needs_schema(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// The arguments as a schema types them; none when none were given.
    ///
    /// # Errors
    /// Code `invalid_argument`: a value that is not of its type.
    pub(super) fn typed(&self, schema: &Value) -> Result<Option<Value>, Failure> {
        if self.json.is_none() && self.pairs.is_empty() {
            return Ok(None);
        }
        let mut all = self.json.clone().unwrap_or_default();
        for (key, values) in &self.pairs {
            let value = value(values, &schema["properties"][key]).map_err(|why| wrong(key, &why))?;
            all.insert(key.clone(), value);
        }
        Ok(Some(Value::Object(all)))
    }

    /// The arguments of a prompt, which are texts.
    ///
    /// # Errors
    /// Code `invalid_argument`: a key given twice.
    pub(super) fn texts(&self) -> Result<Option<Value>, Failure> {
        let text = json!({"type": "string"});
        let properties: Map<String, Value> = self.pairs.iter().map(|(key, _)| (key.clone(), text.clone())).collect();
        self.typed(&json!({"properties": properties}))
    }
}

fn value(values: &[String], schema: &Value) -> Result<Value, String> {
    let is_list = schema["type"] == "array";
    match values {
        [one] if !is_list || one.starts_with(['[', '@']) => value_of(one, schema),
        several if is_list || schema.is_null() => {
            several.iter().map(|one| value_of(one, &schema["items"])).collect::<Result<Vec<_>, _>>().map(Value::Array)
        }
        _ => Err("was given twice".to_owned()),
    }
}

fn wrong(key: &str, why: &str) -> Failure {
    Failure::new(Code::InvalidArgument, format!("argument `{key}` {why}"))
}

fn not_an_object(why: &str) -> Failure {
    Failure::new(Code::InvalidArgument, format!("`--json` {why}"))
        .hint("it takes one JSON object, `@FILE`, or `@-` for standard input")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    fn typed(words: &[&str], schema: &Value) -> Result<Value, String> {
        let matches = Command::new("x").no_binary_name(true).args(flags()).try_get_matches_from(words).unwrap();
        let arguments = Arguments::of(&matches).map_err(|failure| failure.message)?;
        arguments.typed(schema).map(Option::unwrap_or_default).map_err(|failure| failure.message)
    }

    #[test]
    fn values_get_the_types_of_the_schema() {
        let schema = json!({"properties": {
            "n": {"type": "integer"}, "t": {"type": "string"}, "b": {"type": "boolean"},
            "l": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "object"},
        }});
        let words = ["n=3", "t=3", "b=true", "l=1", "l=2", r#"o={"x":[1]}"#, "free=7", "eq=a=b"];
        assert_eq!(
            typed(&words, &schema),
            Ok(json!({"n": 3, "t": "3", "b": true, "l": [1, 2], "o": {"x": [1]}, "free": 7, "eq": "a=b"}))
        );
        assert_eq!(typed(&["l=[4, 5]"], &schema), Ok(json!({"l": [4, 5]})));
        assert_eq!(typed(&["--json", r#"{"n": 1}"#, "t=x"], &schema), Ok(json!({"n": 1, "t": "x"})));
        assert_eq!(typed(&[], &schema), Ok(Value::Null));
    }

    #[test]
    fn what_fits_no_type_is_refused() {
        let schema = json!({"properties": {"n": {"type": "integer"}}});
        for (words, wanted) in [
            (&["n=x"][..], "argument `n` must be an integer, not `x`"),
            (&["n=1", "n=2"], "argument `n` was given twice"),
            (&["nope"], "`nope` is not KEY=VALUE"),
            (&["=1"], "`=1` is not KEY=VALUE"),
            (&["--json", "[1]"], "`--json` must be a JSON object"),
            (&["--json", r#"{"n": 1}"#, "n=2"], "argument `n` is in `--json` as well"),
        ] {
            assert_eq!(typed(words, &schema).unwrap_err(), wanted);
        }
    }
}
