//! Deployments, with their ReplicaSets where they could be listed.

use super::{SETTLING, age, not_observed};
use crate::rules::{
    finding::{Finding, ObjectRef, Severity, sort},
    roll_up::controller,
};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, DeploymentCondition, ReplicaSet};

/// What is wrong with a Deployment, worst first. `replica_sets` may hold those of other Deployments too.
#[must_use]
pub fn examine(deployment: &Deployment, replica_sets: &[ReplicaSet], now: Timestamp) -> Vec<Finding> {
    let look = Look::new(deployment, replica_sets, now);
    let mut found = Vec::new();
    let observed = deployment.status.as_ref().and_then(|s| s.observed_generation);
    if let Some(blind) = not_observed("deployment/not-observed", "Deployment", &deployment.metadata, observed, now) {
        // Whatever else the status says is about an older spec.
        return vec![blind];
    }
    let failure = look.replica_failure();
    let stalled = look.stalled();
    let short = look.shortfall(stalled.is_some() || failure.is_some());
    found.extend(failure);
    found.extend(stalled);
    found.extend(short);
    found.extend(look.paused());
    sort(&mut found);
    found
}

struct Look<'a> {
    deployment: &'a Deployment,
    own: Vec<&'a ReplicaSet>,
    now: Timestamp,
    /// `spec.replicas`, 1 when absent.
    desired: i32,
    available: i32,
    updated: i32,
}

impl<'a> Look<'a> {
    fn new(deployment: &'a Deployment, replica_sets: &'a [ReplicaSet], now: Timestamp) -> Self {
        let meta = &deployment.metadata;
        let mut own: Vec<_> = replica_sets
            .iter()
            .filter(|rs| rs.metadata.namespace == meta.namespace)
            .filter(|rs| {
                controller(&rs.metadata).is_some_and(|o| o.kind == "Deployment" && Some(&o.name) == meta.name.as_ref())
            })
            .collect();
        own.sort_by_key(|rs| std::cmp::Reverse(revision(rs)));
        let status = deployment.status.as_ref();
        Self {
            deployment,
            own,
            now,
            desired: deployment.spec.replicas.unwrap_or(1),
            available: status.and_then(|s| s.available_replicas).unwrap_or(0),
            updated: status.and_then(|s| s.updated_replicas).unwrap_or(0),
        }
    }

