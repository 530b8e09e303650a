//! The arguments of one tool as a command line has them.

use crate::value::Kinds;
use clap::{Arg, ArgAction, ValueHint, builder::PossibleValuesParser};
use pintle_core::{Spec, schema::FOR_PEOPLE};
use serde_json::Value;
use std::collections::BTreeSet;

/// One property of a tool's input schema.
#[derive(Debug)]
pub(crate) struct Parameter<'a> {
    /// Name of the property.
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    pub(crate) shape: Shape,
    /// The long flag without its dashes; none for a positional.
    pub(crate) long: Option<String>,
    /// The flag that says no, for a boolean that can be said no to.
    pub(crate) negative: Option<String>,
    short: Option<char>,
    pub(crate) positional: bool,
    pub(crate) required: bool,
    hidden: bool,
    old_names: Vec<String>,
    /// Flags that take the value from standard input; the first is shown.
    stdin: Vec<String>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A bare flag.
    Switch,
    /// One value.
    One,
    /// One value an occurrence.
    Many,
    /// One `KEY=VALUE` an occurrence.
    Map,
    /// One value, or several as a list.
    OneOrMany,
}

impl Shape {
    fn of(schema: &Value) -> Self {
        let kinds = Kinds::of(schema);
        let says = schema.get("type").is_some() || ["anyOf", "oneOf"].iter().any(|k| schema.get(*k).is_some());
        if !says {
            return Self::One;
        }
        if kinds.array {
            return if kinds.nested() && !kinds.object { Self::Many } else { Self::OneOrMany };
        }
        if kinds.object && kinds.nested() && is_map(schema) {
            return Self::Map;
        }
        if kinds.boolean && schema["type"] == "boolean" { Self::Switch } else { Self::One }
    }
}

/// Free keys with scalar values.
fn is_map(schema: &Value) -> bool {
    let free = schema.get("properties").and_then(Value::as_object).is_none_or(serde_json::Map::is_empty);
    free && !matches!(schema.get("additionalProperties"), Some(Value::Bool(false)))
        && schema.get("additionalProperties").is_none_or(|values| !Kinds::of(values).nested())
}

/// The schema of one item of a list.
pub(crate) fn item_schema(schema: &Value) -> &Value {
    static ANY: Value = Value::Null;
    if let Some(items) = schema.get("items") {
        return items;
    }
    let options = ["anyOf", "oneOf"].iter().filter_map(|keyword| schema[*keyword].as_array()).flatten();
    options.into_iter().find_map(|option| option.get("items")).unwrap_or(&ANY)
}

