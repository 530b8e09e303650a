//! What an API server serves.

use crate::{
    Cause, Cluster, ResourceType,
    cluster::decode,
    connection::{Answered, Ask},
};
use pintle_core::nearest;
use serde::Deserialize;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// For so long nobody asks again.
const FRESH: Duration = Duration::from_secs(300);

/// The resource types of one server.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    types: Vec<Served>,
}

#[derive(Clone, Debug)]
struct Served {
    kind: ResourceType,
    singular: String,
    short: Vec<String>,
    verbs: Vec<String>,
    /// Place of its group among the groups, and of its version within: what kubectl prefers comes first.
    order: (usize, usize),
}

/// Why a word names no one resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing is called so; perhaps something that is near.
    Nothing(Option<String>),
    /// Several are: as `plural.group`.
    Several(Vec<String>),
}

/// What was learnt of a server, and when.
#[derive(Default)]
pub(crate) struct Kept {
    known: Mutex<Option<Known>>,
    one_at_a_time: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Known {
    discovery: Arc<Discovery>,
    tags: [Option<String>; 2],
    halves: [Arc<Vec<Served>>; 2],
    at: Instant,
}

impl Discovery {
    /// Every type in its preferred version, in the server's order of groups.
    pub fn types(&self) -> impl Iterator<Item = &ResourceType> {
        let mut seen = BTreeSet::new();
        self.types.iter().map(|served| &served.kind).filter(move |kind| seen.insert((&kind.group, &kind.plural)))
    }

    /// Whether the type takes that verb, such as `list`.
    #[must_use]
    pub fn has_verb(&self, kind: &ResourceType, verb: &str) -> bool {
        self.types.iter().any(|served| served.kind == *kind && served.verbs.iter().any(|known| known == verb))
    }

    /// The type of an `apiVersion` and a kind.
    #[must_use]
    pub fn of_kind(&self, api_version: &str, kind: &str) -> Option<&ResourceType> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.types
            .iter()
            .map(|served| &served.kind)
            .find(|known| known.group == group && known.version == version && known.kind == kind)
    }

    /// The type that a person means: plural, singular, short name or kind, alone or with `.group` or `.version.group`
    /// behind it. Alone, the core group wins, as with kubectl's built-in kinds; among other groups it must be one.
    ///
    /// # Errors
    /// Nothing is called so, or several groups have it.
    pub fn find(&self, word: &str) -> Result<&ResourceType, Unknown> {
        let folded = word.to_lowercase();
        let (name, rest) = match folded.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (folded.as_str(), None),
        };
        let fits = |served: &&Served| {
            let kind = &served.kind;
            let called = kind.plural == name
                || served.singular == name
                || kind.kind.to_lowercase() == name
                || served.short.iter().any(|short| short == name);
            let versioned = || format!("{}.{}", kind.version, kind.group);
            called && rest.is_none_or(|rest| kind.group == rest || versioned().trim_end_matches('.') == rest)
        };
        let mut found: Vec<&Served> = self.types.iter().filter(fits).collect();
        found.sort_by_key(|served| served.order);
        let mut groups: Vec<&Served> = Vec::new();
        for served in found {
            if !groups
                .iter()
                .any(|known| known.kind.group == served.kind.group && known.kind.plural == served.kind.plural)
            {
                groups.push(served);
            }
        }
        // Events live in two groups that serve the same objects; built-in groups come before those of others.
        let built_in = |served: &&&Served| {
            let group = &served.kind.group;
            group.is_empty() || !group.contains('.') || group.ends_with(".k8s.io")
        };
        match groups.as_slice() {
            [] => {
                let names = self.types.iter().flat_map(|s| [s.kind.plural.as_ref(), s.singular.as_str()]);
                Err(Unknown::Nothing(nearest(name, names).map(str::to_owned)))
            }
            [only] => Ok(&only.kind),
            several => match several.iter().filter(built_in).collect::<Vec<_>>().as_slice() {
                [first, ..] if rest.is_none() => Ok(&first.kind),
                _ => Err(Unknown::Several(several.iter().map(|served| served.kind.to_string()).collect())),
            },
        }
    }
}

/// What the server serves: as known, or asked for when that is old or `anew`.
pub(crate) async fn known(cluster: &Cluster, anew: bool) -> Result<Arc<Discovery>, Cause> {
    let kept = &cluster.connection().discovery;
    let asked = Instant::now();
    let fresh = |known: &Known| if anew { known.at > asked } else { known.at.elapsed() < FRESH };
    let look = || kept.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(known) = look().filter(fresh) {
        return Ok(known.discovery);
    }
    let _turn = cluster.bounds().within(kept.one_at_a_time.lock()).await?;
    let before = look();
    if let Some(known) = before.clone().filter(fresh) {
        return Ok(known.discovery);
    }
    let (core, groups) =
        futures::try_join!(half(cluster, "/api", before.as_ref(), 0), half(cluster, "/apis", before.as_ref(), 1))?;
    let mut types: Vec<Served> = core.0.iter().cloned().collect();
    types.extend(groups.0.iter().cloned().map(|mut served| {
        served.order.0 += 1;
        served
    }));
    types.sort_by(|a, b| a.order.cmp(&b.order).then_with(|| a.kind.cmp(&b.kind)));
    let discovery = Arc::new(Discovery { types });
    let known = Known {
        discovery: Arc::clone(&discovery),
        tags: [core.1, groups.1],
        halves: [core.0, groups.0],
        at: Instant::now(),
    };
    *kept.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
    Ok(discovery)
}

