//! The toolsets of this build, by name.

use crate::{clusters, personality::Personality, project::Project};
use pintle_charly::leaves;
use pintle_core::{Code, Failure, Toolset, nearest};
use std::{path::Path, sync::Arc};

/// Everything that `--toolset` takes.
pub(crate) const NAMES: [&str; 5] = ["charly", "ops", "deploy", "eggs", "extra"];

/// What the toolsets act on. Making one reads no kubeconfig and contacts nobody.
#[derive(Clone)]
pub(crate) struct Hosts {
    pub(crate) boxes: Arc<pintle_charly::Host>,
    pub(crate) clusters: Arc<pintle_ops::Host>,
}

impl Hosts {
    /// As flags and surroundings say, keeping state below `state`.
    ///
    /// # Errors
    /// When a folder that was named is not there, or a flag of clusters has no meaning.
    pub(crate) fn of(project: &Project, clusters: &clusters::Said, state: &Path) -> Result<Self, Failure> {
        Ok(Self { boxes: project.host(state)?, clusters: clusters.host()? })
    }
}

/// The toolsets of those names, in that order, each once. `extra` holds what belongs to the others that are named;
/// alone it holds everything.
///
/// # Errors
/// Code `invalid_argument` for a name that is not known, `unavailable` for one without operations in this build.
pub(crate) fn toolsets(names: &[String], hosts: &Hosts) -> Result<Vec<Toolset>, Failure> {
    let mut all: Vec<Toolset> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let others = names.iter().any(|name| name != "extra");
    let wanted = |name: &str| !others || names.iter().any(|known| known == name);
    for name in names {
        if seen.contains(&name.as_str()) {
            continue;
        }
        seen.push(name);
        match name.as_str() {
            "charly" => all.push(pintle_charly::toolset(Arc::clone(&hosts.boxes))),
            "ops" => all.push(pintle_ops::toolset(Arc::clone(&hosts.clusters))),
            "extra" => {
                all.extend(wanted("charly").then(|| pintle_charly::extra(Arc::clone(&hosts.boxes))));
                all.extend(wanted("ops").then(|| pintle_ops::extra(&hosts.clusters)));
            }
            other => return Err(absent(other)),
        }
    }
    Ok(all)
}

/// Boxes, with what we add to them.
pub(crate) fn boxes(hosts: &Hosts) -> Vec<Toolset> {
    vec![pintle_charly::toolset(Arc::clone(&hosts.boxes)), pintle_charly::extra(Arc::clone(&hosts.boxes))]
}

/// Clusters, with what we add to them.
pub(crate) fn clusters(hosts: &Hosts) -> Vec<Toolset> {
    vec![pintle_ops::toolset(Arc::clone(&hosts.clusters)), pintle_ops::extra(&hosts.clusters)]
}

/// Everything that works in this build, with what we add to it.
pub(crate) fn all(hosts: &Hosts) -> Vec<Toolset> {
    boxes(hosts).into_iter().chain(clusters(hosts)).collect()
}

/// The word behind `pintle` under which people find the tools of a toolset.
pub(crate) fn word_of(toolset: &Toolset) -> &'static str {
    let of = Personality::ALL.into_iter().find(|personality| personality.program() == toolset.server_name);
    of.map_or("charly", Personality::toolset)
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
