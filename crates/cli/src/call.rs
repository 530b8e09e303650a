//! `call NAME [--json ARGS | KEY=VALUE…]`: any tool by its name, its arguments as they are named in the schema.

use crate::{
    arguments::{Shape, parameters},
    collect::gather,
    commands::{Invocation, Parsed, extras_of},
    options::{Options, globals},
    refusal::refusal_of,
    value::object,
};
use clap::{Arg, ArgAction, ColorChoice, Command, error::ErrorKind};
use pintle_core::{Code, Failure, Problem, Spec};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The command itself, for help, completions and manual pages.
#[must_use]
pub fn call_command(extras: &[Arg]) -> Command {
    Command::new("call")
        .about("Call any tool by its name")
        .long_about(
            "Calls any tool by its name, with arguments as the schema names them. KEY=VALUE takes values as flags do: \
             an argument that is a list is given once for each item, and nested values are JSON or @FILE. --json takes \
             the arguments as one JSON object.",
        )
        .arg(Arg::new("name").value_name("NAME").required(true).help("The tool's name, as `pintle tools` lists it"))
        .arg(
            Arg::new("pairs")
                .value_name("KEY=VALUE")
                .action(ArgAction::Append)
                .num_args(0..)
                .help("Arguments one by one"),
        )
        .arg(
            Arg::new("json").long("json").value_name("ARGS").help("Arguments as JSON, @FILE, or @- for standard input"),
        )
        .args(extras.to_vec())
        .args(globals(&BTreeSet::new(), false))
}

/// What the words behind `call` mean; `find` knows the tools, `path` is what stands before those words.
///
/// # Errors
/// Code `invalid_argument`. A name that `find` does not know is left to the catalogue, which knows what was meant.
pub fn parse_call<'a>(
    words: &[String],
    path: &str,
    extras: &[Arg],
    find: impl Fn(&str) -> Option<&'a Spec>,
) -> Result<Parsed, Failure> {
    if let Some(spec) = asked_about(words).and_then(&find) {
        return Ok(Parsed::Help(tool_help(spec, path)));
    }
    let command = call_command(extras).bin_name(path.to_owned()).no_binary_name(true).color(ColorChoice::Never);
    let matches = match command.try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) if error.kind() == ErrorKind::DisplayHelp => return Ok(Parsed::Help(error.render().to_string())),
        Err(error) => return Err(refusal_of(&error, path)),
    };
    let name = matches.get_one::<String>("name").cloned().unwrap_or_default();
    let mut arguments = match matches.get_one::<String>("json") {
        Some(text) => object(text).map_err(|why| {
            Failure::new(Code::InvalidArgument, format!("`--json` {why}"))
                .hint("it takes one JSON object, `@FILE`, or `@-` for standard input")
        })?,
        None => Map::new(),
    };
    let pairs: Vec<&str> = matches.get_many::<String>("pairs").into_iter().flatten().map(String::as_str).collect();
    add_pairs(&mut arguments, &pairs, find(&name))?;
    Ok(Parsed::Call(Box::new(Invocation {
        command: format!("{path} {name}"),
        tool: name,
        arguments,
        options: Options::of(&matches)?,
        extras: extras_of(extras, &matches),
    })))
}

/// The tool that `NAME … --help` asks about.
fn asked_about(words: &[String]) -> Option<&str> {
    let mut flags = words.iter().take_while(|word| *word != "--");
    let name = words.first().filter(|word| !word.starts_with('-'))?;
    flags.any(|word| word == "--help" || word == "-h").then_some(name)
}

/// What a tool takes, by the names that it has in the schema.
fn tool_help(spec: &Spec, path: &str) -> String {
    let mut command = Command::new("call")
        .bin_name(path.to_owned())
        .about((*spec.description).clone())
        .override_usage(format!("{path} {} [KEY=VALUE]… [--json ARGS]", spec.name))
        .disable_help_flag(true);
    let (needed, rest): (Vec<_>, Vec<_>) = parameters(spec).into_iter().partition(|parameter| parameter.required);
    for parameter in needed.into_iter().chain(rest) {
        let mut help = parameter.schema["description"].as_str().unwrap_or_default().to_owned();
        if let Some(default) = parameter.schema.get("default") {
            help.push_str(&format!(" [default: {default}]"));
        }
        if let Some(words) = parameter.schema["enum"].as_array() {
            let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
            help.push_str(&format!(" [{}]", words.join(", ")));
        }
        let many = if matches!(parameter.shape, Shape::Many | Shape::Map | Shape::OneOrMany) { "…" } else { "" };
        let value = if parameter.shape == Shape::Switch { "true".to_owned() } else { parameter.value_name() };
        let shown = format!("{}={value}{many}", parameter.name);
        let heading = if parameter.required { "Needed" } else { "May be left out" };
        let arg = Arg::new(parameter.name.to_owned()).value_name(shown).help(help).help_heading(heading);
        command = command.arg(arg.required(parameter.required));
    }
    command.render_help().to_string()
}

fn add_pairs(arguments: &mut Map<String, Value>, pairs: &[&str], spec: Option<&Spec>) -> Result<(), Failure> {
    let mut said: Vec<(&str, Vec<&str>)> = Vec::new();
    for pair in pairs {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            Failure::new(Code::InvalidArgument, format!("`{pair}` is not KEY=VALUE"))
                .hint("arguments are given by name; `--json` takes them as one JSON object")
        })?;
        match said.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => said.push((key, vec![value])),
        }
    }
    let known = spec.map(parameters).unwrap_or_default();
    for (key, values) in said {
        let renamed = spec.and_then(|s| s.spellings.renames.iter().find(|(old, _)| *old == key));
        let current = renamed.map_or(key, |(_, new)| new);
        let parameter = known.iter().find(|parameter| parameter.name == current);
        let wrong = |why: String| {
            let message = format!("argument `{key}` {why}");
            Failure::new(Code::InvalidArgument, message.clone())
                .problem(Problem::new(message).at_pointer(format!("/{key}")))
        };
        let shape = parameter.map_or(Shape::One, |parameter| parameter.shape);
        if values.len() > 1 && matches!(shape, Shape::One | Shape::Switch) {
            return Err(wrong("was given twice".to_owned()));
        }
        let value = match parameter {
            Some(parameter) => gather(parameter.schema, shape, &values).map_err(wrong)?,
            None => Value::from(values[0]),
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(wrong("is in `--json` as well".to_owned()));
        }
    }
    Ok(())
}
