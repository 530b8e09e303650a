//! A step: a name, a keyword with prose, one verb, and fields beside it.

use std::sync::Arc;

use pintle_core::nearest;
use pintle_yaml::{Node, Place};
use serde_json::Value;

use super::expect::{self, Expect};
use super::fields::{self, Found};
use super::modifiers::{self, Context, Modifiers};
use super::places;
use super::sink::Sink;
use super::template;
use super::{Capture, Dialect};
use crate::registry::Registry;
use crate::verbs::{self, Probe, Verb};

/// The word that makes a node a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keyword {
    /// Asserts.
    Check,
    /// Acts, so that later steps find what they need.
    Run,
    /// An agent judges the prose.
    AgentCheck,
    /// An agent acts on the prose.
    AgentRun,
    /// Takes in the steps of another candy.
    Include,
}

impl Keyword {
    /// Every keyword with its word.
    pub const ALL: [(&'static str, Keyword); 5] = [
        ("check", Keyword::Check),
        ("run", Keyword::Run),
        ("agent-check", Keyword::AgentCheck),
        ("agent-run", Keyword::AgentRun),
        ("include", Keyword::Include),
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, keyword)| *keyword == self).map_or("", |(word, _)| word)
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, keyword)| *keyword)
    }

    /// Whether a step of this kind has a verb.
    fn has_verb(self) -> bool {
        matches!(self, Self::Check | Self::Run)
    }
}

/// A step as it was written and understood.
#[derive(Clone, Debug)]
pub struct Step {
    /// Unique over a run.
    pub id: String,
    /// The key of the node.
    pub name: String,
    /// The keyword.
    pub keyword: Keyword,
    /// The text behind the keyword.
    pub prose: String,
    /// The verb; the keyword where a step has none.
    pub verb: String,
    /// The verb's method, where it has methods.
    pub method: Option<String>,
    /// Where the step is.
    pub place: Place,
    /// Part of a box it belongs to, when it came from one: `candy`, `box` or `deploy`.
    pub section: Option<String>,
    /// Shared fields.
    pub modifiers: Modifiers,
    /// Every field as written, keyword and verb included.
    pub fields: Value,
    pub(crate) expect: Expect,
    pub(crate) probe: Arc<dyn Probe>,
    /// Places of the body's nodes, depth first; only where a copy of the step will be made.
    pub(crate) places: Arc<[Place]>,
    /// Whether a variable must be known before the step can run.
    pub(crate) is_dynamic: bool,
    /// Variables without argument that the fields use.
    pub(crate) uses: Vec<(String, Place)>,
    /// The server that `mcp_name` names.
    pub(crate) names_server: Option<(String, Place)>,
}

impl Step {
    /// Whether the step is a deterministic probe: a `check:` with a verb, of the kind of which every candy needs one.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.keyword == Keyword::Check
    }

    /// Whether the step will assert something when it runs.
    #[must_use]
    pub fn asserts(&self) -> bool {
        self.is_probe() && self.modifiers.skip.is_none()
    }

    /// The contexts in which the step runs; a live verb that does not say runs in deploy.
    #[must_use]
    pub fn contexts(&self) -> &[Context] {
        let live = verbs::find(&self.verb).is_some_and(Verb::is_live);
        if self.modifiers.context.is_empty() && live { &[Context::Deploy] } else { &self.modifiers.context }
    }

    /// What the step gives to later ones.
    pub(crate) fn captures(&self) -> &[Capture] {
        &self.modifiers.captures
    }
}

/// Whether a node's body makes it a step: it is a map with a keyword.
#[must_use]
pub fn is_step(body: Node<'_>) -> bool {
    body.entries().any(|(key, _)| Keyword::of(key.key_text()).is_some())
}

