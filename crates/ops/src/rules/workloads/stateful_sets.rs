//! StatefulSets.

use super::{SETTLING, age, not_observed};
use crate::rules::finding::{Finding, ObjectRef, Severity, sort};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::StatefulSet;

/// What is wrong with a StatefulSet, worst first.
#[must_use]
pub fn examine(set: &StatefulSet, now: Timestamp) -> Vec<Finding> {
    let status = set.status.as_ref();
    let observed = status.and_then(|s| s.observed_generation);
    if let Some(blind) = not_observed("statefulset/not-observed", "StatefulSet", &set.metadata, observed, now) {
        return vec![blind];
    }
    let object = || ObjectRef::of("StatefulSet", &set.metadata);
    let desired = set.spec.replicas.unwrap_or(1);
    let ready = status.and_then(|s| s.ready_replicas).unwrap_or(0);
    let mut found = Vec::new();
    let settled = age(set.metadata.creation_timestamp.as_ref(), now).is_none_or(|a| a >= SETTLING);
    if ready < desired && settled {
        let severity = if ready == 0 { Severity::Critical } else { Severity::High };
        let ordered = set.spec.pod_management_policy.as_deref() != Some("Parallel");
        let next = if ordered {
            format!(
                "its pods start in order: look at the first one that is not ready, {}-{ready} most often",
                object().name
            )
        } else {
            "look at its pods: `find_pod_issues` in the namespace".to_owned()
        };
        found.push(
            Finding::new(
                "statefulset/shortfall",
                severity,
                object(),
                format!("{ready} of {desired} replicas are ready"),
            )
            .shown_by("spec.replicas", desired)
            .shown_by("status.readyReplicas", ready)
            .next(next),
        );
    }
    found.extend(half_updated(set, desired));
    sort(&mut found);
    found
}

/// Two revisions at once. A partition asks for that; without one the update waits for a pod or for a person.
fn half_updated(set: &StatefulSet, desired: i32) -> Option<Finding> {
    let status = set.status.as_ref()?;
    let (current, update) = (status.current_revision.as_deref()?, status.update_revision.as_deref()?);
    if current == update || desired == 0 {
        return None;
    }
    let strategy = set.spec.update_strategy.as_ref();
    let by_hand = strategy.and_then(|s| s.type_.as_deref()) == Some("OnDelete");
    let partition = strategy.and_then(|s| s.rolling_update.as_ref()?.partition).unwrap_or(0);
    let updated = status.updated_replicas.unwrap_or(0);
    let (severity, words, next) = if by_hand {
        (Severity::Info, "waits with its update until pods are deleted", "delete its pods one by one to update them")
    } else if partition > 0 {
        (
            Severity::Info,
            "is held at two revisions by its partition",
            "lower updateStrategy.rollingUpdate.partition to go on",
        )
    } else {
        (
            Severity::Low,
            "is between two revisions",
            "look at the pod that is updated next: the update waits until it is ready",
        )
    };
    Some(
        Finding::new("statefulset/two-revisions", severity, ObjectRef::of("StatefulSet", &set.metadata), words)
            .shown_by("status.updatedReplicas", format!("{updated} of {desired}"))
            .shown_by("status.updateRevision", update)
            .shown_by("spec.updateStrategy.rollingUpdate.partition", partition)
            .next(next),
    )
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn set(status: Value) -> Value {
        json!({"metadata": {"name": "db", "namespace": "shop"}, "spec": {"replicas": 3, "selector": {}, "template": {}},
            "status": status})
    }

    #[test]
    fn an_2_1_stateful_sets_short_of_replicas_name_the_pod_to_look_at() {
        let found = examine(&from(set(json!({"replicas": 2, "readyReplicas": 1}))), now());
        assert_eq!((found[0].id, found[0].severity), ("statefulset/shortfall", Severity::High));
        assert!(found[0].next_step.contains("db-1"));
        assert_eq!(examine(&from(set(json!({"replicas": 3, "readyReplicas": 3}))), now()), []);
        let mut none = set(json!({"replicas": 0}));
        none["spec"]["replicas"] = json!(0);
        assert_eq!(examine(&from(none), now()), []);
    }

    #[test]
    fn an_2_1_a_partition_explains_two_revisions() {
        let status = json!({"replicas": 3, "readyReplicas": 3, "currentRevision": "a", "updateRevision": "b", "updatedReplicas": 1});
        let mut value = set(status);
        assert_eq!(examine(&from(value.clone()), now())[0].severity, Severity::Low);
        value["spec"]["updateStrategy"] = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
        assert_eq!(examine(&from(value), now())[0].severity, Severity::Info);
    }
}
