//! Findings of many pods as one row of their owner.
//!
//! Fifty pods of one Deployment that crash alike are one thing to mend. The owner is followed as far as what is in
//! hand tells: `ownerReferences` first, then objects that were listed beside the pods, then the label that a
//! Deployment's ReplicaSets and pods carry.

use super::finding::{Evidence, Finding, Moment, ObjectRef, Severity};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use pintle_core::Row;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// Label that a Deployment puts on its ReplicaSets and their pods; the ReplicaSet's name ends in it.
const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// How far a chain is followed. Real chains have three links; the API server does not forbid circles.
const MAX_LINKS: usize = 8;

/// How many examples a row names.
const EXAMPLES: usize = 3;

/// The object that controls another, or the first owner where none is the controller.
#[must_use]
pub fn controller(meta: &ObjectMeta) -> Option<&OwnerReference> {
    let owners = meta.owner_references.as_deref().unwrap_or_default();
    owners.iter().find(|o| o.controller == Some(true)).or_else(|| owners.first())
}

/// Who owns whom, as far as objects have been seen.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    above: HashMap<ObjectRef, ObjectRef>,
}

impl Owners {
    /// Remembers the owner of an object that was listed.
    pub fn learn(&mut self, kind: &str, meta: &ObjectMeta) {
        if let Some(owner) = controller(meta) {
            self.above.insert(ObjectRef::of(kind, meta), reference(owner, meta));
        }
    }

    /// The chain above an object, nearest first.
    #[must_use]
    pub fn chain(&self, kind: &str, meta: &ObjectMeta) -> Vec<ObjectRef> {
        let mut chain = Vec::new();
        let Some(first) = controller(meta) else { return chain };
        let mut next = Some(reference(first, meta));
        while let Some(owner) = next {
            if chain.len() == MAX_LINKS || chain.contains(&owner) || owner == ObjectRef::of(kind, meta) {
                break;
            }
            next = self.above.get(&owner).cloned().or_else(|| deployment_of(&owner, meta));
            chain.push(owner);
        }
        chain
    }

    /// The topmost owner; the object itself when nobody owns it. A node owns its static pods, which have nothing else
    /// in common: each stands for itself.
    #[must_use]
    pub fn top(&self, kind: &str, meta: &ObjectMeta) -> ObjectRef {
        let top = self.chain(kind, meta).pop().filter(|owner| owner.kind != "Node");
        top.unwrap_or_else(|| ObjectRef::of(kind, meta))
    }
}

fn reference(owner: &OwnerReference, meta: &ObjectMeta) -> ObjectRef {
    // A Node owns static pods, and lies in no namespace.
    let namespace = (owner.kind != "Node").then(|| meta.namespace.clone()).flatten();
    ObjectRef { kind: owner.kind.clone(), namespace, name: owner.name.clone() }
}

/// A ReplicaSet named `<deployment>-<hash>` whose pods carry that hash is a Deployment's.
fn deployment_of(owner: &ObjectRef, meta: &ObjectMeta) -> Option<ObjectRef> {
    let hash = meta.labels.as_ref()?.get(POD_TEMPLATE_HASH)?;
    let name = owner.name.strip_suffix(hash.as_str())?.strip_suffix('-')?;
    (owner.kind == "ReplicaSet" && !name.is_empty()).then(|| ObjectRef {
        kind: "Deployment".into(),
        namespace: owner.namespace.clone(),
        name: name.to_owned(),
    })
}

/// The same finding on every object of one owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rolled {
    /// Its stable name.
    pub id: &'static str,
    /// The worst among them.
    pub severity: Severity,
    /// The topmost owner that is known, or the object itself.
    pub owner: ObjectRef,
    /// In which container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// On how many objects.
    pub count: usize,
    /// Names of a few of them; left out when the owner is the only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// What is wrong, of the worst one.
    pub message: String,
    /// The fields that show it, of the worst one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Since when, the earliest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Moment>,
    /// What to do next.
    pub next_step: String,
}

impl Row for Rolled {
    fn key(&self) -> String {
        // A blank sorts before every character of a name, so that an owner's rows stay together.
        format!(
            "{} {} {} {} {} {}",
            self.severity as u8,
            self.owner.namespace.as_deref().unwrap_or(""),
            self.owner.kind,
            self.owner.name,
            self.id,
            self.container.as_deref().unwrap_or("")
        )
    }
}

