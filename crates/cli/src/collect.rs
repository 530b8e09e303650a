//! What was typed, as the one JSON value that both doors make.

use crate::{
    arguments::{Parameter, Shape, item_schema},
    value::{read, value_of},
};
use clap::{ArgMatches, parser::ValueSource};
use pintle_core::{Code, Failure, Problem};
use serde_json::{Map, Value};

/// The arguments that were typed; what was not typed is absent.
///
/// # Errors
/// Code `invalid_argument` with a problem for each value that does not fit.
pub(crate) fn collect(parameters: &[Parameter<'_>], matches: &ArgMatches) -> Result<Map<String, Value>, Failure> {
    let mut arguments = Map::new();
    let mut problems = Vec::new();
    for parameter in parameters {
        match typed(parameter, matches) {
            Ok(None) => {}
            Ok(Some(value)) => {
                arguments.insert(parameter.name.to_owned(), value);
            }
            Err(why) => problems.push((parameter, why)),
        }
    }
    match problems.as_slice() {
        [] => Ok(arguments),
        [(parameter, why)] => Err(problem_of(parameter, why, Failure::new(Code::InvalidArgument, ""), true)),
        several => {
            let message = format!("{} arguments are not as they must be", several.len());
            let failure = Failure::new(Code::InvalidArgument, message);
            Err(several.iter().fold(failure, |failure, (parameter, why)| problem_of(parameter, why, failure, false)))
        }
    }
}

fn problem_of(parameter: &Parameter<'_>, why: &str, mut failure: Failure, alone: bool) -> Failure {
    let message = format!("{} {why}", spoken(parameter));
    if alone {
        failure.message.clone_from(&message);
    }
    failure.problem(Problem::new(message).at_pointer(format!("/{}", parameter.name)))
}

/// `--limit`, or `NAME` for a positional.
pub(crate) fn spoken(parameter: &Parameter<'_>) -> String {
    match &parameter.long {
        Some(long) => format!("`--{long}`"),
        None => parameter.value_name(),
    }
}

fn typed(parameter: &Parameter<'_>, matches: &ArgMatches) -> Result<Option<Value>, String> {
    let given = |id: &str| {
        matches.try_contains_id(id).unwrap_or(false) && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    if parameter.shape == Shape::Switch && !parameter.positional {
        let off = format!("{}\u{1f}no", parameter.name);
        return Ok(match (given(parameter.name), given(&off)) {
            (true, _) => Some(true.into()),
            (false, true) => Some(false.into()),
            (false, false) => None,
        });
    }
    if given(&parameter.stdin_id()) {
        return read("-").map(|text| Some(text.into()));
    }
    if !given(parameter.name) {
        return Ok(None);
    }
    let texts: Vec<&str> =
        matches.get_many::<String>(parameter.name).into_iter().flatten().map(String::as_str).collect();
    gather(parameter.schema, parameter.shape, &texts).map(Some)
}

/// The value of one argument from everything that was said for it.
pub(crate) fn gather(schema: &Value, shape: Shape, texts: &[&str]) -> Result<Value, String> {
    let items = || texts.iter().map(|text| value_of(text, item_schema(schema))).collect::<Result<Vec<_>, _>>();
    match (shape, texts) {
        (Shape::Many, _) => items().map(Value::from),
        (Shape::Map, _) => entries(schema, texts).map(Value::Object),
        (Shape::OneOrMany, [_, _, ..]) => items().map(Value::from),
        (_, [.., last]) => value_of(last, schema),
        (_, []) => Ok(Value::Null),
    }
}

fn entries(schema: &Value, texts: &[&str]) -> Result<Map<String, Value>, String> {
    let values = schema.get("additionalProperties").unwrap_or(&Value::Null);
    let mut map = Map::new();
    for text in texts {
        let (key, value) = text.split_once('=').ok_or_else(|| format!("must be KEY=VALUE; `{text}` has no `=`"))?;
        let value = value_of(value, values).map_err(|why| format!("`{key}` {why}"))?;
        if map.insert(key.to_owned(), value).is_some() {
            return Err(format!("names `{key}` twice"));
        }
    }
    Ok(map)
}
