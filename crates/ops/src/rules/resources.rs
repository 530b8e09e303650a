//! Requests and limits: what is missing, what contradicts itself, and what the scheduler makes of it.
//!
//! An admitted pod already carries what defaults filled in: a limit without a request becomes the request, and a
//! LimitRange of the namespace adds its defaults. So what is missing here is missing in the cluster as well, unless
//! a LimitRange came later; then a new pod would get it, and the finding says so. Debug containers cannot have
//! resources and are left out.

pub mod demand;
pub mod nodes;
mod ranges;
mod values;

use super::{
    containers::{self, Role, View},
    finding::{Finding, ObjectRef, Severity, sort},
    quantity::Amount,
};
use k8s_openapi::{
    api::core::v1::{LimitRange, Pod, PodSpec, ResourceRequirements},
    apimachinery::pkg::api::resource::Quantity,
};
use std::collections::BTreeMap;

/// What counts as missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demands {
    /// Whether a missing CPU limit is told. A limit throttles where there is room, so many leave it out on purpose.
    pub cpu_limits: bool,
    /// Whether missing ephemeral-storage requests and limits are told.
    pub ephemeral_storage: bool,
}

impl Default for Demands {
    fn default() -> Self {
        Self { cpu_limits: true, ephemeral_storage: false }
    }
}

/// What is wrong with a pod's resources, worst first. `ranges` are the LimitRanges of its namespace.
#[must_use]
pub fn examine(pod: &Pod, ranges: &[LimitRange], demands: Demands) -> Vec<Finding> {
    let Some(spec) = pod.spec.as_ref() else { return Vec::new() };
    let object = ObjectRef::of("Pod", &pod.metadata);
    let look = Look { spec, object, ranges, demands };
    let mut found = Vec::new();
    for view in containers::all(spec).filter(|c| c.role != Role::Ephemeral) {
        found.extend(missing(&look, &view));
        values::check(&look, &view, &mut found);
        ranges::check(&look, &view, &mut found);
    }
    found.extend(resize(pod));
    sort(&mut found);
    found
}

struct Look<'a> {
    spec: &'a PodSpec,
    object: ObjectRef,
    ranges: &'a [LimitRange],
    demands: Demands,
}

impl Look<'_> {
    fn find(&self, id: &'static str, severity: Severity, view: &View<'_>, message: impl Into<String>) -> Finding {
        Finding::new(id, severity, self.object.clone(), message).in_container(view.name)
    }

    /// Whether the pod as a whole is given that resource, so that its containers share it.
    fn of_pod(&self, kind: Kind, name: &str) -> bool {
        self.spec.resources.as_ref().is_some_and(|r| is_set(kind.of(r), name))
    }
}

/// Requests or limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Requests,
    Limits,
}

impl Kind {
    const fn word(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Limits => "limits",
        }
    }

    fn of(self, resources: &ResourceRequirements) -> Option<&BTreeMap<String, Quantity>> {
        match self {
            Self::Requests => resources.requests.as_ref(),
            Self::Limits => resources.limits.as_ref(),
        }
    }
}

/// Set, and not zero: a zero limit means none to the kubelet, and a zero request asks for nothing.
fn is_set(map: Option<&BTreeMap<String, Quantity>>, name: &str) -> bool {
    map.and_then(|m| m.get(name)).is_some_and(|q| Amount::try_from(q).map_or(true, |a| !a.is_zero()))
}

/// Everything that a container lacks, as one finding with the severity of the worst: memory limit, then memory
/// request, then CPU request, then CPU limit.
fn missing(look: &Look<'_>, view: &View<'_>) -> Option<Finding> {
    let empty = ResourceRequirements::default();
    let resources = view.resources.unwrap_or(&empty);
    let mut lacking = Vec::new();
    for (kind, name, severity) in [
        (Kind::Limits, "memory", Severity::High),
        (Kind::Requests, "memory", Severity::Medium),
        (Kind::Requests, "cpu", Severity::Low),
        (Kind::Limits, "cpu", Severity::Info),
        (Kind::Limits, "ephemeral-storage", Severity::Info),
        (Kind::Requests, "ephemeral-storage", Severity::Info),
    ] {
        let asked = match (kind, name) {
            (Kind::Limits, "cpu") => look.demands.cpu_limits,
            (_, "ephemeral-storage") => look.demands.ephemeral_storage,
            _ => true,
        };
        // The API server takes a limit for the request where there is none.
        let from_limit =
            kind == Kind::Requests && is_set(resources.limits.as_ref(), name) && !has(resources, kind, name);
        if asked && !is_set(kind.of(resources), name) && !from_limit && !look.of_pod(kind, name) {
            let filled = ranges::has_default(look.ranges, kind, name);
            lacking.push((kind, name, if filled { Severity::Info } else { severity }, filled));
        }
    }
    let worst = lacking.iter().map(|l| l.2).min()?;
    // An init container runs for a moment, and alone.
    let severity = if view.role == Role::Init { worst.max(Severity::Low) } else { worst };
    let words: Vec<String> =
        lacking.iter().map(|(kind, name, ..)| format!("{name} {}", kind.word().trim_end_matches('s'))).collect();
    let mut finding = look.find("resources/missing", severity, view, format!("has no {}", words.join(", no ")));
    for (kind, name, _, filled) in &lacking {
        let value = match (has(resources, *kind, name), filled) {
            (true, _) => "0",
            (_, true) => "unset; a LimitRange fills it in for new pods",
            _ => "unset",
        };
        finding = finding.shown_by(view.path(&format!("resources.{}.{name}", kind.word())), value);
    }
    Some(finding.next("set requests near the usual use, and a memory limit above its peak"))
}

