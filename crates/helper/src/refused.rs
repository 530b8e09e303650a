//! Why nothing was started. Every text is a lower-case fragment that follows the name of the program.

use std::{io, path::PathBuf};

use pintle_packfile::{Problem, Refusal, trust::Untrusted};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum Refused {
    #[error("takes `run PACK.VERB`, and one line {{\"arguments\": {{…}}}} on standard input")]
    Usage,
    #[error("must be started as root, by a rule of sudo or doas")]
    NotRoot,
    #[error("descriptor {0} is open, and only 0, 1 and 2 may be")]
    Descriptor(i32),
    #[error("`{0}` is not of the form PACK.VERB")]
    Name(String),
    #[error("no pack `{0}` on this system that may run as root")]
    NoPack(String),
    #[error("the pack `{name}` cannot be used: {}", listed(.problems))]
    Pack { name: String, problems: Vec<Problem> },
    #[error("the pack `{pack}` has no verb `{verb}`")]
    NoVerb { pack: String, verb: String },
    #[error("`{0}` does not run as root with these arguments")]
    NotElevated(String),
    #[error("the request {0}")]
    Request(&'static str),
    #[error("the request is not the JSON that was expected: {0}")]
    Json(serde_json::Error),
    #[error("the arguments are refused: {}", listed(.0))]
    Arguments(Vec<Refusal>),
    #[error("{0}")]
    Untrusted(#[from] Untrusted),
    #[error("`{}` must be root's alone before anything runs as root: {why}", path.display())]
    Guard { path: PathBuf, why: String },
    // Whoever called tells this one by its first word.
    #[error(
        "busy: the lane `{lane}` of `{pack}` is taken on this machine, by another user or a run that is about to end"
    )]
    Busy { pack: String, lane: String },
    #[error("no program that may run as root: {}", .0.join("; "))]
    NoProgram(Vec<String>),
    #[error("`start` is for the helper itself")]
    NotOurs,
    #[error("{what}: {source}")]
    System { what: String, source: io::Error },
}

impl Refused {
    /// What the system refused, and why.
    pub fn system<E: Into<io::Error>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |source| Self::System { what, source: source.into() }
    }
}

fn listed<T: ToString>(all: &[T]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
