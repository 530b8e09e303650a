//! Help: one command in full, a group by the names of its commands.

use crate::{
    arguments::{Parameter, Shape, parameters},
    options::globals,
    tree::Node,
};
use clap::{Arg, Command};
use pintle_core::{Spec, schema::FOR_PEOPLE};
use std::collections::BTreeSet;

/// First sentence or line of a description.
pub(crate) fn summary(description: &str) -> &str {
    let line = description.trim().lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..end]).trim_end_matches('.')
}

/// The command of one tool. `extras` are flags that belong to the program as such.
pub(crate) fn leaf(spec: &Spec, name: &str, parameters: &[Parameter<'_>], extras: &[Arg]) -> Command {
    let mut command = Command::new(name.to_owned())
        .about(summary(&spec.description).to_owned())
        .long_about((*spec.description).clone())
        .after_help(notes(spec))
        .disable_help_subcommand(true);
    let mut taken = BTreeSet::new();
    let mut shorts = BTreeSet::new();
    // clap wants no required positional behind an optional one; the catalogue demands it all the same.
    let mut may_require = true;
    for parameter in parameters {
        may_require &= !parameter.positional || parameter.required;
        let last = parameters.iter().rfind(|p| p.positional).is_some_and(|p| p.name == parameter.name);
        for mut arg in parameter.to_args(may_require || !parameter.positional) {
            if parameter.positional && !last && parameter.shape != Shape::One {
                arg = arg.num_args(1);
            }
            taken.extend(arg.get_long().map(str::to_owned));
            taken.extend(arg.get_all_aliases().into_iter().flatten().map(str::to_owned));
            shorts.extend(arg.get_short());
            command = command.arg(arg);
        }
    }
    for extra in extras {
        // A command's own flag wins over the program's flag of that name.
        let mut extra = extra.clone();
        if extra.get_short().is_some_and(|short| shorts.contains(&short)) {
            extra = extra.short(None);
        }
        if extra.get_long().is_some_and(|long| taken.contains(long)) {
            if extra.get_short().is_none() {
                continue;
            }
            extra = extra.long(None::<&'static str>);
        }
        taken.extend(extra.get_long().map(str::to_owned));
        command = command.arg(extra);
    }
    command.args(globals(&taken, spec.paged))
}

fn notes(spec: &Spec) -> String {
    let mut effects = spec.worst.names().join(", ");
    if spec.worst.changes() && spec.worst.is_idempotent() {
        effects.push_str("; repeating it changes nothing more");
    }
    let note = spec.input[FOR_PEOPLE]["note"].as_str().map(|note| format!("\n{note}")).unwrap_or_default();
    format!("Tool: {}\nEffects: {effects}{note}", spec.name)
}

/// A group with its commands, one line each.
pub(crate) fn group(node: &Node, specs: &[&Spec], path: &str, about: &str, extras: &[Arg]) -> Command {
    let name = path.split_whitespace().last().unwrap_or(path).to_owned();
    let mut command = Command::new(name).bin_name(path.to_owned()).about(about.to_owned());
    command = command.disable_help_subcommand(true).subcommand_value_name("COMMAND").args(extras.to_vec());
    command = command.override_usage(format!("{path} <COMMAND> …"));
    command = command.after_help(format!("`{path} <COMMAND> --help` tells what a command takes."));
    for (word, child) in node.listed() {
        command = command.subcommand(Command::new(word.to_owned()).about(about_child(child, specs)));
    }
    command
}

fn about_child(node: &Node, specs: &[&Spec]) -> String {
    if let Some(tool) = node.tool.or(node.default) {
        return summary(&specs[tool].description).to_owned();
    }
    let words: Vec<&str> = node.listed().map(|(word, _)| word).collect();
    if words.len() > 6 { format!("{}, …", words[..6].join(", ")) } else { words.join(", ") }
}

/// The whole tree below `node`, for completions and manual pages.
pub(crate) fn whole(node: &Node, specs: &[&Spec], name: &str, about: &str, extras: &[Arg]) -> Command {
    if let Some(tool) = node.tool.filter(|_| node.children.is_empty()) {
        return leaf(specs[tool], name, &parameters(specs[tool]), extras);
    }
    let mut command = match node.tool.or(node.default) {
        Some(tool) => leaf(specs[tool], name, &parameters(specs[tool]), extras),
        None => Command::new(name.to_owned()).about(about.to_owned()).disable_help_subcommand(true),
    };
    for (word, child) in node.listed() {
        command = command.subcommand(whole(child, specs, word, &about_child(child, specs), extras));
    }
    command
}
