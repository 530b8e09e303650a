//! `analyze_namespace`

use crate::{
    Host,
    diagnosis::{BySeverity, OLD_FORMS, every},
    reading::select,
    rules::{
        finding::{Moment, ObjectRef, Severity},
        pods::{self, Surroundings},
        pss::namespace::NamespacePolicy,
        roll_up::{Owners, RollUp, Rolled},
        workloads::{deployments, jobs},
    },
    slim::SlimPod,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        batch::v1::Job,
        core::v1::{LimitRange, Namespace, PersistentVolumeClaim, Pod, ResourceQuota},
    },
    apimachinery::pkg::api::resource::Quantity,
};
use pintle_core::{Call, Query, Spellings, Stop, View};
use pintle_fleet::{
    Cause, Cluster, ClusterError, FleetValue, ListParams, Listing, PerCluster, ResourceType, Targets, Told,
    fan_values_over,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use std::collections::BTreeMap;

/// How many of the worst findings are told; `find_pod_issues` has them all.
const WORST: usize = 10;

/// Analyse one namespace: quotas, limits, counts of its objects, Pod Security labels, worst issues.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct AnalyzeNamespace {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace
    namespace: String,
}

/// What is in a namespace. A part that could not be read says so and is not zero.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Its name.
    namespace: String,
    /// `Active` or `Terminating`; absent when the namespace itself could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<Moment>,
    /// Pod Security by mode: level and version.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pod_security: BTreeMap<&'static str, String>,
    /// Pods.
    pods: Part<PodCounts>,
    /// Deployments.
    deployments: Part<DeploymentCounts>,
    /// Services.
    services: Part<Count>,
    /// Claims.
    persistent_volume_claims: Part<ClaimCounts>,
    /// ConfigMaps.
    config_maps: Part<Count>,
    /// Secrets, counted by their metadata.
    secrets: Part<Count>,
    /// Warning events that are still kept.
    warning_events: Part<Count>,
    /// Quotas: used and hard.
    resource_quotas: Part<Quotas>,
    /// LimitRanges.
    limit_ranges: Part<Names>,
    /// Findings on pods and deployments by severity.
    issues: BySeverity,
    /// The worst of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    worst: Vec<Rolled>,
}

/// A part of the report, or why it is missing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Part<T> {
    /// What was read.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    read: Option<T>,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<Told>,
}

impl<T> Part<T> {
    /// # Errors
    /// Only when the call has been cancelled.
    fn of(result: Result<T, ClusterError>) -> Result<Self, ClusterError> {
        match result {
            Ok(value) => Ok(Self { read: Some(value), unread: None }),
            Err(error) if matches!(error.cause, Cause::Cancelled) => Err(error),
            Err(error) => Ok(Self { read: None, unread: Some(Told::from(&error.cause)) }),
        }
    }

    fn words(&self, tell: impl FnOnce(&T) -> String) -> String {
        match (&self.read, &self.unread) {
            (Some(value), _) => tell(value),
            (None, Some(told)) => format!("not read ({})", told.code),
            (None, None) => "not read".to_owned(),
        }
    }
}

/// How many.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
struct Count {
    /// All of them.
    total: usize,
}

/// Pods by phase.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
struct PodCounts {
    total: usize,
    running: usize,
    pending: usize,
    failed: usize,
    succeeded: usize,
    /// In a crash loop now.
    crashing: usize,
}

/// Deployments.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
struct DeploymentCounts {
    /// All of them.
    total: usize,
    /// With fewer ready than wanted.
    degraded: usize,
}

/// Claims by phase.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
struct ClaimCounts {
    /// All of them.
    total: usize,
    /// Without a volume yet.
    pending: usize,
    /// Whose volume is gone.
    lost: usize,
}

/// Quotas by name.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
struct Quotas {
    /// Name, then resource, then `used of hard`.
    quotas: BTreeMap<String, BTreeMap<String, String>>,
}

/// Names.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
struct Names {
    /// The names.
    names: Vec<String>,
}

impl Query for AnalyzeNamespace {
    type Host = Host;
    type Answer = PerCluster<Report>;
    const NAME: &'static str = "analyze_namespace";
    const SPELLINGS: Spellings = OLD_FORMS;

    async fn run(self, host: &Host, call: &Call) -> Result<PerCluster<Report>, Stop> {
        let selection = select(host, &self.targets, Some(&self.namespace), call).await?;
        let look = |cluster| one(cluster, &self.namespace, host.now());
        Ok(fan_values_over(host.fleet(), selection, call, look).await?)
    }
}

