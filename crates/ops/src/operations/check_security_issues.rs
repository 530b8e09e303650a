//! `check_security_issues`

use crate::{
    Host,
    diagnosis::{Diagnosis, Looking, OLD_FORMS, Tally, aside},
    reading::{absent, select},
    rules::{
        finding::{Finding, ObjectRef, Severity},
        pss::{Level, Version, namespace::NamespacePolicy, strictest},
        roll_up::{Owners, Rolled, controller},
        security,
    },
    slim::{Described, SlimPod, Templated},
};
use k8s_openapi::{
    api::core::v1::{Pod, PodSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use pintle_core::{Call, Failure, Query, Spellings, Stop};
use pintle_fleet::{Cluster, ClusterError, Found, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, HashSet};

/// Namespaces of the cluster itself, whose pods need what the standards forbid.
const SYSTEM: [&str; 3] = ["kube-system", "kube-public", "kube-node-lease"];

/// What makes pods from templates.
static TEMPLATED: [ResourceType; 7] = [
    ResourceType::DEPLOYMENTS,
    ResourceType::STATEFUL_SETS,
    ResourceType::DAEMON_SETS,
    ResourceType::REPLICA_SETS,
    ResourceType::REPLICATION_CONTROLLERS,
    ResourceType::JOBS,
    ResourceType::CRON_JOBS,
];

/// Check pods and templates against the Pod Security Standards and beyond; by owner.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CheckSecurityIssues {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Level to check
    #[schemars(extend("x-cli" = {"common": true}))]
    level: Level,
    /// `v1.N` or `latest`
    version: Option<String>,
    /// Also secrets in env, images, node access
    extended: bool,
    /// Least severity told
    #[schemars(extend("x-cli" = {"common": true}))]
    severity: Option<Severity>,
}

impl Default for CheckSecurityIssues {
    fn default() -> Self {
        Self {
            targets: Targets::default(),
            namespace: None,
            level: Level::Restricted,
            version: None,
            extended: true,
            severity: None,
        }
    }
}

impl Query for CheckSecurityIssues {
    type Host = Host;
    type Answer = Diagnosis;
    const NAME: &'static str = "check_security_issues";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Diagnosis, Stop> {
        let version = self.version.as_deref().map(str::parse::<Version>).transpose();
        let version = version.map_err(|error| Failure::invalid_argument("version", error.to_string()))?;
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let tally = Tally::default();
        let look = |cluster| one(cluster, &self, version, call, &tally);
        let fanned = fan_over(host.fleet(), selection, call, look).await?;
        Ok(Diagnosis::new(tally, fanned))
    }
}

/// What is gathered from the pods of one cluster.
struct Seen<'a> {
    looking: Looking<'a>,
    /// Owners whose pods were looked at: their templates say nothing new.
    owners: HashSet<ObjectRef>,
    /// The mildest level that all pods of a namespace keep.
    levels: BTreeMap<String, Level>,
}

async fn one(
    cluster: Cluster,
    ask: &CheckSecurityIssues,
    version: Option<Version>,
    call: &Call,
    tally: &Tally,
) -> Result<Found<Rolled>, ClusterError> {
    let mut notes = Vec::new();
    let version = match version {
        Some(version) => version,
        None => version_of(&cluster, &mut notes).await,
    };
    let params = ListParams::in_namespace(ask.namespace.as_deref());
    let owners = Owners::default();
    let start = || Seen {
        looking: Looking::new(call, &cluster, ask.severity),
        owners: HashSet::new(),
        levels: BTreeMap::new(),
    };
    let take = |seen: &mut Seen<'_>, page: Vec<SlimPod>| {
        for pod in page.into_iter().map(Pod::from) {
            let phase = pod.status.as_ref().and_then(|s| s.phase.as_deref());
            if matches!(phase, Some("Succeeded" | "Failed")) {
                continue;
            }
            if !seen.looking.looks_at("pods", pod.metadata.namespace.as_deref()) {
                continue;
            }
            let Some(spec) = &pod.spec else { continue };
            let owner = owners.top("Pod", &pod.metadata);
            let object = ObjectRef::of("Pod", &pod.metadata);
            let found = security::examine(&object, Some(&pod.metadata), spec, ask.level, version, ask.extended);
            note_level(&mut seen.levels, &pod.metadata, spec, version);
            seen.looking.add(&owner, found);
            seen.owners.insert(owner);
        }
    };
    let listing = cluster.list_pages(&ResourceType::PODS, &params, start, take).await?;
    notes.extend(listing.notes());
    let nothing = listing.objects == 0;
    let Seen { mut looking, owners: seen_owners, levels } = listing.value;
    templates(&cluster, ask, version, &params, &seen_owners, &mut looking, &mut notes).await?;
    namespaces(&cluster, ask, &levels, &mut looking, &mut notes).await?;
    let system: Vec<&str> = SYSTEM.into_iter().filter(|name| levels.contains_key(*name)).collect();
    if !system.is_empty() {
        notes
            .push(format!("{} holds the cluster's own pods: much of what is found there is needed", system.join(", ")));
    }
    notes.extend(absent(&cluster, ask.namespace.as_deref(), nothing).await);
    Ok(looking.finish(tally, notes))
}