fn has(resources: &ResourceRequirements, kind: Kind, name: &str) -> bool {
    kind.of(resources).is_some_and(|m| m.contains_key(name))
}

/// A change of resources in place that does not come through: the conditions of the kubelet since 1.33, or the older
/// field.
fn resize(pod: &Pod) -> Option<Finding> {
    let status = pod.status.as_ref()?;
    let condition = |kind: &str| status.conditions.iter().flatten().find(|c| c.type_ == kind && c.status == "True");
    let (reason, message, since) = if let Some(c) = condition("PodResizePending") {
        (c.reason.clone(), c.message.clone(), c.last_transition_time.clone())
    } else if let Some(c) = condition("PodResizeInProgress").filter(|c| c.reason.as_deref() == Some("Error")) {
        (c.reason.clone(), c.message.clone(), c.last_transition_time.clone())
    } else {
        (status.resize.clone().filter(|r| matches!(r.as_str(), "Deferred" | "Infeasible")), None, None)
    };
    let reason = reason?;
    let (severity, words, next) = match reason.as_str() {
        "Infeasible" => {
            (Severity::High, "its resize can never be granted on its node", "ask for less, or let it be placed anew")
        }
        "Deferred" => (Severity::Medium, "its resize waits for room on its node", "wait, or free the node"),
        _ => (Severity::Medium, "its resize fails", "read the message"),
    };
    Some(
        Finding::new("resources/resize", severity, ObjectRef::of("Pod", &pod.metadata), words)
            .shown_by("status.conditions[PodResizePending].reason", &reason)
            .shown_by_option("status.conditions[PodResizePending].message", message)
            .since(since.as_ref())
            .next(next),
    )
}

#[cfg(test)]
mod testing {
    use super::*;
    use serde_json::{Value, json};

    pub(super) fn pod(resources: Value) -> Pod {
        pod_of(json!({"containers": [{"name": "app", "resources": resources}]}))
    }

    pub(super) fn pod_of(spec: Value) -> Pod {
        serde_json::from_value(json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": spec})).unwrap()
    }

    pub(super) fn examine_one(pod: &Pod) -> Vec<Finding> {
        examine(pod, &[], Demands::default())
    }

    pub(super) fn full() -> Value {
        json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "128Mi"}})
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_3_missing_requests_and_limits_are_told_by_the_worst_of_them() {
        assert_eq!(examine_one(&pod(full())), []);
        for (resources, severity, message) in [
            (json!(null), Severity::High, "has no memory limit, no memory request, no cpu request, no cpu limit"),
            (json!({"limits": {"memory": "1Gi"}}), Severity::Low, "has no cpu request, no cpu limit"),
            (json!({"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}), Severity::Info, "has no cpu limit"),
            (json!({"limits": {"memory": "0", "cpu": "1"}}), Severity::High, "has no memory limit, no memory request"),
        ] {
            let found = examine_one(&pod(resources.clone()));
            assert_eq!((found[0].severity, found[0].message.as_str()), (severity, message), "{resources}");
        }
        let found = examine_one(&pod(json!({"limits": {"memory": "0", "cpu": "1"}})));
        assert_eq!(found[0].evidence_of("spec.containers[app].resources.limits.memory"), Some("0"));
    }

    #[test]
    fn an_2_3_what_is_demanded_is_a_switch() {
        let no_cpu_limit = pod(json!({"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}));
        let demands = Demands { cpu_limits: false, ephemeral_storage: false };
        assert_eq!(examine(&no_cpu_limit, &[], demands), []);
        let demands = Demands { cpu_limits: false, ephemeral_storage: true };
        let found = examine(&no_cpu_limit, &[], demands);
        assert_eq!(found[0].message, "has no ephemeral-storage limit, no ephemeral-storage request");
    }

    #[test]
    fn an_2_3_init_and_sidecar_containers_count_debug_containers_do_not() {
        let found = examine_one(&pod_of(json!({
            "containers": [{"name": "app", "resources": full()}],
            "initContainers": [{"name": "setup"}, {"name": "proxy", "restartPolicy": "Always"}],
            "ephemeralContainers": [{"name": "debug"}],
        })));
        let seen: Vec<_> = found.iter().map(|f| (f.container.as_deref().unwrap(), f.severity)).collect();
        assert_eq!(seen, [("proxy", Severity::High), ("setup", Severity::Low)]);
    }

    #[test]
    fn an_2_3_resources_of_the_whole_pod_stand_for_those_of_its_containers() {
        let pod = pod_of(json!({"resources": full(), "containers": [{"name": "a"}, {"name": "b"}]}));
        assert_eq!(examine_one(&pod), []);
    }

    #[test]
    fn an_2_3_resizes_that_do_not_come_through_are_told() {
        for (status, severity) in [
            (
                json!({"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}),
                Severity::High,
            ),
            (
                json!({"conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]}),
                Severity::Medium,
            ),
            (
                json!({"conditions": [{"type": "PodResizeInProgress", "status": "True", "reason": "Error"}]}),
                Severity::Medium,
            ),
            (json!({"resize": "Infeasible"}), Severity::High),
        ] {
            let mut pod = pod(full());
            pod.status = serde_json::from_value(status.clone()).unwrap();
            let found = examine_one(&pod);
            assert_eq!((found[0].id, found[0].severity), ("resources/resize", severity), "{status}");
        }
        let mut pod = pod(full());
        pod.status =
            serde_json::from_value(json!({"conditions": [{"type": "PodResizeInProgress", "status": "True"}]})).unwrap();
        assert_eq!(examine_one(&pod), []);
    }
}
