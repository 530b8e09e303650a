//! What clap refuses, in our words.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use pintle_core::{Code, Failure, Problem, nearest, one_of};

/// The failure that a clap error means, with a hint where to look.
#[must_use]
pub fn refusal_of(error: &clap::Error, command: &str) -> Failure {
    refusal_near(error, command, &[], &[])
}

/// The same, with the names of flags and positionals that may have been meant where clap finds none near enough.
pub(crate) fn refusal_near(error: &clap::Error, command: &str, flags: &[String], positionals: &[String]) -> Failure {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        Some(ContextValue::StyledStr(text)) => Some(text.to_string()),
        _ => None,
    };
    let list = |kind| match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    };
    let argument = text(ContextKind::InvalidArg).map(|argument| bare(&argument)).unwrap_or_default();
    let value = text(ContextKind::InvalidValue).unwrap_or_default();
    let mut failure = match error.kind() {
        ErrorKind::UnknownArgument => {
            let bare = argument.trim_start_matches('-');
            let near = || nearest(bare, flags.iter().map(String::as_str)).map(|near| format!("--{near}"));
            let near = text(ContextKind::SuggestedArg).or_else(|| near().filter(|_| argument.starts_with("--")));
            // What answers a question nobody guesses for a person.
            let near = near.filter(|near| near != "--yes");
            let placed = nearest(bare, positionals.iter().map(String::as_str)).filter(|_| near.is_none());
            let failure = unknown(&argument, near);
            match placed.filter(|_| argument.starts_with("--")) {
                Some(name) => failure.hint(format!("{} is written without a flag", name.to_uppercase())),
                None => failure,
            }
        }
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let failure = refused(format!("unknown command `{command} {word}`"));
            near(failure, text(ContextKind::SuggestedSubcommand).map(|near| format!("{command} {near}")))
        }
        ErrorKind::InvalidValue if value.is_empty() => refused(format!("`{argument}` needs a value"))
            .hint(format!("write a value that begins with a dash as `{argument}=-…`")),
        ErrorKind::InvalidValue => {
            let words = list(ContextKind::ValidValue);
            let must = one_of(words.iter().map(String::as_str));
            let failure = refused(format!("`{argument}` must be {must}, not `{value}`"));
            near(failure, text(ContextKind::SuggestedValue))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            refused(format!("`{argument}` does not take `{value}`: {why}"))
        }
        ErrorKind::MissingRequiredArgument => missing(&list(ContextKind::InvalidArg)),
        ErrorKind::TooManyValues => {
            refused(format!("`{argument}` takes no value `{value}`")).hint("a flag stands alone; leave it out for no")
        }
        ErrorKind::ArgumentConflict => {
            let other = text(ContextKind::PriorArg).map(|prior| bare(&prior)).unwrap_or_default();
            if other.is_empty() || other == argument {
                refused(format!("`{argument}` was given twice"))
            } else {
                refused(format!("`{argument}` and `{other}` exclude each other"))
            }
        }
        ErrorKind::InvalidUtf8 => refused("an argument is not UTF-8".to_owned()),
        _ => {
            let whole = error.render().to_string();
            let first = whole.lines().next().unwrap_or_default();
            refused(first.trim_start_matches("error: ").to_owned())
        }
    };
    failure = failure.hint(format!("`{command} --help` tells what it takes"));
    failure
}

fn refused(message: String) -> Failure {
    Failure::new(Code::InvalidArgument, message)
}

fn unknown(argument: &str, suggested: Option<String>) -> Failure {
    let what = if argument.starts_with('-') { "unknown flag" } else { "one argument too many:" };
    let failure = near(refused(format!("{what} `{argument}`")), suggested.map(|near| bare(&near)));
    // `-` alone, `-1` and `-x=…` are often meant as values.
    if argument.starts_with('-') && !argument.starts_with("--") {
        return failure.hint("a value that begins with a dash is written `--flag=VALUE`, or stands behind `--`");
    }
    failure
}

fn near(failure: Failure, near: Option<String>) -> Failure {
    match near {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    }
}

fn missing(arguments: &[String]) -> Failure {
    let names: Vec<String> = arguments.iter().map(|argument| bare(argument)).collect();
    match names.as_slice() {
        [only] => refused(format!("`{only}` is missing")),
        several => refused(format!("{} arguments are missing", several.len()))
            .problems(several.iter().map(|name| Problem::new(format!("`{name}` is missing")))),
    }
}

/// `--base <BASE>` as `--base`, `<NAME>` and `[NAME]...` as `NAME`.
fn bare(argument: &str) -> String {
    let first = argument.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches("...");
    if first.starts_with('-') { first.to_owned() } else { first.trim_matches(['<', '>', '[', ']']).to_owned() }
}