fn note_level(levels: &mut BTreeMap<String, Level>, meta: &ObjectMeta, spec: &PodSpec, version: Version) {
    let none = BTreeMap::new();
    let level = strictest(spec, meta.annotations.as_ref().unwrap_or(&none), version);
    let namespace = meta.namespace.clone().unwrap_or_default();
    levels.entry(namespace).and_modify(|known| *known = level.min(*known)).or_insert(level);
}

/// The minor version that the cluster says it is; managed ones write `34+`.
async fn version_of(cluster: &Cluster, notes: &mut Vec<String>) -> Version {
    #[derive(Deserialize)]
    struct Told {
        minor: String,
    }
    let minor = match cluster.get_json::<Told>("/version").await {
        Ok(told) => told.minor.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok(),
        Err(_) => None,
    };
    match minor {
        Some(minor) => Version::Minor(minor),
        None => {
            notes.push("the cluster's version is not known: judged by the newest standards".to_owned());
            Version::Latest
        }
    }
}

/// Templates of owners without a pod: what would break when they make one.
async fn templates(
    cluster: &Cluster,
    ask: &CheckSecurityIssues,
    version: Version,
    params: &ListParams,
    seen: &HashSet<ObjectRef>,
    looking: &mut Looking<'_>,
    notes: &mut Vec<String>,
) -> Result<(), ClusterError> {
    let lists = TEMPLATED.iter().map(|kind| cluster.list::<Templated>(kind, params));
    for (kind, list) in TEMPLATED.iter().zip(futures::future::join_all(lists).await) {
        let objects = aside(list, &kind.plural, "their pod templates are not checked", notes)?.unwrap_or_default();
        for (meta, template) in objects.into_iter().map(Templated::take) {
            let object = ObjectRef::of(&kind.kind, &meta);
            let Some(template) = template.filter(|_| controller(&meta).is_none() && !seen.contains(&object)) else {
                continue;
            };
            let Some(spec) = template.spec else { continue };
            if looking.looks_at("templates", meta.namespace.as_deref()) {
                let of_pod = template.metadata.as_ref();
                let found = security::examine(&object, of_pod, &spec, ask.level, version, ask.extended);
                looking.add(&object, found);
            }
        }
    }
    Ok(())
}

/// What namespaces enforce, beside what their pods would stand.
async fn namespaces(
    cluster: &Cluster,
    ask: &CheckSecurityIssues,
    levels: &BTreeMap<String, Level>,
    looking: &mut Looking<'_>,
    notes: &mut Vec<String>,
) -> Result<(), ClusterError> {
    let params = ListParams {
        field_selector: ask.namespace.as_ref().map(|name| format!("metadata.name={name}")),
        ..ListParams::default()
    };
    let kind = ResourceType::NAMESPACES;
    let list = cluster.list_metadata(&kind, &params, Vec::new, |all, mut page: Vec<Described>| {
        all.append(&mut page);
    });
    let without = "what they enforce is not told";
    for namespace in aside(list.await, "namespaces", without, notes)?.unwrap_or_default() {
        let meta = namespace.metadata;
        let name = meta.name.clone().unwrap_or_default();
        if SYSTEM.contains(&name.as_str()) || !looking.looks_at("namespaces", Some(&name)) {
            continue;
        }
        let object = ObjectRef::of("Namespace", &meta);
        let policy = NamespacePolicy::of(meta.labels.as_ref().unwrap_or(&BTreeMap::new()));
        looking.add(&object, judge(&object, &policy, levels.get(&name).copied()));
    }
    Ok(())
}

