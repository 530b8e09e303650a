//! Pods without a node.

use super::Look;
use crate::rules::finding::{Finding, Severity, age_text};
use serde::Serialize;

/// How long the scheduler may be silent about a pod, in seconds.
const SILENCE: i64 = 60;

/// A pod held back by `spec.schedulingGates`: whoever set the gate will lift it, so it is no issue.
pub(super) fn gated(look: &Look<'_>) -> bool {
    let gates = look.spec().and_then(|s| s.scheduling_gates.as_deref()).unwrap_or_default();
    let told = look.condition("PodScheduled").and_then(|c| c.reason.as_deref()) == Some("SchedulingGated");
    !look.is_scheduled() && (told || !gates.is_empty())
}

/// `PodScheduled: False`, or a pod that no scheduler has looked at.
pub(super) fn check(look: &Look<'_>) -> Option<Finding> {
    let Some(condition) = look.condition("PodScheduled").filter(|c| c.status == "False") else {
        return unseen(look);
    };
    let reason = condition.reason.as_deref().unwrap_or("");
    let message = condition.message.as_deref().unwrap_or("");
    let finding = if reason == "SchedulerError" {
        look.find("pod/scheduler-error", Severity::High, "the scheduler failed on it")
            .next("read the scheduler's log; a failing extender or an object it needs is the usual cause")
    } else {
        let parsed = parse_unschedulable(message);
        let (words, next) = explain(&parsed, message);
        let mut finding = look.find("pod/unschedulable", Severity::High, words).next(next);
        for (count, cause, words) in &parsed.causes {
            finding = finding.shown_by(format!("cause.{}", cause.word()), format!("{count} nodes: {words}"));
        }
        finding
    };
    Some(
        finding
            .shown_by("status.conditions[PodScheduled].reason", reason)
            .shown_by("status.conditions[PodScheduled].message", message)
            .since(condition.last_transition_time.as_ref()),
    )
}

/// No condition, no node: either the pod is new, or nobody schedules for its `schedulerName`.
fn unseen(look: &Look<'_>) -> Option<Finding> {
    let created = look.pod.metadata.creation_timestamp.as_ref();
    let age = look.age(created)?;
    if age < SILENCE || !matches!(look.phase(), "Pending" | "") {
        return None;
    }
    let scheduler = look.spec().and_then(|s| s.scheduler_name.as_deref()).unwrap_or("default-scheduler");
    Some(
        look.find("pod/not-scheduled", Severity::High, format!("no scheduler has looked at it for {}", age_text(age)))
            .shown_by("spec.schedulerName", scheduler)
            .since(created)
            .next(format!("make sure that `{scheduler}` runs in this cluster")),
    )
}

/// Why a node does not take a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Too little CPU left.
    Cpu,
    /// Too little memory left.
    Memory,
    /// Too little ephemeral storage left.
    EphemeralStorage,
    /// Too few of a device or another extended resource left.
    Device,
    /// The node runs as many pods as it may.
    TooManyPods,
    /// A taint that the pod does not tolerate.
    Taint,
    /// Cordoned.
    Cordoned,
    /// `nodeSelector` or node affinity does not match.
    NodeAffinity,
    /// Affinity or anti-affinity to other pods.
    PodAffinity,
    /// Topology spread constraints.
    TopologySpread,
    /// The host port is taken.
    HostPort,
    /// The volume lies in another zone or on another node.
    VolumeZone,
    /// The claim is unbound, missing, or cannot be attached.
    Volume,
    /// A resource claim for a device is not served.
    ResourceClaim,
    /// Anything else.
    Other,
}

