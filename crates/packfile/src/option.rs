//! One option of a verb: its type, what it takes, and how it is spelt for the program.

use serde_json::Value;

use crate::{
    Pattern,
    refusal::{Reason, Refusal},
    suggest::{did_you_mean, one_of},
};

/// Bytes of one argument at most: what Linux takes, without its closing NUL.
pub(crate) const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// One option or positional argument of a verb.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionDef {
    /// The name by which callers give it.
    pub name: String,
    /// How it is spelt for the program.
    pub spelling: Spelling,
    /// Its type.
    pub kind: Kind,
    /// What it does.
    pub about: String,
    /// Whether it must be given.
    pub required: bool,
    /// What the program does by itself without it. Shown, never sent.
    pub default: Option<Value>,
    /// The strings that it takes; any, if there are none.
    pub allowed: Vec<String>,
    /// What the string, or each string of several, must match.
    pub pattern: Option<Pattern>,
    /// The least integer, or count of strings.
    pub minimum: Option<i64>,
    /// The greatest integer, count, or count of strings.
    pub maximum: Option<i64>,
    /// The one value that it takes, and why.
    pub only: Option<Only>,
    /// Whether agents see only its type and the values that it takes: its tool says what it means.
    pub brief: bool,
    /// Whether it is there only when extras are asked for.
    pub extra: bool,
}

/// The one value that an option takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Only {
    /// The value.
    pub value: String,
    /// Why no other.
    pub because: String,
}

/// How an option is spelt for the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spelling {
    /// `--name`, `--name=value` or `--name value`.
    Flag {
        /// The spelling with its dashes.
        flag: String,
        /// What is written for `false`, such as `--no-name`; without it `false` writes nothing.
        negative: Option<String>,
        /// A short spelling that commands given as text may use.
        short: Option<String>,
        /// How the value follows.
        join: Join,
    },
    /// The argument at that place, from 1.
    Position(usize),
}

/// How the value of an option follows its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    /// In one element with `=`.
    Equals,
    /// As an element of its own; a value that begins with a dash is refused.
    Space,
}

/// The type of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// True or false; written only when it differs from the default.
    Boolean,
    /// A whole number, written exactly.
    Integer,
    /// How often the flag is written.
    Count,
    /// A string.
    String,
    /// Strings; the flag is repeated, or the positions go on.
    Strings,
}

impl Kind {
    /// All of them with their names in packs.
    pub const NAMES: [(&str, Self); 5] = [
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("count", Self::Count),
        ("string", Self::String),
        ("strings", Self::Strings),
    ];
}

impl OptionDef {
    /// Whether a value that begins with a dash would be taken for an option: positions without `--` before them, and
    /// values that are elements of their own.
    fn dash_is_read(&self, dashdash: bool) -> bool {
        match &self.spelling {
            Spelling::Flag { join, .. } => *join == Join::Space,
            Spelling::Position(_) => !dashdash,
        }
    }

    /// Everything that is wrong with a value of this option.
    pub(crate) fn refusals(&self, value: &Value, dashdash: bool) -> Vec<Refusal> {
        let refuse = |reason| vec![Refusal::of(&self.name, reason)];
        match (self.kind, value) {
            (Kind::Boolean, Value::Bool(_)) => Vec::new(),
            (Kind::Boolean, _) => refuse(Reason::Type("true or false")),
            (Kind::Integer | Kind::Count, Value::Number(number)) => match number.as_i64() {
                Some(number) => self.bounds(if self.kind == Kind::Count { Some(0) } else { None }, number),
                // Beyond 64 bits with sign: exact, and still within no bound.
                None if number.is_u64() && self.maximum.is_none() && self.kind == Kind::Integer => Vec::new(),
                None if number.is_u64() => refuse(Reason::Large(self.maximum.unwrap_or(i64::MAX))),
                None => refuse(Reason::Type("a whole number")),
            },
            (Kind::Integer | Kind::Count, _) => refuse(Reason::Type("a whole number")),
            (Kind::String, Value::String(text)) => {
                self.text(&self.name, text, dashdash).map(|refusal| vec![refusal]).unwrap_or_default()
            }
            (Kind::String, _) => refuse(Reason::Type("a string")),
            (Kind::Strings, Value::Array(items)) => {
                let count = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let mut found = self.bounds(None, count);
                found.extend(items.iter().enumerate().filter_map(|(index, item)| {
                    let refusal = match item {
                        Value::String(text) => self.text(&self.name, text, dashdash),
                        _ => Some(Refusal::of(&self.name, Reason::Type("a string"))),
                    };
                    refusal.map(|refusal| Refusal { pointer: format!("{}/{index}", refusal.pointer), ..refusal })
                }));
                found
            }
            (Kind::Strings, _) => refuse(Reason::Type("a list of strings")),
        }
    }

