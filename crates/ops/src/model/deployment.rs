//! Deployments, summarised.

use super::{Condition, Metadata, condition};
use pintle_core::Foreign;
use serde::Deserialize;

/// A deployment as far as a list shows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SlimDeployment {
    pub(crate) metadata: Metadata,
    pub(crate) spec: Option<Spec>,
    pub(crate) status: Option<Status>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Spec {
    pub(crate) replicas: Option<i32>,
    paused: Option<bool>,
    strategy: Option<Strategy>,
    template: Option<Template>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Strategy {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Template {
    spec: Option<TemplateSpec>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct TemplateSpec {
    containers: Option<Vec<Container>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Container {
    image: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Status {
    pub(crate) observed_generation: Option<i64>,
    pub(crate) replicas: Option<i32>,
    pub(crate) ready_replicas: Option<i32>,
    pub(crate) updated_replicas: Option<i32>,
    pub(crate) available_replicas: Option<i32>,
    conditions: Option<Vec<Condition>>,
}

impl SlimDeployment {
    /// Pods wanted; one when the spec does not say.
    pub(crate) fn desired(&self) -> i32 {
        self.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
    }

    pub(crate) fn images(&self) -> Vec<String> {
        let template = self.spec.as_ref().and_then(|spec| spec.template.as_ref()?.spec.as_ref());
        let containers = template.and_then(|template| template.containers.as_ref()).into_iter().flatten();
        containers.filter_map(|container| container.image.clone()).collect()
    }

    pub(crate) fn strategy(&self) -> Option<String> {
        self.spec.as_ref()?.strategy.as_ref()?.kind.clone()
    }

    /// How it stands in one word, and why where that says more: desired, observed and available are compared, not only
    /// what the status says of itself.
    pub(crate) fn state(&self) -> (&'static str, Option<String>) {
        let nothing = Status::default();
        let status = self.status.as_ref().unwrap_or(&nothing);
        let count = |number: Option<i32>| number.unwrap_or_default();
        let desired = self.desired();
        let told = |kind: &str| condition(status.conditions.as_ref(), kind);
        let why = |condition: &Condition| {
            let reason = condition.reason.clone().unwrap_or_default();
            let message = Foreign::one_line(condition.message.as_deref().unwrap_or_default());
            if message.is_empty() { reason } else { format!("{reason}: {message}") }
        };
        if status.observed_generation < self.metadata.generation {
            return ("unobserved", Some("the controller has not seen the newest spec yet".to_owned()));
        }
        if let Some(failed) = told("ReplicaFailure").filter(|c| c.is("True")) {
            return ("failing", Some(why(failed)));
        }
        if let Some(stuck) = told("Progressing").filter(|c| c.is("False")) {
            return ("stalled", Some(why(stuck)));
        }
        if self.spec.as_ref().and_then(|spec| spec.paused) == Some(true) {
            return ("paused", None);
        }
        let (updated, available) = (count(status.updated_replicas), count(status.available_replicas));
        match (desired, updated, available) {
            (0, _, _) if count(status.replicas) == 0 => ("scaled to 0", None),
            (desired, updated, _) if updated < desired || count(status.replicas) > desired => {
                ("rolling out", Some(format!("{updated} of {desired} updated, {available} available")))
            }
            (desired, _, available) if available < desired => {
                let reason = told("Available").filter(|c| c.is("False")).map(why);
                ("degraded", Some(reason.unwrap_or_else(|| format!("{available} of {desired} available"))))
            }
            _ => ("available", None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn state(spec: Value, status: Value) -> (&'static str, Option<String>) {
        let metadata = json!({"name": "d", "generation": 2});
        serde_json::from_value::<SlimDeployment>(json!({"metadata": metadata, "spec": spec, "status": status}))
            .unwrap()
            .state()
    }

    #[test]
    fn kt_get_deployments_kw_14_desired_observed_and_available_are_compared() {
        let well = json!({"observedGeneration": 2, "replicas": 3, "readyReplicas": 3, "updatedReplicas": 3, "availableReplicas": 3});
        let word = |spec: Value, status: Value| state(spec, status).0;
        assert_eq!(word(json!({"replicas": 3}), well.clone()), "available");
        assert_eq!(word(json!({"replicas": 3}), json!({"observedGeneration": 2})), "rolling out");
        assert_eq!(word(json!({"replicas": 3}), json!({"observedGeneration": 1})), "unobserved");
        assert_eq!(word(json!({"replicas": 0}), json!({"observedGeneration": 2})), "scaled to 0");
        assert_eq!(word(json!({"replicas": 3, "paused": true}), well.clone()), "paused");
        assert_eq!(word(Value::Null, Value::Null), "unobserved");
        let short = json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 1,
            "conditions": [{"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "has\nnot"}]});
        assert_eq!(
            state(json!({"replicas": 3}), short),
            ("degraded", Some("MinimumReplicasUnavailable: has not".into()))
        );
        let stuck = json!({"observedGeneration": 2, "conditions": [
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]});
        assert_eq!(state(json!({"replicas": 3}), stuck), ("stalled", Some("ProgressDeadlineExceeded".into())));
        let old = json!({"observedGeneration": 2, "replicas": 4, "updatedReplicas": 3, "availableReplicas": 3});
        assert_eq!(word(json!({"replicas": 3}), old), "rolling out", "an old pod still serves");
    }
}
