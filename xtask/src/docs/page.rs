//! One page of `docs/tools`, as Markdown.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::Tool;

/// The page of one toolset; `tools` are in the order of their names.
pub fn render(toolset: &str, tools: &[&Tool]) -> String {
    let mut page = format!(
        "<!-- written by `cargo xtask docs`; change the operations, not this page -->\n\n# The toolset {toolset}\n\n"
    );
    page.push_str("| tool | does | effects | command |\n|---|---|---|---|\n");
    for tool in tools {
        let command = tool.command.as_deref().map(|words| format!("`pintle {words}`")).unwrap_or_default();
        let _ = writeln!(
            page,
            "| [`{name}`](#{anchor}) | {does} | {effects} | {command} |",
            name = tool.name,
            anchor = anchor(&tool.name),
            does = cell(first_sentence(&tool.description)),
            effects = tool.effects.join(", "),
        );
    }
    for tool in tools {
        page.push_str(&section(tool));
    }
    page
}

fn section(tool: &Tool) -> String {
    let mut text = format!("\n## {}\n\n", tool.name);
    if let Some(title) = tool.title.as_deref().filter(|title| !title.is_empty()) {
        let _ = write!(text, "*{title}*\n\n");
    }
    let _ = write!(text, "{}\n\n", tool.description.trim());
    let _ = write!(text, "Effects: {}.", tool.effects.join(", "));
    let hints = hints(&tool.hints);
    if !hints.is_empty() {
        let _ = write!(text, " Hints: {}.", hints.join(", "));
    }
    text.push('\n');
    if let Some(words) = &tool.command {
        let _ = write!(text, "\n```\npintle {words}\n```\n");
    }
    let arguments = fields(&tool.input_schema, true);
    if arguments.is_empty() {
        text.push_str("\nNo arguments.\n");
    } else {
        text.push_str("\n| argument | type | required | default | meaning |\n|---|---|---|---|---|\n");
        for field in arguments {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} |",
                field.name, field.kind, field.required, field.default, field.meaning
            );
        }
    }
    let answer = tool.output_schema.pointer("/properties/answer").map(|answer| fields(answer, false));
    if let Some(answer) = answer.filter(|fields| !fields.is_empty()) {
        text.push_str("\n| in the answer | type | meaning |\n|---|---|---|\n");
        for field in answer {
            let _ = writeln!(text, "| `{}` | {} | {} |", field.name, field.kind, field.meaning);
        }
    }
    text
}

/// One row of a table, already safe for a cell.
struct Field {
    name: String,
    kind: String,
    required: &'static str,
    default: String,
    meaning: String,
}

/// The properties of an object schema; for arguments the required ones first, else in the schema's order.
fn fields(schema: &Value, required_first: bool) -> Vec<Field> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let mut names: Vec<&String> = properties.keys().collect();
    if required_first {
        names.sort_by_key(|name| !required.contains(&name.as_str()));
    }
    names
        .into_iter()
        .map(|name| {
            let property = &properties[name];
            Field {
                name: name.clone(),
                kind: cell(&kind(property)),
                required: if required.contains(&name.as_str()) { "yes" } else { "" },
                default: property
                    .get("default")
                    .map(|value| format!("`{}`", cell(&value.to_string())))
                    .unwrap_or_default(),
                meaning: cell(property.get("description").and_then(Value::as_str).unwrap_or_default()),
            }
        })
        .collect()
}