    fn bounds(&self, least: Option<i64>, number: i64) -> Vec<Refusal> {
        let small = self.minimum.or(least).filter(|minimum| number < *minimum).map(Reason::Small);
        let large = self.maximum.filter(|maximum| number > *maximum).map(Reason::Large);
        small.or(large).map(|reason| vec![Refusal::of(&self.name, reason)]).unwrap_or_default()
    }

    fn text(&self, name: &str, text: &str, dashdash: bool) -> Option<Refusal> {
        let refuse = |reason| Some(Refusal::of(name, reason));
        if text.contains('\0') {
            return refuse(Reason::Nul);
        }
        if let Some(only) = &self.only {
            let reason = Reason::Only { value: only.value.clone(), because: only.because.clone() };
            return if *text == only.value { None } else { refuse(reason) };
        }
        if !self.allowed.is_empty() {
            let known = || self.allowed.iter().map(String::as_str);
            let reason = Reason::NotOneOf(one_of(known()));
            let hint = did_you_mean(text, known());
            return if known().any(|one| one == text) {
                None
            } else {
                refuse(reason).map(|refusal| refusal.hint(hint))
            };
        }
        if text.is_empty() {
            return refuse(Reason::Empty);
        }
        if text.starts_with('-') && self.dash_is_read(dashdash) {
            return refuse(Reason::LeadingDash);
        }
        let prefix = match &self.spelling {
            Spelling::Flag { flag, join: Join::Equals, .. } => flag.len() + 1,
            _ => 0,
        };
        if text.len() + prefix > LONGEST_ARGUMENT {
            return refuse(Reason::LongArgument(LONGEST_ARGUMENT));
        }
        match &self.pattern {
            Some(pattern) if !pattern.is_match(text) => refuse(Reason::Pattern(pattern.as_str().to_owned())),
            _ => None,
        }
    }

    /// The elements that a checked value becomes.
    pub(crate) fn elements(&self, value: &Value) -> Vec<String> {
        match (&self.spelling, value) {
            (Spelling::Flag { flag, negative, .. }, Value::Bool(on)) => {
                let default = self.default.as_ref().and_then(Value::as_bool).unwrap_or(false);
                match (*on, on == &default) {
                    (_, true) => Vec::new(),
                    (true, false) => vec![flag.clone()],
                    (false, false) => negative.iter().cloned().collect(),
                }
            }
            (Spelling::Flag { flag, .. }, Value::Number(times)) if self.kind == Kind::Count => {
                let times = times.as_u64().and_then(|times| usize::try_from(times).ok()).unwrap_or(0);
                vec![flag.clone(); times]
            }
            (Spelling::Flag { flag, join, .. }, value) => written(value)
                .flat_map(|text| match join {
                    Join::Equals => vec![format!("{flag}={text}")],
                    Join::Space => vec![flag.clone(), text],
                })
                .collect(),
            (Spelling::Position(_), value) => written(value).collect(),
        }
    }
}

/// Each string of a checked value as the program gets it.
fn written(value: &Value) -> impl Iterator<Item = String> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
}
