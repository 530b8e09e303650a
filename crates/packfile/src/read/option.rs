//! `options.NAME = { … }`.

use indexmap::IndexMap;

use super::{
    condition::fitting,
    fields::{At, Fields, bare},
};
use crate::{Join, Kind, Only, OptionDef, Spelling};

/// How often a flag may be counted where the pack does not say.
const MOST_COUNTS: i64 = 10;

/// What every call has besides its tool's own arguments; an option of that name would never reach the program.
pub(super) const TAKEN: [&str; 2] = ["plan_token", "wait"];

/// Reads the options of a verb.
pub(super) fn read(options: &Fields) -> IndexMap<String, OptionDef> {
    let mut read = IndexMap::new();
    let mut places = Vec::new();
    for (name, node) in options.named() {
        if !super::pack::is_name(name.value, '_') {
            let hint = "lower-case letters, digits and `_`, a letter first".to_owned();
            options.report.add(name.at, format!("`{}` is no name for an option", name.value), Some(hint));
        }
        if TAKEN.contains(&name.value) {
            options.report.add(
                name.at,
                taken(name.value),
                Some("give the option another name; its `flag` stays".to_owned()),
            );
        }
        let Some(fields) = options.as_table(node, name.value) else { continue };
        let option = one(fields, name.value);
        if let Spelling::Position(place) = option.spelling {
            places.push(At { value: (place, option.kind, option.required), at: name.at });
        }
        read.insert(name.value.to_owned(), option);
    }
    order(options, places);
    spellings(options, &read);
    read
}

/// Why a name of [`TAKEN`] is none for an argument.
pub(super) fn taken(name: &str) -> String {
    format!("`{name}` is an argument that every call has")
}

/// Reads one option. What is wrong in it is reported; what it then is does not matter, but it is there, so that no rule
/// that names it is called wrong too.
fn one(fields: Fields, name: &str) -> OptionDef {
    let kind = fields.word("type", &Kind::NAMES);
    if kind.is_none() && fields.take("type").is_none() {
        fields.report.add(fields.at(), format!("option `{name}` has no `type`"), None);
    }
    let mut option = OptionDef {
        name: name.to_owned(),
        spelling: spelling(&fields, name),
        kind: kind.unwrap_or(Kind::String),
        about: fields.text("about").map(At::bare).unwrap_or_default(),
        required: fields.boolean("required").unwrap_or(false),
        default: None,
        allowed: fields.texts("enum").map(bare).unwrap_or_default(),
        pattern: fields.pattern("pattern").map(At::bare),
        minimum: fields.integer("minimum"),
        maximum: fields.integer("maximum"),
        only: only(&fields),
        brief: fields.boolean("brief").unwrap_or(false),
        extra: fields.boolean("extra").unwrap_or(false),
    };
    option.default = fields.take("default").and_then(|node| fitting(&fields, node, &option));
    suits(&fields, &option);
    if option.kind == Kind::Count {
        option.maximum = option.maximum.or(Some(MOST_COUNTS));
    }
    if let (Some(minimum), Some(maximum)) = (option.minimum, option.maximum)
        && minimum > maximum
    {
        let message = format!("option `{name}` takes nothing: `minimum` {minimum} is more than `maximum` {maximum}");
        fields.report.add(fields.at(), message, None);
    }
    fields.finish();
    option
}

fn spelling(fields: &Fields, name: &str) -> Spelling {
    let (flag, position) = (fields.text("flag"), fields.integer("position"));
    let (negative, short, join) = (fields.text("negative"), fields.text("short"), fields.text("join"));
    match (flag, position) {
        (Some(flag), None) => {
            dashed(fields, &flag, 2);
            negative.iter().for_each(|negative| dashed(fields, negative, 2));
            short.iter().for_each(|short| dashed(fields, short, 1));
            let join = match join {
                Some(join) if join.value == " " => Join::Space,
                Some(join) if join.value != "=" => {
                    fields.report.add(join.at, "`join` must be \"=\" or \" \"", None);
                    Join::Equals
                }
                _ => Join::Equals,
            };
            let (negative, short) = (negative.map(At::bare), short.map(At::bare));
            return Spelling::Flag { flag: flag.bare(), negative, short, join };
        }
        (None, Some(position)) => {
            for text in [negative, short, join].into_iter().flatten() {
                fields.report.add(text.at, "only a `flag` has this", None);
            }
            match usize::try_from(position) {
                Ok(place) if place > 0 => return Spelling::Position(place),
                _ => fields.report.add(fields.at(), "positions count from 1", None),
            }
        }
        _ => {
            fields.report.add(fields.at(), format!("option `{name}` needs either `flag` or `position`"), None);
        }
    }
    Spelling::Flag { flag: String::new(), negative: None, short: None, join: Join::Equals }
}

