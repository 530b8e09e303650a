//! `[[tool]]`.

use indexmap::IndexMap;

use super::{
    fields::{At, Fields, bare},
    option, pack, rules,
};
use crate::{Parameter, Shape, ToolDef, Verb, suggest::did_you_mean};

/// Reads one tool.
pub(super) fn read(fields: Fields, verbs: &IndexMap<String, Verb>) -> Option<ToolDef> {
    let name = fields.need_text("name");
    if let Some(name) = name.as_ref().filter(|name| !pack::is_name(&name.value, '_') || name.value.len() > 64) {
        let hint = "at most 64 lower-case letters, digits and `_`, a letter first".to_owned();
        fields.report.add(name.at, format!("`{}` is no name for a tool", name.value), Some(hint));
    }
    let about = fields.need_text("about").map(At::bare).unwrap_or_default();
    let shape = shape(&fields, verbs);
    let confirm_changes = rules::confirm(&fields, "confirm_changes");
    let extra = fields.boolean("extra").unwrap_or(false);
    fields.finish();
    Some(ToolDef { name: name?.bare(), about, shape: shape?, confirm_changes, extra })
}

fn shape(fields: &Fields, verbs: &IndexMap<String, Verb>) -> Option<Shape> {
    let verb = fields.text("verb");
    let choose = fields.table("choose");
    let command = fields.table("command");
    let read = fields.table("read");
    let parameters = fields.texts("parameters");
    let rest = fields.table("rest");
    let shapes = [verb.is_some(), choose.is_some(), command.is_some(), read.is_some()];
    if shapes.iter().filter(|there| **there).count() != 1 {
        let message = "a tool has one of `verb`, `choose`, `command` and `read`";
        fields.report.add(fields.at(), message, None);
        return None;
    }
    if let (Some(parameters), None, None) = (&parameters, &verb, &choose) {
        let at = parameters.first().map_or(fields.at(), |first| first.at);
        fields.report.add(at, "`parameters` goes with `verb` or `choose`", None);
    }
    if let (Some(rest), None) = (&rest, &choose) {
        fields.report.add(rest.at(), "`rest` goes with `choose`", None);
    }
    if let Some(verb) = verb {
        let known = found(fields, &verb, verbs)?;
        let parameters = offered(fields, parameters, &[known]);
        return Some(Shape::Verb { verb: verb.bare(), parameters });
    }
    if let Some(table) = choose {
        return choice(fields, table, verbs, parameters, rest);
    }
    if let Some(table) = command {
        let parameter = parameter(&table);
        let names = table.texts("verbs").unwrap_or_default();
        for name in &names {
            found(&table, name, verbs);
        }
        if names.is_empty() {
            table.report.add(table.at(), "`verbs` names no verb", None);
        }
        told_apart(&table, &names, verbs);
        table.finish();
        return Some(Shape::Command { parameter: parameter?, verbs: bare(names) });
    }
    let table = read?;
    let parameter = parameter(&table);
    table.finish();
    Some(Shape::Read { parameter: parameter? })
}

/// In a command line the words tell which verb is meant.
fn told_apart(table: &Fields, names: &[At<String>], verbs: &IndexMap<String, Verb>) {
    let mut seen: IndexMap<&[String], &str> = IndexMap::new();
    for (name, verb) in names.iter().filter_map(|name| Some((name, verbs.get(&name.value)?))) {
        if verb.words.is_empty() {
            table.report.add(
                name.at,
                format!("verb `{}` has no words that a command could begin with", name.value),
                None,
            );
        }
        for words in std::iter::once(&verb.words).chain(&verb.aliases) {
            if let Some(first) = seen.insert(words, &name.value) {
                let message = format!("`{}` begins `{first}` and `{}`", words.join(" "), name.value);
                table.report.add(name.at, message, None);
            }
        }
    }
}

fn choice(
    fields: &Fields,
    table: Fields,
    verbs: &IndexMap<String, Verb>,
    parameters: Option<Vec<At<String>>>,
    rest: Option<Fields>,
) -> Option<Shape> {
    let chooser = parameter(&table);
    let mut choices = IndexMap::new();
    let mut known = Vec::new();
    if let Some(named) = table.table("verbs") {
        for (choice, node) in named.named() {
            match node.value {
                toml::de::DeValue::String(verb) => {
                    let verb = At { value: verb.to_string(), at: node.at };
                    known.extend(found(&named, &verb, verbs));
                    choices.insert(choice.value.to_owned(), verb.bare());
                }
                _ => named.report.add(node.at, "must be the name of a verb", None),
            }
        }
    }
    if choices.is_empty() {
        table.report.add(table.at(), "`verbs` names no verb", None);
    }
    let default = table.text("default");
    if let Some(default) = default.as_ref().filter(|default| !choices.contains_key(&default.value)) {
        let hint = did_you_mean(&default.value, choices.keys().map(String::as_str));
        table.report.add(default.at, format!("no choice `{}`", default.value), hint);
    }
    table.finish();
    one_type(fields, &known);
    let parameters = offered(fields, parameters, &known);
    let rest = rest.map(|table| {
        let rest = parameter(&table);
        table.finish();
        rest
    });
    let own = [chooser.as_ref(), rest.as_ref().and_then(Option::as_ref)];
    for taken in own.into_iter().flatten().filter(|own| parameters.contains(&own.name)) {
        let message = format!("`{}` is a parameter of the tool and an option of a verb", taken.name);
        fields.report.add(fields.at(), message, None);
    }
    let rest = match rest {
        Some(rest) => Some(rest?),
        None => None,
    };
    Some(Shape::Choose { parameter: chooser?, default: default.map(At::bare), verbs: choices, parameters, rest })
}

fn parameter(table: &Fields) -> Option<Parameter> {
    let name = table.need_text("parameter");
    if let Some(name) = name.as_ref().filter(|name| option::TAKEN.contains(&name.value.as_str())) {
        table.report.add(name.at, option::taken(&name.value), None);
    }
    let about = table.text("about").map(At::bare).unwrap_or_default();
    Some(Parameter { name: name?.bare(), about })
}

fn found<'v>(fields: &Fields, name: &At<String>, verbs: &'v IndexMap<String, Verb>) -> Option<&'v Verb> {
    let verb = verbs.get(&name.value);
    if verb.is_none() {
        let hint = did_you_mean(&name.value, verbs.keys().map(String::as_str));
        fields.report.add(name.at, format!("no verb `{}`", name.value), hint);
    }
    verb
}

/// The options that are offered: those named, else all of all verbs.
fn offered(fields: &Fields, parameters: Option<Vec<At<String>>>, verbs: &[&Verb]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in verbs.iter().flat_map(|verb| verb.options.keys()) {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    let Some(parameters) = parameters else { return all };
    for name in parameters.iter().filter(|name| !all.contains(&name.value)) {
        let hint = did_you_mean(&name.value, all.iter().map(String::as_str));
        fields.report.add(name.at, format!("no option `{}`", name.value), hint);
    }
    bare(parameters)
}

/// Options of one name in several verbs of a tool are of one type.
fn one_type(fields: &Fields, verbs: &[&Verb]) {
    let mut kinds = IndexMap::new();
    for option in verbs.iter().flat_map(|verb| verb.options.values()) {
        let kind = kinds.entry(&option.name).or_insert(option.kind);
        if *kind != option.kind {
            let message = format!("the verbs of this tool do not agree on the type of `{}`", option.name);
            fields.report.add(fields.at(), message, None);
        }
    }
}
