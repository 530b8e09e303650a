//! The toolsets of this build, by name.

use crate::{clusters, eggs, house, personality::Personality, project::Project};
use pintle_charly::leaves;
use pintle_core::{Code, Failure, Toolset, nearest};
use pintle_dispatch::StateFolder;
use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

/// Everything that `--toolset` takes.
pub(crate) const NAMES: [&str; 5] = ["charly", "ops", "deploy", "eggs", "extra"];

/// What the toolsets act on. Making one reads no kubeconfig and contacts nobody.
#[derive(Clone)]
pub(crate) struct Hosts {
    pub(crate) boxes: Arc<pintle_charly::Host>,
    pub(crate) clusters: Arc<pintle_ops::Host>,
    packs: Arc<OnceLock<Arc<pintle_pack::Host>>>,
    state: StateFolder,
}

impl Hosts {
    /// As flags and surroundings say, keeping state below `state`.
    ///
    /// # Errors
    /// When a folder that was named is not there, or a flag of clusters has no meaning.
    pub(crate) fn of(project: &Project, clusters: &clusters::Said, state: &Path) -> Result<Self, Failure> {
        let state_folder = StateFolder::at(state);
        Ok(Self { boxes: project.host(state)?, clusters: clusters.host()?, packs: Arc::default(), state: state_folder })
    }

    /// The packs, read when they are first asked for.
    pub(crate) fn packs(&self) -> &Arc<pintle_pack::Host> {
        self.packs.get_or_init(|| {
            let surroundings = pintle_pack::Surroundings::of_process(Some(self.state.clone()));
            Arc::new(pintle_pack::Host::new(surroundings))
        })
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
    let named = |name: &str| names.iter().any(|known| known == name);
    let wanted = |name: &str| !others || named(name);
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
            // A pack brings what it has beyond its seed itself.
            pack if hosts.packs().pack(pack).is_ok() => {
                all.push(pintle_pack::toolset(hosts.packs(), pack, named("extra"))?);
            }
            other => return Err(absent(other, hosts)),
        }
    }
    // Who serves nothing that becomes a job offers nothing to do with jobs; to be read they are everywhere.
    let mut tools = all.iter().flat_map(|toolset| &toolset.tools);
    if named("extra") && (!others || tools.any(|tool| tool.spec().job.is_some())) {
        all.push(house::jobs(Some(hosts.state.clone())));
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

/// The pack of eggs, with what is there on request only.
///
/// # Errors
/// When the operator's own form of it does not hold together.
pub(crate) fn eggs(hosts: &Hosts) -> Result<Toolset, Failure> {
    pintle_pack::toolset(hosts.packs(), Personality::Eggs.toolset(), true)
}

/// Everything that works in this build, with what we add to it. A pack that does not hold together is told where it is
/// asked for.
pub(crate) fn all(hosts: &Hosts) -> Vec<Toolset> {
    boxes(hosts).into_iter().chain(clusters(hosts)).chain(eggs(hosts)).collect()
}

/// The word behind `pintle` under which people find the tools of a toolset.
pub(crate) fn word_of(toolset: &Toolset) -> &'static str {
    let is_it = |personality: &Personality| {
        personality.program() == toolset.server_name || personality.toolset() == toolset.name
    };
    let of = Personality::ALL.into_iter().find(is_it);
    of.map_or("charly", Personality::toolset)
}

/// Names of the toolsets that a server offers when nobody says which: what can work here.
pub(crate) fn usual() -> Vec<String> {
    let here = |personality: &Personality| *personality != Personality::Eggs || eggs::seem_here();
    let working = Personality::ALL.into_iter().filter(|personality| personality.works()).filter(here);
    working.map(|personality| personality.toolset().to_owned()).collect()
}

fn absent(name: &str, hosts: &Hosts) -> Failure {
    // One that is there and does not hold together says what is wrong.
    if let Err(failure) = hosts.packs().pack(name)
        && failure.code == Code::Invalid
    {
        return failure;
    }
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
