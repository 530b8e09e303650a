//! A command line that is being typed: which argument of which tool its last word is a value of.

use crate::{
    arguments::{Parameter, Shape, parameters},
    commands::Commands,
    options::flag_length,
};
use pintle_core::Spec;
use serde_json::{Map, Value};

/// A value that is being typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Typing {
    /// The tool's name.
    pub tool: String,
    /// The argument's name.
    pub argument: String,
    /// What of the value is there.
    pub value: String,
    /// What stands in the same word before it, such as `--namespace=`.
    pub before: String,
    /// The arguments that are there already, as far as they are words.
    pub others: Map<String, Value>,
}

impl Commands<'_> {
    /// What the last of these words is a value of; none where it is a command, a flag, or a value of the program's own
    /// flags. The program's own name is not among the words.
    #[must_use]
    pub fn typing(&self, words: &[String]) -> Option<Typing> {
        let (last, done) = words.split_last()?;
        let (spec, rest) = self.chosen(done)?;
        let all = parameters(spec);
        let mut line = Line { all: &all, others: Map::new(), placed: 0, open: None, plain: false };
        let flags = self.flags();
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            if line.take(word) {
                continue;
            }
            // A flag of every command: with its value, which may be what is being typed.
            if flag_length(word, &flags) == Some(2) {
                rest.next()?;
            }
        }
        let found = |parameter: &Parameter<'_>, value: &str, before: &str| {
            Some(Typing {
                tool: spec.name.clone(),
                argument: parameter.name.to_owned(),
                value: value.to_owned(),
                before: before.to_owned(),
                others: line.others.clone(),
            })
        };
        if let Some(parameter) = line.open {
            return found(parameter, last, "");
        }
        if last.starts_with('-') && !line.plain {
            let (flag, value) = last.split_once('=')?;
            let parameter = line.flag(flag).filter(|parameter| parameter.shape != Shape::Switch)?;
            return found(parameter, value, &last[..=flag.len()]);
        }
        found(line.place()?, last, "")
    }

    /// The tool that the words name, and those behind its command.
    fn chosen<'w>(&self, words: &'w [String]) -> Option<(&Spec, &'w [String])> {
        let flags = self.flags();
        let mut node = self.root();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.starts_with('-') && word.len() > 1 {
                let Some(length) = flag_length(word, &flags).filter(|_| node.tool.is_none()) else { break };
                at += length;
            } else if let Some((_, child)) = node.child(word) {
                node = child;
                at += 1;
            } else if let Some(spec) = self.by_name(word).filter(|_| std::ptr::eq(node, self.root())) {
                return Some((spec, &words[at + 1..]));
            } else {
                break;
            }
        }
        let tool = node.tool.or(node.default)?;
        Some((self.spec(tool), words.get(at..).unwrap_or_default()))
    }
}

/// What the words behind a command have said so far.
struct Line<'a> {
    all: &'a [Parameter<'a>],
    others: Map<String, Value>,
    placed: usize,
    /// The flag whose value comes next.
    open: Option<&'a Parameter<'a>>,
    /// Whether `--` was there: no flags any more.
    plain: bool,
}

impl<'a> Line<'a> {
    /// Takes a word; false if it is a flag of none of the arguments.
    fn take(&mut self, word: &str) -> bool {
        if let Some(parameter) = self.open.take() {
            self.say(parameter, word);
        } else if word == "--" && !self.plain {
            self.plain = true;
        } else if word.starts_with('-') && word.len() > 1 && !self.plain {
            let (flag, value) = match word.split_once('=').filter(|_| word.starts_with("--")) {
                Some((flag, value)) => (flag, Some(value)),
                // `-nweb`
                None if !word.starts_with("--") => {
                    let end = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
                    (&word[..end], Some(&word[end..]).filter(|value| !value.is_empty()))
                }
                None => (word, None),
            };
            let Some(parameter) = self.flag(flag) else { return false };
            match value {
                Some(value) => self.say(parameter, value),
                None if parameter.shape == Shape::Switch => {}
                None => self.open = Some(parameter),
            }
        } else if let Some(parameter) = self.place() {
            self.say(parameter, word);
            self.placed += 1;
        }
        true
    }

    fn flag(&self, flag: &str) -> Option<&'a Parameter<'a>> {
        self.all.iter().find(|parameter| parameter.answers_to(flag))
    }

    /// The argument that the next word without a flag is for; the last one may take several.
    fn place(&self) -> Option<&'a Parameter<'a>> {
        let mut placed = self.all.iter().filter(|parameter| parameter.positional);
        let many = |parameter: &&Parameter<'_>| matches!(parameter.shape, Shape::Many | Shape::OneOrMany);
        placed.clone().nth(self.placed).or_else(|| placed.next_back().filter(many))
    }

    fn say(&mut self, parameter: &Parameter<'_>, word: &str) {
        if matches!(parameter.shape, Shape::Many | Shape::OneOrMany) {
            let known = self.others.entry(parameter.name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(items) = known {
                items.push(word.into());
            }
        } else {
            self.others.insert(parameter.name.to_owned(), word.into());
        }
    }
}
