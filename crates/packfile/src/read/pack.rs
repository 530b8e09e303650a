//! The whole pack, and what must hold between its parts.

use indexmap::IndexMap;
use toml::de::DeValue;

use super::{
    fields::{At, Fields, bare},
    resource, rules, tool, verb,
};
use crate::{Mask, Pack, Probe, Program, ResourceDef, Shape, Source, ToolDef, ValueSource, Verb};

/// The format that this program reads.
const FORMAT: i64 = 1;

/// Reads the top level.
pub(super) fn read(fields: Fields) -> Option<Pack> {
    match fields.need("format") {
        Some(node) if !matches!(node.value, DeValue::Integer(number) if number.as_str().parse() == Ok(FORMAT)) => {
            fields.report.add(node.at, format!("this program reads format {FORMAT}"), None);
        }
        _ => {}
    }
    let name = fields.need_text("name");
    if let Some(name) = name.as_ref().filter(|name| !is_name(&name.value, '-') || name.value.len() > 32) {
        let hint = "at most 32 lower-case letters, digits and `-`, a letter first".to_owned();
        fields.report.add(name.at, format!("`{}` is no name for a pack", name.value), Some(hint));
    }
    let server_name = fields.text("server_name").map(At::bare);
    let summary = fields.need_text("summary").map(At::bare).unwrap_or_default();
    let instructions = fields.text("instructions").map(At::bare).unwrap_or_default();
    if fields.take("program").is_none() {
        fields.report.add(fields.at(), "`program` is missing", None);
    }
    let program = fields.table("program").map(program);
    let values = fields.table("values").map(|table| values(&table)).unwrap_or_default();
    let mask = mask(&fields);
    let least_privilege = fields.boolean("least_privilege").unwrap_or(false);
    let verbs = verbs(&fields, &values);
    let tools: Vec<_> =
        fields.tables("tool").into_iter().map(|table| (table.at(), tool::read(table, &verbs))).collect();
    let resources: Vec<_> =
        fields.tables("resource").into_iter().map(|table| (table.at(), resource::read(table, &verbs))).collect();
    let tools = distinct(&fields, tools, |tool: &ToolDef| &tool.name);
    let resources = distinct(&fields, resources, |resource: &ResourceDef| &resource.uri);
    offered(&fields, &verbs, &tools, &resources);
    previews(&fields, &verbs);
    let name = name?.bare();
    let pack = Pack {
        server_name: server_name.unwrap_or_else(|| name.clone()),
        name,
        summary,
        instructions,
        program: program?,
        values,
        mask: mask?,
        least_privilege,
        verbs,
        tools,
        resources,
    };
    fields.finish();
    Some(if least_privilege { pack.with_least_privilege() } else { pack })
}

fn program(table: Fields) -> Program {
    let candidates = table.texts("candidates").unwrap_or_default();
    for path in &candidates {
        absolute(&table, path);
    }
    if candidates.is_empty() {
        table.report.add(table.at(), "`candidates` names no path", None);
    }
    let guard = table.texts("guard").unwrap_or_default();
    for path in &guard {
        absolute(&table, path);
    }
    let variable = |key| {
        table.text(key).map(|name: At<String>| {
            let plain = name.value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            if name.value.is_empty() || !plain {
                table.report.add(name.at, format!("`{}` is no name of an environment variable", name.value), None);
            }
            name.bare()
        })
    };
    let program = Program {
        candidates: bare(candidates),
        path_variable: variable("path_variable"),
        root_variable: variable("root_variable"),
        probe: table.table("probe").map(|probe| {
            let read = Probe {
                args: probe.texts("args").map(bare).unwrap_or_default(),
                timeout: probe.duration("timeout").unwrap_or(std::time::Duration::from_secs(5)),
                first_line: probe.pattern("first_line").map(At::bare),
            };
            probe.finish();
            read
        }),
        hint: table.text("hint").map(At::bare).unwrap_or_default(),
        guard: bare(guard),
    };
    table.finish();
    program
}

fn values(table: &Fields) -> IndexMap<String, ValueSource> {
    let mut values = IndexMap::new();
    for (name, node) in table.named() {
        if !is_name(name.value, '_') || name.value == "home" {
            table.report.add(name.at, format!("`{}` is no name for a value", name.value), None);
        }
        let Some(fields) = table.as_table(node, name.value) else { continue };
        let files = fields.texts("files").unwrap_or_default();
        for file in &files {
            absolute(&fields, file);
        }
        let key = fields.need_text("key");
        if let Some(key) = key.as_ref().filter(|key| !key.value.starts_with('/')) {
            fields.report.add(key.at, "`key` is a JSON pointer and begins with `/`", None);
        }
        let default = fields.need_text("default");
        let pattern = fields.pattern("pattern").map(At::bare);
        if let (Some(pattern), Some(default)) = (&pattern, &default)
            && !pattern.is_match(&default.value)
        {
            fields.report.add(default.at, "the default does not match the pattern", None);
        }
        fields.finish();
        if let (Some(key), Some(default)) = (key, default) {
            let source = ValueSource { files: bare(files), key: key.bare(), default: default.bare(), pattern };
            values.insert(name.value.to_owned(), source);
        }
    }
    values
}

