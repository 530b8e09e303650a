//! ReplicaSets that no Deployment owns; those of a Deployment are told with it.

use super::{SETTLING, age, not_observed};
use crate::rules::{
    finding::{Finding, ObjectRef, Severity},
    roll_up::controller,
};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::ReplicaSet;

/// What is wrong with a ReplicaSet of its own.
#[must_use]
pub fn examine(rs: &ReplicaSet, now: Timestamp) -> Vec<Finding> {
    if controller(&rs.metadata).is_some() {
        return Vec::new();
    }
    let status = rs.status.as_ref();
    let observed = status.and_then(|s| s.observed_generation);
    if let Some(blind) = not_observed("replicaset/not-observed", "ReplicaSet", &rs.metadata, observed, now) {
        return vec![blind];
    }
    let object = || ObjectRef::of("ReplicaSet", &rs.metadata);
    let conditions = status.and_then(|s| s.conditions.as_deref()).unwrap_or_default();
    if let Some(failure) =
        conditions.iter().find(|c| c.type_.as_deref() == Some("ReplicaFailure") && c.status.as_deref() == Some("True"))
    {
        return vec![
            Finding::new("replicaset/replica-failure", Severity::High, object(), "its pods cannot be created")
                .shown_by_option("status.conditions[ReplicaFailure].reason", failure.reason.as_deref())
                .shown_by_option("status.conditions[ReplicaFailure].message", failure.message.as_deref())
                .since(failure.last_transition_time.as_ref())
                .next("the message tells what was refused"),
        ];
    }
    let desired = rs.spec.replicas.unwrap_or(1);
    let available = status.and_then(|s| s.available_replicas).unwrap_or(0);
    let settled = age(rs.metadata.creation_timestamp.as_ref(), now).is_none_or(|a| a >= SETTLING);
    if available >= desired || !settled {
        return Vec::new();
    }
    let severity = if available == 0 { Severity::Critical } else { Severity::Medium };
    vec![
        Finding::new(
            "replicaset/shortfall",
            severity,
            object(),
            format!("{available} of {desired} replicas are available"),
        )
        .shown_by("spec.replicas", desired)
        .shown_by("status.availableReplicas", available)
        .next("look at its pods: `find_pod_issues` in the namespace"),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_1_replica_sets_of_their_own_are_checked_and_owned_ones_left_to_their_owner() {
        let mut value = json!({"metadata": {"name": "rs", "namespace": "n"}, "spec": {"replicas": 2, "selector": {}},
            "status": {"replicas": 2, "availableReplicas": 1}});
        assert_eq!(ids(&examine(&from(value.clone()), now())), ["replicaset/shortfall"]);
        value["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "1", "controller": true}]);
        assert_eq!(examine(&from(value.clone()), now()), []);
        value["metadata"]["ownerReferences"] = json!(null);
        value["spec"]["replicas"] = json!(0);
        assert_eq!(examine(&from(value), now()), []);
    }
}
