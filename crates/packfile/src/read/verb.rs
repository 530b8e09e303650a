//! `[verb.NAME]`.

use indexmap::IndexMap;

use super::{
    condition,
    fields::{At, Fields, bare},
    option, rules,
};
use crate::{Case, Extract, Fact, Folder, OptionDef, Refused, Rules, Verb, suggest::did_you_mean};

const FOLDER: [(&str, Folder); 2] = [("/", Folder::Root), ("caller", Folder::Caller)];
const FACTS: [(&str, Fact); 3] = [("arch", Fact::Arch), ("binary_path", Fact::BinaryPath), ("sha256", Fact::Sha256)];

/// Environment variables that decide what code a program runs: no pack may hand them on.
const NEVER_PASSED: [&str; 12] = [
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "CDPATH",
    "GLOBIGNORE",
    "PERL5OPT",
    "PERL5LIB",
    "PYTHONPATH",
    "PYTHONSTARTUP",
];

/// Reads a verb; templates of its rules may name the values of the pack, its own options and `home`.
pub(super) fn read(fields: Fields, name: &str, values: &[String], defaults: &Rules) -> Verb {
    let dashdash = fields.boolean("dashdash").unwrap_or(false);
    let options = fields.table("options").map(|table| option::read(&table)).unwrap_or_default();
    let names: Vec<&str> =
        ["home"].into_iter().chain(values.iter().chain(options.keys()).map(String::as_str)).collect();
    let given = rules::read(&fields, &names);
    let verb = Verb {
        name: name.to_owned(),
        summary: fields.text("summary").map(At::bare).unwrap_or_default(),
        words: bare(fields.texts("words").unwrap_or_default()),
        aliases: fields.groups("aliases").into_iter().map(bare).collect(),
        dashdash,
        exclusive: groups(&fields, &options),
        refuse: fields.tables("refuse").into_iter().map(|table| refused(table, &options)).collect(),
        rules: rules::whole(&fields, &given, defaults),
        when: fields.tables("when").into_iter().map(|table| case(table, &options, &names)).collect(),
        folder: fields.word("folder", &FOLDER).unwrap_or(Folder::Root),
        pass: passed(&fields),
        extract: fields.table("extract").map(extract).unwrap_or_default(),
        extra: fields.boolean("extra").unwrap_or(false),
        options,
    };
    for word in verb.words.iter().chain(verb.aliases.iter().flatten()) {
        if word.is_empty() || word.contains('\0') {
            fields.report.add(fields.at(), "a word must not be empty", None);
        }
    }
    fields.finish();
    verb
}

fn groups(fields: &Fields, options: &IndexMap<String, OptionDef>) -> Vec<Vec<String>> {
    let groups = fields.groups("exclusive");
    for name in groups.iter().flatten().filter(|name| !options.contains_key(&name.value)) {
        let hint = did_you_mean(&name.value, options.keys().map(String::as_str));
        fields.report.add(name.at, format!("no option `{}`", name.value), hint);
    }
    groups.into_iter().map(bare).collect()
}

fn refused(table: Fields, options: &IndexMap<String, OptionDef>) -> Refused {
    let refused = Refused {
        on: condition::read(&table, options),
        because: table.need_text("because").map(At::bare).unwrap_or_default(),
        hint: table.text("hint").map(At::bare),
    };
    table.finish();
    refused
}

fn case(table: Fields, options: &IndexMap<String, OptionDef>, names: &[&str]) -> Case {
    let on = condition::read(&table, options);
    let mut then = rules::read(&table, names);
    then.elevate_least = rules::elevate_least(&table);
    table.finish();
    Case { on, then }
}

fn passed(fields: &Fields) -> Vec<String> {
    let names = fields.texts("pass").unwrap_or_default();
    for name in &names {
        let plain = name.value.chars().all(|c| c.is_ascii_alphabetic() || c.is_ascii_digit() || c == '_');
        if name.value.is_empty() || !plain {
            fields.report.add(name.at, format!("`{}` is no name of an environment variable", name.value), None);
        }
        if NEVER_PASSED.contains(&name.value.as_str()) || name.value.starts_with("LD_") {
            fields.report.add(name.at, format!("`{}` decides what code runs and is never handed on", name.value), None);
        }
    }
    bare(names)
}

fn extract(table: Fields) -> Extract {
    let patterns = table.patterns("patterns").unwrap_or_default();
    for pattern in patterns.iter().filter(|pattern| pattern.value.regex().capture_names().flatten().next().is_none()) {
        table.report.add(pattern.at, "the pattern has no named group", Some("write `(?<name>…)`".into()));
    }
    let mut facts = Vec::new();
    for word in table.texts("facts").unwrap_or_default() {
        match FACTS.iter().find(|(name, _)| *name == word.value) {
            Some((_, fact)) => facts.push(*fact),
            None => {
                let hint = did_you_mean(&word.value, FACTS.iter().map(|(name, _)| *name));
                table.report.add(word.at, format!("no fact `{}`", word.value), hint);
            }
        }
    }
    table.finish();
    Extract { patterns: bare(patterns), facts }
}
