//! Nodes: what their pods request beside what they can give, and pods that none of them could hold.
//!
//! The scheduler fills no node beyond what it can give. More stands there when a pod was put there past it (a static
//! pod, a fixed `spec.nodeName`, a second scheduler), or when the node has shrunk since.

use super::demand::{effective_limit, effective_requests};
use crate::rules::{
    finding::{Finding, ObjectRef, Severity},
    quantity::Amount,
};
use k8s_openapi::api::core::v1::{Node, Pod};
use std::collections::BTreeMap;

/// From how much of what it can give a node is nearly full, in percent.
const NEARLY_FULL: i128 = 90;

/// Resources that every node is told with.
const ALWAYS: [&str; 3] = ["cpu", "memory", "pods"];

/// How many nodes a piece of evidence names.
const NAMED: usize = 3;

/// The nodes of a cluster, while its pods are counted.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    loads: BTreeMap<String, Load>,
    /// Nodes that do not say what they can give.
    silent: usize,
}

/// What one node is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Its name.
    pub node: String,
    /// Whether it is cordoned, so that nothing new is scheduled there.
    pub unschedulable: bool,
    /// By resource, for each that the node says it has.
    shares: BTreeMap<String, Share>,
    /// Memory limits of its pods together.
    memory_limits: Amount,
}

/// What is requested of one resource of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Effective requests of its pods together.
    pub requested: Amount,
    /// What it can give.
    pub allocatable: Amount,
}

impl Share {
    /// How much of what can be given is requested, in percent, rounded down; none where nothing can be given.
    #[must_use]
    pub fn percent(self) -> Option<i128> {
        self.requested.percent_of(self.allocatable)
    }

    /// `12 of 16 (75 %)`, in the words of that resource.
    #[must_use]
    pub fn text(self, resource: &str) -> String {
        let whole = format!("{} of {}", text(resource, self.requested), text(resource, self.allocatable));
        self.percent().map_or_else(|| whole.clone(), |percent| format!("{whole} ({percent} %)"))
    }

    fn is_over(self) -> bool {
        self.requested > self.allocatable
    }
}

impl Nodes {
    /// Nodes without pods yet.
    #[must_use]
    pub fn of(nodes: &[Node]) -> Self {
        let mut all = Self::default();
        for node in nodes {
            match Load::empty(node) {
                Some(load) => drop(all.loads.insert(load.node.clone(), load)),
                None => all.silent += 1,
            }
        }
        all
    }

    /// Counts a pod on its node. What the node does not list is not compared: devices can come another way (DRA).
    pub fn add(&mut self, pod: &Pod) {
        let Some(spec) = pod.spec.as_ref().filter(|_| !has_ended(pod)) else { return };
        let Some(load) = spec.node_name.as_ref().and_then(|name| self.loads.get_mut(name)) else { return };
        for (name, amount) in effective_requests(spec).into_iter().chain([("pods".to_owned(), Amount::units(1))]) {
            if let Some(share) = load.shares.get_mut(&name) {
                share.requested = share.requested.plus(amount);
            }
        }
        load.memory_limits = load.memory_limits.plus(effective_limit(spec, "memory"));
    }

