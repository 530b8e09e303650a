//! Commands given as text: split, matched against verbs, and turned into named arguments.
//!
//! What is not a word, option or position of a verb is refused. No shell rules hold: no quotes, no expansion, no
//! separators; `;` is a character like any other.

use serde_json::{Map, Value};

use crate::{
    Kind, OptionDef, Spelling, Verb,
    refusal::{Reason, Refusal},
    suggest::{did_you_mean, nearest},
};

type Refused<T> = Result<T, Vec<Refusal>>;

fn refuse<T>(reason: Reason, hint: Option<String>) -> Refused<T> {
    Err(vec![Refusal::whole(reason).hint(hint)])
}

/// The verb that a whole command names, and its arguments, not yet checked.
pub(crate) fn command<'v>(verbs: &[&'v Verb], line: &Value) -> Refused<(&'v Verb, Map<String, Value>)> {
    let elements = split(line)?;
    let Some(first) = elements.first() else { return refuse(Reason::NoCommand, commands_hint(verbs)) };
    let spellings = verbs.iter().flat_map(|verb| spellings(verb).map(move |words| (*verb, words)));
    let matching = spellings.filter(|(_, words)| elements.starts_with(words));
    // `sysinstall krill` is more than `sysinstall` with a word behind it.
    let Some((verb, words)) = matching.max_by_key(|(_, words)| words.len()) else {
        return refuse(Reason::UnknownCommand(named(verbs, &elements)), nearest_command(verbs, first, &elements));
    };
    Ok((verb, read(verb, &elements[words.len()..])?))
}

/// The arguments of a verb that is known already, not yet checked.
pub(crate) fn options(verb: &Verb, line: &Value) -> Refused<Map<String, Value>> {
    read(verb, &split(line)?)
}

fn spellings(verb: &Verb) -> impl Iterator<Item = &[String]> {
    std::iter::once(verb.words.as_slice())
        .chain(verb.aliases.iter().map(Vec::as_slice))
        .filter(|words| !words.is_empty())
}

/// Elements of a command: an array as it is, a string split at blanks.
fn split(line: &Value) -> Refused<Vec<String>> {
    match line {
        Value::String(text) => {
            let strange = |c: char| matches!(c, '"' | '\'' | '\\') || (c.is_control() && c != '\t');
            if text.contains(strange) {
                let hint = "give an array of strings, one for each word, to pass any character";
                return refuse(Reason::Quotes, Some(hint.to_owned()));
            }
            Ok(text.split([' ', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect())
        }
        Value::Array(items) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or_else(|| vec![Refusal::whole(Reason::Type("a string or a list of strings"))]),
        _ => refuse(Reason::Type("a string or a list of strings"), None),
    }
}

/// The words of a command that nobody knows: as many as were understood and one more.
fn named(verbs: &[&Verb], elements: &[String]) -> String {
    let understood = (0..elements.len())
        .rev()
        .find(|length| {
            verbs.iter().flat_map(|verb| spellings(verb)).any(|words| words.starts_with(&elements[..*length]))
        })
        .unwrap_or(0);
    elements[..(understood + 1).min(elements.len())].join(" ")
}

fn nearest_command(verbs: &[&Verb], first: &str, elements: &[String]) -> Option<String> {
    if first.starts_with('-') {
        return Some("options follow the words of the command".into());
    }
    let known: Vec<String> = verbs.iter().map(|verb| verb.words.join(" ")).collect();
    let tries = (1..=elements.len().min(3)).rev().map(|length| elements[..length].join(" "));
    let near = tries.filter_map(|words| nearest(&words, known.iter().map(String::as_str)).map(str::to_owned)).next();
    near.map(|near| format!("did you mean `{near}`?")).or_else(|| commands_hint(verbs))
}

fn commands_hint(verbs: &[&Verb]) -> Option<String> {
    let known: Vec<String> = verbs.iter().map(|verb| verb.words.join(" ")).collect();
    (!known.is_empty()).then(|| format!("known: {}", known.join(", ")))
}

/// Options and positions behind the words of a command.
fn read(verb: &Verb, elements: &[String]) -> Refused<Map<String, Value>> {
    let mut map = Map::new();
    let positions = verb.positions();
    let (mut place, mut closed) = (0, false);
    let mut elements = elements.iter();
    while let Some(element) = elements.next() {
        if element == "--" && !closed {
            closed = true;
        } else if !closed && element.len() > 1 && element.starts_with('-') {
            let (option, written, negative) = find(verb, element)?;
            let value = match (option.kind, written) {
                (Kind::Boolean, None) => Value::Bool(!negative),
                (Kind::Boolean, Some("true")) if !negative => Value::Bool(true),
                (Kind::Boolean, Some("false")) if !negative => Value::Bool(false),
                (Kind::Count, None) => Value::from(1),
                (Kind::Boolean | Kind::Count, Some(_)) => {
                    return refuse(Reason::UnwantedValue(element.clone()), None);
                }
                (_, Some(text)) => typed(option, text),
                (_, None) => match elements.next() {
                    Some(text) => typed(option, text),
                    None => return refuse(Reason::NoValue(element.clone()), None),
                },
            };
            put(&mut map, option, value)?;
        } else {
            let Some(option) = positions.get(place) else {
                let command = verb.words.join(" ");
                return refuse(Reason::ExtraWord { command, word: element.clone() }, None);
            };
            put(&mut map, option, typed(option, element))?;
            if option.kind != Kind::Strings {
                place += 1;
            }
        }
    }
    Ok(map)
}

/// The option that an element names, the value written in the same element, and whether it is the negative spelling.
fn find<'v, 'e>(verb: &'v Verb, element: &'e str) -> Refused<(&'v OptionDef, Option<&'e str>, bool)> {
    let (name, written) = match element.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (element, None),
    };
    for option in verb.options.values() {
        let Spelling::Flag { flag, negative, short, .. } = &option.spelling else { continue };
        if flag == name || short.as_deref() == Some(name) {
            return Ok((option, written, false));
        }
        if negative.as_deref() == Some(name) {
            return Ok((option, written, true));
        }
    }
    let known = verb.options.values().filter_map(|option| match &option.spelling {
        Spelling::Flag { flag, .. } => Some(flag.as_str()),
        Spelling::Position(_) => None,
    });
    let hint = did_you_mean(name, known);
    refuse(Reason::UnknownOption { command: verb.words.join(" "), option: name.to_owned() }, hint)
}

/// A word as the type of the option has it; what does not fit stays a string, and the check refuses it.
fn typed(option: &OptionDef, text: &str) -> Value {
    match option.kind {
        Kind::Integer => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        Kind::Strings => vec![Value::from(text)].into(),
        Kind::Boolean | Kind::Count | Kind::String => text.into(),
    }
}

/// Adds a value; only counts and lists may come again.
fn put(map: &mut Map<String, Value>, option: &OptionDef, value: Value) -> Refused<()> {
    match (map.get_mut(&option.name), value) {
        (None, value) => {
            map.insert(option.name.clone(), value);
        }
        (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
        (Some(Value::Number(times)), Value::Number(_)) if option.kind == Kind::Count => {
            *times = (times.as_i64().unwrap_or(0) + 1).into();
        }
        _ => return refuse(Reason::Twice(option.name.clone()), None),
    }
    Ok(())
}
