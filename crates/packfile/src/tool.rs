//! How verbs are offered.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::{
    Arguments, Confirm, Effects, OnEof, Pack, ResourceDef, Rules, Verb, grammar,
    refusal::{Reason, Refusal},
    suggest::{did_you_mean, one_of},
};

/// One tool of a pack.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDef {
    /// Its name, `[a-z0-9_]{1,64}`.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// How it names verbs.
    pub shape: Shape,
    /// The least confirmation of any call that changes something; a verb may ask for more.
    pub confirm_changes: Option<Confirm>,
    /// Whether it is there only when extras are asked for.
    pub extra: bool,
}

/// How a tool names verbs.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// One verb.
    Verb {
        /// Which.
        verb: String,
        /// The options that are offered, in order.
        parameters: Vec<String>,
    },
    /// One of several verbs, chosen by a parameter.
    Choose {
        /// The parameter that chooses.
        parameter: Parameter,
        /// The choice when it is absent; without one it is required.
        default: Option<String>,
        /// Choice to verb.
        verbs: IndexMap<String, String>,
        /// The options that are offered, in order.
        parameters: Vec<String>,
        /// A parameter that takes options and positions as a command line would.
        rest: Option<Parameter>,
    },
    /// A command line, read by the words and options of these verbs.
    Command {
        /// The parameter that takes it.
        parameter: Parameter,
        /// The verbs.
        verbs: Vec<String>,
    },
    /// A resource, for clients that read none.
    Read {
        /// The parameter that names it.
        parameter: Parameter,
    },
}

/// A parameter that belongs to a tool and to no verb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
}

/// What a call of a tool asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked<'p> {
    /// A verb with checked arguments.
    Verb(&'p Verb, Arguments),
    /// A resource.
    Resource(&'p ResourceDef),
}

impl ToolDef {
    /// The verbs that it may run, in declared order.
    #[must_use]
    pub fn verbs<'p>(&self, pack: &'p Pack) -> Vec<&'p Verb> {
        let names: Vec<&String> = match &self.shape {
            Shape::Verb { verb, .. } => vec![verb],
            Shape::Choose { verbs, .. } => verbs.values().collect(),
            Shape::Command { verbs, .. } => verbs.iter().collect(),
            Shape::Read { .. } => {
                let sources = pack.resources.iter().filter_map(|resource| match &resource.source {
                    crate::Source::Verb(verb) => Some(verb),
                    _ => None,
                });
                sources.collect()
            }
        };
        names.into_iter().filter_map(|name| pack.verb(name)).collect()
    }

    /// What the worst call may do.
    #[must_use]
    pub fn worst(&self, pack: &Pack) -> Effects {
        let verbs = self.verbs(pack).into_iter().map(Verb::worst);
        verbs.reduce(|all, one| all.and(&one)).unwrap_or_default()
    }

    /// What becomes of the jobs of this tool when their client goes away; `None` when no verb runs as one.
    #[must_use]
    pub fn job(&self, pack: &Pack) -> Option<OnEof> {
        let jobs: Vec<_> =
            self.verbs(pack).into_iter().flat_map(Verb::all_rules).filter_map(|rules| rules.job).collect();
        // Whoever started a flight by the general tool expects what the flight's own tool does.
        jobs.iter().find(|on_eof| **on_eof == OnEof::Detach).or(jobs.first()).copied()
    }

    /// What holds for a call of this verb through this tool.
    #[must_use]
    pub fn rules(&self, verb: &Verb, arguments: &Arguments) -> Rules {
        let mut rules = verb.rules(arguments).into_owned();
        if let Some(least) = self.confirm_changes.filter(|_| rules.effects.changes()) {
            rules.confirm = rules.confirm.max(least);
        }
        rules
    }

    /// Which verb a call asks for, with its arguments checked.
    ///
    /// # Errors
    /// Everything that is wrong, each with a JSON pointer into the arguments of the call.
    pub fn resolve<'p>(&self, pack: &'p Pack, arguments: &Map<String, Value>) -> Result<Asked<'p>, Vec<Refusal>> {
        match &self.shape {
            Shape::Verb { verb, parameters } => {
                known(arguments, parameters.iter().map(String::as_str))?;
                let verb = pack.verb(verb).ok_or_else(|| gone(verb))?;
                Ok(Asked::Verb(verb, verb.check(arguments)?))
            }
            Shape::Choose { .. } => self.choose(pack, arguments),
            Shape::Command { parameter, .. } => {
                known(arguments, [parameter.name.as_str()])?;
                let line = given(arguments, &parameter.name)
                    .ok_or_else(|| vec![Refusal::of(&parameter.name, Reason::Missing(parameter.name.clone()))])?;
                let all_here = |refusals: Vec<Refusal>| move_to(&parameter.name, refusals);
                let (verb, map) = grammar::command(&self.verbs(pack), line).map_err(all_here)?;
                Ok(Asked::Verb(verb, verb.check(&map).map_err(all_here)?))
            }
            Shape::Read { parameter } => {
                known(arguments, [parameter.name.as_str()])?;
                let uri = word(arguments, parameter)?;
                let found = uri.and_then(|uri| pack.resources.iter().find(|resource| resource.uri == uri));
                found.map(Asked::Resource).ok_or_else(|| {
                    let reason = match uri {
                        Some(_) => Reason::NotOneOf(one_of(pack.resources.iter().map(|one| one.uri.as_str()))),
                        None => Reason::Missing(parameter.name.clone()),
                    };
                    vec![Refusal::of(&parameter.name, reason)]
                })
            }
        }
    }

    fn choose<'p>(&self, pack: &'p Pack, arguments: &Map<String, Value>) -> Result<Asked<'p>, Vec<Refusal>> {
        let Shape::Choose { parameter, default, verbs, parameters, rest } = &self.shape else {
            return Err(vec![Refusal::whole(Reason::NoCommand)]);
        };
        let choice = word(arguments, parameter)?.or(default.as_deref());
        let choice =
            choice.ok_or_else(|| vec![Refusal::of(&parameter.name, Reason::Missing(parameter.name.clone()))])?;
        let own = [Some(parameter.name.as_str()), rest.as_ref().map(|rest| rest.name.as_str())];
        known(arguments, parameters.iter().map(String::as_str).chain(own.into_iter().flatten()))?;
        let Some(verb) = verbs.get(choice).and_then(|name| pack.verb(name)) else {
            let choices = || verbs.keys().map(String::as_str);
            let refusal = Refusal::of(&parameter.name, Reason::NotOneOf(one_of(choices())));
            return Err(vec![refusal.hint(did_you_mean(choice, choices()))]);
        };
        let mut flat: Map<String, Value> = arguments
            .iter()
            .filter(|(name, value)| !value.is_null() && !own.contains(&Some(name.as_str())))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let elsewhere: Vec<_> = flat
            .keys()
            .filter(|name| !verb.options.contains_key(*name))
            .map(|name| {
                let with = verbs
                    .iter()
                    .filter(|(_, other)| pack.verb(other).is_some_and(|other| other.options.contains_key(name)));
                let with = one_of(with.map(|(choice, _)| choice.as_str()));
                Refusal::of(name, Reason::Elsewhere { with, not: choice.to_owned() })
            })
            .collect();
        if !elsewhere.is_empty() {
            return Err(elsewhere);
        }
        if let Some(rest) = rest
            && let Some(line) = given(arguments, &rest.name)
        {
            let all_here = |refusals: Vec<Refusal>| move_to(&rest.name, refusals);
            for (name, value) in grammar::options(verb, line).map_err(all_here)? {
                if flat.insert(name.clone(), value).is_some() {
                    return Err(vec![Refusal::of(&rest.name, Reason::Twice(name))]);
                }
            }
        }
        Ok(Asked::Verb(verb, verb.check(&flat)?))
    }

    /// Leaves out what is no longer among the verbs.
    pub(crate) fn keep(&mut self, kept: &IndexMap<String, Verb>) {
        let offers = |names: &mut dyn Iterator<Item = &String>, option: &String| {
            names.filter_map(|name| kept.get(name)).any(|verb| verb.options.contains_key(option))
        };
        match &mut self.shape {
            Shape::Verb { verb, parameters } => {
                parameters.retain(|option| offers(&mut std::iter::once(&*verb), option));
            }
            Shape::Choose { verbs, parameters, default, .. } => {
                verbs.retain(|_, verb| kept.contains_key(verb));
                default.take_if(|default| !verbs.contains_key(default));
                parameters.retain(|option| offers(&mut verbs.values(), option));
            }
            Shape::Command { verbs, .. } => verbs.retain(|verb| kept.contains_key(verb)),
            Shape::Read { .. } => {}
        }
    }
}

