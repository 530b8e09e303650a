//! Arguments against the published schema: every violation, with its JSON pointer.

use jsonschema::error::ValidationErrorKind as Kind;
use pintle_core::{Code, Failure, Lazy, Problem, nearest, one_of};
use serde_json::Value;
use std::sync::OnceLock;

/// Deeper arguments are refused before anything looks at them.
const DEPTH: usize = 64;
/// More problems than that help nobody.
const PROBLEMS: usize = 50;

/// Validates values against one schema; built when first used.
#[derive(Debug)]
pub struct Validator {
    schema: Lazy<Value>,
    built: OnceLock<Result<jsonschema::Validator, String>>,
}

impl Validator {
    /// For that schema.
    #[must_use]
    pub fn new(schema: impl Into<Lazy<Value>>) -> Self {
        Self { schema: schema.into(), built: OnceLock::new() }
    }

    /// The schema.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Checks the arguments of `tool`.
    ///
    /// # Errors
    /// Code `invalid_argument` with a problem for each violation.
    pub fn check(&self, tool: &str, arguments: &Value) -> Result<(), Failure> {
        let mut problems = Vec::new();
        look(arguments, &mut String::new(), 0, &mut problems);
        if problems.is_empty() {
            let built =
                self.built.get_or_init(|| jsonschema::validator_for(&self.schema).map_err(|error| error.to_string()));
            let validator = built.as_ref().map_err(|error| {
                Failure::new(Code::Internal, format!("the schema of {tool} does not hold: {error}"))
            })?;
            for error in validator.iter_errors(arguments).take(PROBLEMS) {
                self.describe(&error, &mut problems);
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        problems.dedup();
        let left = problems.len().saturating_sub(PROBLEMS);
        if left > 0 {
            problems.truncate(PROBLEMS);
            problems.push(Problem::new(format!("and {left} more")));
        }
        let message = match problems.as_slice() {
            [only] => format!("{tool}: {}", only.message),
            several => format!("{tool}: {} arguments are not as they must be", several.len()),
        };
        Err(Failure::new(Code::InvalidArgument, message).problems(problems))
    }

    fn describe(&self, error: &jsonschema::ValidationError<'_>, problems: &mut Vec<Problem>) {
        let place = error.instance_path().to_string();
        let name =
            if place.is_empty() { "the arguments".to_owned() } else { format!("`{}`", place.trim_start_matches('/')) };
        let beneath = |key: &str| format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
        let mut push = |pointer: String, message: String| problems.push(Problem::new(message).at_pointer(pointer));
        match error.kind() {
            Kind::Required { property } => {
                let key = property.as_str().unwrap_or_default();
                push(beneath(key), format!("argument `{key}` is missing"));
            }
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                for key in unexpected {
                    let mut problem = Problem::new(format!("unknown argument `{key}`")).at_pointer(beneath(key));
                    let known = self.known_beside(&place);
                    if let Some(near) = nearest(key, known.iter().map(String::as_str)) {
                        problem = problem.hint(format!("did you mean `{near}`?"));
                    } else if !known.is_empty() && known.len() <= 20 {
                        problem = problem.hint(format!("it takes {}", known.join(", ")));
                    } else if known.is_empty() {
                        problem = problem.hint("it takes no arguments");
                    }
                    problems.push(problem);
                }
            }
            Kind::Type { kind } => {
                let expected = match kind {
                    jsonschema::error::TypeKind::Single(one) => with_article(&one.to_string()),
                    jsonschema::error::TypeKind::Multiple(several) => {
                        let words: Vec<String> = several.iter().map(|t| with_article(&t.to_string())).collect();
                        one_of(words.iter().map(String::as_str))
                    }
                };
                push(place.clone(), format!("{name} must be {expected}, not {}", kind_of(error.instance())));
            }
            Kind::Enum { options } => {
                let words: Vec<String> = options.as_array().into_iter().flatten().map(shown).collect();
                let mut problem = Problem::new(format!("{name} must be {}", one_of(words.iter().map(String::as_str))));
                if let Some(near) = error.instance().as_str().and_then(|w| nearest(w, words.iter().map(String::as_str)))
                {
                    problem = problem.hint(format!("did you mean `{near}`?"));
                }
                problems.push(problem.at_pointer(place));
            }
            Kind::Minimum { limit } => push(place, format!("{name} must be at least {limit}")),
            Kind::Maximum { limit } => push(place, format!("{name} must be at most {limit}")),
            Kind::MinLength { limit: 1 } => push(place, format!("{name} must not be empty")),
            Kind::MinLength { limit } => push(place, format!("{name} must have at least {limit} characters")),
            Kind::MaxLength { limit } => push(place, format!("{name} must have at most {limit} characters")),
            Kind::MinItems { limit } => push(place, format!("{name} must have at least {limit} items")),
            Kind::MaxItems { limit } => push(place, format!("{name} must have at most {limit} items")),
            Kind::Pattern { pattern } => push(place, format!("{name} does not match `{pattern}`")),
            // The library's own sentence, with the value left out: it may be long, or a secret.
            _ => push(place, format!("{name}: {}", error.masked_with("the value"))),
        }
    }

    /// Names that the object at `place` may have.
    fn known_beside(&self, place: &str) -> Vec<String> {
        let mut schema: &Value = &self.schema;
        for segment in place.split('/').filter(|s| !s.is_empty()) {
            let next = schema.get("properties").and_then(|p| p.get(segment)).or_else(|| schema.get("items"));
            let Some(next) = next else { return Vec::new() };
            schema = next;
        }
        schema.get("properties").and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }
}

/// What no schema says: how deep, and no NUL, which no path, name or file of text may hold.
fn look(value: &Value, place: &mut String, depth: usize, problems: &mut Vec<Problem>) {
    if depth > DEPTH {
        if problems.is_empty() {
            problems.push(Problem::new(format!("nested deeper than {DEPTH} levels")).at_pointer(cut(place)));
        }
        return;
    }
    match value {
        Value::String(text) if text.contains('\0') => {
            let hint = "leave it out, or send bytes as base64 where the tool takes them";
            problems.push(
                Problem::new(format!("`{}` holds a NUL character", cut(place).trim_start_matches('/')))
                    .at_pointer(cut(place))
                    .hint(hint),
            );
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                descend(item, &index.to_string(), place, depth, problems);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                descend(item, key, place, depth, problems);
            }
        }
        _ => {}
    }
}

