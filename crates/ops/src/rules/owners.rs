//! Who looks after an object: the tool that deploys it, the manager that writes its spec, the object that owns it,
//! and the people its labels name.
//!
//! The last entry of `managedFields` is most often a controller that wrote the status, and says nothing about who
//! owns the object. So entries of subresources are left out, and the others are weighed by how much of the object they
//! set: its content counts more than its labels and annotations.

use super::{
    finding::{Moment, ObjectRef},
    roll_up::Owners,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};
use pintle_core::Foreign;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// How much a field of the content weighs beside one of the metadata.
const CONTENT_WEIGHT: usize = 10;

/// Deepest nesting of `fieldsV1` that is followed; real ones have about fifteen levels.
const MAX_DEPTH: usize = 64;

/// What is known about who looks after an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ownership {
    /// The object.
    pub object: ObjectRef,
    /// Who looks after it, in one word: the deploying tool with its unit, else the topmost owner, else the manager.
    pub looked_after_by: String,
    /// Deploying tools that marked it, surest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
    /// The field manager that set most of its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<Manager>,
    /// The owners above it, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<ObjectRef>,
    /// Labels and annotations that name people or teams.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<Named>,
}

/// A deploying tool's mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tool {
    /// Which tool: `helm`, `argocd`, `flux`, `olm`, `applyset`, `kapp`, `fleet`, or what `managed-by` says.
    pub tool: String,
    /// What it calls its unit: release, application, kustomization.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The label or annotation that says so.
    pub mark: String,
}

/// A field manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Manager {
    /// Its name.
    pub name: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// How many fields it set.
    pub fields: usize,
    /// When it last wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_write: Option<Moment>,
}

/// A label or annotation and what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Named {
    /// Its key.
    pub key: String,
    /// Its value; somebody else's text.
    pub value: Foreign,
}

/// Who looks after that object. `owners` knows what else was listed.
#[must_use]
pub fn ownership(kind: &str, meta: &ObjectMeta, owners: &Owners) -> Ownership {
    let tools = tools(meta);
    let manager = manager(meta.managed_fields.as_deref().unwrap_or_default());
    let chain = owners.chain(kind, meta);
    let looked_after_by = match (tools.first(), chain.last(), &manager) {
        (Some(tool), ..) => match &tool.unit {
            Some(unit) => format!("{}:{unit}", tool.tool),
            None => tool.tool.clone(),
        },
        (None, Some(owner), _) => format!("{}/{}", owner.kind.to_ascii_lowercase(), owner.name),
        (None, None, Some(manager)) => manager.name.clone(),
        _ => "unknown".to_owned(),
    };
    Ownership {
        object: ObjectRef::of(kind, meta),
        looked_after_by,
        tools,
        manager,
        owners: chain,
        people: people(meta),
    }
}

/// The manager that set most; of equals the one that wrote last.
fn manager(entries: &[ManagedFieldsEntry]) -> Option<Manager> {
    entries
        .iter()
        .filter(|e| e.subresource.as_deref().unwrap_or("").is_empty())
        .map(|e| {
            let (content, metadata) = e.fields_v1.as_ref().map_or((0, 0), |f| fields(&f.0));
            (content * CONTENT_WEIGHT + metadata, content + metadata, e)
        })
        .max_by_key(|(weight, _, e)| (*weight, e.time.as_ref().map(|t| t.0)))
        .map(|(_, fields, e)| Manager {
            name: Foreign::one_line(e.manager.as_deref().unwrap_or("unknown")),
            operation: Foreign::one_line(e.operation.as_deref().unwrap_or("")),
            fields,
            last_write: e.time.as_ref().map(Moment::from),
        })
}

/// How many leaves lie in the content, and how many in the metadata. The status is nobody's.
fn fields(value: &Value) -> (usize, usize) {
    let mut counts = (0, 0);
    for (key, below) in value.as_object().into_iter().flatten() {
        match key.as_str() {
            "f:status" => {}
            "f:metadata" => counts.1 += leaves(below, 0),
            _ => counts.0 += leaves(below, 0),
        }
    }
    counts
}

