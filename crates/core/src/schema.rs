//! Argument and answer schemas from types, in the one form that every client takes.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// Keyword under which hints for the people's door ride: `positional`, `short`, `value`, `hidden`, `command`.
pub const FOR_PEOPLE: &str = "x-cli";

/// Hint of an argument that many tools of a family take: what it means is told to agents once, in the instructions of
/// the toolset, and not again in every tool.
pub const COMMON: &str = "common";

/// Description and normalised schema of an operation's arguments.
#[must_use]
pub fn arguments_of<T: JsonSchema>() -> (String, Value) {
    let mut schema = generate::<T>(false);
    let description = take_description(&mut schema);
    normalise(&mut schema);
    if let Value::Object(map) = &mut schema {
        map.entry("type").or_insert_with(|| "object".into());
        map.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        map.entry("additionalProperties").or_insert(Value::Bool(false));
        map.shift_remove("default");
    }
    (description, schema)
}

/// Normalised schema of an answer.
#[must_use]
pub fn answer_of<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(true);
    take_description(&mut schema);
    normalise_answer(&mut schema);
    schema
}

fn generate<T: JsonSchema>(serialize: bool) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let settings = if serialize { settings.for_serialize() } else { settings.for_deserialize() };
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn take_description(schema: &mut Value) -> String {
    let text = schema.as_object_mut().and_then(|map| map.shift_remove("description"));
    text.as_ref().and_then(Value::as_str).map(unwrap_lines).unwrap_or_default()
}

/// A doc comment as prose: lines of one paragraph are joined.
fn unwrap_lines(text: &str) -> String {
    text.split("\n\n")
        .map(|p| p.split('\n').map(str::trim).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Drops what clients stumble over or do not need, and closes objects.
pub fn normalise(schema: &mut Value) {
    walk(schema, true);
}

fn normalise_answer(schema: &mut Value) {
    walk(schema, false);
}

fn walk(schema: &mut Value, close: bool) {
    let Value::Object(map) = schema else { return };
    for keyword in ["$schema", "title", "writeOnly", "readOnly"] {
        map.shift_remove(keyword);
    }
    // Integer formats are Rust's (`uint32`), not JSON Schema's.
    if map
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|f| f.starts_with("uint") || f.starts_with("int") || f == "float" || f == "double")
    {
        map.shift_remove("format");
    }
    if matches!(map.get("default"), Some(Value::Null)) || map.get("default").is_some_and(is_empty) {
        map.shift_remove("default");
    }
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = unwrap_lines(text);
    }
    if close {
        drop_null_type(map);
    } else {
        drop_absent_nulls(map);
    }
    collapse_constants(map);
    if close && map.contains_key("properties") && !map.contains_key("additionalProperties") {
        map.insert("additionalProperties".into(), Value::Bool(false));
    }
    if map.get("required").is_some_and(is_empty) {
        map.shift_remove("required");
    }
    for keyword in ["properties", "patternProperties", "$defs"] {
        if let Some(Value::Object(inner)) = map.get_mut(keyword) {
            inner.values_mut().for_each(|s| walk(s, close));
        }
    }
    for keyword in ["items", "additionalProperties", "not"] {
        if let Some(inner) = map.get_mut(keyword) {
            walk(inner, close);
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        if let Some(Value::Array(inner)) = map.get_mut(keyword) {
            inner.iter_mut().for_each(|s| walk(s, close));
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// A member that an answer leaves out when there is none is never null; answers keep null where they can hold it.
fn drop_absent_nulls(map: &mut Map<String, Value>) {
    let required = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = map.get_mut("properties") else { return };
    for (name, property) in properties {
        if let Value::Object(property) = property
            && !required.iter().any(|known| known == name)
        {
            drop_null_type(property);
        }
    }
}

/// `null` means absent for every argument, so no schema of arguments names it.
fn drop_null_type(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|v| !v.is_null());
    }
    if let Some(Value::Array(options)) = map.get_mut("anyOf") {
        options.retain(|o| o.get("type").and_then(Value::as_str) != Some("null"));
        if let [Value::Object(_)] = options.as_slice() {
            let Some(Value::Array(mut only)) = map.shift_remove("anyOf") else { return };
            if let Some(Value::Object(inner)) = only.pop() {
                for (key, value) in inner {
                    map.entry(key).or_insert(value);
                }
                drop_null_type(map);
            }
        }
    }
}

/// Documented enum values come as `oneOf` constants; an `enum` says the same in a tenth of the bytes.
fn collapse_constants(map: &mut Map<String, Value>) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(options)) = map.get(keyword) else { continue };
        let mut values = Vec::new();
        for option in options {
            match (option.get("const"), option.get("enum").and_then(Value::as_array)) {
                (Some(value), _) => values.push(value.clone()),
                (None, Some(several)) => values.extend(several.iter().cloned()),
                (None, None) => return,
            }
        }
        if values.iter().all(Value::is_string) {
            map.shift_remove(keyword);
            map.insert("type".into(), "string".into());
            map.insert("enum".into(), Value::Array(values));
        }
    }
}

