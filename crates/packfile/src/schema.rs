//! The argument schema of a tool: flat, closed, and no byte that a model does not need.

use serde_json::{Map, Value, json};

use crate::{Kind, OptionDef, Pack, Parameter, Shape, Spelling, ToolDef};

impl ToolDef {
    /// The JSON Schema of its arguments.
    ///
    /// Hints for the people's door stand under `x-cli`: `positional`, the place on the command line, and `common`, where
    /// agents are spared the description.
    #[must_use]
    pub fn schema(&self, pack: &Pack) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        match &self.shape {
            Shape::Verb { verb, parameters } => {
                for option in pack.verb(verb).into_iter().flat_map(|verb| offered(&verb.options, parameters)) {
                    properties.insert(option.name.clone(), property(option, 0));
                    if option.required {
                        required.push(option.name.clone());
                    }
                }
            }
            Shape::Choose { parameter, default, verbs, parameters, rest } => {
                let mut choice = text(parameter);
                choice.insert("enum".into(), verbs.keys().cloned().collect());
                match default {
                    Some(default) => drop(choice.insert("default".into(), default.as_str().into())),
                    None => required.push(parameter.name.clone()),
                }
                choice.insert("x-cli".into(), json!({"positional": 1}));
                properties.insert(parameter.name.clone(), choice.into());
                let all = self.verbs(pack);
                let mut places = vec![1];
                for name in parameters {
                    let mut holders = all.iter().filter_map(|verb| verb.options.get(name));
                    let Some(option) = holders.next() else { continue };
                    let mut property = joined(option, holders);
                    one_at_a_place(&mut property, &mut places);
                    properties.insert(name.clone(), property);
                    if all.iter().all(|verb| verb.options.get(name).is_some_and(|option| option.required)) {
                        required.push(name.clone());
                    }
                }
                if let Some(rest) = rest {
                    properties.insert(rest.name.clone(), line(rest).into());
                }
            }
            Shape::Command { parameter, .. } => {
                let mut command = line(parameter);
                command.insert("x-cli".into(), json!({"positional": 1}));
                properties.insert(parameter.name.clone(), command.into());
                required.push(parameter.name.clone());
            }
            Shape::Read { parameter } => {
                let mut uri = text(parameter);
                uri.insert("enum".into(), pack.resources.iter().map(|resource| resource.uri.clone()).collect());
                uri.insert("x-cli".into(), json!({"positional": 1}));
                properties.insert(parameter.name.clone(), uri.into());
                required.push(parameter.name.clone());
            }
        }
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        schema.insert("properties".into(), properties.into());
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        schema.insert("additionalProperties".into(), false.into());
        schema.into()
    }
}

fn offered<'p>(
    options: &'p indexmap::IndexMap<String, OptionDef>,
    parameters: &'p [String],
) -> impl Iterator<Item = &'p OptionDef> {
    parameters.iter().filter_map(|name| options.get(name))
}

fn text(parameter: &Parameter) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("type".into(), "string".into());
    describe(&mut map, &parameter.about);
    map
}

fn describe(map: &mut Map<String, Value>, about: &str) {
    if !about.is_empty() {
        map.insert("description".into(), about.into());
    }
}

/// A command line: one string, or a string for each word.
fn line(parameter: &Parameter) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("anyOf".into(), json!([{"type": "string"}, {"type": "array", "items": {"type": "string"}}]));
    describe(&mut map, &parameter.about);
    map
}

/// Verbs of one tool may each have a first position: on the command line of the tool only one of them can stand there,
/// the others are given by name.
fn one_at_a_place(property: &mut Value, places: &mut Vec<u64>) {
    let Some(hints) = property.get_mut("x-cli").and_then(Value::as_object_mut) else { return };
    match hints.get("positional").and_then(Value::as_u64) {
        Some(place) if places.contains(&place) => drop(hints.shift_remove("positional")),
        Some(place) => places.push(place),
        None => {}
    }
}

/// One property for an option that several verbs have: what they do not agree on is left to the check.
fn joined<'o>(option: &OptionDef, others: impl Iterator<Item = &'o OptionDef>) -> Value {
    // The choice is the first position.
    let mut value = property(option, 1);
    for other in others {
        let other = property(other, 1);
        if let (Some(map), Some(other)) = (value.as_object_mut(), other.as_object()) {
            map.retain(|key, value| key == "type" || key == "description" || other.get(key) == Some(value));
        }
    }
    value
}

fn property(option: &OptionDef, positions_before: usize) -> Value {
    let mut map = Map::new();
    let mut strings = Map::new();
    if !option.allowed.is_empty() {
        strings.insert("enum".into(), option.allowed.clone().into());
    }
    if let (Some(pattern), false) = (&option.pattern, option.brief) {
        strings.insert("pattern".into(), pattern.as_str().into());
    }
    let (least, most) = match option.kind {
        Kind::Strings => ("minItems", "maxItems"),
        _ => ("minimum", "maximum"),
    };
    match option.kind {
        Kind::Boolean => drop(map.insert("type".into(), "boolean".into())),
        Kind::Integer | Kind::Count => drop(map.insert("type".into(), "integer".into())),
        Kind::String => {
            map.insert("type".into(), "string".into());
            map.append(&mut strings);
        }
        Kind::Strings => {
            map.insert("type".into(), "array".into());
            let mut items = Map::from_iter([("type".to_owned(), Value::from("string"))]);
            items.append(&mut strings);
            map.insert("items".into(), items.into());
        }
    }
    let minimum = option.minimum.or((option.kind == Kind::Count).then_some(0));
    for (key, bound) in [(least, minimum), (most, option.maximum)] {
        if let Some(bound) = bound {
            map.insert(key.into(), bound.into());
        }
    }
    if let (Some(default), false) = (&option.default, option.brief) {
        map.insert("default".into(), default.clone());
    }
    describe(&mut map, &option.about);
    let mut people = Map::new();
    if let Spelling::Position(place) = option.spelling {
        people.insert("positional".into(), (place + positions_before).into());
    }
    if option.brief {
        people.insert("common".into(), true.into());
    }
    if !people.is_empty() {
        map.insert("x-cli".into(), people.into());
    }
    map.into()
}
