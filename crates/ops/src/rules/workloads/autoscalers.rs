//! HorizontalPodAutoscalers.

use super::not_observed;
use crate::rules::finding::{Finding, ObjectRef, Severity, sort};
use jiff::Timestamp;
use k8s_openapi::api::autoscaling::v2::{HorizontalPodAutoscaler, HorizontalPodAutoscalerCondition};

/// What is wrong with an autoscaler, worst first. One that rests at its minimum has nothing to do, and that is fine.
#[must_use]
pub fn examine(hpa: &HorizontalPodAutoscaler, now: Timestamp) -> Vec<Finding> {
    let observed = hpa.status.as_ref().and_then(|s| s.observed_generation);
    if observed.is_some()
        && let Some(blind) = not_observed("hpa/not-observed", "HorizontalPodAutoscaler", &hpa.metadata, observed, now)
    {
        return vec![blind];
    }
    let mut found: Vec<Finding> =
        [cannot_scale(hpa), no_metrics(hpa), at_maximum(hpa), fixed(hpa)].into_iter().flatten().collect();
    sort(&mut found);
    found
}

fn condition<'a>(
    hpa: &'a HorizontalPodAutoscaler,
    kind: &str,
    status: &str,
) -> Option<&'a HorizontalPodAutoscalerCondition> {
    hpa.status.as_ref()?.conditions.iter().flatten().find(|c| c.type_ == kind && c.status == status)
}

fn find(hpa: &HorizontalPodAutoscaler, id: &'static str, severity: Severity, message: &str) -> Finding {
    let target = format!("{}/{}", hpa.spec.scale_target_ref.kind, hpa.spec.scale_target_ref.name);
    Finding::new(id, severity, ObjectRef::of("HorizontalPodAutoscaler", &hpa.metadata), message)
        .shown_by("spec.scaleTargetRef", target)
}

fn with(finding: Finding, condition: &HorizontalPodAutoscalerCondition) -> Finding {
    finding
        .shown_by_option(format!("status.conditions[{}].reason", condition.type_), condition.reason.as_deref())
        .shown_by_option(format!("status.conditions[{}].message", condition.type_), condition.message.as_deref())
        .since(condition.last_transition_time.as_ref())
}

/// `AbleToScale: False`: its target is missing, or cannot be scaled.
fn cannot_scale(hpa: &HorizontalPodAutoscaler) -> Option<Finding> {
    let condition = condition(hpa, "AbleToScale", "False")?;
    // Waiting after the last change is what stabilisation is for.
    if condition.reason.as_deref().is_some_and(|r| r.starts_with("Backoff")) {
        return None;
    }
    let finding = find(hpa, "hpa/cannot-scale", Severity::High, "cannot scale its target")
        .next("make sure that the target exists and has a scale subresource");
    Some(with(finding, condition))
}

/// `ScalingActive: False`: no metrics. A target at 0 replicas switches scaling off, which is a choice.
fn no_metrics(hpa: &HorizontalPodAutoscaler) -> Option<Finding> {
    let condition = condition(hpa, "ScalingActive", "False")?;
    if condition.reason.as_deref() == Some("ScalingDisabled") {
        return None;
    }
    let finding = find(hpa, "hpa/no-metrics", Severity::High, "cannot read its metrics, so it does not scale").next(
        "make sure that metrics-server or the adapter answers, and that the pods request the resource it measures",
    );
    Some(with(finding, condition))
}

/// `ScalingLimited: True` with `TooManyReplicas`: it wants more than it may. `TooFewReplicas` is its minimum, and fine.
fn at_maximum(hpa: &HorizontalPodAutoscaler) -> Option<Finding> {
    let condition =
        condition(hpa, "ScalingLimited", "True").filter(|c| c.reason.as_deref() == Some("TooManyReplicas"))?;
    let spec = &hpa.spec;
    if minimum(hpa) == spec.max_replicas {
        return None;
    }
    let finding = find(hpa, "hpa/at-maximum", Severity::Medium, "would scale further than its maximum")
        .shown_by("spec.maxReplicas", spec.max_replicas)
        .next("raise maxReplicas, or find what makes the load");
    Some(with(finding, condition))
}

/// Minimum and maximum are the same: it can do nothing.
fn fixed(hpa: &HorizontalPodAutoscaler) -> Option<Finding> {
    let spec = &hpa.spec;
    (minimum(hpa) == spec.max_replicas).then(|| {
        find(hpa, "hpa/fixed", Severity::Low, "its minimum equals its maximum, so it never scales")
            .shown_by("spec.minReplicas", minimum(hpa))
            .shown_by("spec.maxReplicas", spec.max_replicas)
            .next("widen the range, or drop the autoscaler")
    })
}

fn minimum(hpa: &HorizontalPodAutoscaler) -> i32 {
    hpa.spec.min_replicas.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn hpa(max: i32, conditions: Value) -> HorizontalPodAutoscaler {
        from(json!({
            "metadata": {"name": "web", "namespace": "n"},
            "spec": {"minReplicas": 2, "maxReplicas": max, "scaleTargetRef": {"kind": "Deployment", "name": "web"}},
            "status": {"conditions": conditions, "currentReplicas": 2, "desiredReplicas": 2},
        }))
    }

    #[test]
    fn an_1_5_autoscaler_at_its_minimum_is_fine_and_one_at_its_maximum_or_without_metrics_is_found() {
        let condition =
            |kind: &str, status: &str, reason: &str| json!([{"type": kind, "status": status, "reason": reason}]);
        for (conditions, expected) in [
            (json!(null), None),
            (condition("ScalingLimited", "True", "TooFewReplicas"), None),
            (condition("ScalingActive", "False", "ScalingDisabled"), None),
            (condition("AbleToScale", "False", "BackoffDownscale"), None),
            (condition("ScalingLimited", "True", "TooManyReplicas"), Some("hpa/at-maximum")),
            (condition("ScalingActive", "False", "FailedGetResourceMetric"), Some("hpa/no-metrics")),
            (condition("AbleToScale", "False", "FailedGetScale"), Some("hpa/cannot-scale")),
        ] {
            let found = examine(&hpa(10, conditions.clone()), now());
            assert_eq!(found.first().map(|f| f.id), expected, "{conditions}");
        }
    }

    #[test]
    fn an_2_1_autoscaler_that_can_do_nothing_is_told_mildly() {
        let found =
            examine(&hpa(2, json!([{"type": "ScalingLimited", "status": "True", "reason": "TooManyReplicas"}])), now());
        assert_eq!(ids(&found), ["hpa/fixed"]);
    }
}