async fn half(
    cluster: &Cluster,
    path: &str,
    before: Option<&Known>,
    index: usize,
) -> Result<(Arc<Vec<Served>>, Option<String>), Cause> {
    let etag = before.and_then(|known| known.tags[index].as_deref());
    let ask = Ask { path, accept: Ask::DISCOVERY, etag };
    let Answered { body, etag: tag, unchanged } = cluster.connection().get(&cluster.bounds(), ask).await?;
    if let Some(before) = before.filter(|_| unchanged) {
        return Ok((Arc::clone(&before.halves[index]), before.tags[index].clone()));
    }
    let listed: Listed = decode(path, body).await?;
    let types = match listed.kind.as_str() {
        "APIGroupDiscoveryList" => aggregated(listed.items),
        "APIVersions" | "APIGroupList" => one_by_one(cluster, listed).await?,
        _ => {
            let why = "it is no discovery document".to_owned();
            return Err(Cause::BadAnswer { path: path.to_owned(), why });
        }
    };
    Ok((Arc::new(types), tag))
}

/// Of all forms that the two paths have.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Listed {
    kind: String,
    items: Vec<Group>,
    versions: Vec<String>,
    groups: Vec<OldGroup>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Group {
    metadata: Named,
    versions: Vec<Version>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Version {
    version: String,
    resources: Vec<ServedResource>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ServedResource {
    resource: String,
    response_kind: Option<Kind>,
    scope: String,
    singular_resource: String,
    verbs: Vec<String>,
    short_names: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Kind {
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OldGroup {
    name: String,
    preferred_version: OldVersion,
    versions: Vec<OldVersion>,
}

#[derive(Default, Deserialize, PartialEq)]
#[serde(default)]
struct OldVersion {
    version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OldResources {
    resources: Vec<OldResource>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct OldResource {
    name: String,
    singular_name: String,
    namespaced: bool,
    kind: String,
    verbs: Vec<String>,
    short_names: Vec<String>,
}

fn aggregated(groups: Vec<Group>) -> Vec<Served> {
    let mut all = Vec::new();
    for (place, group) in groups.into_iter().enumerate() {
        for (rank, version) in group.versions.into_iter().enumerate() {
            all.extend(version.resources.into_iter().map(|resource| {
                let kind = ResourceType {
                    group: group.metadata.name.clone().into(),
                    version: version.version.clone().into(),
                    plural: resource.resource.into(),
                    kind: resource.response_kind.unwrap_or_default().kind.into(),
                    namespaced: resource.scope == "Namespaced",
                };
                Served {
                    singular: singular(resource.singular_resource, &kind),
                    kind,
                    short: resource.short_names,
                    verbs: resource.verbs,
                    order: (place, rank),
                }
            }));
        }
    }
    all
}

/// Servers before 1.26 tell each version by itself.
async fn one_by_one(cluster: &Cluster, listed: Listed) -> Result<Vec<Served>, Cause> {
    let mut wanted: Vec<(String, String, (usize, usize))> = Vec::new();
    for (rank, version) in listed.versions.into_iter().enumerate() {
        wanted.push((String::new(), version, (0, rank)));
    }
    for (place, mut group) in listed.groups.into_iter().enumerate() {
        let preferred = std::mem::take(&mut group.preferred_version);
        group.versions.sort_by_key(|version| *version != preferred);
        for (rank, version) in group.versions.into_iter().enumerate() {
            wanted.push((group.name.clone(), version.version, (place, rank)));
        }
    }
    let asked = wanted.into_iter().map(|(group, version, order)| async move {
        let root = ResourceType {
            group: group.into(),
            version: version.into(),
            plural: "".into(),
            kind: "".into(),
            namespaced: false,
        };
        let path = root.path(None).trim_end_matches('/').to_owned();
        let resources: OldResources = match cluster.body(&path, Ask::JSON).await {
            Ok(body) => decode(&path, body).await?,
            // An API whose own server is away: the others are still there.
            Err(Cause::Busy { .. } | Cause::NotFound { .. }) => OldResources::default(),
            Err(cause) => return Err(cause),
        };
        let all = resources.resources.into_iter().filter(|resource| !resource.name.contains('/'));
        let served = all.map(|resource| {
            let kind = ResourceType {
                plural: resource.name.into(),
                kind: resource.kind.into(),
                namespaced: resource.namespaced,
                ..root.clone()
            };
            Served {
                singular: singular(resource.singular_name, &kind),
                kind,
                short: resource.short_names,
                verbs: resource.verbs,
                order,
            }
        });
        Ok(served.collect::<Vec<_>>())
    });
    Ok(futures::future::try_join_all(asked).await?.concat())
}

fn singular(told: String, kind: &ResourceType) -> String {
    if told.is_empty() { kind.kind.to_lowercase() } else { told }
}
