//! Objects without what no rule looks at: `managedFields` are half of a pod's bytes, and are skipped while decoding.

use k8s_openapi::{
    api::core::v1::{
        Container, ContainerPort, EnvVar, Node, NodeSpec, NodeStatus, Pod, PodReadinessGate, PodSchedulingGate,
        PodSpec, PodStatus, PodTemplateSpec, Probe, ResourceRequirements,
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{ObjectMeta, OwnerReference, Time},
    },
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Metadata without `managedFields`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Meta {
    name: Option<String>,
    namespace: Option<String>,
    generate_name: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
    finalizers: Option<Vec<String>>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
    generation: Option<i64>,
}

impl From<Meta> for ObjectMeta {
    fn from(meta: Meta) -> Self {
        Self {
            name: meta.name,
            namespace: meta.namespace,
            generate_name: meta.generate_name,
            labels: meta.labels,
            annotations: meta.annotations,
            owner_references: meta.owner_references,
            finalizers: meta.finalizers,
            creation_timestamp: meta.creation_timestamp,
            deletion_timestamp: meta.deletion_timestamp,
            deletion_grace_period_seconds: meta.deletion_grace_period_seconds,
            generation: meta.generation,
            ..Self::default()
        }
    }
}

/// A pod.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct SlimPod {
    #[serde(default)]
    metadata: Meta,
    spec: Option<PodSpec>,
    status: Option<PodStatus>,
}

impl From<SlimPod> for Pod {
    fn from(pod: SlimPod) -> Self {
        Self { metadata: pod.metadata.into(), spec: pod.spec, status: pod.status }
    }
}

/// A pod as far as `rules::pods` looks at it: of five thousand pods, volumes, mounts, environments and annotations are
/// most of what is left after `managedFields`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LeanPod {
    #[serde(default)]
    metadata: LeanMeta,
    spec: Option<LeanSpec>,
    status: Option<PodStatus>,
}

/// [`Meta`] without annotations.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeanMeta {
    name: Option<String>,
    namespace: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<OwnerReference>>,
    finalizers: Option<Vec<String>>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    deletion_grace_period_seconds: Option<i64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeanSpec {
    containers: Option<Vec<LeanContainer>>,
    init_containers: Option<Vec<LeanContainer>>,
    node_name: Option<String>,
    readiness_gates: Option<Vec<PodReadinessGate>>,
    restart_policy: Option<String>,
    scheduler_name: Option<String>,
    scheduling_gates: Option<Vec<PodSchedulingGate>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeanContainer {
    name: Option<String>,
    image: Option<String>,
    env: Option<Vec<LeanVariable>>,
    liveness_probe: Option<Probe>,
    ports: Option<Vec<ContainerPort>>,
    readiness_probe: Option<Probe>,
    resources: Option<ResourceRequirements>,
    restart_policy: Option<String>,
    startup_probe: Option<Probe>,
}

/// The name of a variable; its value never enters this process as more than bytes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct LeanVariable {
    name: Option<String>,
}

impl From<LeanContainer> for Container {
    fn from(c: LeanContainer) -> Self {
        let env = c.env.map(|env| {
            env.into_iter().map(|v| EnvVar { name: v.name.unwrap_or_default(), ..EnvVar::default() }).collect()
        });
        Self {
            name: c.name.unwrap_or_default(),
            image: c.image,
            env,
            liveness_probe: c.liveness_probe,
            ports: c.ports,
            readiness_probe: c.readiness_probe,
            resources: c.resources,
            restart_policy: c.restart_policy,
            startup_probe: c.startup_probe,
            ..Self::default()
        }
    }
}

impl From<LeanPod> for Pod {
    fn from(pod: LeanPod) -> Self {
        let meta = pod.metadata;
        let metadata = ObjectMeta {
            name: meta.name,
            namespace: meta.namespace,
            labels: meta.labels,
            owner_references: meta.owner_references,
            finalizers: meta.finalizers,
            creation_timestamp: meta.creation_timestamp,
            deletion_timestamp: meta.deletion_timestamp,
            deletion_grace_period_seconds: meta.deletion_grace_period_seconds,
            ..ObjectMeta::default()
        };
        let full = |list: Vec<LeanContainer>| list.into_iter().map(Container::from).collect::<Vec<_>>();
        let spec = pod.spec.map(|spec| PodSpec {
            containers: spec.containers.map(full).unwrap_or_default(),
            init_containers: spec.init_containers.map(full),
            node_name: spec.node_name,
            readiness_gates: spec.readiness_gates,
            restart_policy: spec.restart_policy,
            scheduler_name: spec.scheduler_name,
            scheduling_gates: spec.scheduling_gates,
            ..PodSpec::default()
        });
        Self { metadata, spec, status: pod.status }
    }
}

/// A node as far as `rules::resources::nodes` looks at it: the images that it holds are most of its bytes.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct LeanNode {
    #[serde(default)]
    metadata: LeanMeta,
    spec: Option<NodeSpec>,
    status: Option<LeanNodeStatus>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct LeanNodeStatus {
    allocatable: Option<BTreeMap<String, Quantity>>,
    capacity: Option<BTreeMap<String, Quantity>>,
}

impl From<LeanNode> for Node {
    fn from(node: LeanNode) -> Self {
        let metadata = ObjectMeta { name: node.metadata.name, ..ObjectMeta::default() };
        let status = node.status.map(|status| NodeStatus {
            allocatable: status.allocatable,
            capacity: status.capacity,
            ..NodeStatus::default()
        });
        Self { metadata, spec: node.spec, status }
    }
}