fn mask(fields: &Fields) -> Option<Mask> {
    let Some(table) = fields.table("mask") else { return Mask::new(None, Vec::new(), Vec::new()).ok() };
    let members = table.pattern("members").map(At::bare);
    let options = bare(table.texts("options").unwrap_or_default());
    let patterns = table.patterns("patterns").unwrap_or_default();
    for pattern in patterns.iter().filter(|pattern| !pattern.value.has_group("secret")) {
        table.report.add(pattern.at, "the pattern needs a group `(?<secret>…)`", None);
    }
    let mask = Mask::new(members, options, bare(patterns));
    if let Err(why) = &mask {
        table.report.add(table.at(), why.clone(), None);
    }
    table.finish();
    mask.ok()
}

fn verbs(fields: &Fields, values: &IndexMap<String, ValueSource>) -> IndexMap<String, Verb> {
    let mut verbs = IndexMap::new();
    let values: Vec<String> = values.keys().cloned().collect();
    let names: Vec<&str> = ["home"].into_iter().chain(values.iter().map(String::as_str)).collect();
    let defaults = rules::defaults(fields, &names);
    let Some(table) = fields.table("verb") else {
        fields.report.add(fields.at(), "the pack has no `[verb.NAME]`", None);
        return verbs;
    };
    for (name, node) in table.named() {
        if !is_name(name.value, '-') {
            let hint = "lower-case letters, digits and `-`, a letter first".to_owned();
            table.report.add(name.at, format!("`{}` is no name for a verb", name.value), Some(hint));
        }
        if let Some(fields) = table.as_table(node, name.value) {
            verbs.insert(name.value.to_owned(), verb::read(fields, name.value, &values, &defaults));
        }
    }
    verbs
}

/// What was read, each name once.
fn distinct<T>(fields: &Fields, all: Vec<(usize, Option<T>)>, name: impl Fn(&T) -> &String) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for (at, one) in all {
        let Some(one) = one else { continue };
        if kept.iter().any(|other| name(other) == name(&one)) {
            fields.report.add(at, format!("`{}` is there twice", name(&one)), None);
        }
        kept.push(one);
    }
    kept
}

/// A verb that nothing offers is a mistake, and so is a tool that is there without extras when no verb of it is.
fn offered(fields: &Fields, verbs: &IndexMap<String, Verb>, tools: &[ToolDef], resources: &[ResourceDef]) {
    let mut offered: Vec<&String> = Vec::new();
    for tool in tools {
        let names: Vec<&String> = match &tool.shape {
            Shape::Verb { verb, .. } => vec![verb],
            Shape::Choose { verbs, .. } => verbs.values().collect(),
            Shape::Command { verbs, .. } => verbs.iter().collect(),
            Shape::Read { .. } => continue,
        };
        if !tool.extra && names.iter().all(|name| verbs.get(*name).is_some_and(|verb| verb.extra)) {
            let message = format!("tool `{}` is no extra, but everything that it runs is", tool.name);
            fields.report.add(fields.at(), message, None);
        }
        offered.extend(names);
    }
    offered.extend(resources.iter().filter_map(|resource| match &resource.source {
        Source::Verb(verb) => Some(verb),
        Source::Files(_) | Source::Probe(_) => None,
    }));
    for verb in verbs.keys().filter(|verb| !offered.contains(verb)) {
        fields.report.add(fields.at(), format!("verb `{verb}` is offered by no tool and no resource"), None);
    }
}

/// Previews run only what only reads.
fn previews(fields: &Fields, verbs: &IndexMap<String, Verb>) {
    for verb in verbs.values() {
        for name in verb.all_rules().filter_map(|rules| rules.preview.run) {
            if !verbs.get(&name).is_some_and(|shown| shown.worst().is_read() && !shown.may_elevate()) {
                let message =
                    format!("the preview of `{}` runs `{name}`, which must be a verb that only reads", verb.name);
                fields.report.add(fields.at(), message, None);
            }
        }
    }
}

/// An absolute path without `.`, `..` or doubled slashes.
pub(super) fn absolute(fields: &Fields, path: &At<String>) {
    let fits = path.value.strip_prefix('/').is_some_and(|rest| {
        rest.split('/').all(|part| !part.is_empty() && part != "." && part != "..") && !rest.contains('\0')
    });
    if !fits {
        fields.report.add(path.at, format!("`{}` is no plain absolute path", path.value), None);
    }
}

/// Whether the text is a lower-case name with this separator.
pub(super) fn is_name(text: &str, separator: char) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == separator)
}