    /// Whether a pod that waits for a node asks for more than any node could give it, were it empty. Only size is
    /// looked at: taints and affinity are the scheduler's to tell. Nothing is said while there is no node, or one
    /// that does not say what it can give.
    #[must_use]
    pub fn fit(&self, pod: &Pod) -> Option<Finding> {
        let spec = pod.spec.as_ref()?;
        let waits = spec.node_name.as_deref().is_none_or(str::is_empty)
            && spec.scheduling_gates.as_deref().is_none_or(<[_]>::is_empty)
            && pod.metadata.deletion_timestamp.is_none()
            && !has_ended(pod);
        if !waits || self.silent > 0 || self.loads.is_empty() {
            return None;
        }
        let asked = effective_requests(spec);
        let holding: Vec<&Load> =
            self.loads.values().filter(|load| asked.iter().all(|(name, amount)| *amount <= load.given(name))).collect();
        if holding.iter().any(|load| !load.unschedulable) {
            return None;
        }
        let find = |words: String| {
            Finding::new("resources/fits-nowhere", Severity::High, ObjectRef::of("Pod", &pod.metadata), words)
        };
        if !holding.is_empty() {
            let finding = find("every node large enough for it is unschedulable".to_owned());
            let finding = asked.iter().fold(finding, |finding, (name, amount)| {
                finding.shown_by(format!("effective request.{name}"), text(name, *amount))
            });
            return Some(
                finding
                    .shown_by("unschedulable nodes", names(&holding))
                    .next("uncordon one of them, ask for less, or add a node"),
            );
        }
        let over: Vec<&str> = asked
            .iter()
            .filter(|(name, amount)| self.largest(name).is_none_or(|load| **amount > load.given(name)))
            .map(|(name, _)| name.as_str())
            .collect();
        let told: Vec<&str> = if over.is_empty() { asked.keys().map(String::as_str).collect() } else { over.clone() };
        let mut finding = find(if over.is_empty() {
            format!("no one node, even empty, has all it asks for of {}", told.join(" and "))
        } else {
            format!("asks for more {} than any node has, even empty", told.join(" and "))
        });
        for name in told {
            let largest = self.largest(name).filter(|load| !load.given(name).is_zero());
            let largest = largest.map_or_else(
                || "0 on every node".to_owned(),
                |load| {
                    let cordoned = if load.unschedulable { ", unschedulable" } else { "" };
                    format!("{} ({}{cordoned})", text(name, load.given(name)), load.node)
                },
            );
            finding = finding
                .shown_by_option(format!("effective request.{name}"), asked.get(name).map(|a| text(name, *a)))
                .shown_by(format!("largest allocatable.{name}"), largest);
        }
        Some(finding.next("ask for less, or add a node that large"))
    }

    /// The nodes by name, with what their pods request. A node that does not say what it can give is left out.
    pub fn loads(&self) -> impl Iterator<Item = &Load> {
        self.loads.values()
    }

    /// The node that can give most of that; a schedulable one before others.
    fn largest(&self, name: &str) -> Option<&Load> {
        self.loads.values().max_by_key(|load| (load.given(name), !load.unschedulable))
    }
}

