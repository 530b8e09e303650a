//! `quickstart`: the worked example, over MCP against a server that this program starts as its own child.

mod proof;
mod story;

use crate::{Ended, document::parsed};
use clap::{Arg, ArgAction, Command, ValueHint};
use pintle_cli::{Console, Options};
use pintle_core::{Code, Exit, Failure};
use std::{
    fs,
    path::{Path, PathBuf},
};
use story::Story;

/// The flags, for parsing, help, completions and manual pages.
pub(crate) fn flags() -> Command {
    Command::new("quickstart")
        .about("See it work: an MCP client authors and checks a small box project")
        .long_about(
            "Starts its own MCP server as a child and authors a small box project through it, as an agent would: no \
             root, no containers, no cluster, no network. Everything happens in a temporary folder, which is removed.",
        )
        .arg(
            Arg::new("dir")
                .long("dir")
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .action(ArgAction::Set)
                .help("Make the project in this folder, and leave it there"),
        )
        .arg(
            Arg::new("keep")
                .long("keep")
                .action(ArgAction::SetTrue)
                .conflicts_with("dir")
                .help("Leave the temporary folder there"),
        )
}

/// `quickstart [--dir D] [--keep]`; `typed` is the name under which this program was called.
pub(crate) fn command(words: &[String], typed: &str) -> Ended {
    let Some(matches) = parsed(flags(), "pintle quickstart", words)? else { return Ok(Exit::Ok.code()) };
    let temporary = tempfile::Builder::new()
        .prefix("pintle-quickstart-")
        .tempdir()
        .map_err(|error| Failure::io("making a temporary folder", &error))?;
    let given = matches.get_one::<String>("dir").map(|dir| made(dir)).transpose()?;
    let kept = matches.get_flag("keep");
    let place = given.clone().unwrap_or_else(|| temporary.path().to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::io("starting", &error))?;
    let console = Console::of_process(&Options::default());
    let story = Story { console: &console, place: &place, state: &temporary.path().join("state") };
    let told = runtime.block_on(story.tell());
    runtime.shutdown_background();
    let told = told.and_then(|()| proof::hold(&story));
    let project = if kept {
        // The state of the server is of no use without it.
        let state = temporary.path().join("state");
        let place = temporary.keep();
        drop(fs::remove_dir_all(state));
        Some(place.join(story::PROJECT))
    } else {
        temporary.close().map_err(|error| Failure::io("removing the temporary folder", &error))?;
        given.map(|given| given.join(story::PROJECT))
    };
    told?;
    console.out(&next(&program(typed), project.as_deref()));
    match console.failure() {
        Some(failure) => Err(failure),
        None => Ok(Exit::Ok.code()),
    }
}

fn made(dir: &str) -> Result<PathBuf, Failure> {
    fs::create_dir_all(dir).map_err(|error| Failure::io(format!("making the folder `{dir}`"), &error))?;
    let place = fs::canonicalize(dir).map_err(|error| Failure::io(format!("opening the folder `{dir}`"), &error))?;
    if place.join(story::PROJECT).exists() {
        let there = place.join(story::PROJECT);
        return Err(Failure::new(Code::AlreadyExists, format!("`{}` is there already", there.display()))
            .hint("choose another --dir, or remove it"));
    }
    Ok(place)
}

/// How to call this program again: as it was called, where that works from here.
fn program(typed: &str) -> String {
    quoted(if Path::new(typed).file_name().is_some_and(|name| name == "pintle") { typed } else { "pintle" })
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn next(program: &str, project: Option<&Path>) -> String {
    let (title, commands) = match project {
        Some(project) => {
            let charly = format!("{program} charly -C {}", quoted(&project.display().to_string()));
            let told = format!("the project stays in {}", project.display());
            let commands = [
                (format!("{charly} box inspect hello"), "the box, resolved"),
                (format!("{charly} candy add-rpm hello-svc nginx"), "one more package, by hand"),
                (format!("{charly} mcp serve"), "the same tools for your MCP client; Ctrl-C ends it"),
            ];
            (told, commands)
        }
        None => {
            let commands = [
                (format!("{program} quickstart --dir hello-boxes"), "the same, and keep it"),
                (format!("{program} tools"), "every tool, and what it does"),
                (format!("{program} mcp serve"), "the same tools for your MCP client; Ctrl-C ends it"),
            ];
            ("the temporary folder is gone again".to_owned(), commands)
        }
    };
    let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let lines = commands.iter().map(|(command, why)| format!("  {command:width$}  # {why}\n"));
    format!("\n{title}; try next:\n{}", lines.collect::<String>())
}
