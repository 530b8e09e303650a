//! What agents see of the built-in packs.

use pintle_packfile::BUILTIN;
use serde_json::{Map, Value, json};

use super::whole;

/// What a schema of arguments may hold: no client stumbles over these.
const KEYWORDS: [&str; 16] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "enum",
    "default",
    "pattern",
    "description",
    "items",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "anyOf",
    "x-cli",
    "const",
];

fn lint(place: &str, schema: &Map<String, Value>) {
    for (key, value) in schema {
        assert!(KEYWORDS.contains(&key.as_str()), "{place} holds {key}");
        assert!(key != "type" || value.is_string(), "{place}: one type, not several");
    }
    if schema.get("type") == Some(&json!("array")) {
        assert!(schema["items"]["type"].is_string(), "{place}: an array without items");
    }
    if let Some(pattern) = schema.get("pattern") {
        // Rust writes some of these as ECMA-262 does not.
        let text = pattern.as_str().unwrap();
        assert!(!["(?", "\\p", "\\A", "\\z"].iter().any(|strange| text.contains(strange)), "{place}: {text}");
    }
    for part in schema.get("anyOf").into_iter().flat_map(|parts| parts.as_array().unwrap()) {
        lint(place, part.as_object().unwrap());
    }
}

#[test]
fn an_6_04_an_6_05_schemas_are_flat_closed_and_plain() {
    for (name, _) in BUILTIN {
        let pack = whole(name);
        for tool in &pack.tools {
            let schema = tool.schema(&pack);
            let schema = schema.as_object().unwrap();
            lint(&tool.name, schema);
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["additionalProperties"], false);
            let properties = schema["properties"].as_object().unwrap();
            for (parameter, property) in properties {
                let property = property.as_object().unwrap();
                lint(&format!("{} {parameter}", tool.name), property);
                assert!(property.contains_key("type") || property.contains_key("anyOf"), "{parameter}");
            }
            for required in schema.get("required").into_iter().flat_map(|names| names.as_array().unwrap()) {
                assert!(properties.contains_key(required.as_str().unwrap()), "{required}");
            }
            assert!(!tool.about.is_empty());
        }
    }
}

/// As the agents' door strips them: no hints for people, and no description where the tool's own or the name says it.
fn seen(schema: &Value) -> Value {
    let mut seen = schema.clone();
    for (name, property) in seen["properties"].as_object_mut().unwrap() {
        let property = property.as_object_mut().unwrap();
        let common = property.shift_remove("x-cli").is_some_and(|hints| hints["common"] == true);
        let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
        if common || text.trim_end_matches('.').eq_ignore_ascii_case(name) {
            property.shift_remove("description");
        }
    }
    seen
}

/// 520 bytes a tool is the budget; 50 of them are for what the catalogue adds: plan tokens, and whether to wait for a job.
#[test]
fn what_a_model_sees_of_a_tool_is_short() {
    let hints =
        json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": false});
    for (name, _) in BUILTIN {
        let pack = whole(name).essential();
        let size = |tool: &pintle_packfile::ToolDef| {
            let schema = seen(&tool.schema(&pack));
            json!({"name": tool.name, "description": tool.about, "inputSchema": schema, "annotations": hints})
                .to_string()
                .len()
        };
        let sizes: Vec<_> = pack.tools.iter().map(|tool| (size(tool), tool.name.as_str())).collect();
        let mean = sizes.iter().map(|(size, _)| size).sum::<usize>().div_ceil(sizes.len());
        assert!(mean <= 470, "{mean} bytes a tool: {sizes:?}");
    }
}

#[test]
fn parameters_have_types_values_and_requirements() {
    let pack = whole("eggs").essential();
    let schema = |tool: &str| pack.tool(tool).unwrap().schema(&pack);
    let remaster = schema("eggs_remaster");
    assert_eq!(remaster["properties"]["compression"]["enum"], json!(["zstd", "xz", "lz4", "gzip"]));
    assert_eq!(remaster["properties"]["path"]["type"], "string");
    assert_eq!(remaster["properties"]["stop_after"]["enum"].as_array().unwrap().len(), 20);
    assert_eq!(remaster["properties"]["debug"]["type"], "boolean");
    assert_eq!(remaster.get("required"), None);
    let names: Vec<_> = remaster["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["clone", "crypted", "compression", "path", "stop_after", "debug"]);
    let wardrobe = schema("eggs_wardrobe");
    assert_eq!(wardrobe["properties"]["action"]["enum"], json!(["list", "get", "show", "wear"]));
    assert_eq!(wardrobe["properties"]["action"]["default"], "list");
    assert_eq!(wardrobe["properties"]["costume"]["pattern"], "^[A-Za-z0-9][A-Za-z0-9._-]*$");
    assert_eq!(schema("eggs_sysinstall")["properties"]["installer"]["enum"], json!(["krill", "calamares"]));
    assert_eq!(schema("eggs_export")["required"], json!(["target"]));
    assert_eq!(schema("eggs_tools")["required"], json!(["tool"]));
    assert_eq!(schema("eggs_exec")["required"], json!(["command"]));
    assert_eq!(schema("eggs_destroy")["properties"], json!({}));
    let people = schema("eggs_tools");
    assert_eq!(people["properties"]["tool"]["x-cli"]["positional"], 1);
    assert_eq!(people["properties"]["iso"]["x-cli"]["positional"], 2, "the choice comes first");
}
