//! `find_resource_owners`

use crate::{
    Host,
    diagnosis::{OLD_FORMS, aside},
    reading::{Denied, absent, select},
    rules::{
        owners::{Ownership, ownership},
        roll_up::Owners,
    },
    slim::Described,
};
use pintle_core::{Answer, Call, CutRows, Failure, Outcome, Query, Row, Spellings, Stop, View};
use pintle_fleet::{Cluster, ClusterError, Fanned, FleetRow, Found, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Kinds whose objects may own others or be deployed by somebody.
static KINDS: [ResourceType; 11] = [
    ResourceType::DEPLOYMENTS,
    ResourceType::REPLICA_SETS,
    ResourceType::STATEFUL_SETS,
    ResourceType::DAEMON_SETS,
    ResourceType::JOBS,
    ResourceType::CRON_JOBS,
    ResourceType::PODS,
    ResourceType::SERVICES,
    ResourceType::INGRESSES,
    ResourceType::CONFIG_MAPS,
    ResourceType::PERSISTENT_VOLUME_CLAIMS,
];

/// Kinds that own pods: read beside them so that chains can be followed.
static OWNING: [ResourceType; 2] = [ResourceType::REPLICA_SETS, ResourceType::JOBS];

/// Which kinds are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kinds {
    /// All of them.
    #[default]
    All,
    Pods,
    Deployments,
    Services,
    StatefulSets,
    DaemonSets,
    ReplicaSets,
    Jobs,
    CronJobs,
    Ingresses,
    ConfigMaps,
    PersistentVolumeClaims,
}

impl Kinds {
    fn includes(self, kind: &ResourceType) -> bool {
        let plural = match self {
            Self::All => return true,
            Self::Pods => "pods",
            Self::Deployments => "deployments",
            Self::Services => "services",
            Self::StatefulSets => "statefulsets",
            Self::DaemonSets => "daemonsets",
            Self::ReplicaSets => "replicasets",
            Self::Jobs => "jobs",
            Self::CronJobs => "cronjobs",
            Self::Ingresses => "ingresses",
            Self::ConfigMaps => "configmaps",
            Self::PersistentVolumeClaims => "persistentvolumeclaims",
        };
        kind.plural == plural
    }
}

/// Tell who keeps a namespace's objects: tool, field manager, owners, team.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct FindResourceOwners {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: String,
    /// Kind of objects
    #[serde(default)]
    #[schemars(extend("x-cli" = {"common": true}))]
    resource_type: Kinds,
}

impl Row for Ownership {
    fn key(&self) -> String {
        format!("{} {} {}", self.looked_after_by, self.object.kind, self.object.name)
    }
}

impl FleetRow for Ownership {
    const COLUMNS: &'static [&'static str] = &["LOOKED AFTER BY", "OBJECT", "OWNERS", "TOOL", "MANAGER", "PEOPLE"];
    const NOTHING: &'static str = "no objects found";
    const BY_CLUSTER: bool = false;

    fn cells(&self) -> Vec<String> {
        let owners = self.owners.iter().map(|o| format!("{}/{}", o.kind.to_ascii_lowercase(), o.name));
        let people = self.people.iter().map(|p| format!("{}={}", p.key, p.value));
        vec![
            self.looked_after_by.clone(),
            format!("{}/{}", self.object.kind.to_ascii_lowercase(), self.object.name),
            owners.collect::<Vec<_>>().join(" < "),
            self.tools.first().map(|t| format!("{} by {}", t.tool, t.mark)).unwrap_or_default(),
            self.manager.as_ref().map(|m| m.name.clone()).unwrap_or_default(),
            people.collect::<Vec<_>>().join(" "),
        ]
    }
}

/// Who looks after what.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct OwnersFound {
    /// Objects by who looks after them, over all clusters.
    looked_after_by: BTreeMap<String, usize>,
    #[serde(flatten)]
    fanned: Fanned<Ownership>,
}

impl From<Fanned<Ownership>> for OwnersFound {
    fn from(fanned: Fanned<Ownership>) -> Self {
        let mut looked_after_by = BTreeMap::new();
        for row in fanned.rows.iter() {
            *looked_after_by.entry(row.row.looked_after_by.clone()).or_default() += 1;
        }
        Self { looked_after_by, fanned }
    }
}

impl Answer for OwnersFound {
    fn view(&self) -> View {
        let whole = self.fanned.view();
        if self.looked_after_by.is_empty() {
            return whole;
        }
        let mut sorted: Vec<_> = self.looked_after_by.iter().collect();
        sorted.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        let words: Vec<String> = sorted.into_iter().take(10).map(|(name, count)| format!("{count} {name}")).collect();
        let mut view = View::text(format!("{} objects: {}", self.fanned.totals.rows, words.join(", ")));
        view.blocks.extend(whole.blocks);
        view
    }

    fn outcome(&self) -> Outcome {
        self.fanned.outcome()
    }

    fn failure(&self) -> Option<Failure> {
        self.fanned.failure()
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        self.fanned.rows()
    }
}

impl Query for FindResourceOwners {
    type Host = Host;
    type Answer = OwnersFound;
    const NAME: &'static str = "find_resource_owners";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<OwnersFound, Stop> {
        let selection = select(host, &self.targets, Some(&self.namespace), call).await?;
        let look = |cluster| one(cluster, &self, call);
        Ok(fan_over(host.fleet(), selection, call, look).await?.into())
    }
}