impl Cause {
    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::EphemeralStorage => "ephemeral-storage",
            Self::Device => "device",
            Self::TooManyPods => "too-many-pods",
            Self::Taint => "taint",
            Self::Cordoned => "cordoned",
            Self::NodeAffinity => "node-affinity",
            Self::PodAffinity => "pod-affinity",
            Self::TopologySpread => "topology-spread",
            Self::HostPort => "host-port",
            Self::VolumeZone => "volume-zone",
            Self::Volume => "volume",
            Self::ResourceClaim => "resource-claim",
            Self::Other => "other",
        }
    }

    fn of(words: &str) -> Self {
        let lower = words.to_ascii_lowercase();
        let has = |part: &str| lower.contains(part);
        if let Some(resource) = lower.strip_prefix("insufficient ") {
            return match resource {
                "cpu" => Self::Cpu,
                "memory" => Self::Memory,
                "ephemeral-storage" => Self::EphemeralStorage,
                "pods" => Self::TooManyPods,
                _ => Self::Device,
            };
        }
        if has("too many pods") {
            Self::TooManyPods
        } else if has("unschedulable") {
            Self::Cordoned
        } else if has("taint") {
            Self::Taint
        } else if has("volume node affinity") || has("no available volume zone") || has("volume zone") {
            Self::VolumeZone
        } else if has("resourceclaim") || has("resource claim") {
            Self::ResourceClaim
        } else if has("persistentvolumeclaim") || has("persistent volume") || has("volume") {
            Self::Volume
        } else if has("topology spread") {
            Self::TopologySpread
        } else if has("pod affinity") || has("pod anti-affinity") || has("anti-affinity") {
            Self::PodAffinity
        } else if has("node affinity") || has("node selector") || has("nodeselector") {
            Self::NodeAffinity
        } else if has("free ports") || has("host port") {
            Self::HostPort
        } else {
            Self::Other
        }
    }

    const fn next(self) -> &'static str {
        match self {
            Self::Cpu | Self::Memory | Self::EphemeralStorage | Self::TooManyPods => {
                "lower the requests, free a node, or add one"
            }
            Self::Device => "check that a device plug-in offers the resource, and how much of it is taken",
            Self::Taint => "tolerate the taint, or take it off the node",
            Self::Cordoned => "uncordon the node when its maintenance is over",
            Self::NodeAffinity => "compare nodeSelector and node affinity with the nodes' labels",
            Self::PodAffinity => "loosen the pod affinity, or add nodes in the topology it asks for",
            Self::TopologySpread => "loosen the topology spread constraint, or add nodes where there are too few",
            Self::HostPort => "drop the hostPort, or run fewer of these pods than nodes",
            Self::VolumeZone => "the volume is bound to a zone or node that has no room; add room there",
            Self::Volume => "look at the claim: missing, unbound, or without a storage class",
            Self::ResourceClaim => "look at the resource claim and at its driver",
            Self::Other => "read the scheduler's message",
        }
    }
}

/// A scheduler's message taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unschedulable {
    /// Nodes that would do.
    pub available: Option<u32>,
    /// Nodes that were looked at.
    pub nodes: Option<u32>,
    /// How many nodes refuse for which cause, in the scheduler's words; the most frequent first.
    pub causes: Vec<(u32, Cause, String)>,
}

/// Takes the scheduler's message apart: `0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated
/// taint {a: b}. preemption: …`. What does not have that form leaves everything empty.
#[must_use]
pub fn parse_unschedulable(message: &str) -> Unschedulable {
    let mut out = Unschedulable::default();
    // What preemption would bring says nothing more about the nodes.
    let head = message.split(" preemption:").next().unwrap_or("");
    let (counts, causes) = head.split_once(" nodes are available").unwrap_or(("", head));
    if let Some((available, nodes)) = counts.trim().split_once('/') {
        out.available = available.parse().ok();
        out.nodes = nodes.parse().ok();
    }
    if out.nodes.is_none() {
        if !message.trim().is_empty() {
            out.causes.push((0, Cause::of(head.trim()), head.trim().to_owned()));
        }
        return out;
    }
    for part in split_causes(causes.trim_start_matches(':')) {
        let part = part.trim().trim_end_matches('.');
        let Some((count, words)) = part.split_once(' ') else { continue };
        let Ok(count) = count.parse::<u32>() else { continue };
        let words = words.trim().strip_prefix("node(s) ").unwrap_or(words.trim());
        out.causes.push((count, Cause::of(words), words.to_owned()));
    }
    out.causes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2)));
    out
}

