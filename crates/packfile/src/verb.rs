//! One command of the program: what it takes, what holds for a call, and its argument vector.

use std::{borrow::Cow, time::Duration};

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::{
    Arguments, Condition, Confirm, Effects, Elevate, Kind, OnEof, OptionDef, Pattern, Preview, Progress, Rules,
    Spelling, Success,
    option::LONGEST_ARGUMENT,
    refusal::{Reason, Refusal},
    suggest::did_you_mean,
};

/// Bytes of a whole argument vector without the program at most, closing NULs included.
const LONGEST_VECTOR: usize = 128 * 1024;

/// One command of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Verb {
    /// Its name in the pack.
    pub name: String,
    /// What it does.
    pub summary: String,
    /// The elements that every call begins with.
    pub words: Vec<String>,
    /// Other words for it that commands given as text may use; what runs begins with `words`.
    pub aliases: Vec<Vec<String>>,
    /// What it takes, in the order of the argument vector.
    pub options: IndexMap<String, OptionDef>,
    /// Whether `--` stands before the positions.
    pub dashdash: bool,
    /// Groups of options of which one at most may be set.
    pub exclusive: Vec<Vec<String>>,
    /// Combinations that are refused.
    pub refuse: Vec<Refused>,
    /// What holds for a call.
    pub rules: Rules,
    /// What else holds under conditions: the first that holds.
    pub when: Vec<Case>,
    /// The folder in which it runs when it is not elevated.
    pub folder: Folder,
    /// Environment variables of the caller that are handed on.
    pub pass: Vec<String>,
    /// What is read out of its output for the structured answer.
    pub extract: Extract,
    /// Whether it is there only when extras are asked for.
    pub extra: bool,
}

/// A combination of options that is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// Which.
    pub on: Condition,
    /// Why.
    pub because: String,
    /// What to do instead.
    pub hint: Option<String>,
}

/// Rules that hold under a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// When.
    pub on: Condition,
    /// What holds then.
    pub then: Overrides,
}

/// The rules that a condition replaces; what is `None` stays.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "named as the rules that they replace")]
pub struct Overrides {
    pub effects: Option<Effects>,
    pub elevate: Option<Elevate>,
    /// As whom it runs when privileges are dropped where they are not needed.
    pub elevate_least: Option<Elevate>,
    pub confirm: Option<Confirm>,
    pub deadline: Option<Duration>,
    pub grace: Option<Duration>,
    /// `Some(None)` takes the lane away.
    pub lane: Option<Option<String>>,
    /// `Some(None)` makes it no job.
    pub job: Option<Option<OnEof>>,
    pub success: Option<Success>,
    pub progress: Option<Progress>,
    pub preview: Option<Preview>,
}

/// The folder in which a verb runs when it is not elevated. Elevated, it is always `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// `/`.
    Root,
    /// The folder of the server or of the person's shell.
    Caller,
}

/// What is read out of an output for the structured answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extract {
    /// Each named group is a member; null where nothing matches.
    pub patterns: Vec<Pattern>,
    /// Members that the house knows.
    pub facts: Vec<Fact>,
}

/// What the house knows about a program that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// `arch`: the machine's architecture.
    Arch,
    /// `binary_path`: where the program is.
    BinaryPath,
    /// `sha256`: the digest of the program.
    Sha256,
}

