//! Kubeconfig files that lead to fake clusters.

use serde_json::{Value, json};
use std::{io, path::Path};

/// Where a context leads.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub server: String,
    /// Certificate of the authority to trust, PEM.
    pub authority: Option<String>,
    pub token: Option<String>,
}

/// A kubeconfig file. The first context is the current one unless told otherwise.
#[derive(Clone, Debug, Default)]
pub struct Kubeconfig {
    contexts: Vec<(String, Entry)>,
    current: Option<String>,
}

impl Kubeconfig {
    pub(crate) fn of(contexts: Vec<(String, Entry)>) -> Self {
        Self { contexts, current: None }
    }

    /// With the contexts of another one behind its own.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.contexts.extend(other.contexts);
        self
    }

    /// With that current context; empty for none.
    #[must_use]
    pub fn current(mut self, context: &str) -> Self {
        self.current = Some(context.to_owned());
        self
    }

    /// The file's text: JSON, which is YAML too, so that names may hold any character.
    #[must_use]
    pub fn text(&self) -> String {
        let named = |make: &dyn Fn(&str, &Entry) -> Value| -> Vec<Value> {
            self.contexts.iter().map(|(name, entry)| make(name, entry)).collect()
        };
        let current = self.current.as_ref().or(self.contexts.first().map(|(name, _)| name));
        let told = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": current.cloned().unwrap_or_default(),
            "clusters": named(&|name, entry| {
                let mut cluster = json!({"server": entry.server});
                if let Some(authority) = &entry.authority {
                    cluster["certificate-authority-data"] = json!(base64(authority.as_bytes()));
                }
                json!({"name": name, "cluster": cluster})
            }),
            "users": named(&|name, entry| {
                let user = entry.token.as_ref().map_or_else(|| json!({}), |token| json!({"token": token}));
                json!({"name": name, "user": user})
            }),
            "contexts": named(&|name, _| json!({"name": name, "context": {"cluster": name, "user": name}})),
        });
        serde_json::to_string_pretty(&told).unwrap_or_default()
    }

    /// Writes it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        std::fs::write(path, self.text())
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}
