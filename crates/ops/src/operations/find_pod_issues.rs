//! `find_pod_issues`

use crate::{
    Host,
    diagnosis::{Diagnosis, Looking, OLD_FORMS, Tally, aside, every},
    reading::{absent, select},
    rules::{
        events,
        finding::{Finding, Severity},
        pods::{self, Surroundings},
        roll_up::{Owners, Rolled},
        workloads::jobs,
    },
    slim::LeanPod,
};
use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Event, Pod},
};
use pintle_core::{Call, Query, Spellings, Stop};
use pintle_fleet::{Cluster, ClusterError, Found, ListParams, ResourceType, Targets, fan_over};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;

/// Most warning events that are read beside the pods of one cluster.
const MOST_EVENTS: usize = 5_000;

/// Find pods that crash, do not start, lack a node, are not ready, evicted or stuck.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct FindPodIssues {
    #[serde(flatten)]
    targets: Targets,
    /// Namespace; all when absent
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
    /// Also pods that completed
    #[schemars(extend("x-cli" = {"common": true}, "default" = null))]
    include_completed: bool,
    /// Also missing probes and such
    #[schemars(extend("default" = null))]
    hygiene: bool,
    /// Least severity told
    #[schemars(extend("x-cli" = {"common": true}))]
    severity: Option<Severity>,
}

impl Query for FindPodIssues {
    type Host = Host;
    type Answer = Diagnosis;
    const NAME: &'static str = "find_pod_issues";
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

/// Jobs and events first, since they say what pods mean; then the pods, page by page, of which only findings stay.
async fn one(
    cluster: Cluster,
    ask: &FindPodIssues,
    call: &Call,
    now: Timestamp,
    tally: &Tally,
) -> Result<Found<Rolled>, ClusterError> {
    let params = ListParams::in_namespace(ask.namespace.as_deref());
    let of_warnings =
        ListParams { field_selector: Some("type=Warning".to_owned()), most: Some(MOST_EVENTS), ..params.clone() };
    let (job_list, event_list) =
        futures::join!(every::<Job>(&cluster, &params), every::<Event>(&cluster, &of_warnings),);
    let mut notes = Vec::new();
    let mut around = Surroundings { include_completed: ask.include_completed, ..Surroundings::at(now) };
    let mut owners = Owners::default();
    let without_jobs = "pods that failed before their job succeeded may be told";
    for job in aside(job_list, "jobs", without_jobs, &mut notes)?.unwrap_or_default() {
        let meta = &job.metadata;
        let key = (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default());
        around.jobs.insert(key, jobs::state(&job));
        owners.learn("Job", meta);
    }
    if event_list.as_ref().is_ok_and(|listing| listing.continue_token.is_some()) {
        notes.push(format!("only the first {MOST_EVENTS} warning events were looked at"));
    }
    let without_events = "probes, mounts and quotas that fail are not told";
    let warnings = aside(event_list, "events", without_events, &mut notes)?.unwrap_or_default();
    let mut of_pods: HashMap<(String, String), Vec<Finding>> = HashMap::new();
    let mut of_others = Vec::new();
    for finding in events::examine(&warnings, now) {
        if finding.object.kind == "Pod" {
            let key = (finding.object.namespace.clone().unwrap_or_default(), finding.object.name.clone());
            of_pods.entry(key).or_default().push(finding);
        } else {
            of_others.push(finding);
        }
    }
    drop(warnings);

    let take = |looking: &mut Looking<'_>, page: Vec<LeanPod>| {
        for pod in page.into_iter().map(Pod::from) {
            let meta = &pod.metadata;
            if !looking.looks_at("pods", meta.namespace.as_deref()) {
                continue;
            }
            let mut found = pods::examine(&pod, &around);
            let key = (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default());
            if let Some(events) = of_pods.get(&key).filter(|_| is_in_trouble(&pod)) {
                found.extend(events.iter().filter(|event| !is_told(event, &found)).cloned().collect::<Vec<_>>());
            }
            if ask.hygiene {
                found.extend(pods::hygiene(&pod));
            }
            if !found.is_empty() {
                looking.add(&owners.top("Pod", meta), found);
            }
        }
    };
    let start = || Looking::new(call, &cluster, ask.severity);
    let listing = cluster.list_pages(&ResourceType::PODS, &params, start, take).await?;
    notes.extend(listing.notes());
    notes.extend(absent(&cluster, ask.namespace.as_deref(), listing.objects == 0).await);
    let mut looking = listing.value;
    looking.add_loose(of_others);
    Ok(looking.finish(tally, notes))
}