/// A schema's type in a few words: `string`, `list of string`, `map of integer`, `"a" or "b"`.
fn kind(schema: &Value) -> String {
    let alternatives = ["enum", "oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array);
    if let Some(alternatives) = alternatives {
        let words: Vec<String> = alternatives
            .iter()
            .map(|alternative| match alternative {
                Value::Object(inner) => {
                    inner.get("const").map_or_else(|| kind(alternative), |value| format!("`{value}`"))
                }
                value => format!("`{value}`"),
            })
            .collect();
        return words.join(" or ");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        _ => Vec::new(),
    };
    let words: Vec<String> = types
        .iter()
        .map(|name| match *name {
            "array" => format!("list of {}", schema.get("items").map_or_else(|| "any".to_owned(), kind)),
            "object" => match schema.get("additionalProperties") {
                Some(values @ Value::Object(inner)) if !inner.is_empty() => format!("map of {}", kind(values)),
                _ => "object".to_owned(),
            },
            other => other.to_owned(),
        })
        .collect();
    let mut text = if words.is_empty() { "any".to_owned() } else { words.join(" or ") };
    text.push_str(&limits(schema));
    text
}

/// What a schema says of size, in brackets.
fn limits(schema: &Value) -> String {
    let number = |key: &str| schema.get(key).filter(|value| value.is_number()).map(Value::to_string);
    let range =
        match (number("minimum").or_else(|| number("minLength")), number("maximum").or_else(|| number("maxLength"))) {
            (Some(least), Some(most)) => format!(" ({least} to {most})"),
            (Some(least), None) => format!(" (from {least})"),
            (None, Some(most)) => format!(" (to {most})"),
            (None, None) => String::new(),
        };
    match schema.get("pattern").and_then(Value::as_str) {
        Some(pattern) => format!("{range} matching `{pattern}`"),
        None => range,
    }
}

/// `readOnlyHint: true` as `readOnlyHint`, false ones as `not readOnlyHint`.
fn hints(hints: &Value) -> Vec<String> {
    let empty = Map::new();
    hints
        .as_object()
        .unwrap_or(&empty)
        .iter()
        .filter_map(|(name, value)| {
            value.as_bool().map(|yes| if yes { format!("`{name}`") } else { format!("not `{name}`") })
        })
        .collect()
}

/// The heading's anchor as Markdown renderers make it: lower case, dots gone.
fn anchor(name: &str) -> String {
    name.to_lowercase().chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_')).collect()
}

/// Up to the end of the first sentence or line.
fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// Text made safe for one table cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_told_in_words() {
        for (schema, words) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["string", "null"]}), "string"),
            (json!({"type": "array", "items": {"type": "integer", "minimum": 0}}), "list of integer (from 0)"),
            (json!({"type": "object", "additionalProperties": {"type": "string"}}), "map of string"),
            (json!({"type": "string", "enum": ["a", "b"]}), "`\"a\"` or `\"b\"`"),
            (json!({"oneOf": [{"const": "x"}, {"type": "integer"}]}), "`\"x\"` or integer"),
            (json!({}), "any"),
        ] {
            assert_eq!(kind(&schema), words, "{schema}");
        }
    }

    #[test]
    fn a_page_has_a_row_and_a_section_for_every_tool() {
        let tool = Tool {
            toolset: "charly".into(),
            name: "box.set".into(),
            title: None,
            description: "sets a value. More of it\nfollows".into(),
            effects: vec!["write".into()],
            hints: json!({"readOnlyHint": false, "idempotentHint": true}),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "dry_run": {"type": "boolean", "default": false, "description": "only tell | never do"},
                    "path": {"type": "string", "description": "where"}
                },
                "required": ["path"]
            }),
            output_schema: json!({"properties": {"answer": {"properties": {"sha256": {"type": "string"}}}}}),
            command: Some("charly box set PATH".into()),
        };
        let page = render("charly", &[&tool]);
        assert!(
            page.contains("| [`box.set`](#boxset) | sets a value. | write | `pintle charly box set PATH` |"),
            "{page}"
        );
        let path = page.find("| `path` | string | yes |").expect("a row for path");
        let dry_run =
            page.find("| `dry_run` | boolean |  | `false` | only tell \\| never do |").expect("a row for dry_run");
        assert!(path < dry_run, "required arguments come first");
        assert!(page.contains("Hints: not `readOnlyHint`, `idempotentHint`."), "{page}");
        assert!(page.contains("| `sha256` | string |"), "{page}");
    }
}
