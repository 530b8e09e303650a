//! The toolsets of this build, by name.

use crate::personality::Personality;
use pintle_charly::{Host, leaves};
use pintle_core::{Code, Failure, Toolset, nearest};
use std::sync::Arc;

/// Everything that `--toolset` takes.
pub(crate) const NAMES: [&str; 5] = ["charly", "ops", "deploy", "eggs", "extra"];

/// The toolsets of those names, in that order, each once.
///
/// # Errors
/// Code `invalid_argument` for a name that is not known, `unavailable` for one without operations in this build.
pub(crate) fn toolsets(names: &[String], host: &Arc<Host>) -> Result<Vec<Toolset>, Failure> {
    let mut all: Vec<Toolset> = Vec::new();
    for name in names {
        let toolset = match name.as_str() {
            "charly" => pintle_charly::toolset(Arc::clone(host)),
            "extra" => pintle_charly::extra(Arc::clone(host)),
            other => return Err(absent(other)),
        };
        if !all.iter().any(|known| known.name == toolset.name) {
            all.push(toolset);
        }
    }
    Ok(all)
}

/// Everything that works in this build, with what we add to it.
pub(crate) fn all(host: &Arc<Host>) -> Vec<Toolset> {
    vec![pintle_charly::toolset(Arc::clone(host)), pintle_charly::extra(Arc::clone(host))]
}

/// Names of the toolsets that a server offers when nobody says which.
pub(crate) fn usual() -> Vec<String> {
    let working = Personality::ALL.into_iter().filter(|personality| personality.works());
    working.map(|personality| personality.toolset().to_owned()).collect()
}

fn absent(name: &str) -> Failure {
    if let Some(personality) = Personality::ALL.into_iter().find(|p| p.toolset() == name) {
        return Failure::new(
            Code::Unavailable,
            format!("toolset `{}` has no operations in this build", personality.toolset()),
        )
        .hint("`pintle doctor` tells which toolsets can work here");
    }
    let failure = Failure::new(Code::InvalidArgument, format!("unknown toolset `{name}`"));
    match nearest(name, NAMES) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("there are {}", NAMES.join(", "))),
    }
}

/// How many leaves of the seed's tree are not there yet, for the start-up line.
pub(crate) fn missing_leaves(toolsets: &[Toolset]) -> Option<usize> {
    toolsets.iter().find(|toolset| toolset.name == "charly").map(|toolset| leaves::missing(toolset).len())
}