async fn one(cluster: Cluster, namespace: &str, now: Timestamp) -> Result<Report, ClusterError> {
    // A namespace that does not exist has no report; one that we may not read itself may still have readable parts.
    let itself: Option<Namespace> = match cluster.get(None, namespace).await {
        Ok(found) => Some(found),
        Err(ClusterError { cause: Cause::Forbidden { .. }, .. }) => None,
        Err(error) => return Err(error),
    };
    let params = &ListParams::in_namespace(Some(namespace));
    let of_warnings = ListParams { field_selector: Some("type=Warning".to_owned()), ..params.clone() };
    let (services, config_maps, secrets, warnings) = futures::join!(
        count(&cluster, ResourceType::SERVICES, params),
        count(&cluster, ResourceType::CONFIG_MAPS, params),
        count(&cluster, ResourceType::SECRETS, params),
        count(&cluster, ResourceType::EVENTS, &of_warnings),
    );
    let (quotas, ranges, claims, jobs, deployment_list) = futures::join!(
        every::<ResourceQuota>(&cluster, params),
        every::<LimitRange>(&cluster, params),
        every::<PersistentVolumeClaim>(&cluster, params),
        every::<Job>(&cluster, params),
        every::<Deployment>(&cluster, params),
    );
    let mut around = Surroundings::at(now);
    let mut owners = Owners::default();
    // Without jobs, pods that their job retried are told; the counts are right all the same.
    for job in jobs.map(|listing| listing.value).unwrap_or_default() {
        let name = job.metadata.name.clone().unwrap_or_default();
        around.jobs.insert((namespace.to_owned(), name), jobs::state(&job));
        owners.learn("Job", &job.metadata);
    }
    let pods = look_at_pods(&cluster, params, &around, &owners).await;
    let mut issues = BySeverity::default();
    let mut roll_up = RollUp::default();
    let mut take = |owner: ObjectRef, finding: crate::rules::finding::Finding| {
        issues.add(finding.severity, 1);
        if finding.severity < Severity::Info {
            roll_up.add(owner, finding);
        }
    };
    let pods = Part::of(pods.map(|seen| {
        seen.findings.into_iter().for_each(|(owner, finding)| take(owner, finding));
        seen.counts
    }))?;
    let deployments = Part::of(deployment_list.map(|listing| {
        let mut counts = DeploymentCounts::default();
        for deployment in &listing.value {
            counts.total += 1;
            let ready = deployment.status.as_ref().and_then(|s| s.ready_replicas).unwrap_or(0);
            counts.degraded += usize::from(ready < deployment.spec.replicas.unwrap_or(1));
            let object = ObjectRef::of("Deployment", &deployment.metadata);
            deployments::examine(deployment, &[], now).into_iter().for_each(|finding| take(object.clone(), finding));
        }
        counts
    }))?;
    let mut worst = roll_up.into_rows();
    worst.truncate(WORST);
    let meta = itself.as_ref().map(|n| &n.metadata);
    Ok(Report {
        namespace: namespace.to_owned(),
        phase: itself.as_ref().and_then(|n| n.status.as_ref()?.phase.clone()),
        created: meta.and_then(|m| m.creation_timestamp.as_ref()).map(Moment::from),
        pod_security: pod_security(meta.and_then(|m| m.labels.as_ref()).unwrap_or(&BTreeMap::new())),
        pods,
        deployments,
        services: Part::of(services)?,
        persistent_volume_claims: Part::of(claims.map(|listing| count_claims(&listing.value)))?,
        config_maps: Part::of(config_maps)?,
        secrets: Part::of(secrets)?,
        warning_events: Part::of(warnings)?,
        resource_quotas: Part::of(quotas.map(quotas_of))?,
        limit_ranges: Part::of(
            ranges.map(|listing| Names { names: listing.value.into_iter().filter_map(|r| r.metadata.name).collect() }),
        )?,
        issues,
        worst,
    })
}

/// Metadata alone is enough to count, and all that may be seen of secrets.
async fn count(cluster: &Cluster, kind: ResourceType, params: &ListParams) -> Result<Count, ClusterError> {
    let take = |total: &mut usize, page: Vec<IgnoredAny>| *total += page.len();
    let listing: Listing<usize> = cluster.list_metadata(&kind, params, || 0, take).await?;
    Ok(Count { total: listing.value })
}