fn gone(verb: &str) -> Vec<Refusal> {
    vec![Refusal::whole(Reason::UnknownCommand(verb.to_owned()))]
}

/// A given argument; `null` means absent.
fn given<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

/// A given argument that must be a string.
fn word<'a>(arguments: &'a Map<String, Value>, parameter: &Parameter) -> Result<Option<&'a str>, Vec<Refusal>> {
    match given(arguments, &parameter.name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(vec![Refusal::of(&parameter.name, Reason::Type("a string"))]),
    }
}

/// Refuses arguments that are not offered.
fn known<'a>(
    arguments: &Map<String, Value>,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> Result<(), Vec<Refusal>> {
    let unknown: Vec<_> = arguments
        .keys()
        .filter(|name| !names.clone().into_iter().any(|known| known == *name))
        .map(|name| {
            let hint = did_you_mean(name, names.clone());
            Refusal::of(name, Reason::Unknown(name.clone())).hint(hint)
        })
        .collect();
    if unknown.is_empty() { Ok(()) } else { Err(unknown) }
}

/// The same refusals at the parameter that held the whole command; the texts then name the option.
fn move_to(parameter: &str, refusals: Vec<Refusal>) -> Vec<Refusal> {
    refusals
        .into_iter()
        .map(|refusal| match refusal.pointer.strip_prefix('/') {
            Some(option) if !option.is_empty() => Refusal {
                reason: Reason::InCommand(option.to_owned(), Box::new(refusal.reason)),
                ..Refusal::of(parameter, Reason::Empty).hint(refusal.hint)
            },
            _ => Refusal::of(parameter, refusal.reason).hint(refusal.hint),
        })
        .collect()
}
