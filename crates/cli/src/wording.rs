//! What is said to agents in the words of people: tools as the commands that call them, arguments as flags.
//!
//! Operations name tools and arguments in backticks, as agents know them: `box.validate`, `dry_run`, or a whole call,
//! `get_pod_logs name=web previous=true`. Only what stands in backticks is looked at.

use crate::{
    arguments::{Parameter, Shape, parameters},
    commands::Invocation,
    tree::words_of,
};
use pintle_core::{Door, Spec};
use pintle_dispatch::Catalog;

/// The words of one call.
pub(crate) struct Wording<'a> {
    catalog: &'a Catalog,
    /// What stands before the words of a tool: `pintle charly`; or `pintle call`, before its name.
    before: Before,
    /// The tool that was called.
    called: Option<&'a Spec>,
}

enum Before {
    Commands(String),
    Names(String),
}

impl<'a> Wording<'a> {
    pub(crate) fn of(catalog: &'a Catalog, call: &Invocation) -> Self {
        let called = catalog.find(&call.tool, Door::People);
        let words = call.command.as_str();
        let before = match words.split_once(" call ") {
            Some((program, _)) => Before::Names(format!("{program} call")),
            None => {
                let own = called.map(|spec| words_of(spec).join(" ")).unwrap_or_default();
                let typed = words.rsplit_once(' ').map_or("", |(before, _)| before);
                let before = words.strip_suffix(&own).map_or(typed, str::trim_end);
                Before::Commands(before.to_owned())
            }
        };
        Self { catalog, before, called }
    }

    /// The text with tools as commands.
    pub(crate) fn commands(&self, text: &str) -> String {
        quoted(text, |inside| self.command(inside))
    }

    /// The text with tools as commands, and arguments of the tool that was called as flags.
    pub(crate) fn hint(&self, text: &str) -> String {
        quoted(text, |inside| self.command(inside).or_else(|| self.flag(inside)))
    }

    fn command(&self, inside: &str) -> Option<String> {
        let mut words = inside.split(' ');
        let name = words.next().filter(|name| name.contains(['.', '_']))?;
        let spec = self.catalog.find(name, Door::People)?;
        let pairs: Vec<(&str, &str)> = words.map(|pair| pair.split_once('=')).collect::<Option<_>>()?;
        match &self.before {
            Before::Names(before) => {
                let pairs = pairs.iter().map(|(name, value)| format!(" {name}={}", shell(value)));
                Some(format!("{before} {}{}", spec.name, pairs.collect::<String>()))
            }
            Before::Commands(before) => {
                let all = parameters(spec);
                let mut placed = Vec::new();
                let mut flags = String::new();
                for (name, value) in pairs {
                    let parameter = all.iter().find(|parameter| parameter.name == name)?;
                    if parameter.positional {
                        placed.push((all.iter().position(|known| known.name == name), shell(value)));
                    } else {
                        flags.push_str(&format!(" {}", said(parameter, Some(value))?));
                    }
                }
                placed.sort_by_key(|(place, _)| *place);
                let placed: String = placed.into_iter().map(|(_, value)| format!(" {value}")).collect();
                Some(format!("{before} {}{placed}{flags}", words_of(spec).join(" ")))
            }
        }
    }

    /// `dry_run` as `--dry-run`, `previous: true` as `--previous`.
    fn flag(&self, inside: &str) -> Option<String> {
        let (name, value) = match inside.split_once(": ") {
            Some((name, value)) => (name, Some(value)),
            None => (inside, None),
        };
        if name == crate::options::CURSOR && value.is_none() {
            return Some(format!("--{name}"));
        }
        if matches!(self.before, Before::Names(_)) {
            return None;
        }
        let all = parameters(self.called?);
        said(all.iter().find(|parameter| parameter.name == name && !parameter.positional)?, value)
    }
}

fn said(parameter: &Parameter<'_>, value: Option<&str>) -> Option<String> {
    let long = parameter.long.as_ref()?;
    Some(match (parameter.shape, value) {
        (_, None) | (Shape::Switch, Some("true")) => format!("--{long}"),
        (Shape::Switch, Some(_)) => format!("--{}", parameter.negative.as_ref()?),
        (_, Some(value)) => format!("--{long} {}", shell(value)),
    })
}

/// A word as a shell takes it for itself.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The text with what stands in backticks changed where `change` has something to put there.
fn quoted(text: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside, after)) = rest.split_once('`').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('`')?;
        Some((before, inside, after))
    }) {
        out.push_str(before);
        out.push('`');
        out.push_str(&change(inside).unwrap_or_else(|| inside.to_owned()));
        out.push('`');
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_in_backticks_is_looked_at() {
        let loud = |text: &str| quoted(text, |inside| (inside == "a.b").then(|| "x a b".to_owned()));
        assert_eq!(loud("call `a.b`, not a.b or `c`"), "call `x a b`, not a.b or `c`");
        assert_eq!(loud("`a.b` `a.b"), "`x a b` `a.b");
        assert_eq!(loud("``a.b`"), "``a.b`");
        assert_eq!(loud(""), "");
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(shell("arn:aws:eks:eu-west-1:1:cluster/a"), "arn:aws:eks:eu-west-1:1:cluster/a");
        assert_eq!((shell("a b"), shell("it's"), shell("*")), ("'a b'".into(), "'it'\\''s'".into(), "'*'".into()));
    }
}
