//! `check`: plans of declarative checks, run, judged, formatted and begun.

mod fmt;
mod init;
mod plans;
mod provider;
mod run;
pub(crate) mod server;
pub(crate) mod signals;
mod validate;

pub(crate) use provider::serve as serve_provider;
pub(crate) use run::{carry_out, deadline, deadline_flag, runtime};

use crate::Ended;
use clap::Command;
use pintle_cli::{Console, Options};
use pintle_core::{Code, Exit, Failure};

const PATH: &str = "pintle check";
const WORDS: [&str; 4] = ["run", "validate", "fmt", "init"];

/// `check WORD …`
pub(crate) fn command(words: &[String]) -> Ended {
    let console = Console::of_process(&Options::default());
    let Some(word) = words.first() else {
        console.err(&group().render_help().to_string());
        return Ok(Exit::Usage.code());
    };
    match word.as_str() {
        "run" => run::command(&words[1..]),
        "validate" => validate::command(&words[1..]),
        "fmt" => fmt::command(&words[1..]),
        "init" => init::command(&words[1..]),
        "-h" | "--help" | "help" => {
            console.out(&group().render_help().to_string());
            Ok(Exit::Ok.code())
        }
        word => Err(Failure::new(Code::UnknownTool, format!("unknown command `{PATH} {word}`"))
            .did_you_mean(word, WORDS)
            .hint(format!("`{PATH} --help` lists the commands"))),
    }
}

/// The group with its commands, for help, completions and manual pages.
pub(crate) fn group() -> Command {
    Command::new("check")
        .bin_name(PATH)
        .about("Check MCP servers, and whatever else a plan names")
        .disable_help_subcommand(true)
        .subcommand(run::flags())
        .subcommand(validate::flags())
        .subcommand(fmt::flags())
        .subcommand(init::flags())
}
