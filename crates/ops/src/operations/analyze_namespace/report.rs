//! What `analyze_namespace` tells of one cluster.

use crate::{
    diagnosis::BySeverity,
    rules::{finding::Moment, pss::namespace::NamespacePolicy, roll_up::Rolled},
};
use k8s_openapi::{
    api::core::v1::{PersistentVolumeClaim, ResourceQuota},
    apimachinery::pkg::api::resource::Quantity,
};
use pintle_core::View;
use pintle_fleet::{Cause, ClusterError, FleetValue, Told};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What is in a namespace. A part that could not be read says so and is not zero.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Its name.
    pub(super) namespace: String,
    /// `Active` or `Terminating`; absent when the namespace itself could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) phase: Option<String>,
    /// When it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) created: Option<Moment>,
    /// Pod Security by mode: level and version.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) pod_security: BTreeMap<&'static str, String>,
    /// Pods.
    pub(super) pods: Part<PodCounts>,
    /// Deployments.
    pub(super) deployments: Part<DeploymentCounts>,
    /// Services.
    pub(super) services: Part<Count>,
    /// Claims.
    pub(super) persistent_volume_claims: Part<ClaimCounts>,
    /// Ingresses.
    pub(super) ingresses: Part<Count>,
    /// ConfigMaps.
    pub(super) config_maps: Part<Count>,
    /// Secrets, counted by their metadata.
    pub(super) secrets: Part<Count>,
    /// Warning events that are still kept.
    pub(super) warning_events: Part<Count>,
    /// Quotas: used and hard.
    pub(super) resource_quotas: Part<Quotas>,
    /// LimitRanges.
    pub(super) limit_ranges: Part<Names>,
    /// Findings on what is in it, by severity.
    pub(super) issues: BySeverity,
    /// The worst of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) worst: Vec<Rolled>,
    /// What was not taken into account.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// A part of the report, or why it is missing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Part<T> {
    /// What was read.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<T>,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unread: Option<Told>,
}

impl<T> Part<T> {
    /// # Errors
    /// Only when the call has been cancelled.
    pub(super) fn of(result: Result<T, ClusterError>) -> Result<Self, ClusterError> {
        match result {
            Ok(value) => Ok(Self { read: Some(value), unread: None }),
            Err(error) if matches!(error.cause, Cause::Cancelled) => Err(error),
            Err(error) => Ok(Self { read: None, unread: Some(Told::from(&error.cause)) }),
        }
    }

    fn words(&self, tell: impl FnOnce(&T) -> String) -> String {
        match (&self.read, &self.unread) {
            (Some(value), _) => tell(value),
            (None, Some(told)) => format!("not read ({})", told.code),
            (None, None) => "not read".to_owned(),
        }
    }
}

/// How many.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Count {
    /// All of them.
    pub(super) total: usize,
}

/// Pods by phase.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(super) struct PodCounts {
    pub(super) total: usize,
    pub(super) running: usize,
    pub(super) pending: usize,
    pub(super) failed: usize,
    pub(super) succeeded: usize,
    /// In a crash loop now.
    pub(super) crashing: usize,
}

/// Deployments.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(super) struct DeploymentCounts {
    /// All of them.
    pub(super) total: usize,
    /// With fewer ready than wanted.
    pub(super) degraded: usize,
}

/// Claims by phase.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub(super) struct ClaimCounts {
    /// All of them.
    pub(super) total: usize,
    /// Without a volume yet.
    pub(super) pending: usize,
    /// Whose volume is gone.
    pub(super) lost: usize,
}

/// Quotas by name.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Quotas {
    /// Name, then resource, then `used of hard`.
    pub(super) quotas: BTreeMap<String, BTreeMap<String, String>>,
}

/// Names.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(super) struct Names {
    /// The names.
    pub(super) names: Vec<String>,
}