impl Load {
    /// None when the node does not say what it can give, or not in quantities.
    fn empty(node: &Node) -> Option<Self> {
        let status = node.status.as_ref()?;
        // A kubelet that reserves nothing may leave it out: all of its capacity then.
        let given = status.allocatable.as_ref().or(status.capacity.as_ref()).filter(|given| !given.is_empty())?;
        let share = |(name, quantity)| {
            let allocatable = Amount::try_from(quantity).ok()?;
            Some((String::clone(name), Share { requested: Amount::ZERO, allocatable }))
        };
        Some(Self {
            node: node.metadata.name.clone()?,
            unschedulable: node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true),
            shares: given.iter().map(share).collect::<Option<_>>()?,
            memory_limits: Amount::ZERO,
        })
    }

    /// What is worth telling of it: CPU, memory and pods always, what else there is when it is a device that the node
    /// has or anything asks for it.
    pub fn told(&self) -> impl Iterator<Item = (&str, Share)> {
        let shares = self.shares.iter().map(|(name, share)| (name.as_str(), *share));
        shares.filter(|(name, share)| {
            let has_device = name.contains('/') && !share.allocatable.is_zero();
            ALWAYS.contains(name) || has_device || !share.requested.is_zero()
        })
    }

    /// Its fullest resource of those that are shared out in parts, in percent.
    #[must_use]
    pub fn percent(&self) -> i128 {
        self.shares.iter().filter(|(name, _)| !is_device(name)).filter_map(|(_, s)| s.percent()).max().unwrap_or(0)
    }

    /// What is wrong with it, worst first.
    #[must_use]
    pub fn findings(&self) -> Vec<Finding> {
        let shares = || self.shares.iter().map(|(name, share)| (name.as_str(), *share));
        let over: Vec<_> = shares().filter(|(_, share)| share.is_over()).collect();
        // Devices and huge pages are there to be given out whole: a node without any left is as it should be.
        let full: Vec<_> = shares()
            .filter(|(name, share)| !is_device(name) && !share.is_over())
            .filter(|(_, share)| share.percent().is_some_and(|percent| percent >= NEARLY_FULL))
            .collect();
        let mut found = Vec::new();
        if !over.is_empty() {
            found.push(
                self.of_shares("resources/node-overcommitted", Severity::High, "more is requested than it has", &over)
                    .next("move pods away: a static pod, a fixed spec.nodeName or a second scheduler overfilled it"),
            );
        }
        if !full.is_empty() {
            found.push(
                self.of_shares("resources/node-full", Severity::Low, "is nearly full", &full)
                    .next("add a node, or lower requests that are far above the use"),
            );
        }
        found.extend(self.wide());
        found
    }

    fn of_shares(&self, id: &'static str, severity: Severity, words: &str, shares: &[(&str, Share)]) -> Finding {
        let list: Vec<String> = shares.iter().map(|(name, share)| format!("{name} {}", share.text(name))).collect();
        let mut finding = self.find(id, severity, format!("{words}: {}", list.join(", ")));
        for (name, share) in shares {
            finding = finding
                .shown_by(format!("requested.{name}"), text(name, share.requested))
                .shown_by(format!("status.allocatable.{name}"), text(name, share.allocatable));
        }
        finding
    }

    /// Memory limits that the node could not honour all at once.
    fn wide(&self) -> Option<Finding> {
        let memory = self.shares.get("memory")?;
        let limits = Share { requested: self.memory_limits, ..*memory };
        let told = limits.is_over().then(|| limits.text("memory"))?;
        Some(
            self.find(
                "resources/node-limits",
                Severity::Info,
                format!("its pods may use more memory than it has: {told}"),
            )
            .shown_by("limits.memory", text("memory", limits.requested))
            .shown_by("status.allocatable.memory", text("memory", limits.allocatable))
            .next("lower limits that are far above the use, where these pods can peak together"),
        )
    }

    fn find(&self, id: &'static str, severity: Severity, words: String) -> Finding {
        let object = ObjectRef { kind: "Node".to_owned(), namespace: None, name: self.node.clone() };
        let words = if self.unschedulable { format!("{words}; it is unschedulable") } else { words };
        let finding = Finding::new(id, severity, object, words);
        if self.unschedulable { finding.shown_by("spec.unschedulable", true) } else { finding }
    }

    fn given(&self, name: &str) -> Amount {
        self.shares.get(name).map_or(Amount::ZERO, |share| share.allocatable)
    }
}

/// Devices and huge pages, which are given out whole.
fn is_device(name: &str) -> bool {
    name.contains('/') || name.starts_with("hugepages-")
}

