//! What the program tells of itself: completions, manual pages, data for the documents.

use crate::{
    Ended, check, clusters, eggs, house, people, personality::Personality, probe, quickstart, registry, serve, shelf,
};
use clap::{Arg, ArgAction, Command, ValueHint, builder::PossibleValuesParser, error::ErrorKind};
use pintle_cli::{Commands, Console, Options, call_command, man_page, man_pages, refusal_of, usage_of};
use pintle_core::{Code, Door, Exit, Failure, Spec, Toolset, envelope_schema, schema};
use pintle_dispatch::{Catalog, Settings};
use serde_json::{Value, json};
use std::{collections::HashMap, path::Path};

fn catalog(toolsets: Vec<Toolset>) -> Result<Catalog, Failure> {
    Catalog::new(toolsets, Settings::default())
}

fn specs(catalog: &Catalog) -> impl Iterator<Item = &Spec> {
    catalog.specs(Door::People).map(|(_, spec)| spec)
}

/// The commands as a newcomer meets them; whatever is not named comes last.
const ORDER: [&str; 16] = [
    "quickstart",
    "mcp",
    "check",
    "charly",
    "ops",
    "deploy",
    "eggs",
    "tools",
    "call",
    "doctor",
    "clients",
    "register",
    "unregister",
    "approvals",
    "approve",
    "deny",
];

/// Every command, one level deep, for the help of the program itself.
pub(crate) fn root_listing() -> Result<Command, Failure> {
    let house = catalog(registry::toolsets(None))?;
    let mut command = Commands::new("pintle", house::SUMMARY, specs(&house)).tree("pintle");
    for personality in Personality::ALL {
        let note = if personality.works() { "" } else { " (not in this build yet)" };
        let about = format!("{}{note}", personality.summary());
        command = command.subcommand(Command::new(personality.toolset()).about(about));
    }
    let command = with_own(command);
    let names: Vec<String> = command.get_subcommands().map(|child| child.get_name().to_owned()).collect();
    let command = names.iter().fold(command, |command, name| {
        let place = ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len());
        command.mut_subcommand(name, |child| child.display_order(place))
    });
    Ok(command
        .bin_name("pintle")
        .about(house::SUMMARY)
        .override_usage("pintle <COMMAND> …")
        .after_help("`pintle quickstart` shows what it does; `pintle <COMMAND> --help` tells what a command takes."))
}

fn with_own(command: Command) -> Command {
    command
        .disable_help_subcommand(true)
        .subcommand(serve::group("pintle mcp").subcommands(probe::commands()))
        .subcommand(check::group())
        .subcommand(quickstart::flags())
        .subcommand(call_command(&crate::project::flags()))
        .subcommand(completions_command())
        .subcommand(man_command())
}

/// Every command in full.
fn whole(program: &str) -> Result<Command, Failure> {
    let hosts = people::nobodys()?;
    let tools = catalog(shelf::boxes(&hosts))?;
    let charly = Commands::new("charly", Personality::Charly.summary(), specs(&tools))
        .with_extras(crate::project::flags())
        .tree("charly")
        .subcommand(serve::group("charly mcp"));
    if program == "charly" {
        return Ok(charly);
    }
    let tools = catalog(shelf::clusters(&hosts))?;
    let ops = Commands::new("ops", Personality::Ops.summary(), specs(&tools)).tree("ops");
    let ops = ops.args(clusters::flags(true)).subcommand(serve::group("ops mcp"));
    if program == "ops" {
        return Ok(ops);
    }
    let tools = catalog(vec![shelf::eggs(&hosts)?, eggs::toolset(None)])?;
    let eggs = Commands::new("eggs", Personality::Eggs.summary(), specs(&tools)).tree("eggs");
    let eggs = eggs.mut_subcommand("mcp", |group| group.subcommand(eggs::start_command()));
    if program == "eggs" {
        return Ok(eggs);
    }
    let house = catalog(registry::toolsets(None))?;
    let root = Commands::new("pintle", house::SUMMARY, specs(&house)).tree("pintle").subcommand(charly).subcommand(ops);
    Ok(with_own(root.subcommand(eggs)))
}

fn completions_command() -> Command {
    Command::new("completions").about("Print the completion script of a shell").arg(
        Arg::new("shell")
            .value_name("SHELL")
            .required(true)
            .value_parser(PossibleValuesParser::new(["bash", "zsh", "fish"]))
            .help("Which shell"),
    )
}

fn man_command() -> Command {
    Command::new("man").about("Print the manual page, or write one for each command").arg(
        Arg::new("out")
            .long("out")
            .value_name("DIR")
            .value_hint(ValueHint::DirPath)
            .action(ArgAction::Set)
            .help("Write a page for each command into this folder"),
    )
}

