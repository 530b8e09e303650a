//! A plan file.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pintle_core::nearest;
use pintle_yaml::Node;

use super::Dialect;
use super::server::{self, Server};
use super::sink::Sink;
use super::step::{self, Step};
use super::template;
use crate::registry::Registry;

/// A plan file as it was read.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The file, as given on the command line.
    pub file: String,
    /// Its folder.
    pub directory: PathBuf,
    /// Its text.
    pub source: String,
    /// What is asked of its steps.
    pub dialect: Dialect,
    /// Servers, those of included files included.
    pub servers: Vec<Server>,
    /// Variables, those of included files included.
    pub vars: Vec<(String, String)>,
    /// Limit for all of its steps together.
    pub timeout: Option<Duration>,
    /// Its own steps in their order.
    pub steps: Vec<Arc<Step>>,
}

/// Everything that one run is about: plans in the order given, included ones before those that include them.
#[derive(Clone, Debug, Default)]
pub struct PlanSet {
    /// The plans.
    pub plans: Vec<Plan>,
}

impl PlanSet {
    /// Every step, in report order.
    pub fn steps(&self) -> impl Iterator<Item = &Arc<Step>> {
        self.plans.iter().flat_map(|plan| &plan.steps)
    }
}

/// What is read from one file before files are put together.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) plan: Plan,
    /// Included files as written, with their places.
    pub(crate) include: Vec<(String, pintle_yaml::Place)>,
}

/// Top-level keys that are no steps.
pub(crate) const RESERVED: &[&str] = &["version", "include", "servers", "timeout", "vars"];

/// Reads the top level of a stand-alone plan.
pub(crate) fn read(root: Node<'_>, plan: Plan, registry: &Registry, sink: &mut Sink<'_>) -> Read {
    let mut read = Read { plan, include: Vec::new() };
    if !root.is_mapping() {
        let what = if root.is_null() { "empty" } else { "no map of steps" };
        sink.wrong_hint(root, format!("the plan is {what}"), "write `NAME:` with `check:` and a verb below it");
        return read;
    }
    for (key, value) in root.entries() {
        match key.key_text() {
            "version" => {
                sink.word(value, "version");
            }
            "include" => {
                for item in sink.list(value, "include") {
                    if let Some(file) = sink.word(item, "include") {
                        read.include.push((file, sink.place(item)));
                    }
                }
            }
            "servers" => read.plan.servers = server::read_all(value, sink),
            "timeout" => read.plan.timeout = sink.duration(value, "timeout"),
            "vars" => read.plan.vars = vars(value, sink),
            name => {
                if refuse_list(key, value, sink) || misspelt(key, value, sink) {
                    continue;
                }
                if name.is_empty() {
                    sink.wrong(key, "a step needs a name");
                    continue;
                }
                read.plan.steps.extend(step::read(key, value, registry, sink).map(Arc::new));
            }
        }
    }
    read
}

/// There is no list of steps: says what to do instead. True when told.
pub(crate) fn refuse_list(key: Node<'_>, value: Node<'_>, sink: &mut Sink<'_>) -> bool {
    let listed = value.is_sequence();
    if key.key_text() == "plan" && !step::is_step(value) {
        sink.wrong_hint(
            key,
            "there is no `plan` key: steps are nodes with a name",
            "write each step at the top level as `NAME: {check: …}`",
        );
        return true;
    }
    if listed && matches!(key.key_text(), "steps" | "checks" | "tests") {
        sink.wrong_hint(
            key,
            format!("there is no list `{}`: steps are nodes with a name", key.key_text()),
            "write each step at the top level as `NAME: {check: …}`",
        );
        return true;
    }
    false
}

/// A reserved key with a typo, told apart from a step by its value. True when told.
fn misspelt(key: Node<'_>, value: Node<'_>, sink: &mut Sink<'_>) -> bool {
    if step::is_step(value) {
        return false;
    }
    match nearest(key.key_text(), RESERVED.iter().copied()) {
        Some(near) => {
            sink.wrong_hint(key, format!("unknown key `{}`", key.key_text()), format!("did you mean `{near}`?"));
            true
        }
        None => false,
    }
}

fn vars(node: Node<'_>, sink: &mut Sink<'_>) -> Vec<(String, String)> {
    let mut vars = Vec::new();
    for (key, value) in sink.map(node, "vars") {
        let name = key.key_text();
        if !template::is_name(name) || matches!(name, "env" | "file") {
            sink.wrong_hint(key, format!("`{name}` is no name for a variable"), "letters, digits and `_`");
            continue;
        }
        let Some(text) = sink.text(value, &format!("variable `{name}`")) else { continue };
        if let Err(why) = template::parts(&text) {
            sink.wrong(value, why);
        }
        vars.push((name.to_owned(), text));
    }
    vars
}