impl From<&Vec<PersistentVolumeClaim>> for ClaimCounts {
    fn from(claims: &Vec<PersistentVolumeClaim>) -> Self {
        let in_phase = |phase: &str| {
            claims.iter().filter(|c| c.status.as_ref().and_then(|s| s.phase.as_deref()) == Some(phase)).count()
        };
        Self { total: claims.len(), pending: in_phase("Pending"), lost: in_phase("Lost") }
    }
}

impl From<Vec<ResourceQuota>> for Quotas {
    fn from(quotas: Vec<ResourceQuota>) -> Self {
        let text = |map: Option<&BTreeMap<String, Quantity>>, name: &str| {
            map.and_then(|m| m.get(name)).map_or_else(|| "?".to_owned(), |q| q.0.clone())
        };
        let quotas = quotas.into_iter().map(|quota| {
            let status = quota.status.unwrap_or_default();
            let hard = status.hard.or_else(|| quota.spec.and_then(|s| s.hard)).unwrap_or_default();
            let used = hard.keys().map(|name| {
                (name.clone(), format!("{} of {}", text(status.used.as_ref(), name), text(Some(&hard), name)))
            });
            (quota.metadata.name.unwrap_or_default(), used.collect())
        });
        Self { quotas: quotas.collect() }
    }
}

/// The modes that a namespace is labelled with.
pub(super) fn pod_security(labels: &BTreeMap<String, String>) -> BTreeMap<&'static str, String> {
    let policy = NamespacePolicy::of(labels);
    [("enforce", policy.enforce), ("audit", policy.audit), ("warn", policy.warn)]
        .into_iter()
        .filter_map(|(mode, policy)| policy.map(|p| (mode, format!("{}:{}", p.level, p.version))))
        .collect()
}

impl FleetValue for Report {
    fn view(&self) -> View {
        let mut lines = vec![format!(
            "namespace {}{}",
            self.namespace,
            self.phase.as_ref().map(|phase| format!(" ({phase})")).unwrap_or_default()
        )];
        let mut line = |name: &str, words: String| lines.push(format!("{name}: {words}"));
        line(
            "pods",
            self.pods.words(|p| {
                format!(
                    "{} ({} running, {} pending, {} failed, {} succeeded, {} crashing)",
                    p.total, p.running, p.pending, p.failed, p.succeeded, p.crashing
                )
            }),
        );
        line("deployments", self.deployments.words(|d| format!("{} ({} degraded)", d.total, d.degraded)));
        line("services", self.services.words(|c| c.total.to_string()));
        line(
            "persistent volume claims",
            self.persistent_volume_claims.words(|c| format!("{} ({} pending, {} lost)", c.total, c.pending, c.lost)),
        );
        line("ingresses", self.ingresses.words(|c| c.total.to_string()));
        line("config maps", self.config_maps.words(|c| c.total.to_string()));
        line("secrets", self.secrets.words(|c| c.total.to_string()));
        line("warning events", self.warning_events.words(|c| c.total.to_string()));
        line(
            "limit ranges",
            self.limit_ranges.words(|n| if n.names.is_empty() { "none".into() } else { n.names.join(", ") }),
        );
        let quotas = self.resource_quotas.words(|q| {
            let all = q.quotas.iter().map(|(name, resources)| {
                let used = resources.iter().map(|(resource, used)| format!("{resource} {used}"));
                format!("{name} ({})", used.collect::<Vec<_>>().join(", "))
            });
            let all: Vec<String> = all.collect();
            if all.is_empty() { "none".to_owned() } else { all.join("; ") }
        });
        line("resource quotas", quotas);
        let modes: Vec<String> = self.pod_security.iter().map(|(mode, level)| format!("{mode} {level}")).collect();
        line("pod security", if modes.is_empty() { "no labels".to_owned() } else { modes.join(", ") });
        let issues = self.issues.words();
        line("issues", if issues.is_empty() { "none".to_owned() } else { issues });
        for row in &self.worst {
            lines.push(format!("  {} {} {}: {}", row.severity, row.owner, row.id, row.message));
        }
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        View::text(lines.join("\n"))
    }

    fn is_finding(&self) -> bool {
        self.issues != BySeverity::default()
    }
}