/// Metadata only: what an object holds says nothing about who looks after it.
async fn one(cluster: Cluster, ask: &FindResourceOwners, call: &Call) -> Result<Found<Ownership>, ClusterError> {
    let params = ListParams::in_namespace(Some(&ask.namespace));
    let wanted: Vec<&ResourceType> = KINDS.iter().filter(|kind| ask.resource_type.includes(kind)).collect();
    let beside = OWNING.iter().filter(|kind| ask.resource_type == Kinds::Pods && !wanted.contains(kind));
    let asked: Vec<(&ResourceType, bool)> =
        wanted.iter().map(|kind| (*kind, true)).chain(beside.map(|k| (k, false))).collect();
    let lists = asked.iter().map(|(kind, _)| {
        cluster.list_metadata(kind, &params, Vec::new, |all, mut page: Vec<Described>| all.append(&mut page))
    });
    let mut notes = Vec::new();
    let mut denied = Denied::new(cluster.name(), call);
    let mut owners = Owners::default();
    let mut objects = Vec::new();
    let only = wanted.len() == 1;
    for ((kind, told), list) in asked.iter().zip(futures::future::join_all(lists).await) {
        let described = match list {
            // The one kind that was asked for: without it there is no answer.
            Err(error) if only && *told => return Err(error),
            list => aside(list, &kind.plural, "they are missing here", &mut notes)?.unwrap_or_default(),
        };
        for object in described {
            owners.learn(&kind.kind, &object.metadata);
            if *told && denied.lets(object.metadata.namespace.as_deref().unwrap_or("")) {
                objects.push((kind.kind.clone(), object.metadata));
            }
        }
    }
    notes.extend(denied.note());
    notes.extend(absent(&cluster, Some(&ask.namespace), objects.is_empty()).await);
    let rows = objects.iter().map(|(kind, meta)| ownership(kind, meta, &owners)).collect();
    Ok(Found { rows, notes })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use pintle_core::{Code, Outcome};
    use pintle_testkit::kube::{Fault, Objects};
    use serde_json::{Value, json};

    fn object(api: &str, kind: &str, meta: Value) -> Value {
        let mut meta = meta;
        meta["namespace"] = json!("shop");
        json!({"apiVersion": api, "kind": kind, "metadata": meta})
    }

    fn objects() -> Objects {
        let owned = |kind: &str, name: &str| json!([{"apiVersion": "x/v1", "kind": kind, "name": name, "uid": "1", "controller": true}]);
        Objects::new()
            .namespace("shop")
            .with(object(
                "apps/v1",
                "Deployment",
                json!({"name": "web", "annotations": {"meta.helm.sh/release-name": "web"}}),
            ))
            .with(object("batch/v1", "CronJob", json!({"name": "nightly", "labels": {"team": "data"}})))
            .with(object(
                "batch/v1",
                "Job",
                json!({"name": "nightly-1", "ownerReferences": owned("CronJob", "nightly")}),
            ))
            .with(object("v1", "Pod", json!({"name": "nightly-1-x", "ownerReferences": owned("Job", "nightly-1")})))
    }

    #[tokio::test]
    async fn kt_find_resource_owners_kw_17_chains_tools_and_people_are_told() {
        let world = World::of(objects()).await;
        let reply = world.call("find_resource_owners", json!({"namespace": "shop"})).await;
        assert_eq!(reply.outcome, Outcome::Ok);
        let answer = reply.answer.unwrap();
        assert_eq!(answer["looked_after_by"], json!({"cronjob/nightly": 2, "helm:web": 1, "unknown": 1}));
        let cron = rows(&answer).find(|r| r["object"]["kind"] == "CronJob").unwrap();
        assert_eq!(cron["people"][0], json!({"key": "team", "value": {"text": "data"}}));
    }

    #[tokio::test]
    async fn kt_find_resource_owners_one_kind_alone_and_unknown_ones_are_refused() {
        let world = World::of(objects()).await;
        let pods = world.call("find_resource_owners", json!({"namespace": "shop", "resource_type": "pods"})).await;
        let answer = pods.answer.unwrap();
        assert_eq!(answer["looked_after_by"], json!({"cronjob/nightly": 1}));
        let wrong = world.call("find_resource_owners", json!({"namespace": "shop", "resource_type": "gadgets"})).await;
        assert_eq!(wrong.failure.unwrap().code, Code::InvalidArgument);
        let without = world.call("find_resource_owners", json!({"namespace": ""})).await;
        assert_eq!(without.failure.unwrap().code, Code::InvalidArgument);
    }

    #[tokio::test]
    async fn kt_find_resource_owners_only_metadata_is_asked_for_and_forbidden_kinds_are_told() {
        let world = World::of(objects()).await;
        world.cluster.fault("*/configmaps", Fault::Forbidden);
        let answer = world.call("find_resource_owners", json!({"namespace": "shop"})).await.answer.unwrap();
        assert!(answer["clusters"][0]["notes"].to_string().contains("configmaps could not be read (forbidden)"));
        let requests = world.cluster.requests();
        let lists: Vec<_> = requests.iter().filter(|r| r.path.contains("/namespaces/shop/")).collect();
        assert!(lists.iter().all(|r| r.header("accept").is_some_and(|a| a.contains("PartialObjectMetadata"))));
        assert_eq!(lists.len(), 11);
    }
}
