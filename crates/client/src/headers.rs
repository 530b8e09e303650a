//! Headers that repeat what a message says, so that things in between can route it (2026-07-28).

use base64::Engine;
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const PARAMETER: &str = "mcp-param-";
const ANNOTATION: &str = "x-mcp-header";

/// `Mcp-Method`, and `Mcp-Name` for the methods that name something.
pub(crate) fn standard(method: &str, params: &Map<String, Value>) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers = Vec::new();
    headers.extend(value(method).map(|value| (METHOD, value)));
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return headers,
    };
    if let Some(name) = params.get(member).and_then(Value::as_str) {
        headers.extend(value(name).map(|value| (NAME, value)));
    }
    headers
}

/// A text as header value: as it is where HTTP carries it faithfully, else in the base64 form of the
/// specification.
pub(crate) fn value(text: &str) -> Option<HeaderValue> {
    let plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain {
        return HeaderValue::from_str(text).ok();
    }
    let coded = base64::engine::general_purpose::STANDARD.encode(text);
    HeaderValue::from_str(&format!("=?base64?{coded}?=")).ok()
}

/// A parameter that travels as a header, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParameterHeader {
    /// Member names from the arguments down.
    path: Vec<String>,
    name: HeaderName,
}

/// Finds the parameters of a tool that travel as headers.
///
/// # Errors
/// Why the tool's annotations are not valid; such a tool must not be used over HTTP.
pub(crate) fn parameters(schema: &Value) -> Result<Vec<ParameterHeader>, String> {
    let mut found = Vec::new();
    if schema.get(ANNOTATION).is_some() {
        return Err(format!("{ANNOTATION} at the root of the schema"));
    }
    walk(schema, &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Walks down `properties`; anywhere else an annotation is an error.
fn walk(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParameterHeader>) -> Result<(), String> {
    let Some(members) = schema.as_object() else {
        return Ok(());
    };
    for (keyword, inner) in members {
        match keyword.as_str() {
            "properties" => {
                for (name, property) in inner.as_object().into_iter().flatten() {
                    path.push(name.clone());
                    if let Some(annotation) = property.get(ANNOTATION) {
                        found.push(parameter(path, property, annotation, found)?);
                    }
                    walk(property, path, found)?;
                    path.pop();
                }
            }
            // Instance data and lists of names, not schemas.
            "default" | "const" | "enum" | "examples" | "required" | "dependentRequired" | ANNOTATION => {}
            _ if misplaced(inner) => {
                return Err(format!("{ANNOTATION} below {keyword}"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn misplaced(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, inner)| match name.as_str() {
            ANNOTATION => !inner.is_object(),
            "default" | "const" | "enum" | "examples" => false,
            _ => misplaced(inner),
        }),
        Value::Array(items) => items.iter().any(misplaced),
        _ => false,
    }
}

fn parameter(
    path: &[String],
    property: &Value,
    annotation: &Value,
    found: &[ParameterHeader],
) -> Result<ParameterHeader, String> {
    let place = path.join(".");
    let Some(word) = annotation.as_str().filter(|word| !word.is_empty()) else {
        return Err(format!("{place}: {ANNOTATION} is not a text, or empty"));
    };
    let name = HeaderName::try_from(format!("{PARAMETER}{word}"))
        .map_err(|_| format!("{place}: {ANNOTATION} {word:?} is not a header name"))?;
    if found.iter().any(|other| other.name == name) {
        return Err(format!("{place}: {ANNOTATION} {word:?} is used twice"));
    }
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(ParameterHeader { path: path.to_vec(), name }),
        _ => Err(format!("{place}: {ANNOTATION} needs the type string, integer or boolean")),
    }
}

/// Headers for the arguments of one call.
pub(crate) fn of_arguments(parameters: &[ParameterHeader], arguments: &Value) -> Vec<(HeaderName, HeaderValue)> {
    parameters
        .iter()
        .filter_map(|parameter| {
            let argument = parameter.path.iter().try_fold(arguments, |value, name| value.get(name))?;
            let text = match argument {
                Value::String(text) => text.clone(),
                Value::Bool(flag) => flag.to_string(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            Some((parameter.name.clone(), value(&text)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(headers: &[(HeaderName, HeaderValue)]) -> Vec<String> {
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    #[test]
    fn methods_that_name_something_name_it_in_a_header() {
        let call = json!({"name": "grüß", "arguments": {}});
        assert_eq!(
            shown(&standard("tools/call", call.as_object().unwrap())),
            ["mcp-method: tools/call", "mcp-name: =?base64?Z3LDvMOf?="]
        );
        let read = json!({"uri": "test://x"});
        assert_eq!(
            shown(&standard("resources/read", read.as_object().unwrap())),
            ["mcp-method: resources/read", "mcp-name: test://x"]
        );
        assert_eq!(shown(&standard("tools/list", &Map::new())), ["mcp-method: tools/list"]);
    }

    #[test]
    fn values_that_http_would_change_are_coded() {
        for text in [" x", "x\t", "a\nb", "=?base64?eA==?="] {
            let coded = value(text).unwrap();
            assert!(coded.to_str().unwrap().starts_with("=?base64?"), "{text:?}");
            assert_ne!(coded, text);
        }
        assert_eq!(value("a b").unwrap(), "a b");
        assert_eq!(value("").unwrap(), "");
    }

    #[test]
    fn parameters_travel_as_headers_from_any_depth_of_properties() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "inner": {"type": "object", "properties": {
                "count": {"type": "integer", "x-mcp-header": "Count"}}},
            "x-mcp-header": {"type": "string"}}});
        let found = parameters(&schema).unwrap();
        let headers = of_arguments(&found, &json!({"region": "eu", "inner": {"count": 3}, "x-mcp-header": "no"}));
        assert_eq!(shown(&headers), ["mcp-param-region: eu", "mcp-param-count: 3"]);
        assert_eq!(of_arguments(&found, &json!({"region": null})), []);
    }

    #[test]
    fn annotations_that_are_not_valid_are_refused() {
        for schema in [
            json!({"x-mcp-header": "Root"}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": 3}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "b:c"}}}),
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "N"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "N"},
                                  "b": {"type": "string", "x-mcp-header": "n"}}}),
            json!({"properties": {"a": {"type": "array",
                                        "items": {"type": "string", "x-mcp-header": "I"}}}}),
            json!({"oneOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "I"}}}]}),
        ] {
            assert!(parameters(&schema).is_err(), "{schema}");
        }
    }
}