    fn condition(&self, kind: &str) -> Option<&'a DeploymentCondition> {
        self.deployment.status.as_ref()?.conditions.iter().flatten().find(|c| c.type_.as_deref() == Some(kind))
    }

    fn find(&self, id: &'static str, severity: Severity, message: impl Into<String>) -> Finding {
        Finding::new(id, severity, ObjectRef::of("Deployment", &self.deployment.metadata), message)
    }

    /// `ReplicaFailure: True` on the Deployment, or on its newest ReplicaSet when the Deployment does not say so yet.
    fn replica_failure(&self) -> Option<Finding> {
        let (field, reason, message, since) = match self.condition("ReplicaFailure").filter(|c| is(c, "True")) {
            Some(c) => (
                "status.conditions[ReplicaFailure]",
                c.reason.as_deref(),
                c.message.as_deref(),
                c.last_transition_time.as_ref(),
            ),
            None => {
                let conditions = self.own.first()?.status.as_ref()?.conditions.as_deref()?;
                let c = conditions
                    .iter()
                    .find(|c| c.type_.as_deref() == Some("ReplicaFailure") && c.status.as_deref() == Some("True"))?;
                (
                    "replicaset.status.conditions[ReplicaFailure]",
                    c.reason.as_deref(),
                    c.message.as_deref(),
                    c.last_transition_time.as_ref(),
                )
            }
        };
        Some(
            self.find("deployment/replica-failure", Severity::High, "its pods cannot be created")
                .shown_by_option(format!("{field}.reason"), reason)
                .shown_by_option(format!("{field}.message"), message)
                .since(since)
                .next("the message tells what was refused: a quota, the Pod Security level, a webhook, a missing service account"),
        )
    }

    /// `Progressing: False` with `ProgressDeadlineExceeded`: the rollout does not move. An old ReplicaSet that still
    /// serves makes it less bad.
    fn stalled(&self) -> Option<Finding> {
        let condition = self.condition("Progressing").filter(|c| is(c, "False"))?;
        if self.desired == 0 || condition.reason.as_deref() == Some("DeploymentPaused") {
            return None;
        }
        let serving = self.old_serving();
        let severity = if self.available == 0 { Severity::Critical } else { Severity::High };
        let words = if serving > 0 { "its rollout is stuck; old pods still serve" } else { "its rollout is stuck" };
        let mut finding = self
            .find("deployment/rollout-stuck", severity, words)
            .shown_by_option("status.conditions[Progressing].reason", condition.reason.as_deref())
            .shown_by_option("status.conditions[Progressing].message", condition.message.as_deref())
            .shown_by("status.updatedReplicas", format!("{} of {}", self.updated, self.desired))
            .since(condition.last_transition_time.as_ref())
            .next("look at its newest pods: `find_pod_issues` in the namespace");
        if serving > 0 {
            finding = finding.shown_by("replicas of older ReplicaSets", serving);
        }
        Some(finding)
    }

    fn old_serving(&self) -> i32 {
        self.own.iter().skip(1).filter_map(|rs| rs.status.as_ref()?.ready_replicas).sum()
    }

    /// Fewer available than wanted. While a rollout moves and the Deployment calls itself available, that is what
    /// `maxUnavailable` allows.
    fn shortfall(&self, told: bool) -> Option<Finding> {
        let missing = self.desired - self.available;
        if self.desired == 0 || missing <= 0 {
            return None;
        }
        let available = self.condition("Available");
        let is_available = available.is_some_and(|c| is(c, "True"));
        let progressing = self.condition("Progressing");
        let moving = progressing.is_some_and(|c| {
            is(c, "True") && !matches!(c.reason.as_deref(), Some("NewReplicaSetAvailable" | "DeploymentPaused"))
        });
        if is_available && (moving || told) {
            return None;
        }
        let since = available.filter(|c| is(c, "False")).and_then(|c| c.last_transition_time.as_ref());
        let waited = age(since, self.now)
            .or_else(|| age(self.deployment.metadata.creation_timestamp.as_ref(), self.now))
            .unwrap_or(i64::MAX);
        if waited < SETTLING {
            return None;
        }
        let (id, severity) = match (self.available, is_available) {
            (0, _) => ("deployment/unavailable", Severity::Critical),
            (_, false) => ("deployment/unavailable", Severity::High),
            _ => ("deployment/shortfall", Severity::Medium),
        };
        Some(
            self.find(id, severity, format!("{} of {} replicas are available", self.available, self.desired))
                .shown_by("spec.replicas", self.desired)
                .shown_by("status.availableReplicas", self.available)
                .shown_by("status.updatedReplicas", self.updated)
                .shown_by_option("status.conditions[Available].reason", available.and_then(|c| c.reason.as_deref()))
                .since(since)
                .next("look at its pods: `find_pod_issues` in the namespace"),
        )
    }

    /// Paused: somebody's choice, which is easily forgotten once the template has changed.
    fn paused(&self) -> Option<Finding> {
        self.deployment.spec.paused.filter(|p| *p)?;
        let waiting = self.updated < self.desired;
        let (severity, words) = match waiting {
            true => (Severity::Low, "is paused with a rollout that waits"),
            false => (Severity::Info, "is paused"),
        };
        Some(
            self.find("deployment/paused", severity, words)
                .shown_by("spec.paused", true)
                .shown_by("status.updatedReplicas", format!("{} of {}", self.updated, self.desired))
                .next("resume it when the pause is over: kubectl rollout resume"),
        )
    }
}

fn is(condition: &DeploymentCondition, status: &str) -> bool {
    condition.status.as_deref() == Some(status)
}

