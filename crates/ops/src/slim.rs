//! Objects without what no rule looks at: `managedFields` are half of a pod's bytes, and are skipped while decoding.

use k8s_openapi::{
    api::core::v1::{Pod, PodSpec, PodStatus, PodTemplateSpec},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time},
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
    use serde_json::json;

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
