//! What a cluster holds when it starts, and how it holds it.

use super::{
    logs::Log,
    resource::{Address, Resource, built_in},
};
use axum::body::Bytes;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// Namespace (empty for the cluster's own) and name: the order of a list.
pub(crate) type Key = (String, String);

/// One object, serialised once. Its type is left out, as built-in kinds leave it out of lists.
#[derive(Debug)]
pub(crate) struct Stored {
    pub labels: BTreeMap<String, String>,
    /// Its resourceVersion.
    pub revision: u64,
    pub json: Bytes,
    metadata: OnceLock<Bytes>,
}

impl Stored {
    pub(crate) fn new(labels: BTreeMap<String, String>, revision: u64, json: impl Into<Bytes>) -> Self {
        Self { labels, revision, json: json.into(), metadata: OnceLock::new() }
    }

    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }

    /// `metadata` alone, as JSON.
    pub(crate) fn metadata(&self) -> &Bytes {
        self.metadata.get_or_init(|| self.value()["metadata"].to_string().into())
    }

    /// With its type in front.
    pub(crate) fn typed(&self, resource: &Resource) -> Bytes {
        let mut out = Vec::with_capacity(self.json.len() + 64);
        out.extend_from_slice(head(&resource.kind, &resource.api_version()).as_bytes());
        out.extend_from_slice(&self.json[1..]);
        out.into()
    }
}

/// The opening of an object, its type inside, ready for more members.
pub(crate) fn head(kind: &str, api_version: &str) -> String {
    format!("{{\"kind\":\"{kind}\",\"apiVersion\":\"{api_version}\",")
}

pub(crate) type Collection = Arc<BTreeMap<Key, Arc<Stored>>>;

/// The objects of a cluster: typed ones of `k8s-openapi`, or JSON.
///
/// An object that has no `apiVersion`, `kind` or name is a mistake in the test and panics.
#[derive(Clone, Debug)]
pub struct Objects {
    pub(crate) resources: Vec<Arc<Resource>>,
    pub(crate) collections: HashMap<Address, Collection>,
    pub(crate) logs: HashMap<(String, String, String), Arc<Log>>,
    pub(crate) revision: u64,
    pub(crate) git_version: String,
    pub(crate) failing_checks: Vec<String>,
    /// Pages that were answered, kept until an object changes; shared by the servers started from clones.
    pub(crate) pages: Arc<Mutex<HashMap<String, Bytes>>>,
}

impl Default for Objects {
    fn default() -> Self {
        Self::new()
    }
}

impl Objects {
    /// A cluster with its own namespaces and nothing else.
    #[must_use]
    pub fn new() -> Self {
        let empty = Self {
            resources: built_in().into_iter().map(Arc::new).collect(),
            collections: HashMap::new(),
            logs: HashMap::new(),
            revision: 1,
            git_version: "v1.37.2".to_owned(),
            failing_checks: Vec::new(),
            pages: Arc::default(),
        };
        ["default", "kube-node-lease", "kube-public", "kube-system"].into_iter().fold(empty, Self::namespace)
    }

    /// Without anything, not even namespaces.
    #[must_use]
    pub fn bare() -> Self {
        let mut objects = Self::new();
        objects.collections.clear();
        objects
    }

    /// With one more object, or with all of a list (`kind: List`, an array).
    #[must_use]
    pub fn with(mut self, object: impl Serialize) -> Self {
        self.put(&object);
        self
    }