/// Everything a command line can say for that tool, in the order of its schema; positionals in their own order.
pub(crate) fn parameters<'a>(spec: &'a Spec) -> Vec<Parameter<'a>> {
    let required: BTreeSet<&str> =
        spec.input["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut longs = BTreeSet::new();
    let mut shorts = BTreeSet::from(['h']);
    let mut ranked = Vec::new();
    let mut flags = Vec::new();
    for (name, schema) in spec.input["properties"].as_object().into_iter().flatten() {
        let hints = &schema[FOR_PEOPLE];
        let mut parameter = Parameter {
            name,
            schema,
            shape: Shape::of(schema),
            long: None,
            negative: None,
            short: hints["short"].as_str().and_then(|s| s.chars().next()).filter(|short| shorts.insert(*short)),
            positional: false,
            required: required.contains(name.as_str()),
            hidden: hints["hidden"] == true,
            old_names: Vec::new(),
            stdin: hints["stdin"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        };
        if let Some(place) = hints["positional"].as_u64() {
            parameter.positional = true;
            parameter.short = None;
            ranked.push((place, parameter));
            continue;
        }
        parameter.long = flag_of(name).filter(|long| longs.insert(long.clone()));
        flags.push(parameter);
    }
    for flag in &mut flags {
        if flag.shape == Shape::Switch
            && let Some(long) = &flag.long
        {
            let negative = format!("no-{long}");
            flag.negative = (!long.starts_with("no-") && longs.insert(negative.clone())).then_some(negative);
        }
        let old = spec.spellings.renames.iter().filter(|(_, new)| new == &flag.name).filter_map(|(o, _)| flag_of(o));
        flag.old_names = old.filter(|old| longs.insert(old.clone())).collect();
    }
    ranked.sort_by_key(|(place, _)| *place);
    ranked.into_iter().map(|(_, parameter)| parameter).chain(flags).collect()
}

/// `no_default_repo` as `no-default-repo`; none for names that no flag can have.
fn flag_of(name: &str) -> Option<String> {
    let long = name.replace('_', "-");
    let fits = !long.is_empty() && !long.starts_with('-') && long != "help";
    (fits && long.chars().all(|c| c.is_alphanumeric() || "-.".contains(c))).then_some(long)
}

impl Parameter<'_> {
    /// What stands for the value in help: the hint for people, else the name.
    pub(crate) fn value_name(&self) -> String {
        if let Some(hint) = self.schema[FOR_PEOPLE]["value"].as_str() {
            return hint.to_owned();
        }
        match self.shape {
            Shape::Map => "KEY=VALUE".to_owned(),
            _ if Kinds::of(self.schema).nested() && self.shape == Shape::One => "JSON".to_owned(),
            _ => self.name.to_uppercase().replace('_', "-"),
        }
    }

    /// Whether that flag, with its dashes, is one of its names.
    pub(crate) fn answers_to(&self, flag: &str) -> bool {
        match flag.strip_prefix("--") {
            Some(long) => self.long.as_deref() == Some(long) || self.old_names.iter().any(|old| old == long),
            None => self.short.is_some_and(|short| flag.strip_prefix('-').is_some_and(|rest| rest.chars().eq([short]))),
        }
    }

    /// Whether it can be said no to: where no is not what is meant anyway.
    pub(crate) fn is_on(&self) -> bool {
        self.schema["default"] == true
    }

    /// The argument, and for a boolean the one that says no.
    pub(crate) fn to_args(&self, may_require: bool) -> Vec<Arg> {
        let help = self.help();
        let mut arg = Arg::new(self.name.to_owned()).hide(self.hidden);
        if let Some(short) = self.short {
            arg = arg.short(short);
        }
        if self.shape == Shape::Switch && !self.positional {
            let Some(long) = &self.long else { return Vec::new() };
            let on = arg.long(long.clone()).action(ArgAction::SetTrue).aliases(self.old_names.clone());
            let Some(negative) = &self.negative else { return vec![on.help(help)] };
            let id = format!("{}\u{1f}no", self.name);
            let off = Arg::new(id.clone()).long(negative.clone()).action(ArgAction::SetTrue);
            let off = off.overrides_with(self.name.to_owned());
            return if self.is_on() {
                vec![on.hide(true).overrides_with(id), off.help(help).hide(self.hidden)]
            } else {
                vec![on.help(help).overrides_with(id), off.hide(true)]
            };
        }
        let value_name = self.value_name();
        arg = arg.help(help).value_name(value_name.clone()).value_hint(value_hint(&value_name));
        arg = match &self.long {
            Some(long) => arg.long(long.clone()).aliases(self.old_names.clone()),
            None if self.positional => arg,
            None => return Vec::new(),
        };
        let many = matches!(self.shape, Shape::Many | Shape::Map | Shape::OneOrMany);
        arg = arg.action(if many { ArgAction::Append } else { ArgAction::Set });
        if many && self.positional {
            arg = arg.num_args(1..);
        }
        let scalar = if many { item_schema(self.schema) } else { self.schema };
        let kinds = Kinds::of(scalar);
        if (kinds.integer || kinds.number) && !kinds.string {
            arg = arg.allow_negative_numbers(true);
        }
        if let Some(words) = words(scalar) {
            arg = arg.value_parser(PossibleValuesParser::new(words));
        }
        let Some((flag, aliases)) = self.stdin.split_first() else {
            return vec![arg.required(self.required && may_require)];
        };
        let id = self.stdin_id();
        let arg = if self.required && may_require { arg.required_unless_present(id.clone()) } else { arg };
        let stdin = Arg::new(id).long(flag.clone()).aliases(aliases.to_vec()).action(ArgAction::SetTrue);
        vec![arg, stdin.conflicts_with(self.name.to_owned()).help(format!("{} from standard input", self.value_name()))]
    }

    /// The id of the flag that takes the value from standard input.
    pub(crate) fn stdin_id(&self) -> String {
        format!("{}\u{1f}stdin", self.name)
    }

    fn help(&self) -> String {
        let mut help = self.schema["description"].as_str().unwrap_or_default().to_owned();
        match self.schema.get("default") {
            Some(Value::Bool(_)) | None => {}
            Some(Value::String(text)) => help.push_str(&format!(" [default: {text}]")),
            Some(other) => help.push_str(&format!(" [default: {other}]")),
        }
        help
    }
}

fn words(schema: &Value) -> Option<Vec<String>> {
    let words = schema["enum"].as_array()?;
    words.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

fn value_hint(name: &str) -> ValueHint {
    match name {
        "DIR" => ValueHint::DirPath,
        "FILE" => ValueHint::FilePath,
        "PATH" => ValueHint::AnyPath,
        _ => ValueHint::Unknown,
    }
}