/// A spelling has a dash, or at most two, and no blank and no `=`. With one dash at most it is one letter.
fn dashed(fields: &Fields, text: &At<String>, most: usize) {
    let rest = text.value.trim_start_matches('-');
    let dashes = text.value.len() - rest.len();
    let plain = !rest.is_empty() && rest.chars().all(|c| c.is_ascii_graphic() && c != '=');
    if dashes == 0 || dashes > most || !plain || (most == 1 && rest.len() != 1) {
        fields.report.add(text.at, format!("`{}` is no spelling of an option", text.value), None);
    }
}

fn only(fields: &Fields) -> Option<Only> {
    let because = fields.text("because");
    match (fields.text("only"), because) {
        (Some(value), Some(because)) => Some(Only { value: value.bare(), because: because.bare() }),
        (Some(value), None) => {
            fields.report.add(value.at, "`only` needs `because`: callers are told the reason", None);
            None
        }
        (None, Some(because)) => {
            fields.report.add(because.at, "`because` goes with `only`", None);
            None
        }
        (None, None) => None,
    }
}

/// Keys that mean nothing for the type.
fn suits(fields: &Fields, option: &OptionDef) {
    let strings = matches!(option.kind, Kind::String | Kind::Strings);
    let counted = matches!(option.kind, Kind::Integer | Kind::Count | Kind::Strings);
    let position = matches!(option.spelling, Spelling::Position(_));
    let wrong = [
        ("enum", !option.allowed.is_empty() && !strings),
        ("pattern", option.pattern.is_some() && !strings),
        ("only", option.only.is_some() && option.kind != Kind::String),
        ("minimum", option.minimum.is_some() && !counted),
        ("maximum", option.maximum.is_some() && !counted),
        ("position", position && matches!(option.kind, Kind::Boolean | Kind::Count)),
        ("required", option.required && matches!(option.kind, Kind::Boolean)),
        ("default", option.required && option.default.is_some()),
    ];
    for (key, _) in wrong.iter().filter(|(_, wrong)| *wrong) {
        fields.report.add(fields.at(), format!("`{key}` does not fit option `{}`", option.name), None);
    }
    if let Spelling::Flag { negative: Some(_), .. } = option.spelling
        && option.kind != Kind::Boolean
    {
        fields.report.add(fields.at(), format!("`negative` does not fit option `{}`", option.name), None);
    }
}

/// Positions run from 1 without gaps, required ones first, several strings last.
fn order(options: &Fields, mut places: Vec<At<(usize, Kind, bool)>>) {
    places.sort_by_key(|place| place.value.0);
    let mut optional = false;
    let last = places.len();
    for (index, place) in places.iter().enumerate() {
        let (position, kind, required) = place.value;
        let message = if position != index + 1 {
            "positions run from 1 without gaps, each once"
        } else if kind == Kind::Strings && position != last {
            "only the last position takes several strings"
        } else if required && optional {
            "a required position must not follow an optional one"
        } else {
            optional |= !required;
            continue;
        };
        options.report.add(place.at, message, None);
    }
}

/// No spelling means two options.
fn spellings(options: &Fields, read: &IndexMap<String, OptionDef>) {
    let mut seen: IndexMap<&str, &str> = IndexMap::new();
    for (name, _) in options.named() {
        let Some(Spelling::Flag { flag, negative, short, .. }) = read.get(name.value).map(|option| &option.spelling)
        else {
            continue;
        };
        let all = [Some(flag), negative.as_ref(), short.as_ref()].into_iter().flatten();
        for spelling in all.filter(|spelling| !spelling.is_empty()) {
            if let Some(first) = seen.insert(spelling, name.value) {
                let message = format!("`{spelling}` is spelt by `{first}` and by `{}`", name.value);
                options.report.add(name.at, message, None);
            }
        }
    }
}
