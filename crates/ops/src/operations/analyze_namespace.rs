//! `analyze_namespace`

mod report;

use crate::{
    Host,
    diagnosis::{BySeverity, OLD_FORMS, aside, every},
    reading::select,
    rules::{
        finding::{Finding, Moment, ObjectRef, Severity},
        namespaces, network,
        pods::{self, Surroundings},
        roll_up::{Owners, RollUp},
        storage,
        workloads::{deployments, jobs},
    },
    slim::SlimPod,
};
use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::Deployment,
    batch::v1::Job,
    core::v1::{LimitRange, Namespace, PersistentVolumeClaim, Pod, ResourceQuota, Service},
    discovery::v1::EndpointSlice,
    networking::v1::Ingress,
};
use pintle_core::{Call, Query, Spellings, Stop};
use pintle_fleet::{
    Cause, Cluster, ClusterError, ListParams, Listing, PerCluster, ResourceType, Targets, fan_values_over,
};
use report::{ClaimCounts, Count, DeploymentCounts, Names, Part, PodCounts, Quotas, Report, pod_security};
use schemars::JsonSchema;
use serde::{Deserialize, de::IgnoredAny};
use std::collections::{BTreeMap, HashSet};

/// How many of the worst findings are told; `find_pod_issues` has all of the pods'.
const WORST: usize = 10;

/// Analyse a namespace: quotas, limits, objects, Pod Security, worst issues.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct AnalyzeNamespace {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: String,
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
    let (config_maps, secrets, warnings, quotas, ranges) = futures::join!(
        count(&cluster, ResourceType::CONFIG_MAPS, params),
        count(&cluster, ResourceType::SECRETS, params),
        count(&cluster, ResourceType::EVENTS, &of_warnings),
        every::<ResourceQuota>(&cluster, params),
        every::<LimitRange>(&cluster, params),
    );
    let (jobs, deployment_list, claim_list, service_list, slices, ingress_list) = futures::join!(
        every::<Job>(&cluster, params),
        every::<Deployment>(&cluster, params),
        every::<PersistentVolumeClaim>(&cluster, params),
        every::<Service>(&cluster, params),
        every::<EndpointSlice>(&cluster, params),
        every::<Ingress>(&cluster, params),
    );
    let mut notes = Vec::new();
    let mut issues = Issues::default();
    issues.take(itself.as_ref().and_then(|n| namespaces::stuck(n, now)));

    let mut around = Surroundings::at(now);
    let mut owners = Owners::default();
    let without_jobs = "pods that failed before their job succeeded may be told";
    for job in aside(jobs, "jobs", without_jobs, &mut notes)?.unwrap_or_default() {
        let name = job.metadata.name.clone().unwrap_or_default();
        around.jobs.insert((namespace.to_owned(), name), jobs::state(&job));
        owners.learn("Job", &job.metadata);
    }
    let seen = look_at_pods(&cluster, params, &around, &owners).await;
    let used = seen.as_ref().map(|seen| seen.claims.clone()).unwrap_or_default();
    let pods = Part::of(seen.map(|seen| {
        seen.findings.into_iter().for_each(|(owner, finding)| issues.take_for(owner, finding));
        seen.counts
    }))?;
    let deployments = Part::of(deployment_list.map(|listing| {
        let mut counts = DeploymentCounts::default();
        for deployment in &listing.value {
            counts.total += 1;
            let ready = deployment.status.as_ref().and_then(|s| s.ready_replicas).unwrap_or(0);
            counts.degraded += usize::from(ready < deployment.spec.replicas.unwrap_or(1));
            issues.take(deployments::examine(deployment, &[], now));
        }
        counts
    }))?;
    let claims = Part::of(claim_list.map(|listing| {
        for claim in &listing.value {
            let is_used = claim.metadata.name.as_ref().is_some_and(|name| used.contains(name));
            issues.take(storage::claim(claim, is_used, now));
        }
        ClaimCounts::from(&listing.value)
    }))?;
    let slices = aside(slices, "endpointslices", "services without pods are not told", &mut notes)?;
    let service_list = service_list.map(|listing| listing.value);
    if let Ok(services) = &service_list {
        services.iter().for_each(|s| issues.take(network::service(s, slices.as_deref(), now)));
    }
    let ingresses = Part::of(ingress_list.map(|listing| {
        // Without the services, every backend would seem to be missing.
        if let Ok(services) = &service_list {
            listing.value.iter().for_each(|i| issues.take(network::ingress(i, services)));
        }
        Count { total: listing.value.len() }
    }))?;

    let meta = itself.as_ref().map(|n| &n.metadata);
    let Issues { by_severity, roll_up } = issues;
    let mut worst = roll_up.into_rows();
    worst.truncate(WORST);
    Ok(Report {
        namespace: namespace.to_owned(),
        phase: itself.as_ref().and_then(|n| n.status.as_ref()?.phase.clone()),
        created: meta.and_then(|m| m.creation_timestamp.as_ref()).map(Moment::from),
        pod_security: pod_security(meta.and_then(|m| m.labels.as_ref()).unwrap_or(&BTreeMap::new())),
        pods,
        deployments,
        services: Part::of(service_list.map(|services| Count { total: services.len() }))?,
        persistent_volume_claims: claims,
        ingresses,
        config_maps: Part::of(config_maps)?,
        secrets: Part::of(secrets)?,
        warning_events: Part::of(warnings)?,
        resource_quotas: Part::of(quotas.map(|listing| Quotas::from(listing.value)))?,
        limit_ranges: Part::of(
            ranges.map(|listing| Names { names: listing.value.into_iter().filter_map(|r| r.metadata.name).collect() }),
        )?,
        issues: by_severity,
        worst,
        notes,
    })
}

