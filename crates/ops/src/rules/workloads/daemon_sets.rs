//! DaemonSets.

use super::{SETTLING, age, not_observed};
use crate::rules::finding::{Finding, ObjectRef, Severity, sort};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::DaemonSet;

/// What is wrong with a DaemonSet, worst first.
#[must_use]
pub fn examine(set: &DaemonSet, now: Timestamp) -> Vec<Finding> {
    let status = set.status.as_ref();
    let observed = status.and_then(|s| s.observed_generation);
    if let Some(blind) = not_observed("daemonset/not-observed", "DaemonSet", &set.metadata, observed, now) {
        return vec![blind];
    }
    let Some(status) = status else { return Vec::new() };
    let find =
        |id, severity, message: String| Finding::new(id, severity, ObjectRef::of("DaemonSet", &set.metadata), message);
    let desired = status.desired_number_scheduled;
    let mut found = Vec::new();
    let settled = age(set.metadata.creation_timestamp.as_ref(), now).is_none_or(|a| a >= SETTLING);
    if status.current_number_scheduled < desired && settled {
        found.push(
            find(
                "daemonset/not-scheduled",
                Severity::High,
                format!("has pods on {} of {desired} nodes", status.current_number_scheduled),
            )
            .shown_by("status.desiredNumberScheduled", desired)
            .shown_by("status.currentNumberScheduled", status.current_number_scheduled)
            .next("look at its owner's events: `get_warning_events`"),
        );
    }
    if status.number_ready < desired && settled {
        let severity = if status.number_ready == 0 { Severity::Critical } else { Severity::High };
        found.push(
            find("daemonset/not-ready", severity, format!("is ready on {} of {desired} nodes", status.number_ready))
                .shown_by("status.desiredNumberScheduled", desired)
                .shown_by("status.numberReady", status.number_ready)
                .next("look at its pods: `find_pod_issues` in the namespace"),
        );
    }
    if status.number_misscheduled > 0 {
        found.push(
            find(
                "daemonset/misscheduled",
                Severity::Low,
                format!("runs on {} nodes where it should not", status.number_misscheduled),
            )
            .shown_by("status.numberMisscheduled", status.number_misscheduled)
            .next("its node selector, affinity or the nodes' taints changed after its pods were placed"),
        );
    }
    let updated = status.updated_number_scheduled.unwrap_or(0);
    let by_hand = set.spec.update_strategy.as_ref().and_then(|s| s.type_.as_deref()) == Some("OnDelete");
    if by_hand && updated < desired {
        found.push(
            find("daemonset/update-waits", Severity::Info, "waits with its update until pods are deleted".to_owned())
                .shown_by("status.updatedNumberScheduled", format!("{updated} of {desired}"))
                .next("delete its pods one by one to update them"),
        );
    }
    sort(&mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn set(desired: i32, current: i32, ready: i32, stray: i32) -> Value {
        json!({"metadata": {"name": "agent", "namespace": "n"}, "spec": {"selector": {}, "template": {}},
            "status": {"desiredNumberScheduled": desired, "currentNumberScheduled": current, "numberReady": ready,
                "numberMisscheduled": stray, "updatedNumberScheduled": desired}})
    }

    #[test]
    fn an_2_1_daemon_sets_compare_desired_scheduled_and_ready() {
        assert_eq!(examine(&from(set(3, 3, 3, 0)), now()), []);
        assert_eq!(examine(&from(set(0, 0, 0, 0)), now()), [], "no node asks for it");
        assert_eq!(ids(&examine(&from(set(3, 3, 2, 0)), now())), ["daemonset/not-ready"]);
        assert_eq!(
            ids(&examine(&from(set(3, 2, 2, 1)), now())),
            ["daemonset/not-ready", "daemonset/not-scheduled", "daemonset/misscheduled"]
        );
    }
}