/// Anything that makes pods from a template: workloads have it in `spec.template`, CronJobs a level deeper.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Templated {
    #[serde(default)]
    metadata: Meta,
    spec: Option<TemplatedSpec>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TemplatedSpec {
    template: Option<PodTemplateSpec>,
    job_template: Option<JobTemplate>,
}

#[derive(Clone, Debug, Deserialize)]
struct JobTemplate {
    spec: Option<JobTemplateSpec>,
}

#[derive(Clone, Debug, Deserialize)]
struct JobTemplateSpec {
    template: Option<PodTemplateSpec>,
}

impl Templated {
    /// Its metadata, and the template of its pods where it has one.
    pub(crate) fn take(self) -> (ObjectMeta, Option<PodTemplateSpec>) {
        let template = self.spec.and_then(|spec| {
            let of_job = spec.job_template.and_then(|job| job.spec).and_then(|spec| spec.template);
            spec.template.or(of_job)
        });
        (self.metadata.into(), template)
    }
}

/// Only metadata, with everything in it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Described {
    /// The metadata.
    pub(crate) metadata: ObjectMeta,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::pods::{self, Surroundings};
    use serde_json::{Value, json};

    #[test]
    fn what_rules_look_at_survives_and_nulls_do_no_harm() {
        let value = json!({
            "metadata": {"name": "web", "namespace": "shop", "labels": {"a": "b"}, "annotations": null,
                "creationTimestamp": "2026-11-30T10:00:00Z", "deletionTimestamp": "2026-11-30T11:00:00Z",
                "deletionGracePeriodSeconds": 30, "finalizers": ["f"], "generation": 3,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "1"}],
                "managedFields": [{"manager": "m"}]},
            "spec": {"containers": [{"name": "a"}]}, "status": null,
        });
        let slim: SlimPod = serde_json::from_value(value.clone()).unwrap();
        let mut whole: Pod = serde_json::from_value(value).unwrap();
        whole.metadata.managed_fields = None;
        assert_eq!(Pod::from(slim), whole);
    }

    /// Every field that a rule about pods looks at is among what is decoded: the lean pod and the whole one give the
    /// same findings, in every family of rules.
    #[test]
    fn a_lean_pod_gives_the_findings_of_the_whole_one() {
        let now = "2026-11-30T12:00:00Z".parse().unwrap();
        let past = "2026-11-30T10:00:00Z";
        let waiting = |reason: &str| json!({"waiting": {"reason": reason, "message": "secret \"db\" not found"}});
        let status = |name: &str, state: Value, ready: bool| {
            json!({"name": name, "image": "", "imageID": "", "ready": ready, "restartCount": 9, "started": true, "state": state,
                "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": past}}})
        };
        let statuses = [
            json!({"phase": "Failed", "reason": "Evicted", "message": "memory"}),
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}),
            json!({"phase": "Running", "startTime": past, "containerStatuses": [status("app", waiting("CrashLoopBackOff"), false)],
                "initContainerStatuses": [status("proxy", waiting("CreateContainerConfigError"), false)]}),
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": past}],
                "containerStatuses": [status("app", json!({"running": {"startedAt": past}}), false)]}),
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": past}],
                "containerStatuses": [status("app", json!({"running": {"startedAt": past}}), true)]}),
            json!({"phase": "Pending"}),
        ];
        for (index, status) in statuses.into_iter().enumerate() {
            for (node, deleted) in [("n1", false), ("", false), ("n1", true)] {
                let value = json!({
                    "metadata": {"name": "web-1-x", "namespace": "shop", "labels": {"pod-template-hash": "1"},
                        "annotations": {"a": "b"}, "creationTimestamp": past, "finalizers": ["f"],
                        "deletionTimestamp": deleted.then_some(past), "deletionGracePeriodSeconds": 30},
                    "spec": {"nodeName": node, "schedulerName": "s", "restartPolicy": "Never",
                        "schedulingGates": (index == 5).then(|| json!([{"name": "g"}])),
                        "readinessGates": [{"conditionType": "lb/ready"}],
                        "initContainers": [{"name": "proxy", "restartPolicy": "Always", "image": "p:1"}],
                        "containers": [{"name": "app", "image": "a:1", "ports": [{"containerPort": 80}],
                            "resources": {"limits": {"memory": "64Mi"}}, "env": [{"name": "A", "value": "1"}, {"name": "A"}],
                            "startupProbe": {"periodSeconds": 1}, "livenessProbe": {"httpGet": {"port": 80}}}]},
                    "status": status,
                });
                let lean = Pod::from(serde_json::from_value::<LeanPod>(value.clone()).unwrap());
                let whole: Pod = serde_json::from_value(value.clone()).unwrap();
                let around = Surroundings::at(now);
                assert_eq!(pods::examine(&lean, &around), pods::examine(&whole, &around), "{value}");
                assert_eq!(pods::hygiene(&lean), pods::hygiene(&whole), "{value}");
            }
        }
    }

    #[test]
    fn templates_are_found_where_each_kind_has_them() {
        let template = json!({"spec": {"containers": [{"name": "a"}]}});
        for spec in [json!({"template": template}), json!({"jobTemplate": {"spec": {"template": template}}})] {
            let object: Templated = serde_json::from_value(json!({"metadata": {"name": "x"}, "spec": spec})).unwrap();
            let (meta, found) = object.take();
            assert_eq!(meta.name.as_deref(), Some("x"));
            assert_eq!(found.and_then(|t| t.spec).map(|s| s.containers.len()), Some(1));
        }
        let bare: Templated = serde_json::from_value(json!({"spec": null})).unwrap();
        assert!(bare.take().1.is_none());
    }
}
