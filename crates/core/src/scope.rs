//! Where an operation acts, and which writers must take turns.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One place an operation acts on. An absent field means "not of this dimension" in a request and "any" in a permit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Kubernetes context name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Kubernetes namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Kubernetes kind, `Kind` or `Kind.group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Name of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Absolute path of a file or folder on this machine; a permit for a folder covers what lies beneath.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Scope {
    /// A file or folder on this machine.
    #[must_use]
    pub fn path(path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// A whole cluster.
    #[must_use]
    pub fn cluster(cluster: impl Into<String>) -> Self {
        Self { cluster: Some(cluster.into()), ..Self::default() }
    }

    /// Whether a permit for `self` covers `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let same = |mine: &Option<String>, theirs: &Option<String>| mine.is_none() || mine == theirs;
        let path = match (&self.path, &other.path) {
            (None, theirs) => theirs.is_none() || self.is_any(),
            (Some(mine), Some(theirs)) => beneath(mine, theirs),
            (Some(_), None) => false,
        };
        path && same(&self.cluster, &other.cluster)
            && same(&self.namespace, &other.namespace)
            && same(&self.kind, &other.kind)
            && same(&self.name, &other.name)
            && (self.cluster.is_some() || other.cluster.is_none() || self.is_any())
    }

    fn is_any(&self) -> bool {
        *self == Self::default()
    }
}

fn beneath(folder: &str, path: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path == folder
        || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') && !rest.split('/').any(|s| s == ".."))
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.cluster, &self.namespace, &self.kind, &self.name, &self.path];
        let named: Vec<&str> = parts.into_iter().filter_map(|p| p.as_deref()).collect();
        f.write_str(&if named.is_empty() { "everything".to_owned() } else { named.join("/") })
    }
}

/// Writers in one lane take turns, also across processes of one user.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lane {
    name: String,
    exclusive: bool,
}

impl Lane {
    /// A lane named by what it protects, such as `project:/srv/web`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), exclusive: false }
    }

    /// A lane in which nobody waits: whoever comes second fails at once with code `busy`. For work that takes long.
    #[must_use]
    pub fn exclusive(name: impl Into<String>) -> Self {
        Self { name: name.into(), exclusive: true }
    }

    /// Whether whoever comes second fails instead of waiting.
    #[must_use]
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_covers_what_lies_beneath_and_nothing_else() {
        let folder = Scope::path("/srv/web");
        assert!(folder.covers(&Scope::path("/srv/web")));
        assert!(folder.covers(&Scope::path("/srv/web/candy/a.yml")));
        assert!(!folder.covers(&Scope::path("/srv/web2")));
        assert!(!folder.covers(&Scope::path("/srv/web/../x")));
        assert!(!folder.covers(&Scope::cluster("prod")));
        assert!(!Scope::cluster("prod").covers(&Scope::path("/srv/web")));
        assert!(!Scope::cluster("prod").covers(&Scope::cluster("dev")));
        let namespaced = Scope { namespace: Some("a".into()), ..Scope::cluster("prod") };
        assert!(Scope::cluster("prod").covers(&namespaced) && !namespaced.covers(&Scope::cluster("prod")));
    }
}
