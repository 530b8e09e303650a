//! Verb words resolve here to whoever carries a step out: one of ours, or a provider in a process of its own. Both
//! get the whole step and a snapshot of what was resolved for it, and answer with a verdict.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::judge;
use crate::model::{Dialect, Server, Step};
use crate::outcome::Mismatch;
use crate::runner::sessions::Sessions;
use crate::target::Target;
use crate::verbs::{self, Allowance, Scene};

/// What was resolved for a step before its provider is called: no provider needs an engine, a label or a port map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// What the step is run against, for people.
    pub target: String,
    /// Where the step was written.
    pub dialect: Dialect,
    /// Folder that relative files of the plan start at.
    pub directory: PathBuf,
    /// Every declared server, resolved.
    pub servers: Vec<Server>,
    /// The one that the step is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<Server>,
    /// Why there is no such one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint_problem: Option<String>,
    /// Whether snapshots are written instead of compared.
    #[serde(default)]
    pub update: bool,
}

/// A step to carry out.
pub struct Invocation<'a> {
    /// The whole step, variables replaced.
    pub step: &'a Step,
    /// What was resolved for it.
    pub snapshot: &'a Snapshot,
    /// What it is run against.
    pub target: &'a dyn Target,
    /// Ends it.
    pub cancel: &'a CancellationToken,
    /// Its limit as people know it.
    pub limit: Duration,
    /// What is left of it.
    pub left: Duration,
    pub(crate) sessions: Option<&'a Sessions>,
}

/// How a provider found a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictStatus {
    /// It holds.
    #[default]
    Pass,
    /// It does not hold.
    Fail,
    /// It does not apply here.
    Skip,
    /// It could not be judged.
    Error,
}

/// A provider's answer. Only `status` and `message` are required of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// How it was found.
    pub status: VerdictStatus,
    /// Why, in one fragment; empty when it holds.
    pub message: String,
    /// Every assertion that does not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
    /// What was given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The error text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Things worth knowing that fail nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What later steps may use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub captures: BTreeMap<String, Value>,
    /// The endpoint that was talked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

impl Verdict {
    /// A verdict without more than its reason.
    #[must_use]
    pub fn new(status: VerdictStatus, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), ..Self::default() }
    }
}

/// Carries steps out.
pub trait Provider: Send + Sync {
    /// Carries one out, matchers included. Never fails the run: what goes wrong is a verdict.
    fn invoke<'a>(&'a self, call: Invocation<'a>) -> BoxFuture<'a, Verdict>;
}

/// The verbs of this crate, in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Provider for BuiltIn {
    fn invoke<'a>(&'a self, call: Invocation<'a>) -> BoxFuture<'a, Verdict> {
        async move {
            let time = Allowance { limit: call.limit, ..Allowance::of(call.left) };
            let scene = Scene {
                snapshot: call.snapshot,
                target: call.target,
                sessions: call.sessions,
                cancel: call.cancel,
                time,
            };
            judge::judge(call.step, call.step.probe.observe(&scene).await)
        }
        .boxed()
    }
}

/// Who carries out which verb.
#[derive(Clone, Default)]
pub struct Registry {
    providers: BTreeMap<String, Arc<dyn Provider>>,
}

impl Registry {
    /// The verbs of this crate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a provider carry out a verb: one of ours, or a word that only it knows.
    #[must_use]
    pub fn provide(mut self, word: impl Into<String>, provider: Arc<dyn Provider>) -> Self {
        self.providers.insert(word.into(), provider);
        self
    }

    /// Who carries out a verb.
    #[must_use]
    pub fn resolve(&self, word: &str) -> Arc<dyn Provider> {
        self.providers.get(word).cloned().unwrap_or_else(|| Arc::new(BuiltIn))
    }

    /// Every verb word that a plan may use.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let own = verbs::ALL.iter().map(|verb| verb.word());
        own.chain(self.providers.keys().map(String::as_str).filter(|word| verbs::find(word).is_none()))
    }

    /// Whether a step may be carried out by anybody but us.
    pub(crate) fn has_providers(&self) -> bool {
        !self.providers.is_empty()
    }

    /// Whether only a provider knows the word.
    pub(crate) fn is_foreign(&self, word: &str) -> bool {
        self.providers.contains_key(word) && verbs::find(word).is_none()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.providers.keys()).finish()
    }
}