    /// With a namespace.
    #[must_use]
    pub fn namespace(self, name: &str) -> Self {
        self.with(json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}
        }))
    }

    /// With what a container wrote.
    #[must_use]
    pub fn log(mut self, namespace: &str, pod: &str, container: &str, log: Log) -> Self {
        self.logs.insert((namespace.to_owned(), pod.to_owned(), container.to_owned()), Arc::new(log));
        self
    }

    /// Saying it is that version (`v1.37.2` when not told).
    #[must_use]
    pub fn version(mut self, git_version: &str) -> Self {
        git_version.clone_into(&mut self.git_version);
        self
    }

    /// With a health check that fails (`etcd`, `informer-sync`, …): `/readyz` and `/livez` answer 500.
    #[must_use]
    pub fn failing_check(mut self, name: &str) -> Self {
        self.failing_checks.push(name.to_owned());
        self
    }

    /// With a kind defined by a `CustomResourceDefinition`; its objects can then be added. `columns` of its table are
    /// pairs of name and path (`.spec.size`).
    #[must_use]
    pub fn define(self, group: &str, kind: &str, plural: &str, namespaced: bool, columns: &[(&str, &str)]) -> Self {
        let columns: Vec<Value> =
            columns.iter().map(|(name, path)| json!({"name": name, "type": "string", "jsonPath": path})).collect();
        self.with(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group, "scope": if namespaced { "Namespaced" } else { "Cluster" },
                "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
                "versions": [{"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": columns,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]
            },
            "status": {"conditions": [{"type": "Established", "status": "True", "reason": "InitialNamesAccepted"}]}
        }))
    }

    /// Puts one object in, in place of one of the same name. Returns where it is now.
    pub(crate) fn put(&mut self, object: &impl Serialize) -> Vec<(Arc<Resource>, Key, Arc<Stored>)> {
        let value = match serde_json::to_value(object) {
            Ok(value) => value,
            Err(error) => panic!("an object cannot be told as JSON: {error}"),
        };
        match value {
            Value::Array(items) => items.into_iter().flat_map(|item| self.put(&item)).collect(),
            Value::Object(mut list) if list.get("kind").and_then(Value::as_str) == Some("List") => {
                list.remove("items").map(|items| self.put(&items)).unwrap_or_default()
            }
            Value::Object(object) => vec![self.put_one(object)],
            other => panic!("an object is expected, not {other}"),
        }
    }

    fn put_one(&mut self, mut object: Map<String, Value>) -> (Arc<Resource>, Key, Arc<Stored>) {
        let take = |object: &mut Map<String, Value>, name: &str| match object.shift_remove(name) {
            Some(Value::String(text)) => text,
            _ => panic!("an object needs `{name}`: {object:?}"),
        };
        let (api_version, kind) = (take(&mut object, "apiVersion"), take(&mut object, "kind"));
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", &api_version));
        if kind == "CustomResourceDefinition" {
            self.learn(&object);
        }
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
            panic!("an object needs `metadata`: {object:?}")
        };
        let text = |name: &str| metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(name) = text("name") else { panic!("an object needs `metadata.name`: {metadata:?}") };
        let namespace = text("namespace");
        let resource = match self.resources.iter().find(|r| r.group == group && r.version == version && r.kind == kind)
        {
            Some(resource) => Arc::clone(resource),
            None => self.define_resource(Resource::guessed(group, version, &kind, namespace.is_some())),
        };
        let namespace = match (resource.namespaced, namespace) {
            (true, None) => {
                metadata.insert("namespace".to_owned(), json!("default"));
                "default".to_owned()
            }
            (true, Some(namespace)) => namespace,
            (false, _) => String::new(),
        };
        self.revision += 1;
        metadata.insert("resourceVersion".to_owned(), json!(self.revision.to_string()));
        let uid = uid(&resource.qualified(), &namespace, &name);
        metadata.entry("uid").or_insert_with(|| json!(uid));
        metadata.entry("creationTimestamp").or_insert_with(|| json!("2026-01-01T00:00:00Z"));
        let labels = metadata.get("labels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten();
        let labels = labels.map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned())).collect();
        let stored = Stored::new(labels, self.revision, Value::Object(object).to_string());
        let stored = self.keep(&resource, (namespace.clone(), name.clone()), stored);
        (resource, (namespace, name), stored)
    }

    /// Keeps what is already in the form of the store.
    pub(crate) fn keep(&mut self, resource: &Arc<Resource>, key: Key, stored: Stored) -> Arc<Stored> {
        let stored = Arc::new(stored);
        let collection = self.collections.entry(resource.address()).or_default();
        Arc::make_mut(collection).insert(key, Arc::clone(&stored));
        self.forget_pages();
        stored
    }

    /// Takes one away.
    pub(crate) fn take(&mut self, resource: &Resource, key: &Key) -> Option<Arc<Stored>> {
        let gone = Arc::make_mut(self.collections.get_mut(&resource.address())?).remove(key)?;
        self.revision += 1;
        self.forget_pages();
        Some(gone)
    }

    fn forget_pages(&mut self) {
        // While it is being filled nothing was answered yet; afterwards other servers may still use the old pages.
        if !self.pages.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.pages = Arc::default();
        }
    }

    pub(crate) fn resource(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.resources.iter().find(|r| r.group == group && r.version == version && r.plural == plural).cloned()
    }

    pub(crate) fn collection(&self, resource: &Resource) -> Option<&Collection> {
        self.collections.get(&resource.address())
    }

    fn define_resource(&mut self, resource: Resource) -> Arc<Resource> {
        let resource = Arc::new(resource);
        self.resources.retain(|known| known.address() != resource.address());
        self.resources.push(Arc::clone(&resource));
        self.pages = Arc::default();
        resource
    }

    /// Takes the kinds of a definition over.
    fn learn(&mut self, definition: &Map<String, Value>) {
        let Some(spec) = definition.get("spec") else { return };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let words = |value: &Value| value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
        for version in spec["versions"].as_array().into_iter().flatten().filter(|version| version["served"] != false) {
            let group = text(&spec["group"]);
            let kind = text(&spec["names"]["kind"]);
            let columns = version["additionalPrinterColumns"].as_array().into_iter().flatten();
            self.define_resource(Resource {
                plural: text(&spec["names"]["plural"]),
                short: words(&spec["names"]["shortNames"]),
                categories: words(&spec["names"]["categories"]),
                columns: columns.map(|column| (text(&column["name"]), text(&column["jsonPath"]))).collect(),
                ..Resource::guessed(&group, &text(&version["name"]), &kind, spec["scope"] == "Namespaced")
            });
        }
    }
}

/// The same object has the same uid in every run.
pub(crate) fn uid(resource: &str, namespace: &str, name: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, resource, namespace, name).hash(&mut hasher);
        hasher.finish()
    };
    let (a, b) = (half(1), half(2));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}
