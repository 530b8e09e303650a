//! What is wrong with a pod: phase, scheduling, waiting containers, crashes, readiness, deletion.
//!
//! One [`examine`] asks the families in the order in which a pod lives, and stops where a later question has no
//! meaning: a pod that is being deleted need not be ready, and one that is gated need not be scheduled. Sources:
//! `PodStatus` and `ContainerStatus` of the core API, and the reasons that kubelet, scheduler and node controller write.

mod crashes;
mod hygiene;
mod image;
mod phase;
mod readiness;
mod scheduling;
mod terminating;
mod waiting;

use super::{
    containers::{self, Role},
    finding::{Finding, ObjectRef, Severity},
    roll_up::controller,
};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{ContainerStatus, Pod, PodCondition, PodSpec, PodStatus},
    apimachinery::pkg::apis::meta::v1::Time,
};
use std::collections::HashMap;

pub use crashes::meaning_of_exit;
pub use hygiene::hygiene;
pub use image::{PullFailure, pull_failure};
pub use scheduling::{Cause, Unschedulable, parse_unschedulable};

/// How a Job that owns pods is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Neither complete nor failed: a failed pod is retried.
    Running,
    /// Complete: pods that failed on the way are history.
    Complete,
    /// Given up.
    Failed,
}

/// What is known beside the pod.
#[derive(Debug)]
pub struct Surroundings {
    /// The present moment.
    pub now: Timestamp,
    /// Whether pods that ended well are told too.
    pub include_completed: bool,
    /// Jobs by namespace and name, where they could be listed.
    pub jobs: HashMap<(String, String), JobState>,
}

impl Surroundings {
    /// Nothing but the time.
    #[must_use]
    pub fn at(now: Timestamp) -> Self {
        Self { now, include_completed: false, jobs: HashMap::new() }
    }

    fn job_of(&self, pod: &Pod) -> Option<JobState> {
        let owner = controller(&pod.metadata).filter(|o| o.kind == "Job")?;
        let namespace = pod.metadata.namespace.clone().unwrap_or_default();
        self.jobs.get(&(namespace, owner.name.clone())).copied()
    }
}

/// What is wrong with that pod, worst first.
#[must_use]
pub fn examine(pod: &Pod, around: &Surroundings) -> Vec<Finding> {
    let look = Look::new(pod, around);
    let mut found = Vec::new();
    if pod.metadata.deletion_timestamp.is_some() {
        found.extend(terminating::check(&look));
        return found;
    }
    match look.phase() {
        "Succeeded" => found.extend(phase::succeeded(&look)),
        "Failed" => found.extend(phase::failed(&look)),
        "Unknown" => found.push(phase::unknown(&look)),
        _ if scheduling::gated(&look) => {}
        _ if !look.is_scheduled() => found.extend(scheduling::check(&look)),
        phase => {
            waiting::check(&look, &mut found);
            crashes::check(&look, &mut found);
            if phase == "Pending" {
                if found.is_empty() {
                    found.extend(waiting::slow_start(&look));
                }
            } else {
                readiness::check(&look, &mut found);
            }
        }
    }
    super::finding::sort(&mut found);
    found
}

/// A pod with what is known beside it.
struct Look<'a> {
    pod: &'a Pod,
    around: &'a Surroundings,
    status: Option<&'a PodStatus>,
}

/// A container's status with its place in the pod.
#[derive(Clone, Copy)]
struct Seen<'a> {
    role: Role,
    status: &'a ContainerStatus,
}

impl Seen<'_> {
    /// Path of a field of this status.
    fn path(&self, field: &str) -> String {
        let list = match self.role {
            Role::Init | Role::Sidecar => "initContainerStatuses",
            Role::Main => "containerStatuses",
            Role::Ephemeral => "ephemeralContainerStatuses",
        };
        format!("status.{list}[{}].{field}", self.status.name)
    }
}

impl<'a> Look<'a> {
    fn new(pod: &'a Pod, around: &'a Surroundings) -> Self {
        Self { pod, around, status: pod.status.as_ref() }
    }

