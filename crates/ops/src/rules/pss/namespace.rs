//! What a namespace asks of its pods: the six labels of Pod Security admission.

use super::{Level, NotAPolicy, Version};
use std::collections::BTreeMap;

/// A level with its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The level.
    pub level: Level,
    /// The version.
    pub version: Version,
}

/// The three modes of a namespace. The server's own defaults and exemptions are not visible from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespacePolicy {
    /// Pods that break it are refused.
    pub enforce: Option<Policy>,
    /// Pods that break it are written to the audit log.
    pub audit: Option<Policy>,
    /// Whoever creates a pod that breaks it is warned.
    pub warn: Option<Policy>,
    /// Labels that cannot be read: key and why. The server treats such an `enforce` level as restricted.
    pub problems: Vec<(String, NotAPolicy)>,
}

impl NamespacePolicy {
    /// From a namespace's labels.
    #[must_use]
    pub fn of(labels: &BTreeMap<String, String>) -> Self {
        let mut problems = Vec::new();
        let mut mode = |name: &str, on_error: Option<Level>| {
            let level_key = format!("pod-security.kubernetes.io/{name}");
            let version_key = format!("{level_key}-version");
            let version = match labels.get(&version_key).map(|v| v.parse()) {
                Some(Ok(version)) => version,
                Some(Err(problem)) => {
                    problems.push((version_key, problem));
                    Version::Latest
                }
                None => Version::Latest,
            };
            let level = match labels.get(&level_key)?.parse() {
                Ok(level) => level,
                Err(problem) => {
                    problems.push((level_key, problem));
                    on_error?
                }
            };
            Some(Policy { level, version })
        };
        let enforce = mode("enforce", Some(Level::Restricted));
        let audit = mode("audit", None);
        let mut warn = mode("warn", None);
        let labelled = |name: &str| labels.contains_key(&format!("pod-security.kubernetes.io/{name}"));
        let is_readable = |name: &str| !problems.iter().any(|(key, _)| key.ends_with(&format!("/{name}")));
        if !labelled("warn") && is_readable("enforce") {
            // The server warns of what it refuses, unless told otherwise.
            warn = enforce;
        }
        Self { enforce, audit, warn, problems }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(labels: &[(&str, &str)]) -> NamespacePolicy {
        let key = |k: &str| format!("pod-security.kubernetes.io/{k}");
        NamespacePolicy::of(&labels.iter().map(|(k, v)| (key(k), (*v).to_owned())).collect())
    }

    #[test]
    fn an_2_2_namespace_labels_are_read_with_their_versions_and_mistakes_are_told() {
        assert_eq!(of(&[]), NamespacePolicy { enforce: None, audit: None, warn: None, problems: vec![] });
        let policy = of(&[("enforce", "baseline"), ("enforce-version", "v1.30"), ("warn", "restricted")]);
        assert_eq!(policy.enforce, Some(Policy { level: Level::Baseline, version: Version::Minor(30) }));
        assert_eq!(policy.warn, Some(Policy { level: Level::Restricted, version: Version::Latest }));

        let silent = of(&[("enforce", "restricted")]);
        assert_eq!(silent.warn, silent.enforce);
        assert_eq!(of(&[("enforce", "strict")]).warn, None);

        let wrong = of(&[("enforce", "strict"), ("audit", "strict"), ("warn", "baseline"), ("warn-version", "1.30")]);
        assert_eq!(wrong.enforce.map(|p| p.level), Some(Level::Restricted));
        assert_eq!(wrong.audit, None);
        assert_eq!(wrong.warn.map(|p| p.version), Some(Version::Latest));
        assert_eq!(wrong.problems.len(), 3);
    }
}