/// Takes findings one at a time and keeps one row for each owner, id and container.
#[derive(Debug, Default)]
pub struct RollUp {
    rows: HashMap<(ObjectRef, &'static str, Option<String>), Held>,
    total: usize,
}

#[derive(Debug)]
struct Held {
    worst: Finding,
    count: usize,
    since: Option<Moment>,
    examples: Vec<String>,
}

impl RollUp {
    /// Takes a finding under the topmost owner of its object.
    pub fn add(&mut self, owner: ObjectRef, finding: Finding) {
        self.total += 1;
        let key = (owner, finding.id, finding.container.clone());
        let name = finding.object.name.clone();
        let since = finding.since;
        match self.rows.get_mut(&key) {
            None => {
                self.rows.insert(key, Held { worst: finding, count: 1, since, examples: vec![name] });
            }
            Some(held) => {
                held.count += 1;
                held.since = [held.since, since].into_iter().flatten().min();
                // Pages arrive in the order of names, but the rows must not depend on it.
                if (finding.severity, &finding.object) < (held.worst.severity, &held.worst.object) {
                    held.worst = finding;
                }
                let place = held.examples.partition_point(|e| *e < name);
                held.examples.insert(place, name);
                held.examples.truncate(EXAMPLES);
            }
        }
    }

    /// How many findings were taken.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// The rows, worst first.
    #[must_use]
    pub fn into_rows(self) -> Vec<Rolled> {
        let mut rows: Vec<Rolled> = self.rows.into_iter().map(|((owner, ..), held)| row(owner, held)).collect();
        rows.sort_by_cached_key(Row::key);
        rows
    }
}

fn row(owner: ObjectRef, held: Held) -> Rolled {
    let Held { worst, count, since, examples } = held;
    let itself = count == 1 && worst.object == owner;
    Rolled {
        id: worst.id,
        severity: worst.severity,
        container: worst.container,
        count,
        examples: if itself { Vec::new() } else { examples },
        message: worst.message,
        evidence: worst.evidence,
        since,
        next_step: worst.next_step,
        owner,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn meta(value: serde_json::Value) -> ObjectMeta {
        serde_json::from_value(value).unwrap()
    }

    fn pod(index: usize) -> ObjectMeta {
        meta(json!({
            "name": format!("web-6d4-{index:03}"), "namespace": "shop", "labels": {"pod-template-hash": "6d4"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-6d4", "uid": "1", "controller": true}],
        }))
    }

    #[test]
    fn an_2_1_roll_up_two_hundred_crashing_pods_of_a_deployment_are_one_row() {
        let owners = Owners::default();
        let mut roll_up = RollUp::default();
        for index in (0..200).rev() {
            let meta = pod(index);
            let severity = if index == 7 { Severity::Critical } else { Severity::High };
            let finding = Finding::new("pod/crash-loop", severity, ObjectRef::of("Pod", &meta), "crashes");
            roll_up.add(owners.top("Pod", &meta), finding.in_container("app"));
        }
        let rows = roll_up.into_rows();
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].count, rows[0].severity), (200, Severity::Critical));
        assert_eq!(rows[0].owner.to_string(), "shop/deployment/web");
        assert_eq!(rows[0].examples, ["web-6d4-000", "web-6d4-001", "web-6d4-002"]);
    }

    #[test]
    fn kw_17_owner_chains_are_followed_as_far_as_in_hand_and_circles_end() {
        let job_pod = meta(json!({
            "name": "backup-1-x", "namespace": "shop",
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "backup-1", "uid": "1", "controller": true}],
        }));
        let mut owners = Owners::default();
        assert_eq!(owners.top("Pod", &job_pod).to_string(), "shop/job/backup-1");
        owners.learn(
            "Job",
            &meta(json!({
                "name": "backup-1", "namespace": "shop",
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "backup", "uid": "2", "controller": true}],
            })),
        );
        assert_eq!(owners.top("Pod", &job_pod).to_string(), "shop/cronjob/backup");

        let circle = |name: &str, owner: &str| {
            meta(
                json!({"name": name, "namespace": "n", "ownerReferences": [{"apiVersion": "x/v1", "kind": "A", "name": owner, "uid": "1"}]}),
            )
        };
        owners.learn("A", &circle("a", "b"));
        owners.learn("A", &circle("b", "a"));
        assert_eq!(owners.chain("A", &circle("a", "b")).len(), 1);
        assert_eq!(owners.top("Pod", &meta(json!({"name": "alone", "namespace": "n"}))).to_string(), "n/pod/alone");
        let of_node = json!([{"apiVersion": "v1", "kind": "Node", "name": "cp-1", "uid": "1", "controller": true}]);
        let of_node = meta(json!({"name": "etcd-cp-1", "namespace": "kube-system", "ownerReferences": of_node}));
        assert_eq!(owners.top("Pod", &of_node).to_string(), "kube-system/pod/etcd-cp-1");
        assert_eq!(owners.chain("Pod", &of_node)[0].to_string(), "node/cp-1");
    }
}
