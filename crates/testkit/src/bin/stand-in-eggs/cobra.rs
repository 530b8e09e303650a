//! How the real program's command library reads words: flags anywhere, extra words accepted, an unknown command an error
//! only at the top.

use crate::tree::{Arguments, Command, Flag, Kind};
use std::collections::BTreeMap;

/// A command and what is to be done with it.
pub struct Found {
    /// From the root to the command.
    pub path: Vec<&'static Command>,
    pub read: Read,
}

pub enum Read {
    Ready { words: Vec<String>, flags: BTreeMap<&'static str, String> },
    Help,
    Version,
    Wrong(String),
}

impl Found {
    pub fn command(&self) -> &'static Command {
        self.path[self.path.len() - 1]
    }

    /// Its words, without the program.
    pub fn name(&self) -> String {
        let words: Vec<&str> = self.path.iter().skip(1).map(|command| command.name).collect();
        words.join(" ")
    }
}

pub fn read(root: &'static Command, words: &[String]) -> Found {
    let mut rest = words.to_vec();
    let mut path = vec![root];
    while let Some(at) = first_word(&path, &rest) {
        let child = path[path.len() - 1].children.iter().find(|child| child.called(&rest[at]));
        let Some(child) = child else { break };
        rest.remove(at);
        path.push(child);
    }
    // `help COMMAND` is `COMMAND --help`.
    if path.len() == 2 && path[1].name == "help" {
        path = read(root, &rest).path;
        return Found { path, read: Read::Help };
    }
    let read = parse(&path, &rest);
    Found { path, read }
}

/// The flags that a command has, its own and those handed down.
pub fn flags_of(path: &[&'static Command]) -> impl Iterator<Item = &'static Flag> {
    let own = path.last().map_or(&[][..], |command| command.flags);
    let above = path.iter().flat_map(|command| command.inherited);
    own.iter().chain(above).chain(std::iter::once(&crate::tree::HELP))
}

/// The first word that is no flag and no value of one.
fn first_word(path: &[&'static Command], words: &[String]) -> Option<usize> {
    let mut at = 0;
    while at < words.len() {
        let word = words[at].as_str();
        if word == "--" {
            return None;
        }
        if !word.starts_with('-') || word == "-" {
            return Some(at);
        }
        // An unknown flag is taken for one that has a value.
        let switch = if let Some(long) = word.strip_prefix("--") {
            flags_of(path).any(|flag| flag.name == long && flag.kind == Kind::Switch)
        } else {
            word.len() != 2 || flags_of(path).any(|f| f.short == word.chars().nth(1) && f.kind == Kind::Switch)
        };
        at += if switch || word.contains('=') { 1 } else { 2 };
    }
    None
}

fn parse(path: &[&'static Command], given: &[String]) -> Read {
    let command = path[path.len() - 1];
    let mut flags = BTreeMap::new();
    for flag in flags_of(path) {
        if let Kind::Text(usual) = flag.kind {
            flags.insert(flag.name, usual.to_owned());
        }
    }
    let mut words = Vec::new();
    let mut rest = given.iter();
    while let Some(word) = rest.next() {
        let set = if word == "--" {
            words.extend(rest.by_ref().cloned());
            continue;
        } else if let Some(long) = word.strip_prefix("--") {
            long_flag(path, long, &mut rest, &mut flags)
        } else if let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) {
            short_flags(path, short, &mut rest, &mut flags)
        } else {
            words.push(word.clone());
            continue;
        };
        if let Err(why) = set {
            return Read::Wrong(why);
        }
    }
    let on = |name| flags.get(name).is_some_and(|value: &String| value == "true");
    if on("help") {
        return Read::Help;
    }
    if path.len() == 1 {
        if on("version") {
            return Read::Version;
        }
        if let Some(word) = words.first() {
            return Read::Wrong(format!("unknown command \"{word}\" for \"coa\""));
        }
    }
    match command.arguments {
        Arguments::Exactly(wanted) if words.len() != wanted => {
            Read::Wrong(format!("takes {wanted} argument(s), got {}", words.len()))
        }
        _ => Read::Ready { words, flags },
    }
}

type Set = BTreeMap<&'static str, String>;

fn long_flag(
    path: &[&'static Command],
    word: &str,
    rest: &mut std::slice::Iter<String>,
    set: &mut Set,
) -> Result<(), String> {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let flag = flags_of(path).find(|flag| flag.name == name).ok_or_else(|| format!("unknown flag: --{name}"))?;
    match (flag.kind, value) {
        (Kind::Switch, None) => put(set, flag, "true"),
        (_, Some(value)) => put(set, flag, value),
        (Kind::Text(_), None) => match rest.next() {
            Some(value) => put(set, flag, value),
            None => Err(format!("flag needs an argument: --{name}")),
        },
    }
}

fn short_flags(
    path: &[&'static Command],
    word: &str,
    rest: &mut std::slice::Iter<String>,
    set: &mut Set,
) -> Result<(), String> {
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        let flag = flags_of(path).find(|flag| flag.short == Some(letter));
        let flag = flag.ok_or_else(|| format!("unknown shorthand flag: '{letter}' in -{word}"))?;
        let behind = letters.as_str();
        let value = behind.strip_prefix('=').or((!behind.is_empty()).then_some(behind));
        match (flag.kind, value) {
            (Kind::Switch, _) if behind.starts_with('=') => return put(set, flag, &behind[1..]),
            (Kind::Switch, _) => put(set, flag, "true")?,
            (Kind::Text(_), Some(value)) => return put(set, flag, value),
            (Kind::Text(_), None) => {
                let value = rest.next().ok_or_else(|| format!("flag needs an argument: '{letter}' in -{word}"))?;
                return put(set, flag, value);
            }
        }
    }
    Ok(())
}

fn put(set: &mut Set, flag: &'static Flag, value: &str) -> Result<(), String> {
    let value = match flag.kind {
        Kind::Text(_) => value,
        Kind::Switch => match value {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => "true",
            "0" | "f" | "F" | "false" | "FALSE" | "False" => "false",
            _ => return Err(format!("invalid argument \"{value}\" for --{}", flag.name)),
        },
    };
    set.insert(flag.name, value.to_owned());
    Ok(())
}