impl Verb {
    /// Checks arguments: names, types, values, what excludes one another, what is refused, and sizes.
    ///
    /// `null` means absent.
    ///
    /// # Errors
    /// Everything that is wrong, each with a JSON pointer.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<Arguments, Vec<Refusal>> {
        let mut refusals = Vec::new();
        for (name, _) in arguments.iter().filter(|(name, _)| !self.options.contains_key(*name)) {
            let hint = did_you_mean(name, self.options.keys().map(String::as_str));
            refusals.push(Refusal::of(name, Reason::Unknown(name.clone())).hint(hint));
        }
        let mut checked = IndexMap::new();
        for (name, option) in &self.options {
            match arguments.get(name).filter(|value| !value.is_null()) {
                Some(value) => {
                    refusals.extend(option.refusals(value, self.dashdash));
                    checked.insert(name.clone(), value.clone());
                }
                None if option.required => refusals.push(Refusal::of(name, Reason::Missing(name.clone()))),
                None => {}
            }
        }
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let checked = Arguments(checked);
        refusals.extend(self.gap(&checked));
        refusals.extend(self.clashes(&checked));
        refusals.extend(self.refused(&checked));
        let argv = self.argv(&checked);
        if argv.iter().any(|element| element.len() > LONGEST_ARGUMENT) {
            refusals.push(Refusal::whole(Reason::LongArgument(LONGEST_ARGUMENT)));
        }
        if argv.iter().map(|element| element.len() + 1).sum::<usize>() >= LONGEST_VECTOR {
            refusals.push(Refusal::whole(Reason::LongVector(LONGEST_VECTOR - 1)));
        }
        if refusals.is_empty() { Ok(checked) } else { Err(refusals) }
    }

    /// A position that is given although one before it is not.
    fn gap(&self, arguments: &Arguments) -> Option<Refusal> {
        let mut missing: Option<&OptionDef> = None;
        for option in self.positions() {
            match (arguments.get(&option.name), missing) {
                (None, None) => missing = Some(option),
                (Some(_), Some(before)) => {
                    let reason = Reason::Gap(option.name.clone(), before.name.clone());
                    return Some(Refusal::of(&option.name, reason));
                }
                _ => {}
            }
        }
        None
    }

    fn clashes<'a>(&'a self, arguments: &'a Arguments) -> impl Iterator<Item = Refusal> + 'a {
        self.exclusive.iter().filter_map(|group| {
            let set: Vec<_> = group.iter().filter(|name| self.is_set(name, arguments)).collect();
            let [first, _, ..] = set.as_slice() else { return None };
            let names = set.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
            Some(Refusal::of(first, Reason::Exclusive(names)))
        })
    }

    fn refused<'a>(&'a self, arguments: &'a Arguments) -> impl Iterator<Item = Refusal> + 'a {
        self.refuse.iter().filter(|rule| self.holds(&rule.on, arguments)).map(|rule| {
            let pointer = rule.on.options().find(|name| arguments.get(name).is_some()).unwrap_or_default();
            let reason = Reason::Refused(rule.because.clone());
            let refusal = if pointer.is_empty() { Refusal::whole(reason) } else { Refusal::of(pointer, reason) };
            refusal.hint(rule.hint.clone())
        })
    }

    /// Whether an option is given and says something: `false` does not.
    fn is_set(&self, name: &str, arguments: &Arguments) -> bool {
        arguments.get(name).is_some_and(|value| *value != Value::Bool(false))
    }

    fn holds(&self, condition: &Condition, arguments: &Arguments) -> bool {
        let value = |name: &str| {
            let option = self.options.get(name);
            let default = || option.and_then(|option| option.default.clone());
            let unset = match option.map(|option| option.kind) {
                Some(Kind::Boolean) => Value::Bool(false),
                _ => Value::Null,
            };
            arguments.get(name).cloned().or_else(default).unwrap_or(unset)
        };
        condition.holds(value, |name| self.is_set(name, arguments))
    }

    /// What holds for a call with these arguments.
    #[must_use]
    pub fn rules(&self, arguments: &Arguments) -> Cow<'_, Rules> {
        match self.when.iter().find(|case| self.holds(&case.on, arguments)) {
            Some(case) => Cow::Owned(case.then.over(&self.rules)),
            None => Cow::Borrowed(&self.rules),
        }
    }

    /// The argument vector without the program: words, options in declared order, positions last.
    #[must_use]
    pub fn argv(&self, arguments: &Arguments) -> Vec<String> {
        let elements =
            |option: &OptionDef| arguments.get(&option.name).map(|value| option.elements(value)).unwrap_or_default();
        let flags = self.options.values().filter(|option| matches!(option.spelling, Spelling::Flag { .. }));
        let mut argv = self.words.clone();
        argv.extend(flags.flat_map(elements));
        let positions: Vec<_> = self.positions().into_iter().flat_map(elements).collect();
        if self.dashdash && !positions.is_empty() {
            argv.push("--".into());
        }
        argv.extend(positions);
        argv
    }

    /// The positions in their order.
    #[must_use]
    pub fn positions(&self) -> Vec<&OptionDef> {
        let mut positions: Vec<_> = self
            .options
            .values()
            .filter_map(|option| match option.spelling {
                Spelling::Position(place) => Some((place, option)),
                Spelling::Flag { .. } => None,
            })
            .collect();
        positions.sort_by_key(|(place, _)| *place);
        positions.into_iter().map(|(_, option)| option).collect()
    }

    /// Every set of rules that some call may get, the ordinary one first.
    pub fn all_rules(&self) -> impl Iterator<Item = Rules> + '_ {
        std::iter::once(self.rules.clone()).chain(self.when.iter().map(|case| case.then.over(&self.rules)))
    }

    /// What the worst call may do.
    #[must_use]
    pub fn worst(&self) -> Effects {
        self.all_rules().map(|rules| rules.effects).reduce(|all, one| all.and(&one)).unwrap_or_default()
    }

    /// Whether some call runs as root.
    #[must_use]
    pub fn may_elevate(&self) -> bool {
        self.all_rules().any(|rules| rules.elevate == Elevate::Always)
    }

    /// Runs unelevated whatever need not be elevated.
    pub(crate) fn drop_privileges(&mut self) {
        for case in &mut self.when {
            if case.then.elevate_least.is_some() {
                case.then.elevate = case.then.elevate_least;
            }
        }
    }
}

impl Overrides {
    pub(crate) fn over(&self, rules: &Rules) -> Rules {
        let Self {
            effects,
            elevate,
            elevate_least: _,
            confirm,
            deadline,
            grace,
            lane,
            job,
            success,
            progress,
            preview,
        } = self.clone();
        Rules {
            effects: effects.unwrap_or_else(|| rules.effects.clone()),
            elevate: elevate.unwrap_or(rules.elevate),
            confirm: confirm.unwrap_or(rules.confirm),
            deadline: deadline.unwrap_or(rules.deadline),
            grace: grace.unwrap_or(rules.grace),
            lane: lane.unwrap_or_else(|| rules.lane.clone()),
            job: job.unwrap_or(rules.job),
            success: success.unwrap_or_else(|| rules.success.clone()),
            progress: progress.or_else(|| rules.progress.clone()),
            preview: preview.unwrap_or_else(|| rules.preview.clone()),
        }
    }
}