    fn phase(&self) -> &'a str {
        self.status.and_then(|s| s.phase.as_deref()).unwrap_or("")
    }

    fn spec(&self) -> Option<&'a PodSpec> {
        self.pod.spec.as_ref()
    }

    fn condition(&self, kind: &str) -> Option<&'a PodCondition> {
        self.status?.conditions.iter().flatten().find(|c| c.type_ == kind)
    }

    /// A pod with a node is scheduled, whatever its conditions say; static pods have no condition for it.
    fn is_scheduled(&self) -> bool {
        self.spec().is_some_and(|s| s.node_name.as_deref().is_some_and(|n| !n.is_empty()))
    }

    /// Statuses of all containers that have one.
    fn containers(&self) -> impl Iterator<Item = Seen<'a>> {
        let sidecars: Vec<&str> = self
            .spec()
            .into_iter()
            .flat_map(containers::all)
            .filter(|c| c.role == Role::Sidecar)
            .map(|c| c.name)
            .collect();
        let status = self.status;
        let init = status.and_then(|s| s.init_container_statuses.as_deref()).unwrap_or_default().iter().map(move |s| {
            let role = if sidecars.contains(&s.name.as_str()) { Role::Sidecar } else { Role::Init };
            Seen { role, status: s }
        });
        let main = status.and_then(|s| s.container_statuses.as_deref()).unwrap_or_default();
        let ephemeral = status.and_then(|s| s.ephemeral_container_statuses.as_deref()).unwrap_or_default();
        init.chain(main.iter().map(|s| Seen { role: Role::Main, status: s }))
            .chain(ephemeral.iter().map(|s| Seen { role: Role::Ephemeral, status: s }))
    }

    /// Seconds since then; none when the time is unknown.
    fn age(&self, time: Option<&Time>) -> Option<i64> {
        time.map(|t| self.around.now.as_second() - t.0.as_second())
    }

    fn find(&self, id: &'static str, severity: Severity, message: impl Into<String>) -> Finding {
        Finding::new(id, severity, ObjectRef::of("Pod", &self.pod.metadata), message)
    }

    /// `kubectl logs` of a container, as far as a person can paste it.
    fn logs_hint(&self, container: &str, previous: bool) -> String {
        let meta = &self.pod.metadata;
        format!(
            "read the log: `get_pod_logs name={} namespace={} container={container}{}`",
            meta.name.as_deref().unwrap_or("?"),
            meta.namespace.as_deref().unwrap_or("default"),
            if previous { " previous=true" } else { "" }
        )
    }
}

#[cfg(test)]
mod testing {
    use super::*;
    use serde_json::{Value, json};

    /// The moment at which all tests look.
    pub(super) const NOW: &str = "2026-11-30T12:00:00Z";

    /// `seconds` before [`NOW`], as an API server writes it.
    pub(super) fn ago(seconds: i64) -> String {
        let now: Timestamp = NOW.parse().unwrap();
        Timestamp::from_second(now.as_second() - seconds).unwrap().to_string()
    }

    /// A pod with one container `app` on a node, two hours old.
    pub(super) fn pod(status: Value) -> Value {
        json!({
            "metadata": {"name": "web", "namespace": "shop", "creationTimestamp": ago(7_200)},
            "spec": {"nodeName": "node-1", "containers": [{"name": "app", "image": "app:1"}]},
            "status": status,
        })
    }

    pub(super) fn around() -> Surroundings {
        Surroundings::at(NOW.parse().unwrap())
    }

    pub(super) fn examine_value(pod: Value) -> Vec<Finding> {
        examine(&serde_json::from_value(pod).unwrap(), &around())
    }

    pub(super) fn ids(found: &[Finding]) -> Vec<&'static str> {
        found.iter().map(|f| f.id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_without_status_or_with_null_in_it_is_looked_at_without_harm() {
        assert_eq!(examine(&Pod::default(), &around()), []);
        for status in [json!(null), json!({}), json!({"conditions": null, "containerStatuses": null})] {
            assert_eq!(ids(&examine_value(pod(status))), Vec::<&str>::new());
        }
    }

    #[test]
    fn an_2_1_healthy_pods_give_nothing() {
        let status = json!({
            "phase": "Running", "startTime": ago(7_000),
            "conditions": [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "True"}],
            "containerStatuses": [{"name": "app", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                "state": {"running": {"startedAt": ago(7_000)}}}],
        });
        assert_eq!(examine_value(pod(status)), []);
    }
}