fn leaves(value: &Value, depth: usize) -> usize {
    let Some(map) = value.as_object().filter(|m| depth < MAX_DEPTH && !m.is_empty()) else { return 1 };
    // `.` marks the node itself.
    map.iter().filter(|(key, _)| *key != ".").map(|(_, below)| leaves(below, depth + 1)).sum::<usize>().max(1)
}

/// Marks of deploying tools. An annotation that only the tool writes is surer than a label that anyone may set.
fn tools(meta: &ObjectMeta) -> Vec<Tool> {
    let label = |key: &str| meta.labels.as_ref()?.get(key).filter(|v| !v.is_empty()).map(|v| Foreign::one_line(v));
    let annotation =
        |key: &str| meta.annotations.as_ref()?.get(key).filter(|v| !v.is_empty()).map(|v| Foreign::one_line(v));
    let qualified = |namespace: Option<String>, name: String| namespace.map_or(name.clone(), |n| format!("{n}/{name}"));
    let mut found: Vec<Tool> = Vec::new();
    let mut mark = |tool: &str, unit: Option<String>, key: &str| {
        if !found.iter().any(|t| t.tool == tool) {
            found.push(Tool { tool: tool.to_owned(), unit, mark: key.to_owned() });
        }
    };
    if let Some(id) = annotation("argocd.argoproj.io/tracking-id") {
        let app = id.split_once(':').map_or(id.as_str(), |(app, _)| app).to_owned();
        mark("argocd", Some(app), "argocd.argoproj.io/tracking-id");
    }
    if let Some(app) = label("argocd.argoproj.io/instance") {
        mark("argocd", Some(app), "argocd.argoproj.io/instance");
    }
    for (key, namespace) in [
        ("helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"),
        ("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
    ] {
        if let Some(name) = label(key) {
            mark("flux", Some(qualified(label(namespace), name)), key);
        }
    }
    if let Some(owner) = label("olm.owner") {
        mark("olm", Some(qualified(label("olm.owner.namespace"), owner)), "olm.owner");
    }
    if let Some(release) = annotation("meta.helm.sh/release-name") {
        mark(
            "helm",
            Some(qualified(annotation("meta.helm.sh/release-namespace"), release)),
            "meta.helm.sh/release-name",
        );
    }
    for (tool, key) in [("applyset", "applyset.kubernetes.io/part-of"), ("kapp", "kapp.k14s.io/app")] {
        if let Some(unit) = label(key) {
            mark(tool, Some(unit), key);
        }
    }
    if let Some(unit) = annotation("objectset.rio.cattle.io/owner-name") {
        mark("fleet", Some(unit), "objectset.rio.cattle.io/owner-name");
    }
    for key in ["app.kubernetes.io/managed-by", "managed-by"] {
        if let Some(tool) = label(key) {
            mark(&tool.to_lowercase(), None, key);
        }
    }
    found
}

/// Labels, then annotations, that name people or teams.
fn people(meta: &ObjectMeta) -> Vec<Named> {
    const KEYS: [&str; 8] = [
        "owner",
        "team",
        "created-by",
        "contact",
        "maintainer",
        "app.kubernetes.io/created-by",
        "app.kubernetes.io/part-of",
        "cost-center",
    ];
    let lists = [meta.labels.as_ref(), meta.annotations.as_ref()];
    let mut found: Vec<Named> = Vec::new();
    for key in KEYS {
        let value = lists.iter().find_map(|list| list.and_then(|l| l.get(key)).filter(|v| !v.is_empty()));
        if let Some(value) = value {
            found.push(Named { key: key.to_owned(), value: Foreign::new(&Foreign::one_line(value)) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ownership_of(value: Value) -> Ownership {
        ownership("Deployment", &serde_json::from_value(value).unwrap(), &Owners::default())
    }

    #[test]
    fn kw_17_status_writers_are_no_owners_and_content_weighs_more_than_labels() {
        let found = ownership_of(json!({
            "name": "web", "namespace": "shop",
            "managedFields": [
                {"manager": "helm", "operation": "Update", "time": "2026-01-01T00:00:00Z", "fieldsV1": {
                    "f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:image": {}, "f:name": {}}}}}}}},
                {"manager": "labeller", "operation": "Update", "time": "2026-02-01T00:00:00Z", "fieldsV1": {
                    "f:metadata": {"f:labels": {"f:a": {}, "f:b": {}, "f:c": {}, "f:d": {}, "f:e": {}, "f:f": {}}}}},
                {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "time": "2026-03-01T00:00:00Z",
                    "fieldsV1": {"f:status": {"f:replicas": {}, "f:readyReplicas": {}}}},
            ],
        }));
        let manager = found.manager.unwrap();
        assert_eq!((manager.name.as_str(), manager.fields), ("helm", 3));
        assert_eq!(found.looked_after_by, "helm");
    }

    #[test]
    fn kw_17_tools_mark_what_they_deploy() {
        for (meta, expected) in [
            (
                json!({"annotations": {"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"}}),
                "helm:shop/web",
            ),
            (
                json!({"annotations": {"argocd.argoproj.io/tracking-id": "site:apps/Deployment:shop/web"}}),
                "argocd:site",
            ),
            (json!({"labels": {"argocd.argoproj.io/instance": "site"}}), "argocd:site"),
            (
                json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}}),
                "flux:flux-system/apps",
            ),
            (
                json!({"labels": {"helm.toolkit.fluxcd.io/name": "web"}, "annotations": {"meta.helm.sh/release-name": "web"}}),
                "flux:web",
            ),
            (json!({"labels": {"olm.owner": "op.v1", "olm.owner.namespace": "operators"}}), "olm:operators/op.v1"),
            (json!({"labels": {"applyset.kubernetes.io/part-of": "applyset-x-v1"}}), "applyset:applyset-x-v1"),
            (json!({"labels": {"app.kubernetes.io/managed-by": "Terraform"}}), "terraform"),
            (json!({"labels": {"managed-by": "hand"}}), "hand"),
            (json!({}), "unknown"),
        ] {
            assert_eq!(ownership_of(meta.clone()).looked_after_by, expected, "{meta}");
        }
        let both = ownership_of(json!({
            "labels": {"app.kubernetes.io/managed-by": "Helm"}, "annotations": {"meta.helm.sh/release-name": "web"},
        }));
        assert_eq!(both.tools.len(), 1, "the label says no more than the annotation");
    }

    #[test]
    fn kw_17_owner_chain_stands_before_the_manager_and_people_are_named() {
        let pod = serde_json::from_value(json!({
            "name": "web-6d4-x", "namespace": "shop", "labels": {"pod-template-hash": "6d4", "team": "checkout"},
            "annotations": {"owner": "ana\u{1b}[31m"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-6d4", "uid": "1", "controller": true}],
            "managedFields": [{"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": {"f:spec": {"f:containers": {}}}}],
        }))
        .unwrap();
        let found = ownership("Pod", &pod, &Owners::default());
        assert_eq!(found.looked_after_by, "deployment/web");
        assert_eq!(found.owners.len(), 2);
        let people: Vec<_> = found.people.iter().map(|p| (p.key.as_str(), p.value.text.as_str())).collect();
        assert_eq!(people, [("owner", "ana"), ("team", "checkout")]);
    }

    #[test]
    fn managed_fields_without_fields_or_time_do_no_harm() {
        let found =
            ownership_of(json!({"managedFields": [{"manager": "a"}, {}, {"subresource": "scale", "manager": "b"}]}));
        assert!(found.manager.is_some_and(|m| m.fields == 0 && m.name != "b"));
    }
}
