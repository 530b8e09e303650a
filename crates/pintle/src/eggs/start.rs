//! `eggs mcp start`: the server on standard input and output, as the entries of clients start it.

use crate::{Ended, personality::Personality, serve};
use clap::{Arg, ArgAction, Command, ValueHint};
use pintle_core::Failure;
use std::{os::unix::process::CommandExt as _, path::Path};

/// Names the program that the tools drive.
pub(crate) const PATH: &str = "PINTLE_EGGS_PATH";

/// The flags of `mcp serve` that make sense here.
const SHOWN: [&str; 8] =
    ["tools", "name-style", "no-output-schemas", "read-only", "strict-read-only", "allow-secrets", "policy", "audit"];

/// The command, for parsing and for listings.
pub(crate) fn command() -> Command {
    let hidden = |arg: Arg| {
        let shown = SHOWN.contains(&arg.get_id().as_str());
        arg.hide(!shown)
    };
    serve::command()
        .name("start")
        .about("Serve the tools of eggs on standard input and output")
        .long_about(
            "Serves the tools of eggs to one MCP client on standard input and output, and ends with the input. It is \
             what the entries of clients start.",
        )
        .mut_args(hidden)
        .arg(
            Arg::new("eggs")
                .long("eggs")
                .value_name("PATH")
                .value_hint(ValueHint::FilePath)
                .action(ArgAction::Set)
                .help(format!("The eggs to drive, absolute; it is never run as root by this [env: {PATH}]")),
        )
}

/// Serves until the input ends.
pub(crate) fn start(path: &str, words: &[String]) -> Ended {
    let (eggs, rest) = split(words)?;
    match eggs {
        Some(eggs) => Err(with(&eggs, &rest)),
        None => {
            let words: Vec<String> = std::iter::once("--stdio".to_owned()).chain(rest).collect();
            serve::start(command(), path, Personality::Eggs.toolset(), &words)
        }
    }
}

/// The value of `--eggs`, and the other words.
fn split(words: &[String]) -> Result<(Option<String>, Vec<String>), Failure> {
    let (mut eggs, mut rest) = (None, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--eggs" {
            let missing = || Failure::invalid_argument("eggs", "needs a path");
            eggs = Some(words.next().ok_or_else(missing)?.clone());
        } else if let Some(value) = word.strip_prefix("--eggs=") {
            eggs = Some(value.to_owned());
        } else {
            rest.push(word.clone());
        }
    }
    match &eggs {
        Some(path) if !Path::new(path).is_absolute() => {
            Err(Failure::invalid_argument("eggs", format!("`{path}` is not absolute")).hint("write the whole path"))
        }
        _ => Ok((eggs, rest)),
    }
}

/// The same again with the variable: the environment of a process that runs is not changed.
fn with(eggs: &str, rest: &[String]) -> Failure {
    let own = || std::env::current_exe();
    let error = match own() {
        Ok(own) => std::process::Command::new(own).args(["eggs", "mcp", "start"]).args(rest).env(PATH, eggs).exec(),
        Err(error) => error,
    };
    Failure::io("starting the server", &error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eg_006_the_program_to_drive_is_taken_out_of_the_words() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let split = |text: &str| split(&words(text)).map(|(eggs, rest)| (eggs, rest.join(" ")));
        assert_eq!(
            split("--read-only --eggs /x --policy p").unwrap(),
            (Some("/x".into()), "--read-only --policy p".into())
        );
        assert_eq!(split("--eggs=/x").unwrap().0.as_deref(), Some("/x"));
        assert_eq!(split("--tools a").unwrap().0, None);
        assert!(split("--eggs=x").unwrap_err().message.contains("not absolute"));
        assert!(split("--eggs").is_err());
        command().debug_assert();
    }
}