fn has_ended(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// An amount in the words of its resource.
fn text(name: &str, amount: Amount) -> String {
    match name {
        "cpu" => amount.as_cpu(),
        "memory" | "ephemeral-storage" => amount.as_bytes(),
        name if name.starts_with("hugepages-") => amount.as_bytes(),
        _ => amount.ceil_units().to_string(),
    }
}

/// A few names, and how many more there are.
fn names(loads: &[&Load]) -> String {
    let first: Vec<&str> = loads.iter().take(NAMED).map(|load| load.node.as_str()).collect();
    let more = loads.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn node(name: &str, allocatable: Value) -> Node {
        serde_json::from_value(json!({"metadata": {"name": name}, "status": {"allocatable": allocatable}})).unwrap()
    }

    fn cordoned(name: &str, allocatable: Value) -> Node {
        let mut node = node(name, allocatable);
        node.spec = serde_json::from_value(json!({"unschedulable": true})).unwrap();
        node
    }

    fn pod(on: Option<&str>, requests: Value) -> Pod {
        pod_with(on, json!({"requests": requests}))
    }

    fn pod_with(on: Option<&str>, resources: Value) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"nodeName": on, "containers": [{"name": "app", "resources": resources}]},
        }))
        .unwrap()
    }

    fn load(node: Node, pods: &[Pod]) -> Load {
        let mut nodes = Nodes::of(&[node]);
        pods.iter().for_each(|pod| nodes.add(pod));
        nodes.loads().next().unwrap().clone()
    }

    fn small() -> Value {
        json!({"cpu": "4", "memory": "8Gi", "pods": "10", "ephemeral-storage": "100Gi", "hugepages-2Mi": "0"})
    }

    fn told(load: &Load) -> Vec<String> {
        load.told().map(|(name, share)| format!("{name} {}", share.text(name))).collect()
    }

    #[test]
    fn an_2_3_nodes_are_told_with_what_is_requested_beside_what_they_can_give() {
        let mut ended = pod(Some("n"), json!({"cpu": "4"}));
        ended.status = serde_json::from_value(json!({"phase": "Succeeded"})).unwrap();
        let pods = [
            pod(Some("n"), json!({"cpu": "500m", "memory": "1Gi"})),
            pod_with(Some("n"), json!({"limits": {"cpu": "1", "memory": "1Gi"}})),
            pod(Some("other"), json!({"cpu": "4"})),
            pod(None, json!({"cpu": "4"})),
            ended,
        ];
        let one = load(node("n", small()), &pods);
        assert_eq!(told(&one), ["cpu 1500m of 4 (37 %)", "memory 2Gi of 8Gi (25 %)", "pods 2 of 10 (20 %)"]);
        assert_eq!((one.percent(), one.findings()), (37, vec![]));

        let mut has = small();
        has["nvidia.com/gpu"] = json!("2");
        let pods = [pod(Some("n"), json!({"nvidia.com/gpu": "2", "ephemeral-storage": "1Gi", "example.com/dra": "9"}))];
        let one = load(node("n", has), &pods);
        let more = ["ephemeral-storage 1Gi of 100Gi (1 %)", "memory 0 of 8Gi (0 %)", "nvidia.com/gpu 2 of 2 (100 %)"];
        assert_eq!(told(&one)[1..4], more, "what is asked for, and devices");
        assert_eq!(one.findings(), [], "devices are there to be used up, and what no node lists is not compared");
    }

    #[test]
    fn an_2_3_nodes_overcommitted_full_or_wide_are_found() {
        for (resources, count, expected) in [
            (json!({"requests": {"cpu": "3599m"}}), 1, vec![]),
            (json!({"requests": {"cpu": "3600m"}}), 1, vec![("resources/node-full", Severity::Low)]),
            (json!({"requests": {"cpu": "4"}}), 1, vec![("resources/node-full", Severity::Low)]),
            (json!({"requests": {"cpu": "4001m"}}), 1, vec![("resources/node-overcommitted", Severity::High)]),
            (json!({}), 8, vec![]),
            (json!({}), 9, vec![("resources/node-full", Severity::Low)]),
            (json!({}), 11, vec![("resources/node-overcommitted", Severity::High)]),
            (json!({"limits": {"memory": "4Gi"}, "requests": {"memory": "1"}}), 2, vec![]),
            (
                json!({"limits": {"memory": "4Gi"}, "requests": {"memory": "1"}}),
                3,
                vec![("resources/node-limits", Severity::Info)],
            ),
            (
                json!({"requests": {"cpu": "1", "memory": "3Gi"}, "limits": {"memory": "3Gi"}}),
                4,
                vec![
                    ("resources/node-overcommitted", Severity::High),
                    ("resources/node-full", Severity::Low),
                    ("resources/node-limits", Severity::Info),
                ],
            ),
        ] {
            let pods = vec![pod_with(Some("n"), resources.clone()); count];
            let found = load(node("n", small()), &pods).findings();
            let seen: Vec<_> = found.iter().map(|f| (f.id, f.severity)).collect();
            assert_eq!(seen, expected, "{count} of {resources}");
        }
    }

    #[test]
    fn an_2_3_nodes_findings_carry_both_sides_and_say_unschedulable() {
        let pods = [pod_with(Some("n"), json!({"requests": {"cpu": "5"}, "limits": {"memory": "16Gi", "cpu": "5"}}))];
        let found = load(cordoned("n", small()), &pods).findings();
        assert_eq!(
            found[0].message,
            "more is requested than it has: cpu 5 of 4 (125 %), memory 16Gi of 8Gi (200 %); it is unschedulable"
        );
        let evidence =
            ["spec.unschedulable", "requested.cpu", "status.allocatable.cpu"].map(|f| found[0].evidence_of(f));
        assert_eq!(evidence, [Some("true"), Some("5"), Some("4")]);
        assert_eq!((found[0].object.to_string(), found[0].next_step.is_empty()), ("node/n".to_owned(), false));
        assert_eq!(found[1].evidence_of("limits.memory"), Some("16Gi"));

        let gone = load(node("n", json!({"example.com/gpu": "0"})), &[pod(Some("n"), json!({"example.com/gpu": "1"}))]);
        assert_eq!(gone.findings()[0].message, "more is requested than it has: example.com/gpu 1 of 0");
    }

    #[test]
    fn an_2_3_nodes_largest_pod_fit() {
        let wide = json!({"cpu": "16", "memory": "4Gi", "pods": "10"});
        let vast = json!({"cpu": "64", "memory": "256Gi", "pods": "10"});
        let mut nodes = Nodes::of(&[node("small", small()), node("wide", wide), cordoned("vast", vast)]);
        nodes.add(&pod(Some("wide"), json!({"cpu": "16"})));
        for (requests, expected) in [
            (json!({}), None),
            (json!({"cpu": "16", "memory": "4Gi"}), None),
            (json!({"cpu": "16001m"}), Some("every node large enough for it is unschedulable")),
            (json!({"cpu": "65"}), Some("asks for more cpu than any node has, even empty")),
            (json!({"nvidia.com/gpu": "1"}), Some("asks for more nvidia.com/gpu than any node has, even empty")),
        ] {
            let found = nodes.fit(&pod(None, requests.clone()));
            assert_eq!(found.as_ref().map(|f| f.message.as_str()), expected, "{requests}");
            assert!(found.is_none_or(|f| f.severity == Severity::High && f.id == "resources/fits-nowhere"));
            assert_eq!(nodes.fit(&pod(Some("wide"), requests)), None, "it has its node");
        }
        let found = nodes.fit(&pod(None, json!({"cpu": "65"}))).unwrap();
        assert_eq!(found.evidence_of("effective request.cpu"), Some("65"));
        assert_eq!(found.evidence_of("largest allocatable.cpu"), Some("64 (vast, unschedulable)"));
        let found = nodes.fit(&pod(None, json!({"nvidia.com/gpu": "1"}))).unwrap();
        assert_eq!(found.evidence_of("largest allocatable.nvidia.com/gpu"), Some("0 on every node"));
        let found = nodes.fit(&pod(None, json!({"cpu": "20"}))).unwrap();
        assert_eq!(found.evidence_of("unschedulable nodes"), Some("vast"));
    }

    #[test]
    fn an_2_3_nodes_of_which_none_has_everything_hold_nothing_and_unknown_sizes_are_not_guessed() {
        let wide = node("wide", json!({"cpu": "16", "memory": "4Gi", "pods": "10"}));
        let both = pod(None, json!({"cpu": "8", "memory": "8Gi"}));
        let found = Nodes::of(&[node("small", small()), wide.clone()]).fit(&both).unwrap();
        assert_eq!(found.message, "no one node, even empty, has all it asks for of cpu and memory");
        assert_eq!(found.evidence_of("largest allocatable.cpu"), Some("16 (wide)"));
        assert_eq!(found.evidence_of("largest allocatable.memory"), Some("8Gi (small)"));

        let silent: Node = serde_json::from_value(json!({"metadata": {"name": "new"}})).unwrap();
        for nodes in [vec![], vec![wide.clone(), silent], vec![wide.clone(), node("odd", json!({"cpu": "many"}))]] {
            assert_eq!(Nodes::of(&nodes).fit(&both), None);
        }
        for (field, value) in [
            ("/spec/schedulingGates", json!([{"name": "example.com/wait"}])),
            ("/metadata/deletionTimestamp", json!("2026-11-30T12:00:00Z")),
            ("/status/phase", json!("Failed")),
        ] {
            let mut other = serde_json::to_value(&both).unwrap();
            other["status"] = json!({});
            let (parent, key) = field.rsplit_once('/').unwrap();
            other.pointer_mut(parent).unwrap()[key] = value;
            let other: Pod = serde_json::from_value(other).unwrap();
            assert_eq!(Nodes::of(std::slice::from_ref(&wide)).fit(&other), None, "{field}");
        }
    }
}
