//! `find_deployment_issues`

use crate::{
    Host,
    diagnosis::{Diagnosis, Looking, OLD_FORMS, Tally, aside, every},
    reading::{absent, select},
    rules::{
        finding::{ObjectRef, Severity},
        roll_up::{Owners, Rolled},
        workloads::{
            autoscalers, cron_jobs, daemon_sets, deployments, disruption_budgets, jobs, replica_sets, stateful_sets,
        },
    },
};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
        autoscaling::v2::HorizontalPodAutoscaler,
        batch::v1::{CronJob, Job},
        policy::v1::PodDisruptionBudget,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use pintle_core::{Call, Query, Spellings, Stop};
use pintle_fleet::{Cluster, ClusterError, Found, ListParams, Targets, fan_over};
use schemars::JsonSchema;
use serde::Deserialize;

/// Find workloads short of replicas, stuck rollouts, failed jobs, blind autoscalers, blocking budgets.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct FindDeploymentIssues {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Least severity told
    #[schemars(extend("x-cli" = {"common": true}))]
    severity: Option<Severity>,
}

impl Query for FindDeploymentIssues {
    type Host = Host;
    type Answer = Diagnosis;
    const NAME: &'static str = "find_deployment_issues";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<Diagnosis, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let (tally, now) = (Tally::default(), host.now());
        let look = |cluster| one(cluster, &self, call, now, &tally);
        let fanned = fan_over(host.fleet(), selection, call, look).await?;
        Ok(Diagnosis::new(tally, fanned))
    }
}

async fn one(
    cluster: Cluster,
    ask: &FindDeploymentIssues,
    call: &Call,
    now: Timestamp,
    tally: &Tally,
) -> Result<Found<Rolled>, ClusterError> {
    let params = ListParams::in_namespace(ask.namespace.as_deref());
    let (deployment_list, replica_set_list, stateful_set_list, daemon_set_list) = futures::join!(
        every::<Deployment>(&cluster, &params),
        every::<ReplicaSet>(&cluster, &params),
        every::<StatefulSet>(&cluster, &params),
        every::<DaemonSet>(&cluster, &params),
    );
    let (job_list, cron_job_list, autoscaler_list, budget_list) = futures::join!(
        every::<Job>(&cluster, &params),
        every::<CronJob>(&cluster, &params),
        every::<HorizontalPodAutoscaler>(&cluster, &params),
        every::<PodDisruptionBudget>(&cluster, &params),
    );
    // The tool is named for deployments: without them it has no answer. What else cannot be read is told.
    let deployment_list = deployment_list?;
    let mut notes = deployment_list.notes();
    let unchecked = "they are not checked";
    let older = "replica sets that still serve are not told";
    let sets = aside(replica_set_list, "replicasets", older, &mut notes)?.unwrap_or_default();
    let stateful = aside(stateful_set_list, "statefulsets", unchecked, &mut notes)?.unwrap_or_default();
    let daemons = aside(daemon_set_list, "daemonsets", unchecked, &mut notes)?.unwrap_or_default();
    let all_jobs = aside(job_list, "jobs", unchecked, &mut notes)?.unwrap_or_default();
    let crons = aside(cron_job_list, "cronjobs", unchecked, &mut notes)?.unwrap_or_default();
    let autoscaled = aside(autoscaler_list, "horizontalpodautoscalers", unchecked, &mut notes)?.unwrap_or_default();
    let budgets = aside(budget_list, "poddisruptionbudgets", unchecked, &mut notes)?.unwrap_or_default();

    let mut looking = Looking::new(call, &cluster, ask.severity);
    for d in &deployment_list.value {
        if looking.looks_at("deployments", d.metadata.namespace.as_deref()) {
            looking.add(&own("Deployment", &d.metadata), deployments::examine(d, &sets, now));
        }
    }
    for rs in &sets {
        if looking.looks_at("replicasets", rs.metadata.namespace.as_deref()) {
            looking.add(&own("ReplicaSet", &rs.metadata), replica_sets::examine(rs, now));
        }
    }
    for s in &stateful {
        if looking.looks_at("statefulsets", s.metadata.namespace.as_deref()) {
            looking.add(&own("StatefulSet", &s.metadata), stateful_sets::examine(s, now));
        }
    }
    for d in &daemons {
        if looking.looks_at("daemonsets", d.metadata.namespace.as_deref()) {
            looking.add(&own("DaemonSet", &d.metadata), daemon_sets::examine(d, now));
        }
    }
    for c in &crons {
        if looking.looks_at("cronjobs", c.metadata.namespace.as_deref()) {
            looking.add(&own("CronJob", &c.metadata), cron_jobs::examine(c, now));
        }
    }
    for h in &autoscaled {
        if looking.looks_at("horizontalpodautoscalers", h.metadata.namespace.as_deref()) {
            looking.add(&own("HorizontalPodAutoscaler", &h.metadata), autoscalers::examine(h, now));
        }
    }
    for b in &budgets {
        if looking.looks_at("poddisruptionbudgets", b.metadata.namespace.as_deref()) {
            looking.add(&own("PodDisruptionBudget", &b.metadata), disruption_budgets::examine(b, now));
        }
    }
    examine_jobs(&all_jobs, &mut looking);
    notes.extend(absent(&cluster, ask.namespace.as_deref(), looking.counts.looked_at.is_empty()).await);
    Ok(looking.finish(tally, notes))
}