/// The newest ReplicaSet has the highest revision; a rollback gives an old one a new number, so its age says nothing.
fn revision(rs: &ReplicaSet) -> i64 {
    rs.metadata
        .annotations
        .as_ref()
        .and_then(|a| a.get("deployment.kubernetes.io/revision"))
        .and_then(|r| r.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn deployment(replicas: Value, status: Value) -> Value {
        json!({
            "metadata": {"name": "web", "namespace": "shop", "generation": 2, "creationTimestamp": ago(9_000)},
            "spec": {"replicas": replicas, "selector": {}, "template": {}},
            "status": status,
        })
    }

    fn conditions(available: &str, progressing: (&str, &str)) -> Value {
        json!([
            {"type": "Available", "status": available, "reason": "x", "lastTransitionTime": ago(600)},
            {"type": "Progressing", "status": progressing.0, "reason": progressing.1, "lastTransitionTime": ago(600)},
        ])
    }

    fn examine_value(value: Value) -> Vec<Finding> {
        examine(&from(value), &[], now())
    }

    #[test]
    fn kw_14_desired_three_and_status_zero_is_found() {
        let found = examine_value(deployment(json!(3), json!({"observedGeneration": 2})));
        assert_eq!((found[0].id, found[0].severity), ("deployment/unavailable", Severity::Critical));
        assert_eq!(found[0].message, "0 of 3 replicas are available");
    }

    #[test]
    fn kw_14_a_status_about_an_older_spec_is_told_instead_of_believed() {
        let status = json!({"observedGeneration": 1, "availableReplicas": 3, "updatedReplicas": 3});
        assert_eq!(ids(&examine_value(deployment(json!(3), status.clone()))), ["deployment/not-observed"]);
        let mut fresh = deployment(json!(3), status);
        fresh["metadata"]["managedFields"] = json!([
            {"manager": "kubectl", "operation": "Update", "time": ago(5)},
            {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "time": ago(4)},
        ]);
        assert_eq!(examine_value(fresh), []);
    }

    #[test]
    fn an_1_5_nil_replicas_mean_one_and_zero_is_a_choice_while_a_broken_twin_is_found() {
        let good = json!({"observedGeneration": 2, "availableReplicas": 1, "updatedReplicas": 1});
        assert_eq!(examine_value(deployment(json!(null), good)), []);
        let broken =
            json!({"observedGeneration": 2, "conditions": conditions("False", ("True", "NewReplicaSetAvailable"))});
        assert_eq!(examine_value(deployment(json!(0), broken.clone())), []);
        assert_eq!(ids(&examine_value(deployment(json!(null), broken))), ["deployment/unavailable"]);
    }

    #[test]
    fn an_1_5_progress_deadline_is_found_and_a_rollout_that_moves_is_not() {
        let moving = json!({"observedGeneration": 2, "availableReplicas": 2, "updatedReplicas": 1,
            "conditions": conditions("True", ("True", "ReplicaSetUpdated"))});
        assert_eq!(examine_value(deployment(json!(3), moving)), []);
        let stuck = json!({"observedGeneration": 2, "availableReplicas": 2, "updatedReplicas": 1,
            "conditions": conditions("True", ("False", "ProgressDeadlineExceeded"))});
        let found = examine_value(deployment(json!(3), stuck));
        assert_eq!(ids(&found), ["deployment/rollout-stuck"]);
        assert_eq!(found[0].severity, Severity::High);
    }

    #[test]
    fn an_2_1_old_replica_set_that_still_serves_is_told() {
        let stuck = json!({"observedGeneration": 2, "availableReplicas": 3, "updatedReplicas": 1,
            "conditions": conditions("True", ("False", "ProgressDeadlineExceeded"))});
        let rs = |name: &str, revision: &str, ready: i32| {
            from::<ReplicaSet>(json!({
                "metadata": {"name": name, "namespace": "shop", "annotations": {"deployment.kubernetes.io/revision": revision},
                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1", "controller": true}]},
                "status": {"replicas": ready, "readyReplicas": ready},
            }))
        };
        // Revision 10 is newer than 9 though it sorts before it as text.
        let found = examine(&from(deployment(json!(3), stuck)), &[rs("web-a", "9", 3), rs("web-b", "10", 0)], now());
        assert_eq!(found[0].evidence_of("replicas of older ReplicaSets"), Some("3"));
    }

    #[test]
    fn an_2_1_pods_that_cannot_be_created_are_found_on_the_deployment_or_its_newest_replica_set() {
        let condition = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
            "message": "exceeded quota: q"}]);
        let status =
            json!({"observedGeneration": 2, "availableReplicas": 1, "updatedReplicas": 1, "conditions": condition});
        assert_eq!(ids(&examine_value(deployment(json!(1), status))), ["deployment/replica-failure"]);

        let good = json!({"observedGeneration": 2, "availableReplicas": 1, "updatedReplicas": 1});
        let rs: ReplicaSet = from(json!({
            "metadata": {"name": "web-a", "namespace": "shop",
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1", "controller": true}]},
            "status": {"replicas": 0, "conditions": condition},
        }));
        let found = examine(&from(deployment(json!(1), good)), &[rs], now());
        assert_eq!(ids(&found), ["deployment/replica-failure"]);
    }

    #[test]
    fn an_2_1_shortfall_of_an_available_deployment_and_pauses_are_told_mildly() {
        let status = json!({"observedGeneration": 2, "availableReplicas": 2, "updatedReplicas": 3,
            "conditions": conditions("True", ("True", "NewReplicaSetAvailable"))});
        let found = examine_value(deployment(json!(3), status));
        assert_eq!((found[0].id, found[0].severity), ("deployment/shortfall", Severity::Medium));

        let mut paused = deployment(json!(1), json!({"observedGeneration": 2, "availableReplicas": 1}));
        paused["spec"]["paused"] = json!(true);
        let found = examine_value(paused);
        assert_eq!((found[0].id, found[0].severity), ("deployment/paused", Severity::Low));
    }

    #[test]
    fn a_deployment_of_this_minute_may_still_settle_and_one_without_status_does_no_harm() {
        let mut fresh = deployment(json!(3), json!({"observedGeneration": 2}));
        fresh["metadata"]["creationTimestamp"] = json!(ago(20));
        assert_eq!(examine_value(fresh), []);
        assert_eq!(ids(&examine(&Deployment::default(), &[], now())), ["deployment/unavailable"]);
    }
}