/// Commas part the causes, but not those within a taint's braces.
fn split_causes(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

fn explain(parsed: &Unschedulable, message: &str) -> (String, &'static str) {
    let next = parsed.causes.first().map_or(Cause::Other, |c| c.1).next();
    if parsed.nodes == Some(0) {
        return ("the cluster has no node".to_owned(), "add a node");
    }
    let words: Vec<String> = parsed
        .causes
        .iter()
        .filter(|c| c.0 > 0)
        .take(3)
        .map(|(count, cause, _)| format!("{} on {count}", cause.word()))
        .collect();
    match (parsed.nodes, words.is_empty()) {
        (Some(nodes), false) => (format!("none of {nodes} nodes takes it: {}", words.join(", ")), next),
        _ if message.is_empty() => ("no node takes it".to_owned(), next),
        _ => {
            let cause = parsed.causes.first().map_or("other", |c| c.1.word());
            (format!("no node takes it: {cause}"), next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn pending(reason: &str, message: &str) -> Value {
        let mut value = pod(json!({
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": reason, "message": message,
                "lastTransitionTime": ago(300)}],
        }));
        value["spec"]["nodeName"] = json!(null);
        value
    }

    #[test]
    fn an_2_1_unschedulable_messages_are_counted_by_cause() {
        let parsed = parse_unschedulable(
            "0/9 nodes are available: 1 Insufficient memory, 1 node(s) didn't have free ports for the requested pod \
             ports, 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) had untolerated taint {key: a,b}, \
             3 Insufficient cpu, 1 Insufficient nvidia.com/gpu. preemption: 0/9 nodes are available: 9 No preemption \
             victims found for incoming pod.",
        );
        assert_eq!((parsed.available, parsed.nodes), (Some(0), Some(9)));
        let causes: Vec<_> = parsed.causes.iter().map(|(n, c, _)| (*n, *c)).collect();
        assert_eq!(
            causes,
            [
                (3, Cause::Cpu),
                (2, Cause::Taint),
                (1, Cause::Memory),
                (1, Cause::Device),
                (1, Cause::NodeAffinity),
                (1, Cause::HostPort)
            ]
        );
        assert_eq!(parsed.causes[1].2, "had untolerated taint {key: a,b}");
    }

    #[test]
    fn an_2_1_every_cause_of_the_scheduler_has_its_word() {
        for (words, cause) in [
            ("Insufficient ephemeral-storage", Cause::EphemeralStorage),
            ("Too many pods", Cause::TooManyPods),
            ("node(s) were unschedulable", Cause::Cordoned),
            ("node(s) had volume node affinity conflict", Cause::VolumeZone),
            ("node(s) had no available volume zone", Cause::VolumeZone),
            ("node(s) didn't match pod topology spread constraints", Cause::TopologySpread),
            ("node(s) didn't match pod anti-affinity rules", Cause::PodAffinity),
            ("node(s) didn't find available persistent volumes to bind", Cause::Volume),
            ("node(s) did something new", Cause::Other),
        ] {
            let parsed = parse_unschedulable(&format!("0/1 nodes are available: 1 {words}."));
            assert_eq!(parsed.causes.first().map(|c| c.1), Some(cause), "{words}");
        }
        let claim = parse_unschedulable("persistentvolumeclaim \"data\" not found");
        assert_eq!(claim.causes[0].1, Cause::Volume);
        assert_eq!(parse_unschedulable(""), Unschedulable::default());
    }

    #[test]
    fn kw_13_unschedulable_pods_are_found_with_causes_and_since_when() {
        let found = examine_value(pending("Unschedulable", "0/3 nodes are available: 3 Insufficient cpu."));
        assert_eq!(ids(&found), ["pod/unschedulable"]);
        assert_eq!(found[0].message, "none of 3 nodes takes it: cpu on 3");
        assert_eq!(found[0].evidence_of("cause.cpu"), Some("3 nodes: Insufficient cpu"));
        assert_eq!(found[0].since.unwrap().to_string(), ago(300));
    }

    #[test]
    fn an_1_5_scheduling_gates_are_no_issue_while_an_unschedulable_twin_is_found() {
        let mut gated = pending("SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates");
        assert_eq!(examine_value(gated.clone()), []);
        gated["status"] = json!({"phase": "Pending"});
        gated["spec"]["schedulingGates"] = json!([{"name": "example.com/wait"}]);
        assert_eq!(examine_value(gated), []);

        let twin = pending("Unschedulable", "0/1 nodes are available: 1 Too many pods.");
        assert_eq!(ids(&examine_value(twin)), ["pod/unschedulable"]);
    }

    #[test]
    fn an_2_1_a_pod_no_scheduler_looks_at_is_found_but_not_a_fresh_one() {
        let mut value = pod(json!({"phase": "Pending"}));
        value["spec"] = json!({"schedulerName": "batch-scheduler", "containers": [{"name": "app"}]});
        let found = examine_value(value.clone());
        assert_eq!(ids(&found), ["pod/not-scheduled"]);
        assert_eq!(found[0].evidence_of("spec.schedulerName"), Some("batch-scheduler"));
        value["metadata"]["creationTimestamp"] = json!(ago(5));
        assert_eq!(examine_value(value), []);
    }
}
