//! A pod to try, and how one is made from what it does wrong.

use serde_json::{Value, json};

/// A pod, or something a pod is made from.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is special about it.
    pub label: String,
    /// The pod's annotations.
    pub annotations: Value,
    /// The pod's spec; of an ephemeral container, only that.
    pub spec: Value,
    /// How it comes before the server.
    pub put: Put,
    /// Minor versions that may change what is said of it. Each is tried with the one before.
    pub changes: &'static [u32],
}

/// How a case comes before the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// A pod is created.
    Pod,
    /// An ephemeral container is put into a pod that is there.
    Into(Standing),
    /// An object of this kind is created, with the pod as its template.
    Template(&'static str),
}

/// The pods that stand in every namespace for ephemeral containers to be put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its container is hardened, the pod says nothing.
    Hard,
    /// The pod is hardened as far as a pod can be.
    Inherits,
    /// Nothing is said at all.
    Plain,
    /// As `Hard`, in a user namespace.
    UserNamespace,
}

impl Standing {
    pub const ALL: [Self; 4] = [Self::Hard, Self::Inherits, Self::Plain, Self::UserNamespace];

    pub fn name(self) -> &'static str {
        match self {
            Self::Hard => "hard",
            Self::Inherits => "inherits",
            Self::Plain => "plain",
            Self::UserNamespace => "user-namespace",
        }
    }

    pub fn spec(self) -> Value {
        match self {
            Self::Hard => hardened(),
            Self::Inherits => json!({"securityContext": pod_context(), "containers": [bare("app")]}),
            Self::Plain => json!({"containers": [bare("app")]}),
            Self::UserNamespace => merged(hardened(), &json!({"hostUsers": false})),
        }
    }
}

/// Where a container may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    Main,
    Init,
    Sidecar,
    Ephemeral,
}

/// All of them.
pub const LISTS: [List; 4] = [List::Main, List::Init, List::Sidecar, List::Ephemeral];
/// Those whose containers may have ports.
pub const WITH_PORTS: [List; 3] = [List::Main, List::Init, List::Sidecar];
/// Those whose containers may have probes and hooks.
pub const WITH_PROBES: [List; 2] = [List::Main, List::Sidecar];

/// A container without a security context.
pub fn bare(name: &str) -> Value {
    json!({"name": name, "image": "registry.example/app:1"})
}

/// A container that `restricted` of every version allows.
pub fn hard(name: &str) -> Value {
    let mut container = bare(name);
    container["securityContext"] = json!({
        "allowPrivilegeEscalation": false,
        "runAsNonRoot": true,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    container
}

/// What a pod can say for all its containers.
pub fn pod_context() -> Value {
    json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
}

/// The spec of a pod that `restricted` of every version allows.
pub fn hardened() -> Value {
    json!({"containers": [hard("app")]})
}

/// A hardened pod with a change (RFC 7396: `null` takes away, lists are replaced).
pub fn pod(label: impl Into<String>, changes: &'static [u32], change: &Value) -> Case {
    whole(label, changes, merged(hardened(), change))
}

/// A pod with just this spec.
pub fn whole(label: impl Into<String>, changes: &'static [u32], spec: Value) -> Case {
    Case { label: label.into(), annotations: json!({}), spec, put: Put::Pod, changes }
}

/// A hardened container with a change, in each of the lists, beside a hardened one.
pub fn in_lists(label: &str, changes: &'static [u32], lists: &[List], change: &Value) -> Vec<Case> {
    lists.iter().map(|list| in_list(label, changes, *list, &merged(hard("tried"), change))).collect()
}

/// A container in one list, beside a hardened one.
pub fn in_list(label: &str, changes: &'static [u32], list: List, container: &Value) -> Case {
    let label = format!("{label}, {list:?}");
    match list {
        List::Main => whole(label, changes, json!({"containers": [hard("app"), container]})),
        List::Init => whole(label, changes, json!({"containers": [hard("app")], "initContainers": [container]})),
        List::Sidecar => {
            let container = merged(container.clone(), &json!({"restartPolicy": "Always"}));
            whole(label, changes, json!({"containers": [hard("app")], "initContainers": [container]}))
        }
        List::Ephemeral => into(label, changes, Standing::Hard, container),
    }
}

/// An ephemeral container put into a standing pod.
pub fn into(label: impl Into<String>, changes: &'static [u32], standing: Standing, container: &Value) -> Case {
    let spec = json!({"ephemeralContainers": [container]});
    Case { label: label.into(), annotations: json!({}), spec, put: Put::Into(standing), changes }
}

impl Case {
    /// The same with annotations of the pod.
    pub fn annotated(mut self, annotations: Value) -> Self {
        self.annotations = annotations;
        self
    }
}

/// One value with a merge patch applied.
pub fn merged(mut target: Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    if !target.is_object() {
        target = json!({});
    }
    for (key, value) in patch {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            target[key] = merged(target[key].take(), value);
        }
    }
    target
}
