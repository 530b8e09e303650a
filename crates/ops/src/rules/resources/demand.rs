//! What a pod asks of the scheduler, and which class of service it gets for it.

use crate::rules::{
    containers::{self, Role},
    quantity::Amount,
};
use k8s_openapi::{
    api::core::v1::{PodSpec, ResourceRequirements},
    apimachinery::pkg::api::resource::Quantity,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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
            let of = |f: fn(&ResourceRequirements) -> Option<&BTreeMap<String, Quantity>>| resources.and_then(f);
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
    // The API server takes a limit for the request where there is none.
    let own = |r: &ResourceRequirements| {
        amount(r.requests.as_ref(), resource).or_else(|| amount(r.limits.as_ref(), resource))
    };
    effective(spec, own).plus(amount(spec.overhead.as_ref(), resource).unwrap_or_default())
}

/// [`effective_request`] of every resource that anything in the pod asks for.
#[must_use]
pub fn effective_requests(spec: &PodSpec) -> BTreeMap<String, Amount> {
    let of_containers = containers::all(spec).filter(|c| c.role != Role::Ephemeral).filter_map(|c| c.resources);
    let maps = of_containers.chain(spec.resources.as_ref()).flat_map(|r| [r.requests.as_ref(), r.limits.as_ref()]);
    let names: BTreeSet<&String> = maps.chain([spec.overhead.as_ref()]).flatten().flat_map(BTreeMap::keys).collect();
    let asked = names.into_iter().map(|name| (name.clone(), effective_request(spec, name)));
    asked.filter(|(_, amount)| !amount.is_zero()).collect()
}

/// How far a pod may go in one resource, by the formula of [`effective_request`]; zero when nothing in it is limited.
/// A container without a limit adds nothing, though it may use everything.
#[must_use]
pub fn effective_limit(spec: &PodSpec, resource: &str) -> Amount {
    let limit = effective(spec, |r| amount(r.limits.as_ref(), resource));
    let overhead = amount(spec.overhead.as_ref(), resource).unwrap_or_default();
    if limit.is_zero() { limit } else { limit.plus(overhead) }
}

/// The scheduler's formula without overhead, over what `own` reads of one holder of resources.
fn effective(spec: &PodSpec, own: impl Fn(&ResourceRequirements) -> Option<Amount>) -> Amount {
    if let Some(of_pod) = spec.resources.as_ref().and_then(&own) {
        return of_pod;
    }
    let (mut running, mut sidecars, mut peak) = (Amount::ZERO, Amount::ZERO, Amount::ZERO);
    for c in containers::all(spec) {
        let own = c.resources.and_then(&own).unwrap_or_default();
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
    running.plus(sidecars).max(peak)
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

    #[test]
    fn an_2_3_effective_request_of_every_resource_and_the_limit_beside_it() {
        let spec = spec(json!({
            "overhead": {"memory": "10Mi"},
            "initContainers": [{"name": "setup", "resources": {"limits": {"memory": "300Mi"}}}],
            "containers": [
                {"name": "a", "resources": {"requests": {"memory": "100Mi"}, "limits": {"memory": "200Mi", "nvidia.com/gpu": "1"}}},
                {"name": "b", "resources": {"requests": {"cpu": "0"}}},
            ],
        }));
        let all = effective_requests(&spec);
        let told: Vec<_> = all.iter().map(|(name, amount)| (name.as_str(), amount.as_bytes())).collect();
        assert_eq!(told, [("memory", "310Mi".to_owned()), ("nvidia.com/gpu", "1".to_owned())]);
        assert_eq!(effective_limit(&spec, "memory").as_bytes(), "310Mi");
        assert_eq!(effective_limit(&spec, "cpu"), Amount::ZERO);
        let mut unlimited = spec;
        unlimited.init_containers = None;
        unlimited.containers.truncate(0);
        assert_eq!(effective_limit(&unlimited, "memory"), Amount::ZERO, "overhead alone limits nothing");
    }
}
