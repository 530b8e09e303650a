//! `pintle eggs …`, and the program under the name `eggs`.

mod grant;
mod journal;
mod manager;
mod operations;
mod report;
mod shim;
mod start;

pub(crate) use manager::toolset;
pub(crate) use shim::{real, seem_here};
pub(crate) use start::command as start_command;

use crate::{Ended, document, people as door, personality::Personality, serve};
use clap::Command;
use pintle_cli::{Commands, Console, Options, leading_flags};
use pintle_core::{Exit, Failure};
use std::{ffi::OsString, path::Path};

/// Under the name `eggs` everything but `mcp` is for the real one, whatever it is. Comes back with a failure only when
/// that cannot be run.
pub(crate) fn passed_on(words: impl IntoIterator<Item = OsString>) -> Option<Failure> {
    let mut words = words.into_iter();
    let program = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let ours = words.first().is_some_and(|word| word == "mcp");
    let named = Path::new(&program).file_name().is_some_and(|name| name == Personality::Eggs.program());
    (named && !ours).then(|| shim::pass_through(&words))
}

/// The command of this toolset, however it was called.
pub(crate) fn command(program: &str, words: &[String]) -> Ended {
    let (before, rest) = words.split_at(leading_flags(words, &[]));
    match rest.first().map(String::as_str) {
        Some("mcp") => mcp(program, before, &rest[1..]),
        Some("completions") => document::completions("eggs", &rest[1..]),
        Some("man") => document::man("eggs", &rest[1..]),
        _ => door::eggs(program, words),
    }
}

fn mcp(program: &str, before: &[String], words: &[String]) -> Ended {
    let all = || words.iter().chain(before).cloned().collect::<Vec<_>>();
    let console = Console::of_process(&Options::default());
    match words.first().map(String::as_str) {
        Some("-h" | "--help" | "help") if words.len() == 1 => {
            console.out(&group(program).render_help().to_string());
            console.failure().map_or(Ok(Exit::Ok.code()), Err)
        }
        None => {
            console.err(&group(program).render_help().to_string());
            Ok(Exit::Usage.code())
        }
        Some("start") => start::start(&format!("{program} mcp start"), &all()[1..]),
        Some("serve") => serve::mcp(&format!("{program} mcp"), Some(Personality::Eggs.toolset()), &all()),
        _ => door::eggs(program, &[before, &["mcp".to_owned()], words].concat()),
    }
}

/// The group `mcp` with all its commands; `start` is no tool.
fn group(program: &str) -> Command {
    let toolset = toolset(None);
    let commands = Commands::new("eggs", "", toolset.tools.iter().map(|tool| tool.spec())).tree("eggs");
    let mcp = commands.find_subcommand("mcp").cloned().unwrap_or_else(|| Command::new("mcp"));
    let mcp = mcp.about("Serve eggs to agents").bin_name(format!("{program} mcp"));
    mcp.disable_help_subcommand(true).subcommand(start::command())
}