/// Parses with `command`; none when help was asked for and shown.
pub(crate) fn parsed(command: Command, path: &str, words: &[String]) -> Result<Option<clap::ArgMatches>, Failure> {
    match command.bin_name(path.to_owned()).no_binary_name(true).try_get_matches_from(words) {
        Ok(matches) => Ok(Some(matches)),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Console::of_process(&Options::default()).out(&error.render().to_string());
            Ok(None)
        }
        Err(error) => Err(refusal_of(&error, path)),
    }
}

/// Names that only the program knows come before what the script itself knows.
const BASH: &str = r#"
_FUNCTION_values() {
    local word
    local -a words=()
    while IFS= read -r word; do
        words+=("$word")
    done < <("${1/#\~/$HOME}" typed "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    if ((${#words[@]})); then
        COMPREPLY=("${words[@]}")
    else
        _FUNCTION "$@"
    fi
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _FUNCTION_values -o nosort -o bashdefault -o default NAME
else
    complete -F _FUNCTION_values -o bashdefault -o default NAME
fi
"#;

/// `completions SHELL`
pub(crate) fn completions(program: &str, words: &[String]) -> Ended {
    let Some(matches) = parsed(completions_command(), &format!("{program} completions"), words)? else {
        return Ok(Exit::Ok.code());
    };
    let shell = matches.get_one::<String>("shell").map(String::as_str).unwrap_or_default();
    // A script is for the command as it is typed, which is not always the name of its toolset.
    let typed = Personality::of_word(program).map_or(program, |personality| personality.program());
    let script = pintle_cli::completions(&mut whole(program)?, shell)?;
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if typed != program {
        // The generator mixes up the functions of a program that has a dash in its name.
        let function = format!("compdef _{program} ");
        let places = [("-o default ", "\n"), ("#compdef ", "\n"), (&function, "\n"), ("complete -c ", " ")];
        for (before, after) in places {
            script = script.replace(&format!("{before}{program}{after}"), &format!("{before}{typed}{after}"));
        }
    }
    if shell == "bash" {
        script.push_str(&BASH.replace("NAME", typed).replace("FUNCTION", program));
    }
    printed(script.as_bytes())
}

/// `man [--out DIR]`
pub(crate) fn man(program: &str, words: &[String]) -> Ended {
    let Some(matches) = parsed(man_command(), &format!("{program} man"), words)? else {
        return Ok(Exit::Ok.code());
    };
    let Some(folder) = matches.get_one::<String>("out") else { return printed(&man_page(&whole(program)?)?) };
    let count = man_pages(&whole(program)?, Path::new(folder))?;
    Console::of_process(&Options::default()).err(&format!("{count} pages in {folder}\n"));
    Ok(Exit::Ok.code())
}

/// `docs-data`: every tool as both doors show it, as JSON; for the generator of the documents.
pub(crate) fn data(words: &[String]) -> Ended {
    if let Some(word) = words.first() {
        return Err(Failure::new(Code::InvalidArgument, format!("`pintle docs-data` does not take `{word}`")));
    }
    let mut tools = Vec::new();
    for toolset in people::listed()? {
        let before = format!("{} ", shelf::word_of(&toolset));
        tools.extend(described(vec![toolset], &before)?);
    }
    tools.extend(described(vec![eggs::toolset(None)], "eggs ")?);
    tools.extend(described(registry::toolsets(None), "")?);
    let mut text = serde_json::to_string_pretty(&json!({"tools": tools}))
        .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    text.push('\n');
    printed(text.as_bytes())
}

fn described(toolsets: Vec<Toolset>, before: &str) -> Result<Vec<Value>, Failure> {
    let catalog = catalog(toolsets)?;
    let listed: HashMap<&str, _> = catalog.listed().map(|listed| (listed.name.as_str(), listed)).collect();
    let of = |(toolset, spec): (&str, &Spec)| {
        let mut tool = json!({
            "toolset": toolset, "name": spec.name, "description": *spec.description, "effects": spec.worst.names(),
            "input_schema": schema::for_agents(&spec.input), "output_schema": envelope_schema(spec.output.as_ref()),
            "command": usage_of(spec, before),
        });
        if let Some(listed) = listed.get(spec.name.as_str()) {
            tool["hints"] = json!(listed.hints);
            tool["input_schema"] = with_meanings(listed.input.clone(), &spec.input);
        }
        tool
    };
    Ok(catalog.specs(Door::People).map(of).collect())
}

fn printed(bytes: &[u8]) -> Ended {
    let console = Console::of_process(&Options::default());
    console.out(&String::from_utf8_lossy(bytes));
    match console.failure() {
        Some(failure) => Err(failure),
        None => Ok(Exit::Ok.code()),
    }
}

/// The schema that agents see, with the meanings that their toolset's instructions tell once for all its tools.
fn with_meanings(mut shown: Value, whole: &Value) -> Value {
    for (name, argument) in shown["properties"].as_object_mut().into_iter().flatten() {
        if let (Some(argument), Some(meaning)) =
            (argument.as_object_mut(), whole["properties"][name].get("description"))
        {
            argument.entry("description").or_insert_with(|| meaning.clone());
        }
    }
    shown
}
