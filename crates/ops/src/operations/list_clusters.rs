//! `list_clusters`

use crate::{Host, reading::OLD_FORMS};
use pintle_core::{Answer, Call, Code, CutRows, Failure, Query, Row, Rows, Scope, Spellings, Stop, View};
use pintle_fleet::{Identity, Kubeconfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// List the contexts of the kubeconfig; no cluster is contacted.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[schemars(extend("x-cli" = {"command": "clusters list"}))]
#[serde(default)]
pub(crate) struct ListClusters {
    /// Where from
    #[schemars(extend("x-cli" = {"common": true}))]
    source: Source,
}

/// Where clusters come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Source {
    #[default]
    All,
    Kubeconfig,
    Kubestellar,
}

/// The clusters.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Clusters {
    /// The current context, if one is set and there
    #[serde(skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    clusters: Rows<Listed>,
    /// What is odd about the kubeconfig
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What to do where there is none
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// A cluster.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// Context, as `clusters` takes it
    name: String,
    current: bool,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    /// Context that leads to the same cluster
    #[serde(skip_serializing_if = "Option::is_none")]
    same_as: Option<String>,
    /// `unknown`, since nobody was asked; or what makes the entry useless
    status: String,
}

impl Row for Listed {
    fn key(&self) -> String {
        self.name.clone()
    }
}

impl Answer for Clusters {
    fn view(&self) -> View {
        let notes = self.notes.join("\n");
        if self.clusters.is_empty() {
            let hint = self.hint.as_deref().map(|hint| format!(": {hint}")).unwrap_or_default();
            return View::text(format!("no clusters found{hint}\n{notes}"));
        }
        let rows = self.clusters.iter().map(|cluster| {
            let mut status = cluster.status.clone();
            if let Some(other) = &cluster.same_as {
                status.push_str(&format!(" (same cluster as {other})"));
            }
            vec![
                if cluster.current { "*" } else { "" }.to_owned(),
                cluster.name.clone(),
                cluster.source.to_owned(),
                cluster.server.clone().unwrap_or_default(),
                status,
            ]
        });
        let table = View::table(["CURRENT", "NAME", "SOURCE", "SERVER", "STATUS"], rows.collect::<Vec<_>>());
        if notes.is_empty() { table } else { table.and_text(notes) }
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.clusters)
    }
}

impl Query for ListClusters {
    type Host = Host;
    type Answer = Clusters;
    const NAME: &'static str = "list_clusters";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Clusters, Stop> {
        if self.source == Source::Kubestellar {
            let failure = Failure::new(Code::Unavailable, "source `kubestellar`: not implemented; nothing was asked");
            return Err(failure.hint("`kubeconfig` lists the contexts of the kubeconfig").into());
        }
        let kubeconfig = host.fleet().kubeconfig().await?;
        if kubeconfig.is_absent() {
            return Err(kubeconfig.without_contexts().into());
        }
        Ok(listed(&kubeconfig, |name| call.allows(&Scope::cluster(name)).is_ok()))
    }
}

/// What the kubeconfig lists; contexts that `allowed` refuses are left out and told.
pub(crate) fn listed(kubeconfig: &Kubeconfig, allowed: impl Fn(&str) -> bool) -> Clusters {
    let current = kubeconfig.current.as_deref();
    let mut first: HashMap<Identity, &str> = HashMap::new();
    // The current context gives the cluster its name, as it does where globs are merged.
    for name in current.into_iter().chain(kubeconfig.names()) {
        if let Some(identity) = kubeconfig.cluster_of(name).and_then(Identity::of) {
            first.entry(identity).or_insert(name);
        }
    }
    let mut notes = kubeconfig.notes.clone();
    let mut denied = Vec::new();
    let mut clusters = Vec::new();
    for (name, context) in &kubeconfig.contexts {
        if !allowed(name) {
            denied.push(name.as_str());
            continue;
        }
        let entry = kubeconfig.cluster_of(name);
        let same = entry.and_then(Identity::of).and_then(|identity| first.get(&identity).copied());
        clusters.push(Listed {
            name: name.clone(),
            current: current == Some(name.as_str()),
            source: "kubeconfig",
            server: entry.map(|entry| entry.server.clone()),
            user: Some(context.user.clone()).filter(|user| !user.is_empty()),
            namespace: context.namespace.clone(),
            same_as: same.filter(|same| same != name).map(str::to_owned),
            status: broken(kubeconfig, name).unwrap_or_else(|| "unknown".to_owned()),
        });
    }
    if !denied.is_empty() {
        notes.push(format!("left out, because policy denies them: {}", denied.join(", ")));
    }
    if let Some(current) = current.filter(|current| !kubeconfig.contexts.contains_key(*current)) {
        notes.push(format!("the current context `{current}` is not there"));
    }
    let hint = clusters.is_empty().then(|| {
        let failure = kubeconfig.without_contexts();
        [vec![failure.message], failure.hints].concat().join("; ")
    });
    Clusters {
        current: current.filter(|current| kubeconfig.contexts.contains_key(*current)).map(str::to_owned),
        clusters: Rows::new(clusters),
        notes,
        hint,
    }
}

/// Why a context can lead nowhere, whatever its cluster does.
pub(crate) fn broken(kubeconfig: &Kubeconfig, context: &str) -> Option<String> {
    let entry = kubeconfig.contexts.get(context)?;
    if !kubeconfig.clusters.contains_key(&entry.cluster) {
        return Some(format!("broken: there is no cluster entry `{}`", entry.cluster));
    }
    if !entry.user.is_empty() && !kubeconfig.users.contains_key(&entry.user) {
        return Some(format!("broken: there is no user entry `{}`", entry.user));
    }
    None
}
