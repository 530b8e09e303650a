//! The program `pintle`: both doors, joined with the toolsets.
//!
//! Under the names `charly`, `kubestellar-ops` and `eggs` (and, once it has operations, `kubestellar-deploy`) it is that
//! toolset's own command.

mod check;
mod clusters;
mod document;
mod eggs;
mod house;
mod job;
mod operations;
mod ops;
mod others;
mod people;
mod personality;
mod probe;
mod project;
mod quickstart;
mod registry;
mod serve;
mod servers;
mod shelf;
mod surroundings;
mod typed;

use personality::Personality;
use pintle_cli::{Console, Options, show_failure};
use pintle_core::{Code, Failure};
use std::{ffi::OsString, panic::PanicHookInfo, path::Path, process::ExitCode};

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
    std::panic::set_hook(Box::new(|info| {
        Console::of_process(&Options::default()).err(&broken_down(info));
    }));
    // Refused only when there is one already, and then there is nothing to do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let ended = match eggs::passed_on(std::env::args_os()) {
        Some(failure) => Err(failure),
        None => start(std::env::args_os()).and_then(|start| route(&start)),
    };
    ExitCode::from(ended.unwrap_or_else(|failure| {
        show_failure(&Console::of_process(&Options::default()), &failure);
        failure.code.exit().code()
    }))
}

/// Where it broke down, and what it said of it only where that was written as it is: a message that was formatted may
/// hold anything that was at hand, and standard error is kept in logs.
fn broken_down(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let said = info.payload().downcast_ref::<&'static str>().copied().unwrap_or("its message is not shown");
    format!("pintle broke down{place}: {said}\n")
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
    if let [first, line, breaks] = words.as_slice()
        && first == typed::WORD
    {
        return typed::command(line, breaks);
    }
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
        "help" => route(&Start { typed: "pintle".to_owned(), words: helped(words) }),
        "-V" | "--version" => people::house(&["version".to_owned()]),
        "mcp" => serve::mcp("pintle mcp", None, &words[1..]),
        "check" => check::command(&words[1..]),
        "check-provider" => check::serve_provider(&words[1..]),
        "quickstart" => quickstart::command(&words[1..], &start.typed),
        "call" => people::call(&words[1..]),
        "job" => job::command(&words[1..]),
        "completions" => document::completions("pintle", &words[1..]),
        "man" => document::man("pintle", &words[1..]),
        "docs-data" => document::data(&words[1..]),
        _ => people::house(words),
    }
}

/// `help X Y` as `X Y --help`.
fn helped(words: &[String]) -> Vec<String> {
    words[1..].iter().cloned().chain(["--help".to_owned()]).collect()
}

fn personality_of(personality: Personality, program: &str, words: &[String]) -> Ended {
    let asked: Vec<String>;
    let words = match words {
        [first, _, ..] if first == "help" => {
            asked = helped(words);
            &asked
        }
        _ => words,
    };
    match personality {
        Personality::Charly => people::charly(program, words),
        Personality::Ops => ops::command(program, words),
        Personality::Eggs => eggs::command(program, words),
        Personality::Deploy => Err(personality.not_yet(program)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn an_6_13_a_formatted_message_of_a_break_down_is_not_shown() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let (heard, me, usual) = (Arc::clone(&told), std::thread::current().id(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().id() == me {
                heard.lock().unwrap().push(broken_down(info));
            } else {
                usual(info);
            }
        }));
        let breaks: [fn(); 2] = [|| panic!("token {}", String::from("canary-5b")), || panic!("words of ours")];
        for broken in breaks {
            std::panic::catch_unwind(broken).unwrap_err();
        }
        let told = told.lock().unwrap();
        assert!(told[0].contains("main.rs:") && told[0].ends_with(": its message is not shown\n"), "{told:?}");
        assert!(told[1].ends_with(": words of ours\n"), "{told:?}");
    }
}
