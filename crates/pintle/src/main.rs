//! The program `pintle`: both doors, joined with the toolsets.
//!
//! Under the names `charly` and `kubestellar-ops` (and, once they have operations, `kubestellar-deploy` and `eggs`) it
//! is that toolset's own command.

mod check;
mod clusters;
mod document;
mod house;
mod operations;
mod ops;
mod people;
mod personality;
mod probe;
mod project;
mod quickstart;
mod registry;
mod serve;
mod shelf;
mod surroundings;

use personality::Personality;
use pintle_cli::{Console, Options, show_failure};
use pintle_core::{Code, Failure};
use std::{ffi::OsString, path::Path, process::ExitCode};

/// What a command that is not a tool ends with: its exit code, or why not.
type Ended = Result<u8, Failure>;

/// The program as it was started.
struct Start {
    /// The name or path under which it was called.
    typed: String,
    /// Everything behind that.
    words: Vec<String>,
}

fn main() -> ExitCode {
    // Refused only when there is one already, and then there is nothing to do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ended = start(std::env::args_os()).and_then(|start| route(&start));
    ExitCode::from(ended.unwrap_or_else(|failure| {
        show_failure(&Console::of_process(&Options::default()), &failure);
        failure.code.exit().code()
    }))
}

fn start(words: impl IntoIterator<Item = OsString>) -> Result<Start, Failure> {
    let mut words = words.into_iter();
    let typed = words.next().map_or_else(|| "pintle".to_owned(), |word| word.to_string_lossy().into_owned());
    let words = words
        .enumerate()
        .map(|(index, word)| {
            word.into_string().map_err(|word| {
                let shown = word.to_string_lossy().into_owned();
                Failure::new(Code::InvalidArgument, format!("argument {} is not UTF-8: `{shown}`", index + 1))
            })
        })
        .collect::<Result<_, _>>()?;
    Ok(Start { typed, words })
}

fn route(start: &Start) -> Ended {
    let name = Path::new(&start.typed).file_name().unwrap_or_default().to_string_lossy();
    let words = &start.words;
    if let Some(personality) = Personality::of_program(&name) {
        return personality_of(personality, personality.program(), words);
    }
    // Flags of every command may stand in front of the toolset, too.
    let (flags, rest) = words.split_at(pintle_cli::leading_flags(words, &[]));
    let moved: Vec<String>;
    let words = match rest.first() {
        Some(first) if !flags.is_empty() && (Personality::of_word(first).is_some() || first == "call") => {
            moved = [&rest[..1], flags, &rest[1..]].concat();
            &moved
        }
        _ => words,
    };
    let Some(first) = words.first() else { return people::root_help(false) };
    if let Some(personality) = Personality::of_word(first) {
        return personality_of(personality, &format!("pintle {first}"), &words[1..]);
    }
    match first.as_str() {
        "-h" | "--help" => people::root_help(true),
        "help" if words.len() == 1 => people::root_help(true),
        "-V" | "--version" => people::house(&["version".to_owned()]),
        "mcp" => serve::mcp("pintle mcp", None, &words[1..]),
        "check" => check::command(&words[1..]),
        "check-provider" => check::serve_provider(&words[1..]),
        "quickstart" => quickstart::command(&words[1..], &start.typed),
        "call" => people::call(&words[1..]),
        "completions" => document::completions("pintle", &words[1..]),
        "man" => document::man("pintle", &words[1..]),
        "docs-data" => document::data(&words[1..]),
        _ => people::house(words),
    }
}

fn personality_of(personality: Personality, program: &str, words: &[String]) -> Ended {
    match personality {
        Personality::Charly => people::charly(program, words),
        Personality::Ops => ops::command(program, words),
        Personality::Deploy | Personality::Eggs => Err(personality.not_yet(program)),
    }
}