/// An event about a pod that is ready or has ended tells of what is over.
fn is_in_trouble(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let ended = matches!(status.and_then(|s| s.phase.as_deref()), Some("Succeeded" | "Failed"));
    let conditions = status.and_then(|s| s.conditions.as_deref()).unwrap_or_default();
    !ended && !conditions.iter().any(|c| c.type_ == "Ready" && c.status == "True")
}

/// Whether the pod's own status tells the same already.
fn is_told(event: &Finding, found: &[Finding]) -> bool {
    event.id == "event/image-pull" && found.iter().any(|f| f.id.starts_with("pod/image"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use pintle_core::{Door, Outcome};
    use pintle_testkit::kube::{Fault, Objects};
    use serde_json::{Value, json};

    fn ids(answer: &Value) -> Vec<(&str, &str)> {
        rows(answer).map(|r| (name(r), r["id"].as_str().unwrap())).collect()
    }

    #[tokio::test]
    async fn kt_find_pod_issues_an_2_1_five_thousand_pods_are_rolled_up_and_bounded() {
        let world = World::of(Objects::new().pods(5_000)).await;
        let reply = world.call_as(Door::Agents, "find_pod_issues", json!({})).await;
        assert_eq!(reply.outcome, Outcome::Findings);
        let text = reply.view.plain();
        let answer = reply.answer.unwrap();
        assert_eq!(answer["counts"]["looked_at"], json!({"pods": 5_000}));
        assert_eq!(answer["counts"]["findings"], 100);
        assert!(answer.to_string().len() <= 25_000 && text.len() <= 25_000, "{}", text.len());
        assert!(text.starts_with("100 findings ("), "{text}");
        let severities: Vec<_> = rows(&answer).map(|r| r["severity"].as_str().unwrap()).collect();
        assert_eq!(severities[0], "critical");
        assert!(rows(&answer).all(|r| r["owner"]["kind"] == "Deployment"));
        // Half a megabyte a page and nothing kept: ten pages, whatever else was asked.
        let pages = world.cluster.requests().iter().filter(|r| r.path == "/api/v1/pods").count();
        assert_eq!(pages, 10);
    }

    #[tokio::test]
    async fn kt_find_pod_issues_kw_54_kw_55_old_spellings_are_understood() {
        let objects = Objects::new()
            .namespace("shop")
            .with(pod("done", json!({"phase": "Succeeded"})))
            .with(pod("bad", waiting("ImagePullBackOff")));
        let world = World::of(objects).await;
        for arguments in [json!({}), json!({"include_completed": "false"}), json!({"namespace": "", "cluster": "fake"})]
        {
            let answer = world.call("find_pod_issues", arguments).await.answer.unwrap();
            assert_eq!(ids(&answer), [("bad", "pod/image-pull")]);
        }
        for arguments in [json!({"include_completed": "true"}), json!({"include_completed": true, "namespace": "shop"})]
        {
            let answer = world.call("find_pod_issues", arguments).await.answer.unwrap();
            assert_eq!(ids(&answer), [("bad", "pod/image-pull"), ("done", "pod/completed")]);
        }
        let habits = world.call("find_pod_issues", json!({"hygiene": true})).await.answer.unwrap();
        assert_eq!(habits["counts"]["by_finding"]["hygiene/naked-pod"], 2);
        let high = world.call("find_pod_issues", json!({"severity": "critical"})).await;
        assert_eq!(high.outcome, Outcome::Ok);
        assert!(high.view.plain().starts_with("no findings on 2 pods"), "{}", high.view.plain());
    }

    #[tokio::test]
    async fn kt_find_pod_issues_an_1_5_pods_of_a_job_that_recovered_are_fine_and_its_absence_is_told() {
        let failed = |pod_name: &str, job: &str| {
            let mut value = pod(pod_name, json!({"phase": "Failed"}));
            value["metadata"]["ownerReferences"] =
                json!([{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": "1", "controller": true}]);
            value
        };
        let job = |job: &str, condition: &str| {
            json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job, "namespace": "shop"},
                "status": {"conditions": [{"type": condition, "status": "True"}]}})
        };
        let objects = Objects::new()
            .namespace("shop")
            .with(failed("good-1", "good"))
            .with(job("good", "Complete"))
            .with(failed("bad-1", "bad"))
            .with(job("bad", "Failed"));
        let world = World::of(objects).await;
        let answer = world.call("find_pod_issues", json!({})).await.answer.unwrap();
        assert_eq!(ids(&answer), [("bad", "pod/failed")]);
        world.cluster.fault("*/jobs", Fault::Forbidden);
        let answer = world.call("find_pod_issues", json!({})).await.answer.unwrap();
        assert_eq!(ids(&answer).len(), 2);
        let notes = answer["clusters"][0]["notes"].to_string();
        assert!(notes.contains("jobs could not be read (forbidden)"), "{notes}");
    }

    #[tokio::test]
    async fn kt_find_pod_issues_an_2_1_events_explain_pods_in_trouble_and_owners_without_pods() {
        let event = |event_name: &str, kind: &str, object: &str, reason: &str, message: &str| {
            json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": event_name, "namespace": "shop"}, "type": "Warning",
                "involvedObject": {"kind": kind, "namespace": "shop", "name": object}, "reason": reason, "message": message,
                "lastTimestamp": ago(60)})
        };
        let starting = json!({"phase": "Pending", "startTime": ago(60)});
        let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
        let objects = Objects::new()
            .namespace("shop")
            .with(pod("starting", starting))
            .with(pod("ready", ready))
            .with(event("a", "Pod", "starting", "FailedMount", "secret \"x\" not found"))
            .with(event("b", "Pod", "ready", "Unhealthy", "Readiness probe failed: early"))
            .with(event("c", "ReplicaSet", "web-1", "FailedCreate", "exceeded quota: q"));
        let world = World::of(objects).await;
        let answer = world.call("find_pod_issues", json!({})).await.answer.unwrap();
        assert_eq!(ids(&answer), [("starting", "event/mount-failed"), ("web-1", "event/quota-exceeded")]);
    }

    #[tokio::test]
    async fn kt_find_pod_issues_dead_clusters_hide_nothing_and_absent_namespaces_are_told() {
        let objects = Objects::new().namespace("shop").with(pod("bad", waiting("ErrImagePull")));
        let world = World::and_dead(objects, &["gone"]).await;
        let reply = world.call("find_pod_issues", json!({"clusters": ["all"]})).await;
        assert_eq!(reply.outcome, Outcome::Partial);
        let answer = reply.answer.unwrap();
        assert_eq!(rows(&answer).next().unwrap()["cluster"], "fake");
        assert_eq!(answer["totals"]["failed"], 1);
        let absent = world.call("find_pod_issues", json!({"namespace": "nowhere"})).await;
        assert!(absent.view.plain().contains("namespace `nowhere` does not exist"), "{}", absent.view.plain());
        let refused = world.call("find_pod_issues", json!({"namespace": "../etc"})).await;
        assert_eq!(refused.outcome, Outcome::Failed);
    }

    #[tokio::test]
    async fn kt_find_pod_issues_kw_56_an_6_03_pages_of_a_bounded_answer_make_up_the_whole() {
        let pods = (0..150).map(|index| pod(&format!("bad-{index:03}"), waiting("ImagePullBackOff")));
        let world = World::of(pods.fold(Objects::new().namespace("shop"), Objects::with)).await;
        let (mut names, mut cursor) = (Vec::new(), None);
        loop {
            let mut arguments = json!({"namespace": "shop"});
            if let Some(cursor) = cursor.take() {
                arguments["cursor"] = cursor;
            }
            let reply = world.call_as(Door::Agents, "find_pod_issues", arguments).await;
            let answer = reply.answer.unwrap();
            assert_eq!(answer["counts"]["findings"], 150, "counts are of all pages");
            names.extend(rows(&answer).map(|r| name(r).to_owned()).collect::<Vec<_>>());
            assert_eq!(reply.truncated, reply.next_cursor.is_some());
            match reply.next_cursor {
                Some(next) => cursor = Some(json!(next)),
                None => break,
            }
        }
        assert_eq!(names.len(), 150);
        assert!(names.is_sorted());
    }
}