fn judge(object: &ObjectRef, policy: &NamespacePolicy, stands: Option<Level>) -> Vec<Finding> {
    let mut found: Vec<Finding> = policy
        .problems
        .iter()
        .map(|(key, why)| {
            Finding::new(
                "namespace/bad-label",
                Severity::Medium,
                object.clone(),
                "has a Pod Security label that cannot be read",
            )
            .shown_by(format!("metadata.labels[{key}]"), why)
            .next("write privileged, baseline or restricted, and `latest` or `v1.N` for a version")
        })
        .collect();
    let enforced = policy.enforce.map_or(Level::Privileged, |p| p.level);
    if enforced == Level::Privileged {
        let next = match stands {
            Some(Level::Privileged) => "mend what its pods break, then label it with enforce: baseline".to_owned(),
            Some(level) => format!("its pods stand {level}: label it with enforce: {level}"),
            None => "it has no pods: label it with enforce: restricted".to_owned(),
        };
        found.push(
            Finding::new("namespace/not-enforced", Severity::Low, object.clone(), "enforces no Pod Security level")
                .shown_by(
                    "metadata.labels[pod-security.kubernetes.io/enforce]",
                    policy.enforce.map_or("unset", |_| "privileged"),
                )
                .shown_by("strictest level its pods stand", stands.map_or("restricted".to_owned(), |l| l.to_string()))
                .next(next),
        );
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use pintle_core::{Code, Outcome};
    use pintle_testkit::kube::{Fault, Objects};
    use serde_json::{Value, json};

    fn pod(namespace: &str, name: &str, spec: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec,
            "status": {"phase": "Running"}})
    }

    fn hardened() -> Value {
        json!({"automountServiceAccountToken": false, "containers": [{"name": "app", "image": "r.example/a@sha256:0",
            "securityContext": {"allowPrivilegeEscalation": false, "runAsNonRoot": true, "readOnlyRootFilesystem": true,
                "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}}]})
    }

    fn namespace(name: &str, labels: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    }

    #[tokio::test]
    async fn kt_check_security_issues_kw_15_pods_templates_and_namespaces_are_judged() {
        let template =
            json!({"spec": {"hostNetwork": true, "containers": [{"name": "app", "image": "r.example/a@sha256:0"}]}});
        let objects = Objects::new()
            .with(namespace("shop", json!({"pod-security.kubernetes.io/enforce": "restricted"})))
            .with(namespace("open", json!({})))
            .with(pod("shop", "good", hardened()))
            .with(pod("open", "bad", json!({"containers": [{"name": "app", "image": "a:1", "securityContext": {"privileged": true}}]})))
            .with(json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly", "namespace": "open"},
                "spec": {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": template}}}}));
        let world = World::of(objects).await;
        let reply = world.call("check_security_issues", json!({})).await;
        assert_eq!(reply.outcome, Outcome::Findings);
        let answer = reply.answer.unwrap();
        let of = |name: &str| -> Vec<String> {
            rows(&answer).filter(|r| r["owner"]["name"] == name).map(|r| r["id"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(of("good"), [] as [&str; 0]);
        assert!(of("bad").contains(&"pss/privileged".to_owned()));
        assert_eq!(of("nightly")[0], "pss/hostNamespaces");
        assert_eq!(of("open"), ["namespace/not-enforced"]);
        assert_eq!(of("shop"), [] as [&str; 0]);
    }

    #[tokio::test]
    async fn kt_check_security_issues_an_2_2_the_version_is_the_clusters_unless_told() {
        let bad = json!({"hostUsers": false, "securityContext": {"runAsUser": 0}, "containers": [{"name": "app", "image": "a@sha256:0"}]});
        let world = World::of(Objects::new().namespace("shop").version("v1.34.2").with(pod("shop", "web", bad))).await;
        let has = async |arguments: Value| {
            let answer = world.call("check_security_issues", arguments).await.answer.unwrap();
            rows(&answer).any(|r| r["id"] == "pss/runAsUser")
        };
        assert!(has(json!({})).await);
        assert!(!has(json!({"version": "v1.35"})).await);
        assert!(!has(json!({"version": "latest"})).await);
        let refused = world.call("check_security_issues", json!({"version": "1.35"})).await;
        assert_eq!(refused.failure.unwrap().code, Code::InvalidArgument);
    }

    #[tokio::test]
    async fn kt_check_security_issues_kw_42_system_namespaces_are_looked_at_and_said_to_be_such() {
        let bad = json!({"hostNetwork": true, "containers": [{"name": "app", "image": "a@sha256:0"}]});
        let world = World::of(Objects::new().with(pod("kube-system", "proxy", bad))).await;
        let answer = world
            .call("check_security_issues", json!({"namespace": "kube-system", "level": "baseline"}))
            .await
            .answer
            .unwrap();
        assert_eq!(rows(&answer).next().unwrap()["id"], "pss/hostNamespaces");
        assert!(answer["clusters"][0]["notes"].to_string().contains("cluster's own pods"));
    }

    #[tokio::test]
    async fn kt_check_security_issues_kw_16_what_may_not_be_read_is_told() {
        let world = World::of(Objects::new().namespace("shop").with(pod("shop", "web", hardened()))).await;
        for kind in ["*/cronjobs", "*/namespaces"] {
            world.cluster.fault(kind, Fault::Forbidden);
        }
        let answer = world.call("check_security_issues", json!({"namespace": "shop"})).await.answer.unwrap();
        let notes = answer["clusters"][0]["notes"].to_string();
        assert!(notes.contains("cronjobs could not be read (forbidden)"), "{notes}");
        assert!(notes.contains("namespaces could not be read (forbidden)"), "{notes}");
    }
}
