//! The verb of a step, and which fields go with it.

use pintle_core::{nearest, one_of};
use pintle_yaml::Node;

use super::sink::Sink;
use super::step::Keyword;
use super::{expect, modifiers};
use crate::model::Dialect;
use crate::registry::Registry;
use crate::verbs::{self, Verb, needs};

/// The verb of a step.
#[derive(Clone, Copy)]
pub(super) enum Found<'n> {
    /// One of ours: its key, its value, and the map that holds its fields.
    Known {
        verb: &'static dyn Verb,
        key: Node<'n>,
        value: Node<'n>,
        inner: Node<'n>,
    },
    /// A word that only a provider knows.
    Foreign(Node<'n>, Node<'n>),
    None,
}

pub(super) fn find<'n>(name: Node<'n>, body: Node<'n>, registry: &Registry, sink: &mut Sink<'_>) -> Found<'n> {
    let mut found = Found::None;
    let mut first = "";
    for (key, value) in body.entries() {
        let word = key.key_text();
        if word == "plugin" {
            return plugin(key, value, body, sink);
        }
        let this = match verbs::find(word) {
            Some(verb) => Found::Known { verb, key, value, inner: body },
            None if registry.is_foreign(word) => Found::Foreign(key, value),
            None => continue,
        };
        if !matches!(found, Found::None) {
            sink.wrong_hint(key, format!("a step has one verb, not `{first}` and `{word}`"), "make two steps of it");
            continue;
        }
        found = this;
        first = word;
    }
    if matches!(found, Found::None) {
        let strange: Vec<_> = body.entries().filter(|(key, _)| !is_shared(key.key_text())).collect();
        if strange.is_empty() {
            let words = verbs::ALL.iter().filter(|verb| !verb.is_action()).map(|verb| verb.word());
            sink.wrong_hint(
                name,
                format!("step `{}` has no verb", name.key_text()),
                format!("add one of {}", one_of(words)),
            );
        }
        for (key, _) in strange {
            let words = registry.words().chain(modifiers::FIELDS.iter().chain(expect::FIELDS).copied());
            let hint = match nearest(key.key_text(), words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a step names one verb, such as `mcp`, `http` or `command`".to_owned(),
            };
            sink.wrong_hint(key, format!("unknown verb or field `{}`", key.key_text()), hint);
        }
    }
    found
}

/// The long form: `plugin: WORD` with the verb's fields in `plugin_input`, its value there as `method` or under WORD.
fn plugin<'n>(key: Node<'n>, word: Node<'n>, body: Node<'n>, sink: &mut Sink<'_>) -> Found<'n> {
    let Some(name) = sink.word(word, "plugin") else { return Found::None };
    let Some(verb) = verbs::find(&name) else {
        sink.unknown(word, "verb", &name, verbs::ALL.iter().map(|verb| verb.word()));
        return Found::None;
    };
    let Some(inner) = body.get("plugin_input").filter(|inner| inner.is_mapping()) else {
        sink.wrong_hint(key, "`plugin` without `plugin_input`", "add a map with the fields of the verb");
        return Found::None;
    };
    match inner.get("method").or_else(|| inner.get(&name)) {
        Some(value) => Found::Known { verb, key, value, inner },
        None => {
            sink.wrong(inner, format!("`plugin_input` has neither `method` nor `{name}`"));
            Found::None
        }
    }
}

/// Whether every step may have a field, whatever its verb.
fn is_shared(word: &str) -> bool {
    Keyword::of(word).is_some() || modifiers::FIELDS.contains(&word) || expect::FIELDS.contains(&word)
}

/// Refuses what a step without a verb cannot have. Prose for an agent may stand beside a verb, whose fields are the
/// agent's to read.
pub(super) fn without_verb(name: Node<'_>, keyword: Keyword, body: Node<'_>, registry: &Registry, sink: &mut Sink<'_>) {
    let mut verb = None;
    let mut others = Vec::new();
    for (key, _) in body.entries().filter(|(key, _)| !is_shared(key.key_text())) {
        let word = key.key_text();
        if verbs::find(word).is_none() && !registry.is_foreign(word) {
            others.push(key);
        } else if keyword == Keyword::Include {
            sink.wrong(key, format!("`{}` includes a plan, and cannot have the verb `{word}`", name.key_text()));
            return;
        } else {
            verb = Some(word);
        }
    }
    for key in others.into_iter().filter(|_| verb.is_none()) {
        let known = modifiers::FIELDS.iter().chain(expect::FIELDS).copied().chain(registry.words());
        sink.unknown(key, "field", key.key_text(), known);
    }
}

/// Refuses what neither all steps nor this verb know.
pub(super) fn check_fields(
    keyword: Keyword,
    body: Node<'_>,
    verb: Found<'_>,
    registry: &Registry,
    sink: &mut Sink<'_>,
) {
    let Found::Known { verb, inner, .. } = verb else { return };
    if verb.takes_any_field() {
        return;
    }
    let long_form = body.get("plugin").is_some();
    // A `run:` of a box may use what otherwise asserts, and says how, as all its actions do.
    let builds = keyword == Keyword::Run && sink.dialect == Dialect::Candy;
    for (key, _) in body.entries().chain(inner.entries().filter(|_| long_form)) {
        let word = key.key_text();
        let known = is_shared(word)
            || verb.fields().contains(&word)
            || (builds && needs::RUNNING.contains(&word))
            || (long_form && matches!(word, "plugin" | "plugin_input" | "method"));
        // A second verb has been told already.
        if known || verbs::find(word).is_some() || registry.is_foreign(word) {
            continue;
        }
        match verbs::ALL.iter().find(|other| other.fields().contains(&word)) {
            Some(other) => sink
                .wrong(key, format!("field `{word}` belongs to the verb `{}`, not to `{}`", other.word(), verb.word())),
            None => sink.unknown(
                key,
                "field",
                word,
                verb.fields().iter().chain(modifiers::FIELDS).chain(expect::FIELDS).copied(),
            ),
        }
    }
}
