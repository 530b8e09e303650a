//! PodDisruptionBudgets: those that guard nothing, and those that let no node be drained.

use super::not_observed;
use crate::rules::finding::{Finding, ObjectRef, Severity};
use jiff::Timestamp;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;

/// What is wrong with a budget.
#[must_use]
pub fn examine(budget: &PodDisruptionBudget, now: Timestamp) -> Vec<Finding> {
    let Some(status) = budget.status.as_ref() else { return Vec::new() };
    let meta = &budget.metadata;
    if let Some(blind) = not_observed("pdb/not-observed", "PodDisruptionBudget", meta, status.observed_generation, now)
    {
        return vec![blind];
    }
    let find =
        |id, severity, message: &str| Finding::new(id, severity, ObjectRef::of("PodDisruptionBudget", meta), message);
    let failed =
        status.conditions.iter().flatten().find(|c| c.type_ == "DisruptionAllowed" && c.reason == "SyncFailed");
    if let Some(condition) = failed {
        return vec![
            find("pdb/sync-failed", Severity::Medium, "cannot be evaluated")
                .shown_by("status.conditions[DisruptionAllowed].message", &condition.message)
                .since(Some(&condition.last_transition_time))
                .next("its selector covers pods without a controller, or of one without a scale subresource"),
        ];
    }
    let [expected, healthy, demanded, allowed] =
        [status.expected_pods, status.current_healthy, status.desired_healthy, status.disruptions_allowed]
            .map(|count| count.unwrap_or(0));
    let finding = if expected == 0 {
        find("pdb/matches-nothing", Severity::Low, "matches no pod").next("compare its selector with the pods' labels")
    } else if healthy < demanded {
        find("pdb/unhealthy", Severity::High, "has fewer healthy pods than it demands")
            .next("look at its pods: `find_pod_issues` in the namespace")
    } else if allowed == 0 && demanded >= expected {
        find(
            "pdb/blocks-eviction",
            Severity::Medium,
            "never allows a disruption, so no node of its pods can be drained",
        )
        .next("raise the replicas, or lower minAvailable")
    } else {
        return Vec::new();
    };
    vec![
        finding
            .shown_by("status.expectedPods", expected)
            .shown_by("status.currentHealthy", healthy)
            .shown_by("status.desiredHealthy", demanded)
            .shown_by("status.disruptionsAllowed", allowed),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_1_budgets_that_match_nothing_block_evictions_or_are_unhealthy_are_told() {
        for (expected, healthy, desired, allowed, id) in [
            (3, 3, 2, 1, None),
            (3, 2, 2, 0, None),
            (0, 0, 0, 0, Some("pdb/matches-nothing")),
            (3, 3, 3, 0, Some("pdb/blocks-eviction")),
            (2, 2, 3, 0, Some("pdb/unhealthy")),
            (3, 1, 2, 0, Some("pdb/unhealthy")),
        ] {
            let budget = from(json!({"metadata": {"name": "b", "namespace": "n"}, "status": {"expectedPods": expected,
                "currentHealthy": healthy, "desiredHealthy": desired, "disruptionsAllowed": allowed}}));
            let found = examine(&budget, now());
            assert_eq!(found.first().map(|f| f.id), id, "{expected} {healthy} {desired} {allowed}");
        }
        assert_eq!(examine(&PodDisruptionBudget::default(), now()), []);
    }
}