#[derive(Default)]
struct SeenPods {
    counts: PodCounts,
    findings: Vec<(ObjectRef, crate::rules::finding::Finding)>,
}

async fn look_at_pods(
    cluster: &Cluster,
    params: &ListParams,
    around: &Surroundings,
    owners: &Owners,
) -> Result<SeenPods, ClusterError> {
    let take = |seen: &mut SeenPods, page: Vec<SlimPod>| {
        for pod in page.into_iter().map(Pod::from) {
            let counts = &mut seen.counts;
            counts.total += 1;
            match pod.status.as_ref().and_then(|s| s.phase.as_deref()) {
                Some("Running") => counts.running += 1,
                Some("Pending") => counts.pending += 1,
                Some("Failed") => counts.failed += 1,
                Some("Succeeded") => counts.succeeded += 1,
                _ => {}
            }
            let found = pods::examine(&pod, around);
            counts.crashing += usize::from(found.iter().any(loops));
            let owner = owners.top("Pod", &pod.metadata);
            seen.findings.extend(found.into_iter().map(|finding| (owner.clone(), finding)));
        }
    };
    Ok(cluster.list_pages(&ResourceType::PODS, params, SeenPods::default, take).await?.value)
}

fn loops(finding: &crate::rules::finding::Finding) -> bool {
    finding.id == "pod/crash-loop" || (finding.id == "pod/oom-killed" && finding.severity == Severity::Critical)
}

fn count_claims(claims: &[PersistentVolumeClaim]) -> ClaimCounts {
    let in_phase = |phase: &str| {
        claims.iter().filter(|c| c.status.as_ref().and_then(|s| s.phase.as_deref()) == Some(phase)).count()
    };
    ClaimCounts { total: claims.len(), pending: in_phase("Pending"), lost: in_phase("Lost") }
}

fn quotas_of(listing: Listing<Vec<ResourceQuota>>) -> Quotas {
    let text = |map: Option<&BTreeMap<String, Quantity>>, name: &str| {
        map.and_then(|m| m.get(name)).map_or_else(|| "?".to_owned(), |q| q.0.clone())
    };
    let quotas = listing.value.into_iter().map(|quota| {
        let status = quota.status.unwrap_or_default();
        let hard = status.hard.or_else(|| quota.spec.and_then(|s| s.hard)).unwrap_or_default();
        let used = hard
            .keys()
            .map(|name| (name.clone(), format!("{} of {}", text(status.used.as_ref(), name), text(Some(&hard), name))));
        (quota.metadata.name.unwrap_or_default(), used.collect())
    });
    Quotas { quotas: quotas.collect() }
}

fn pod_security(labels: &BTreeMap<String, String>) -> BTreeMap<&'static str, String> {
    let policy = NamespacePolicy::of(labels);
    [("enforce", policy.enforce), ("audit", policy.audit), ("warn", policy.warn)]
        .into_iter()
        .filter_map(|(mode, policy)| policy.map(|p| (mode, format!("{}:{}", p.level, p.version))))
        .collect()
}

impl FleetValue for Report {
    fn view(&self) -> View {
        let mut lines = vec![format!(
            "namespace {}{}",
            self.namespace,
            self.phase.as_ref().map(|phase| format!(" ({phase})")).unwrap_or_default()
        )];
        let mut line = |name: &str, words: String| lines.push(format!("{name}: {words}"));
        line(
            "pods",
            self.pods.words(|p| {
                format!(
                    "{} ({} running, {} pending, {} failed, {} succeeded, {} crashing)",
                    p.total, p.running, p.pending, p.failed, p.succeeded, p.crashing
                )
            }),
        );
        line("deployments", self.deployments.words(|d| format!("{} ({} degraded)", d.total, d.degraded)));
        line("services", self.services.words(|c| c.total.to_string()));
        line(
            "persistent volume claims",
            self.persistent_volume_claims.words(|c| format!("{} ({} pending, {} lost)", c.total, c.pending, c.lost)),
        );
        line("config maps", self.config_maps.words(|c| c.total.to_string()));
        line("secrets", self.secrets.words(|c| c.total.to_string()));
        line("warning events", self.warning_events.words(|c| c.total.to_string()));
        line(
            "limit ranges",
            self.limit_ranges.words(|n| if n.names.is_empty() { "none".into() } else { n.names.join(", ") }),
        );
        let quotas = self.resource_quotas.words(|q| {
            let all = q.quotas.iter().map(|(name, resources)| {
                let used = resources.iter().map(|(resource, used)| format!("{resource} {used}"));
                format!("{name} ({})", used.collect::<Vec<_>>().join(", "))
            });
            let all: Vec<String> = all.collect();
            if all.is_empty() { "none".to_owned() } else { all.join("; ") }
        });
        line("resource quotas", quotas);
        let modes: Vec<String> = self.pod_security.iter().map(|(mode, level)| format!("{mode} {level}")).collect();
        line("pod security", if modes.is_empty() { "no labels".to_owned() } else { modes.join(", ") });
        let issues = self.issues.words();
        line("issues", if issues.is_empty() { "none".to_owned() } else { issues });
        for row in &self.worst {
            lines.push(format!("  {} {} {}: {}", row.severity, row.owner, row.id, row.message));
        }
        View::text(lines.join("\n"))
    }

