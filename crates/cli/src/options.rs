//! What every command takes, whichever tool it calls.

use clap::{Arg, ArgAction, ArgMatches, builder::PossibleValuesParser};
use pintle_core::{Code, Failure};
use std::{collections::BTreeSet, time::Duration};

/// In which form the answer is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// For people.
    #[default]
    Text,
    /// The answer's value.
    Json,
    /// The answer's value.
    Yaml,
}

/// Whether colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Yes.
    Always,
    /// No.
    Never,
}

/// What was said for the command as such.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// In which form the answer is printed.
    pub form: Form,
    /// Whether to leave out progress and notes.
    pub quiet: bool,
    /// Whether every question is answered with yes.
    pub yes: bool,
    /// How long the call may take.
    pub deadline: Option<Duration>,
    /// Whether colours are used.
    pub color: Color,
    /// Whether findings end with exit code 2.
    pub fail_on_findings: bool,
}

const OUTPUT: &str = "\u{1f}output";
const QUIET: &str = "\u{1f}quiet";
const YES: &str = "\u{1f}yes";
const DEADLINE: &str = "\u{1f}deadline";
const COLOR: &str = "\u{1f}color";
const FAIL_ON: &str = "\u{1f}fail-on";
pub(crate) const CURSOR: &str = "\u{1f}cursor";
const HEADING: &str = "Options of every command";

/// The flags of every command; those in `taken` are the command's own, and left out here.
#[must_use]
pub fn globals(taken: &BTreeSet<String>, paged: bool) -> Vec<Arg> {
    let value = |id: &'static str, long: &'static str, name: &'static str, help: &'static str| {
        Arg::new(id).long(long).value_name(name).help(help).action(ArgAction::Set)
    };
    let switch = |id: &'static str, long: &'static str, help: &'static str| {
        Arg::new(id).long(long).help(help).action(ArgAction::SetTrue)
    };
    let mut all = vec![
        value(OUTPUT, "output", "FORM", "Text for people, or the answer as json or yaml")
            .value_parser(PossibleValuesParser::new(["text", "json", "yaml"]))
            .hide_possible_values(true),
        switch(QUIET, "quiet", "No progress, no notes"),
        switch(YES, "yes", "Answer every question with yes"),
        value(DEADLINE, "deadline", "TIME", "Give up after this long, such as 500ms or 1m30s")
            // `-5s` is a wrong time, not an unknown flag
            .allow_hyphen_values(true),
        value(COLOR, "color", "WHEN", "Colours: auto, always or never")
            .value_parser(PossibleValuesParser::new(["auto", "always", "never"]))
            .hide_possible_values(true),
        value(FAIL_ON, "fail-on", "WHAT", "Exit with 2 when there are findings: --fail-on findings")
            .value_parser(PossibleValuesParser::new(["findings"]))
            .hide_possible_values(true),
    ];
    if paged {
        all.push(value(CURSOR, "cursor", "CURSOR", "The page after the one that named this cursor"));
    }
    all.retain(|arg| arg.get_long().is_none_or(|long| !taken.contains(long)));
    all.into_iter().map(|arg| arg.help_heading(HEADING)).collect()
}

/// How many words stand in front that are flags of every command or one of `extras`, each with its value.
#[must_use]
pub fn leading_flags(words: &[String], extras: &[Arg]) -> usize {
    let known: Vec<Arg> = globals(&BTreeSet::new(), false).into_iter().chain(extras.iter().cloned()).collect();
    let mut at = 0;
    while let Some(length) = words.get(at).and_then(|word| flag_length(word, &known)) {
        at += length;
    }
    at.min(words.len())
}

/// How many words that flag takes with its value; none if it is not one of `known`.
pub(crate) fn flag_length(word: &str, known: &[Arg]) -> Option<usize> {
    let (long, short) = (word.strip_prefix("--"), word.strip_prefix('-'));
    let is = |arg: &&Arg| match (long, short) {
        (Some(long), _) => arg.get_long() == Some(long.split('=').next().unwrap_or(long)),
        (None, Some(letters)) => arg.get_short().is_some_and(|short| letters.starts_with(short)),
        (None, None) => false,
    };
    let arg = known.iter().find(is)?;
    let attached = if long.is_some() { word.contains('=') } else { word.chars().count() > 2 };
    Some(if arg.get_action().takes_values() && !attached { 2 } else { 1 })
}

impl Options {
    /// What was said.
    pub(crate) fn of(matches: &ArgMatches) -> Result<Self, Failure> {
        let word = |id: &str| matches.try_get_one::<String>(id).ok().flatten().map(String::as_str);
        let on = |id: &str| matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or(false);
        Ok(Self {
            form: match word(OUTPUT) {
                Some("json") => Form::Json,
                Some("yaml") => Form::Yaml,
                _ => Form::Text,
            },
            quiet: on(QUIET),
            yes: on(YES),
            deadline: word(DEADLINE).map(|text| duration(text).map_err(bad_deadline)).transpose()?,
            color: match word(COLOR) {
                Some("always") => Color::Always,
                Some("never") => Color::Never,
                _ => Color::Auto,
            },
            fail_on_findings: word(FAIL_ON).is_some(),
        })
    }
}

fn bad_deadline(why: String) -> Failure {
    Failure::new(Code::InvalidArgument, format!("`--deadline` {why}")).hint("write it like 500ms, 30s, 1m30s or 2h")
}

/// A time such as `1m30s`, `500ms`, `2h`.
///
/// # Errors
/// A text without units, with unknown ones, or of no time at all, as a fragment.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("must be a time with its unit, not `{text}`");
    let mut rest = text;
    let mut millis: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let letters = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        let unit = match &rest[..letters] {
            "ms" => 1,
            "s" => 1000,
            "m" => 60 * 1000,
            "h" => 3600 * 1000,
            _ => return Err(wrong()),
        };
        rest = &rest[letters..];
        millis = number.checked_mul(unit).and_then(|more| millis.checked_add(more)).ok_or_else(wrong)?;
    }
    match (text.is_empty(), millis) {
        (true, _) => Err(wrong()),
        (false, 0) => Err("must be longer than nothing".to_owned()),
        (false, millis) => Ok(Duration::from_millis(millis)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_in_front_are_told_from_the_command() {
        let dir = Arg::new("dir").short('C').long("dir").action(ArgAction::Set);
        let count = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            leading_flags(&words, std::slice::from_ref(&dir))
        };
        assert_eq!(count(&["box", "--yes"]), 0);
        assert_eq!(count(&["-C", "/w", "--output=json", "--deadline", "1s", "--yes", "-C/w", "box"]), 7);
        assert_eq!(count(&["--dir"]), 1);
        assert_eq!(count(&["--wrong", "box"]), 0);
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "5", "s", "1.5s", "5 s", "-1s", "1d", "99999999999999999999h"] {
            assert!(duration(wrong).unwrap_err().starts_with("must be a time with its unit"), "{wrong}");
        }
        assert_eq!(duration("0s"), Err("must be longer than nothing".into()));
    }
}
