//! What is not broken and will hurt one day: told only when asked for.

use crate::rules::{
    containers::{self, Role, View},
    finding::{Finding, ObjectRef, Severity, sort},
    roll_up::controller,
};
use k8s_openapi::api::core::v1::{Pod, Probe};
use std::collections::BTreeSet;

/// Habits of a pod that cost reliability. Jobs run to an end, so they need no probes; static pods belong to their node.
#[must_use]
pub fn hygiene(pod: &Pod) -> Vec<Finding> {
    let Some(spec) = pod.spec.as_ref() else { return Vec::new() };
    let object = ObjectRef::of("Pod", &pod.metadata);
    let owner = controller(&pod.metadata);
    let mut found = Vec::new();
    if owner.is_none() {
        found.push(
            Finding::new(
                "hygiene/naked-pod",
                Severity::Low,
                object.clone(),
                "nobody makes it again when its node goes",
            )
            .shown_by("metadata.ownerReferences", "unset")
            .next("let a Deployment, StatefulSet or Job make it"),
        );
    }
    let serves = owner.is_none_or(|o| !matches!(o.kind.as_str(), "Job" | "Node"));
    for view in containers::all(spec) {
        if serves && matches!(view.role, Role::Main | Role::Sidecar) {
            found.extend(probes(&object, &view));
        }
        found.extend(twice(&object, &view));
    }
    sort(&mut found);
    found
}

/// A container that listens without saying when it is ready, or whose liveness asks the same as its readiness: then
/// load that makes it slow also gets it killed.
fn probes(object: &ObjectRef, view: &View<'_>) -> Option<Finding> {
    let of = |name: &str| view.probes.iter().find(|(n, _)| *n == name).and_then(|(_, p)| *p);
    let (liveness, readiness) = (of("livenessProbe"), of("readinessProbe"));
    let find = |id, message: &str| Finding::new(id, Severity::Info, object.clone(), message).in_container(view.name);
    if readiness.is_none() && !view.ports.is_empty() {
        return Some(
            find("hygiene/no-readiness-probe", "takes traffic before it says that it is ready")
                .shown_by(view.path("readinessProbe"), "unset")
                .next("add a readinessProbe"),
        );
    }
    let same = liveness.zip(readiness).is_some_and(|(l, r)| asks_the_same(l, r));
    same.then(|| {
        find("hygiene/same-probes", "is killed for whatever makes it unready")
            .shown_by(view.path("livenessProbe"), "asks the same as readinessProbe")
            .next("let the livenessProbe ask something cheaper, or fail later")
    })
}

fn asks_the_same(a: &Probe, b: &Probe) -> bool {
    let handlers = |p: &Probe| (p.http_get.clone(), p.tcp_socket.clone(), p.grpc.clone(), p.exec.clone());
    let limits = |p: &Probe| (p.failure_threshold, p.period_seconds, p.timeout_seconds);
    handlers(a) == handlers(b) && limits(a) == limits(b)
}

/// A variable that stands twice: the last one counts, and nobody sees it.
fn twice(object: &ObjectRef, view: &View<'_>) -> Option<Finding> {
    let mut seen = BTreeSet::new();
    let doubled: BTreeSet<&str> = view.env.iter().map(|e| e.name.as_str()).filter(|name| !seen.insert(*name)).collect();
    (!doubled.is_empty()).then(|| {
        Finding::new(
            "hygiene/variable-twice",
            Severity::Low,
            object.clone(),
            "sets a variable twice; the last one counts",
        )
        .in_container(view.name)
        .shown_by(view.path("env"), doubled.into_iter().collect::<Vec<_>>().join(", "))
        .next("drop all but one")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn ids(owner: Option<&str>, container: Value) -> Vec<&'static str> {
        let mut value = json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": {"containers": [container]}});
        if let Some(kind) = owner {
            value["metadata"]["ownerReferences"] =
                json!([{"apiVersion": "x/v1", "kind": kind, "name": "o", "uid": "1", "controller": true}]);
        }
        hygiene(&serde_json::from_value(value).unwrap()).iter().map(|f| f.id).collect()
    }

    #[test]
    fn an_2_1_hygiene_naked_pods_probes_and_doubled_variables() {
        let probe = |path: &str| json!({"httpGet": {"path": path, "port": 80}});
        let plain = json!({"name": "a"});
        let listening = json!({"name": "a", "ports": [{"containerPort": 80}]});
        let same = json!({"name": "a", "livenessProbe": probe("/"), "readinessProbe": probe("/")});
        let apart = json!({"name": "a", "livenessProbe": probe("/live"), "readinessProbe": probe("/ready")});
        let doubled =
            json!({"name": "a", "env": [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}]});
        assert_eq!(ids(None, plain.clone()), ["hygiene/naked-pod"]);
        assert_eq!(ids(Some("ReplicaSet"), plain), [] as [&str; 0]);
        assert_eq!(ids(Some("ReplicaSet"), listening.clone()), ["hygiene/no-readiness-probe"]);
        assert_eq!(ids(Some("Job"), listening), [] as [&str; 0]);
        assert_eq!(ids(Some("ReplicaSet"), same), ["hygiene/same-probes"]);
        assert_eq!(ids(Some("ReplicaSet"), apart), [] as [&str; 0]);
        assert_eq!(ids(Some("ReplicaSet"), doubled), ["hygiene/variable-twice"]);
    }
}