/// Reads a step; `None` when it is too wrong to be one. Everything wrong is told to `sink`.
pub(crate) fn read(name: Node<'_>, body: Node<'_>, registry: &Registry, sink: &mut Sink<'_>) -> Option<Step> {
    let title = name.key_text();
    if !body.is_mapping() {
        sink.wrong_hint(
            name,
            format!("step `{title}` is a {}, not a map", body.kind_name()),
            "write `check: what is true` and a verb below it",
        );
        return None;
    }
    let (keyword, prose) = keyword(name, body, sink)?;
    let before = sink.count();
    let verb = if keyword.has_verb() { fields::find(name, body, registry, sink) } else { Found::None };
    if keyword.has_verb() {
        fields::check_fields(keyword, body, verb, registry, sink);
    } else {
        fields::without_verb(name, keyword, body, registry, sink);
    }
    let modifiers = modifiers::read(body, sink);
    let expect = expect::read(body, sink);
    let id = match body.get("id") {
        Some(id) => sink.word(id, "id").unwrap_or_default(),
        None => title.to_owned(),
    };
    let (uses, dynamic) = variables(body, verb, sink);
    let names_server =
        body.get("mcp_name").and_then(|node| node.source_text().map(|name| (name.to_owned(), sink.place(node))));
    let (word, read) = match verb {
        Found::Known { verb, key, value, inner } => {
            if sink.dialect == Dialect::Candy && verb.is_live() {
                deploy_only(body.get("context").unwrap_or(key), verb.word(), &modifiers, sink);
            }
            if keyword == Keyword::Check && verb.is_action() {
                sink.wrong_hint(key, format!("`{}` acts and asserts nothing", verb.word()), "use it below `run:`");
            }
            (verb.word().to_owned(), verb.read(value, inner, sink))
        }
        Found::Foreign(key, value) => (key.key_text().to_owned(), Some(verbs::foreign(value, key.key_text()))),
        Found::None if !keyword.has_verb() => (keyword.word().to_owned(), Some(verbs::needs::agent(keyword))),
        Found::None => (String::new(), None),
    };
    let mut places = Vec::new();
    if dynamic || registry.has_providers() {
        places::collect(body, sink, &mut places);
    }
    let read = read.filter(|_| sink.count() == before)?;
    Some(Step {
        id,
        name: title.to_owned(),
        keyword,
        prose,
        verb: word,
        method: read.method,
        place: sink.place(name),
        section: None,
        modifiers,
        fields: body.to_json(),
        expect,
        probe: read.probe,
        places: places.into(),
        is_dynamic: dynamic,
        uses,
        names_server,
    })
}

fn keyword(name: Node<'_>, body: Node<'_>, sink: &mut Sink<'_>) -> Option<(Keyword, String)> {
    let mut found = None;
    for (key, value) in body.entries() {
        let Some(keyword) = Keyword::of(key.key_text()) else { continue };
        if let Some((first, _)) = found {
            let first: Keyword = first;
            sink.wrong(key, format!("a step has one keyword, not `{}` and `{}`", first.word(), keyword.word()));
            return None;
        }
        if keyword == Keyword::Include && sink.dialect == Dialect::Plan {
            sink.wrong_hint(
                key,
                "`include` is no step in a plan of its own",
                "list files under the top-level key `include`",
            );
            return None;
        }
        let what = format!("`{}`", keyword.word());
        found = Some((keyword, sink.word(value, &what).unwrap_or_default()));
    }
    if found.is_none() {
        let near = body.entries().find_map(|(key, _)| {
            nearest(key.key_text(), Keyword::ALL.iter().map(|(word, _)| *word)).map(|near| (key, near))
        });
        match near {
            Some((key, near)) => {
                sink.wrong_hint(key, format!("unknown keyword `{}`", key.key_text()), format!("did you mean `{near}`?"))
            }
            None => sink.wrong_hint(
                name,
                format!("node `{}` has no `check:` or `run:`", name.key_text()),
                "say in words what is true: `check: the server answers`",
            ),
        }
    }
    found
}

/// Live verbs need a box that runs. `at` is what says that there is none.
fn deploy_only(at: Node<'_>, word: &str, modifiers: &Modifiers, sink: &mut Sink<'_>) {
    let contexts = &modifiers.context;
    if !contexts.is_empty() && !contexts.iter().any(|context| matches!(context, Context::Deploy | Context::Runtime)) {
        let message = format!("{word}: verb requires context:\"deploy\"");
        sink.wrong_hint(at, message, "add `deploy` to `context`, or leave `context` out");
    }
}

/// The text with which a live step is skipped where nothing runs.
#[must_use]
pub fn box_skip_text(step: &Step) -> String {
    let method = step.method.as_deref().unwrap_or("probe");
    format!("{}: {method} requires a running container (skip under charly check box)", step.verb)
}

/// The variables that the texts of a step use, and whether there are any. In the text of a shell, which a box runs, `${`
/// may as well be the shell's own.
fn variables(body: Node<'_>, verb: Found<'_>, sink: &mut Sink<'_>) -> (Vec<(String, Place)>, bool) {
    let in_shell = sink.dialect == Dialect::Candy
        && matches!(verb, Found::Known { verb, .. } if verb.is_action() || verb.word() == "command");
    let mut uses = Vec::new();
    let mut dynamic = false;
    places::walk(body, &mut |node| {
        let Some(text) = node.source_text().filter(|text| template::is_dynamic(text)) else { return };
        dynamic = true;
        match template::parts(text) {
            Ok(parts) => {
                for part in parts {
                    if let template::Part::Variable { name, argument: None } = part
                        && !uses.iter().any(|(known, _)| known == name)
                    {
                        uses.push((name.to_owned(), sink.place(node)));
                    }
                }
            }
            Err(_) if in_shell => {}
            Err(why) => sink.wrong(node, why),
        }
    });
    (uses, dynamic)
}