    fn is_finding(&self) -> bool {
        self.issues != BySeverity::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use pintle_core::{Code, Outcome};
    use pintle_testkit::kube::{Fault, Objects};
    use serde_json::json;

    fn objects() -> Objects {
        let simple = |api: &str, kind: &str, name: &str| json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
        Objects::new()
            .with(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop",
                "labels": {"pod-security.kubernetes.io/enforce": "baseline"}}, "status": {"phase": "Active"}}))
            .with(pod("good", json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})))
            .with(pod("bad", waiting("CrashLoopBackOff")))
            .with(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"},
                "data": {"password": "Y2FuYXJ5"}}))
            .with(simple("v1", "ConfigMap", "c"))
            .with(json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"},
                "status": {"hard": {"pods": "10"}, "used": {"pods": "2"}}}))
    }

    #[tokio::test]
    async fn kt_analyze_namespace_tells_counts_quotas_and_the_worst_issues() {
        let world = World::of(objects()).await;
        let reply = world.call("analyze_namespace", json!({"namespace": "shop"})).await;
        assert_eq!(reply.outcome, Outcome::Findings);
        let answer = reply.answer.unwrap();
        let report = &answer["clusters"][0]["value"];
        assert_eq!(report["phase"], "Active");
        assert_eq!((report["pods"]["total"].clone(), report["pods"]["crashing"].clone()), (json!(2), json!(1)));
        assert_eq!(report["secrets"], json!({"total": 1}));
        assert_eq!(report["resource_quotas"]["quotas"]["q"], json!({"pods": "2 of 10"}));
        assert_eq!(report["pod_security"]["warn"], "baseline:latest");
        assert_eq!(report["worst"][0]["id"], "pod/crash-loop");
        let asked = world.cluster.requests();
        let secrets = asked.iter().find(|r| r.path.ends_with("/secrets")).unwrap();
        assert!(secrets.header("accept").unwrap().contains("PartialObjectMetadata"));
    }

    #[tokio::test]
    async fn kt_analyze_namespace_kw_16_what_is_forbidden_is_never_zero() {
        let world = World::of(objects()).await;
        for kind in ["*/secrets", "*/pods"] {
            world.cluster.fault(kind, Fault::Forbidden);
        }
        let reply = world.call("analyze_namespace", json!({"namespace": "shop"})).await;
        let answer = reply.answer.unwrap();
        let report = &answer["clusters"][0]["value"];
        for part in ["secrets", "pods"] {
            assert_eq!(report[part]["unread"]["code"], "forbidden");
            assert!(report[part].get("total").is_none());
        }
        assert_eq!(report["config_maps"], json!({"total": 1}));
        assert!(reply.view.plain().contains("secrets: not read (forbidden)"), "{}", reply.view.plain());
    }

    #[tokio::test]
    async fn kt_analyze_namespace_absent_and_forbidden_namespaces_are_told_apart() {
        let world = World::of(objects()).await;
        let absent = world.call("analyze_namespace", json!({"namespace": "nowhere"})).await;
        assert_eq!(absent.failure.unwrap().code, Code::NotFound);
        world.cluster.fault("/api/v1/namespaces/shop", Fault::Forbidden);
        let reply = world.call("analyze_namespace", json!({"namespace": "shop"})).await;
        let report = &reply.answer.unwrap()["clusters"][0]["value"];
        assert!(report.get("phase").is_none() && report["pods"]["total"] == 2);
    }
}