/// Jobs are judged together, since a later one of the same CronJob makes an older failure history; findings stand
/// under the CronJob.
fn examine_jobs(all: &[Job], looking: &mut Looking<'_>) {
    let readable: Vec<&Job> =
        all.iter().filter(|job| looking.looks_at("jobs", job.metadata.namespace.as_deref())).collect();
    let owners = Owners::default();
    for finding in jobs::examine(&readable) {
        let job = readable.iter().find(|job| ObjectRef::of("Job", &job.metadata) == finding.object);
        let owner = job.map_or_else(|| finding.object.clone(), |job| owners.top("Job", &job.metadata));
        looking.add(&owner, [finding]);
    }
}

fn own(kind: &str, meta: &ObjectMeta) -> ObjectRef {
    ObjectRef::of(kind, meta)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use pintle_core::{Code, Outcome};
    use pintle_testkit::kube::{Fault, Objects};
    use serde_json::{Value, json};

    fn object(api: &str, kind: &str, name: &str, spec: Value, status: Value) -> Value {
        json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "shop", "creationTimestamp": ago(9_000)},
            "spec": spec, "status": status})
    }

    fn objects() -> Objects {
        let at_minimum =
            json!({"conditions": [{"type": "ScalingLimited", "status": "True", "reason": "TooFewReplicas"}]});
        let scaled =
            json!({"minReplicas": 1, "maxReplicas": 5, "scaleTargetRef": {"kind": "Deployment", "name": "good"}});
        let failed = json!({"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]});
        let mut job = object("batch/v1", "Job", "nightly-1", json!({"template": {}}), failed);
        job["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "1", "controller": true}]);
        Objects::new()
            .namespace("shop")
            .with(object("apps/v1", "Deployment", "good", json!({"replicas": 1}), json!({"availableReplicas": 1})))
            .with(object("apps/v1", "Deployment", "none", json!({"replicas": 0}), json!({})))
            .with(object("apps/v1", "Deployment", "bad", json!({"replicas": 3}), json!({})))
            .with(object("autoscaling/v2", "HorizontalPodAutoscaler", "good", scaled, at_minimum))
            .with(job)
    }

    #[tokio::test]
    async fn kt_find_deployment_issues_kw_14_an_1_5_broken_ones_are_found_and_good_ones_are_not() {
        let world = World::of(objects()).await;
        let reply = world.call("find_deployment_issues", json!({})).await;
        assert_eq!(reply.outcome, Outcome::Findings);
        let answer = reply.answer.unwrap();
        let found: Vec<_> = rows(&answer).map(|r| (name(r), r["id"].as_str().unwrap())).collect();
        assert_eq!(found, [("bad", "deployment/unavailable"), ("nightly", "job/failed")]);
        assert_eq!(answer["counts"]["looked_at"]["deployments"], 3);
    }

    #[tokio::test]
    async fn kt_find_deployment_issues_kw_16_forbidden_lists_are_told_and_deployments_are_needed() {
        let world = World::of(objects()).await;
        world.cluster.fault("*/statefulsets", Fault::Forbidden);
        let answer = world.call("find_deployment_issues", json!({"namespace": "shop"})).await.answer.unwrap();
        let notes = answer["clusters"][0]["notes"].to_string();
        assert!(notes.contains("statefulsets could not be read (forbidden)"), "{notes}");
        assert!(answer["counts"]["looked_at"].get("statefulsets").is_none(), "unread is not zero");
        world.cluster.fault("*/deployments", Fault::Forbidden);
        let reply = world.call("find_deployment_issues", json!({"namespace": "shop"})).await;
        assert_eq!((reply.outcome, reply.failure.unwrap().code), (Outcome::Failed, Code::Remote));
    }
}