/// Findings of all kinds of objects.
#[derive(Default)]
struct Issues {
    by_severity: BySeverity,
    roll_up: RollUp,
}

impl Issues {
    /// Findings that stand under their own object.
    fn take(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.take_for(finding.object.clone(), finding);
        }
    }

    /// What is only worth knowing is counted, and not among the worst.
    fn take_for(&mut self, owner: ObjectRef, finding: Finding) {
        self.by_severity.add(finding.severity, 1);
        if finding.severity < Severity::Info {
            self.roll_up.add(owner, finding);
        }
    }
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
    findings: Vec<(ObjectRef, Finding)>,
    /// Claims that pods mount.
    claims: HashSet<String>,
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
            let volumes = pod.spec.iter().flat_map(|s| s.volumes.iter().flatten());
            seen.claims
                .extend(volumes.filter_map(|v| v.persistent_volume_claim.as_ref().map(|c| c.claim_name.clone())));
            let owner = owners.top("Pod", &pod.metadata);
            seen.findings.extend(found.into_iter().map(|finding| (owner.clone(), finding)));
        }
    };
    Ok(cluster.list_pages(&ResourceType::PODS, params, SeenPods::default, take).await?.value)
}

fn loops(finding: &Finding) -> bool {
    finding.id == "pod/crash-loop" || (finding.id == "pod/oom-killed" && finding.severity == Severity::Critical)
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

    #[tokio::test]
    async fn kt_analyze_namespace_an_2_1_services_claims_and_ingresses_are_judged() {
        let in_shop = |api: &str, kind: &str, name: &str, spec: serde_json::Value| {
            json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "shop", "creationTimestamp": ago(3_600)},
                "spec": spec, "status": {"phase": "Pending"}})
        };
        let backend = json!({"defaultBackend": {"service": {"name": "gone", "port": {"number": 80}}}});
        let objects = objects()
            .with(in_shop("v1", "Service", "web", json!({"selector": {"app": "web"}})))
            .with(in_shop("v1", "PersistentVolumeClaim", "data", json!({})))
            .with(in_shop("networking.k8s.io/v1", "Ingress", "front", backend));
        let world = World::of(objects).await;
        let found = async || {
            let answer = world.call("analyze_namespace", json!({"namespace": "shop"})).await.answer.unwrap();
            let report = answer["clusters"][0]["value"].clone();
            let ids: Vec<_> =
                report["worst"].as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap().to_owned()).collect();
            (ids, report)
        };
        let (ids, report) = found().await;
        assert_eq!(ids, ["pod/crash-loop", "ingress/no-service", "service/matches-nothing", "claim/pending"]);
        assert_eq!(report["persistent_volume_claims"], json!({"total": 1, "pending": 1, "lost": 0}));

        // What is not in hand is not taken for missing.
        for kind in ["*/services", "*/endpointslices"] {
            world.cluster.fault(kind, Fault::Forbidden);
        }
        let (ids, report) = found().await;
        assert_eq!(ids, ["pod/crash-loop", "claim/pending"]);
        assert_eq!(report["services"]["unread"]["code"], "forbidden");
        assert!(report["notes"][0].as_str().unwrap().starts_with("endpointslices could not be read"));
    }
}