fn descend(value: &Value, key: &str, place: &mut String, depth: usize, problems: &mut Vec<Problem>) {
    let length = place.len();
    place.push('/');
    place.push_str(key);
    look(value, place, depth + 1, problems);
    place.truncate(length);
}

fn cut(place: &str) -> String {
    if place.chars().count() <= 80 {
        place.to_owned()
    } else {
        format!("{}…", place.chars().take(80).collect::<String>())
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(n) if n.is_f64() => "a fraction",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    if kind == "null" { kind.to_owned() } else { format!("{article} {kind}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(arguments: Value) -> Failure {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string", "minLength": 1}, "kind": {"enum": ["round", "flat"]},
            "limit": {"type": "integer", "minimum": 1}, "clusters": {"type": "array", "items": {"type": "string"}}},
            "required": ["name"], "additionalProperties": false});
        Validator::new(schema).check("things", &arguments).unwrap_err()
    }

    #[test]
    fn ch_120_ch_121_cw_17_every_violation_is_told_with_its_pointer() {
        let failure = check(json!({"kind": "rounds", "limit": "3", "clusters": ["a", 1], "nmae": "x"}));
        let told: Vec<(&str, &str)> =
            failure.problems.iter().map(|p| (p.pointer.as_deref().unwrap(), p.message.as_str())).collect();
        assert!(told.contains(&("/name", "argument `name` is missing")), "{told:?}");
        assert!(told.contains(&("/kind", "`kind` must be round or flat")), "{told:?}");
        assert!(told.contains(&("/limit", "`limit` must be an integer, not a string")), "{told:?}");
        assert!(told.contains(&("/clusters/1", "`clusters/1` must be a string, not an integer")), "{told:?}");
        assert!(told.contains(&("/nmae", "unknown argument `nmae`")), "{told:?}");
        assert_eq!(failure.code, Code::InvalidArgument);
        let hints: Vec<_> = failure.problems.iter().filter_map(|p| p.hint.as_deref()).collect();
        assert!(hints.contains(&"did you mean `name`?") && hints.contains(&"did you mean `round`?"), "{hints:?}");
    }

    #[test]
    fn more_problems_than_help_are_counted() {
        let arguments: serde_json::Map<_, _> = (0..200).map(|n| (format!("no{n}"), json!(1))).collect();
        let problems = check(Value::Object(arguments)).problems;
        assert_eq!(problems.len(), PROBLEMS + 1);
        assert_eq!(problems.last().unwrap().message, "and 151 more");
    }

    #[test]
    fn nul_and_deep_nesting_are_refused() {
        assert_eq!(check(json!({"name": "a\0b"})).message, "things: `name` holds a NUL character");
        let mut deep = json!(1);
        for _ in 0..1000 {
            deep = json!([deep]);
        }
        let failure = check(json!({"name": deep}));
        assert!(failure.message.contains("nested deeper than 64 levels"), "{}", failure.message);
        assert_eq!(check(json!({"name": ""})).message, "things: `name` must not be empty");
        assert_eq!(check(json!({"name": "a", "limit": 0})).message, "things: `limit` must be at least 1");
    }
}
