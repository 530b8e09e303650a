//! Pods that should be gone.

use super::Look;
use crate::rules::finding::{Finding, Moment, Severity, age_text};

/// How long after its time a pod may linger, in seconds: kubelets report with a delay.
const SLACK: i64 = 60;

/// A pod whose `metadata.deletionTimestamp` is past. The API server writes there the moment at which the grace period
/// ends, so the grace is in it already. Finalizers hold an object; without any, it is the node that does not answer.
pub(super) fn check(look: &Look<'_>) -> Option<Finding> {
    let meta = &look.pod.metadata;
    let due = meta.deletion_timestamp.as_ref()?;
    let overdue = Moment::from(due).age(look.around.now);
    if overdue <= SLACK {
        return None;
    }
    let finalizers = meta.finalizers.as_deref().unwrap_or_default();
    let (holder, next) = if finalizers.is_empty() {
        (
            "no finalizer holds it, so its node does not confirm",
            "look at the node; only when it is surely gone, delete the pod with grace period 0",
        )
    } else {
        ("finalizers hold it", "find the controller that serves the finalizers and why it does not finish")
    };
    let severity = if overdue > 600 { Severity::High } else { Severity::Medium };
    let mut finding = look
        .find("pod/stuck-terminating", severity, format!("should be gone since {}: {holder}", age_text(overdue)))
        .shown_by("metadata.deletionTimestamp", Moment::from(due))
        .shown_by_option("metadata.deletionGracePeriodSeconds", meta.deletion_grace_period_seconds)
        .shown_by_option("spec.nodeName", look.spec().and_then(|s| s.node_name.as_deref()))
        .since(Some(due))
        .next(next);
    if !finalizers.is_empty() {
        finding = finding.shown_by("metadata.finalizers", finalizers.join(", "));
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use serde_json::json;

    #[test]
    fn kw_13_an_2_1_stuck_in_deletion_is_told_with_who_holds_the_pod() {
        let mut value = pod(json!({"phase": "Running"}));
        value["metadata"]["deletionTimestamp"] = json!(ago(30));
        value["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        assert_eq!(examine_value(value.clone()), [], "within its time");

        value["metadata"]["deletionTimestamp"] = json!(ago(900));
        let found = examine_value(value.clone());
        assert_eq!(ids(&found), ["pod/stuck-terminating"]);
        assert!(found[0].message.contains("15m") && found[0].message.contains("node does not confirm"));

        value["metadata"]["finalizers"] = json!(["example.com/guard"]);
        let found = examine_value(value);
        assert_eq!(found[0].evidence_of("metadata.finalizers"), Some("example.com/guard"));
    }

    #[test]
    fn a_pod_with_a_long_grace_period_still_ahead_is_left_alone() {
        let mut value = pod(json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}));
        value["metadata"]["deletionTimestamp"] = json!(ago(-3_600));
        assert_eq!(examine_value(value), []);
    }
}
