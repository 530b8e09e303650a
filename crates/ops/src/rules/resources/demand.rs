//! What a pod asks of the scheduler, and which class of service it gets for it.

use crate::rules::{
    containers::{self, Role},
    quantity::Amount,
};
use k8s_openapi::{api::core::v1::PodSpec, apimachinery::pkg::api::resource::Quantity};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Class of service: who goes first when a node runs short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub enum Qos {
    /// Goes last.
    Guaranteed,
    /// In between.
    Burstable,
    /// Goes first.
    BestEffort,
}

/// The class of a pod, and for all but Guaranteed why. The pod's own resources stand before those of its containers.
#[must_use]
pub fn qos(spec: &PodSpec) -> (Qos, Vec<String>) {
    if let Some(resources) = &spec.resources {
        let sides = [resources.requests.as_ref(), resources.limits.as_ref()];
        if sides.iter().any(|m| m.is_some_and(asks_anything)) {
            return decide(vec![("the pod".to_owned(), resources.requests.as_ref(), resources.limits.as_ref())]);
        }
    }
    let all = containers::all(spec).filter(|c| c.role != Role::Ephemeral);
    decide(
        all.map(|c| {
            let resources = c.resources;
            let of =
                |f: fn(&k8s_openapi::api::core::v1::ResourceRequirements) -> Option<&BTreeMap<String, Quantity>>| {
                    resources.and_then(f)
                };
            (c.name.to_owned(), of(|r| r.requests.as_ref()), of(|r| r.limits.as_ref()))
        })
        .collect(),
    )
}

type Map<'a> = Option<&'a BTreeMap<String, Quantity>>;

fn decide(holders: Vec<(String, Map<'_>, Map<'_>)>) -> (Qos, Vec<String>) {
    let mut why = Vec::new();
    let mut any = false;
    for (name, requests, limits) in &holders {
        any |= requests.is_some_and(asks_anything) || limits.is_some_and(asks_anything);
        for resource in ["cpu", "memory"] {
            let limit = amount(*limits, resource);
            let request = amount(*requests, resource).or(limit);
            match (request, limit) {
                (_, None) => why.push(format!("{name} has no {resource} limit")),
                (Some(r), Some(l)) if r != l => why.push(format!("{name}'s {resource} request differs from its limit")),
                _ => {}
            }
        }
    }
    match (any, why.is_empty()) {
        (false, _) => (Qos::BestEffort, why),
        (true, true) => (Qos::Guaranteed, why),
        (true, false) => (Qos::Burstable, why),
    }
}

fn asks_anything(map: &BTreeMap<String, Quantity>) -> bool {
    ["cpu", "memory"].iter().any(|name| amount(Some(map), name).is_some())
}

/// Set, readable and not zero.
fn amount(map: Map<'_>, name: &str) -> Option<Amount> {
    map?.get(name).and_then(|q| Amount::try_from(q).ok()).filter(|a| !a.is_zero())
}

/// What the scheduler reserves for a pod of one resource: the larger of what its containers and sidecars ask for
/// together and what any init container asks for beside the sidecars that started before it; plus overhead. Where the
/// pod itself asks, that stands. An unreadable quantity counts as nothing.
#[must_use]
pub fn effective_request(spec: &PodSpec, resource: &str) -> Amount {
    let of = |map: Map<'_>| amount(map, resource);
    let overhead = of(spec.overhead.as_ref()).unwrap_or_default();
    if let Some(pod) = spec.resources.as_ref()
        && let Some(own) = of(pod.requests.as_ref()).or_else(|| of(pod.limits.as_ref()))
    {
        return own.plus(overhead);
    }
    let (mut running, mut sidecars, mut peak) = (Amount::ZERO, Amount::ZERO, Amount::ZERO);
    for c in containers::all(spec) {
        let own =
            c.resources.and_then(|r| of(r.requests.as_ref()).or_else(|| of(r.limits.as_ref()))).unwrap_or_default();
        match c.role {
            Role::Sidecar => {
                sidecars = sidecars.plus(own);
                peak = peak.max(sidecars);
            }
            Role::Init => peak = peak.max(sidecars.plus(own)),
            Role::Main => running = running.plus(own),
            Role::Ephemeral => {}
        }
    }
    running.plus(sidecars).max(peak).plus(overhead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn spec(value: Value) -> PodSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn an_2_3_qos_classes_and_why_not_guaranteed() {
        let both = json!({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1024Mi"}});
        assert_eq!(qos(&spec(json!({"containers": [{"name": "a", "resources": both}]}))), (Qos::Guaranteed, vec![]));
        let limits = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
        assert_eq!(qos(&spec(json!({"containers": [{"name": "a", "resources": limits}]}))).0, Qos::Guaranteed);

        let mixed = json!({"containers": [{"name": "a", "resources": both}, {"name": "b", "resources": {"limits": {"cpu": "1"}}}]});
        assert_eq!(qos(&spec(mixed)), (Qos::Burstable, vec!["b has no memory limit".to_owned()]));
        let init = json!({"containers": [{"name": "a", "resources": both}], "initContainers": [{"name": "i"}]});
        assert_eq!(qos(&spec(init)).0, Qos::Burstable);
        for none in [json!(null), json!({"limits": {"cpu": "0"}}), json!({"requests": {"ephemeral-storage": "1Gi"}})] {
            assert_eq!(qos(&spec(json!({"containers": [{"name": "a", "resources": none}]}))).0, Qos::BestEffort);
        }
        let of_pod = json!({"resources": both, "containers": [{"name": "a"}]});
        assert_eq!(qos(&spec(of_pod)).0, Qos::Guaranteed);
    }

    #[test]
    fn an_2_3_effective_request_is_the_schedulers() {
        let cpu = |value: &str| json!({"requests": {"cpu": value}});
        let spec = spec(json!({
            "overhead": {"cpu": "50m"},
            "initContainers": [
                {"name": "first", "resources": cpu("1500m")},
                {"name": "proxy", "restartPolicy": "Always", "resources": cpu("200m")},
                {"name": "second", "resources": cpu("1400m")},
            ],
            "containers": [{"name": "a", "resources": cpu("500m")}, {"name": "b", "resources": cpu("0.5")}],
        }));
        // Second init container beside the proxy: 1600m; the running pod: 1200m.
        assert_eq!(effective_request(&spec, "cpu").as_cpu(), "1650m");
        assert_eq!(effective_request(&spec, "memory"), Amount::ZERO);
        let mut own = spec;
        own.resources = serde_json::from_value(cpu("3")).unwrap();
        assert_eq!(effective_request(&own, "cpu").as_cpu(), "3050m");
    }
}