/// The schema as agents see it: without the hints for people.
#[must_use]
pub fn for_agents(schema: &Value) -> Value {
    let mut shown = schema.clone();
    strip(&mut shown);
    shown
}

fn strip(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let hints = map.shift_remove(FOR_PEOPLE);
            if hints.is_some_and(|hints| hints[COMMON] == true) {
                map.shift_remove("description");
            }
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                properties.iter_mut().for_each(|(name, property)| strip_echo(name, property));
            }
            map.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Drops a description that only repeats the property's name: a model pays for it and learns nothing.
fn strip_echo(name: &str, property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    let echo = |text: &str| text.trim_end_matches('.').eq_ignore_ascii_case(&name.replace('_', " "));
    if property.get("description").and_then(Value::as_str).is_some_and(echo) {
        property.shift_remove("description");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    /// Lists things
    /// of a kind.
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Things {
        /// Which kind.
        #[schemars(extend("x-cli" = {"positional": 1}))]
        kind: Kind,
        /// How many.
        #[serde(default = "ten")]
        limit: u32,
        /// Where.
        namespace: Option<String>,
        /// Labels to carry.
        #[serde(default)]
        labels: std::collections::BTreeMap<String, String>,
        #[serde(default)]
        inner: Option<Inner>,
        #[serde(flatten)]
        targets: Targets,
    }
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        /// Round ones.
        Round,
        /// Flat ones.
        Flat,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        on: bool,
    }
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Targets {
        /// Names.
        #[serde(default)]
        clusters: Vec<String>,
    }
    fn ten() -> u32 {
        10
    }

    #[test]
    fn an_6_04_an_6_05_schemas_have_the_one_form() {
        let (description, schema) = arguments_of::<Things>();
        assert_eq!(description, "Lists things of a kind.");
        assert_eq!(
            for_agents(&schema),
            json!({"type": "object", "properties": {
                "kind": {"description": "Which kind.", "type": "string", "enum": ["round", "flat"]},
                "limit": {"description": "How many.", "type": "integer", "minimum": 0, "default": 10},
                "namespace": {"description": "Where.", "type": "string"},
                "labels": {"description": "Labels to carry.", "type": "object", "additionalProperties": {"type": "string"}},
                "inner": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"], "additionalProperties": false},
                "clusters": {"description": "Names.", "type": "array", "items": {"type": "string"}}
            }, "required": ["kind"], "additionalProperties": false})
        );
        assert_eq!(schema["properties"]["kind"]["x-cli"], json!({"positional": 1}));
    }

    /// What is there.
    #[derive(serde::Serialize, JsonSchema)]
    struct Found {
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        inner: Option<Nested>,
        kept: Option<u32>,
    }
    #[derive(serde::Serialize, JsonSchema)]
    struct Nested {
        on: bool,
    }

    #[test]
    fn answers_name_null_only_where_they_hold_it() {
        let empty = serde_json::to_value(Found { note: None, inner: None, kept: None }).unwrap();
        assert_eq!(empty, json!({"kept": null}));
        assert_eq!(
            answer_of::<Found>(),
            json!({"type": "object", "properties": {
                "note": {"type": "string"},
                "inner": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
                "kept": {"type": ["integer", "null"], "minimum": 0}
            }, "required": ["kept"]})
        );
    }

    #[test]
    fn what_a_family_explains_once_is_not_told_in_every_tool() {
        let schema =
            json!({"properties": {"a": {"type": "string", "description": "What a is", "x-cli": {"common": true}}}});
        assert_eq!(for_agents(&schema), json!({"properties": {"a": {"type": "string"}}}));
    }

    #[test]
    fn a_description_that_only_repeats_the_name_is_not_told() {
        let schema = json!({"properties": {
            "dry_run": {"type": "boolean", "description": "Dry run."},
            "box": {"type": "object", "description": "Box to build", "properties": {"name": {"description": "Name"}}}
        }});
        let told = json!({"properties": {
            "dry_run": {"type": "boolean"},
            "box": {"type": "object", "description": "Box to build", "properties": {"name": {}}}
        }});
        assert_eq!(for_agents(&schema), told);
    }
}
