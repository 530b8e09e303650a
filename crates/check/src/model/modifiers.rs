//! Fields that every step may have, whatever its verb.

use std::time::Duration;

use pintle_yaml::Node;
use serde::{Deserialize, Serialize};

use super::capture::{self, Capture};
use super::sink::Sink;
use crate::pattern::Pattern;

/// Where a step runs in the life of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// While the image is built.
    Build,
    /// Against a deployed box.
    Deploy,
    /// Against a running box.
    Runtime,
}

impl Context {
    const WORDS: [(&'static str, Context); 3] =
        [("build", Context::Build), ("deploy", Context::Deploy), ("runtime", Context::Runtime)];
}

/// Why a step is not to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// `skip: true`
    Plain,
    /// `skip: REASON`
    Because(String),
}

/// The shared fields of a step but its assertions.
#[derive(Clone, Debug, Default)]
pub struct Modifiers {
    /// Where the step runs; empty when it does not say.
    pub context: Vec<Context>,
    /// Limit of one attempt.
    pub timeout: Option<Duration>,
    /// How long the step is tried again until it passes.
    pub eventually: Option<Duration>,
    /// Pause between attempts.
    pub retry_interval: Option<Duration>,
    /// Whether and why the step is left out.
    pub skip: Option<Skip>,
    /// Systems on which the step is left out, as `debian` or `fedora:43`.
    pub exclude_distro: Vec<String>,
    /// Words for people and filters.
    pub tag: Vec<String>,
    /// IDs of steps that must have passed.
    pub depends_on: Vec<(String, pintle_yaml::Place)>,
    /// What later steps may use.
    pub captures: Vec<Capture>,
    /// What is masked in everything that is shown of the step.
    pub(crate) mask: Vec<Pattern>,
}

/// Their names, in the order in which the manual tells them.
pub(crate) const FIELDS: &[&str] = &[
    "id",
    "context",
    "timeout",
    "eventually",
    "retry_interval",
    "skip",
    "exclude_distro",
    "tag",
    "depends_on",
    "capture",
    "mask",
];

/// Reads them from the body of a step.
pub(crate) fn read(body: Node<'_>, sink: &mut Sink<'_>) -> Modifiers {
    let mut read = Modifiers::default();
    for (key, node) in body.entries() {
        match key.key_text() {
            "context" => read.context = contexts(node, sink),
            "timeout" => read.timeout = sink.duration(node, "timeout"),
            "eventually" => read.eventually = sink.duration(node, "eventually"),
            "retry_interval" => {
                read.retry_interval = sink.duration(node, "retry_interval");
                if body.get("eventually").is_none() {
                    sink.wrong_hint(key, "`retry_interval` without `eventually`", "add `eventually: 30s`");
                }
            }
            "skip" => read.skip = skip(node, sink),
            "exclude_distro" => read.exclude_distro = sink.words(node, "exclude_distro"),
            "tag" => read.tag = sink.words(node, "tag"),
            "depends_on" => {
                for item in sink.list(node, "depends_on") {
                    if let Some(id) = sink.word(item, "depends_on") {
                        read.depends_on.push((id, sink.place(item)));
                    }
                }
            }
            "capture" => read.captures = capture::read(node, sink),
            "mask" => {
                read.mask = sink.list(node, "mask").into_iter().filter_map(|item| sink.pattern(item, "mask")).collect();
            }
            _ => {}
        }
    }
    read
}

fn contexts(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<Context> {
    let mut contexts = Vec::new();
    if let Some(word) = node.source_text().filter(|word| !word.is_empty()) {
        sink.wrong_hint(node, "context must be a list, not one word", format!("write `context: [{word}]`"));
        return contexts;
    }
    for item in sink.list(node, "context") {
        let Some(word) = sink.word(item, "context") else { continue };
        match Context::WORDS.iter().find(|(known, _)| *known == word) {
            Some((_, context)) => contexts.push(*context),
            None => sink.unknown(item, "context", &word, Context::WORDS.iter().map(|(known, _)| *known)),
        }
    }
    contexts
}

fn skip(node: Node<'_>, sink: &mut Sink<'_>) -> Option<Skip> {
    match node.as_bool() {
        Some(true) => Some(Skip::Plain),
        Some(false) => None,
        None => sink.word(node, "skip").map(Skip::Because),
    }
}
