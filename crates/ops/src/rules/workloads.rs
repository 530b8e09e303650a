//! What is wrong with the objects that make pods, and with those that scale and guard them.
//!
//! Every rule compares what the status says with what the spec wants, and first asks whether the status speaks of
//! this spec at all (`observedGeneration`). An absent `replicas` means 1; 0 is a choice and no fault.

pub mod autoscalers;
pub mod cron_jobs;
pub mod daemon_sets;
pub mod deployments;
pub mod disruption_budgets;
pub mod jobs;
pub mod replica_sets;
pub mod stateful_sets;

use super::finding::{Finding, Moment, ObjectRef, Severity, age_text};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};

/// How long a workload may take to settle before a shortfall counts, in seconds.
const SETTLING: i64 = 60;

/// A controller that has not seen a change after that many seconds does not run.
const BLIND: i64 = 60;

/// Seconds since the spec was last written by anyone, as `managedFields` tell; entries of subresources write no spec.
fn spec_age(meta: &ObjectMeta, now: Timestamp) -> Option<i64> {
    let written = meta
        .managed_fields
        .iter()
        .flatten()
        .filter(|f| f.subresource.as_deref().unwrap_or("").is_empty())
        .filter_map(|f| f.time.as_ref())
        .map(|t| t.0)
        .max();
    written.or_else(|| meta.creation_timestamp.as_ref().map(|t| t.0)).map(|t| Moment(t).age(now))
}

fn age(time: Option<&Time>, now: Timestamp) -> Option<i64> {
    time.map(|t| Moment::from(t).age(now))
}

/// The status speaks of an older spec. That lasts for milliseconds unless the controller does not run.
fn not_observed(
    id: &'static str,
    kind: &str,
    meta: &ObjectMeta,
    observed: Option<i64>,
    now: Timestamp,
) -> Option<Finding> {
    let generation = meta.generation?;
    let observed = observed.unwrap_or(0);
    if observed >= generation || spec_age(meta, now).is_some_and(|a| a < BLIND) {
        return None;
    }
    let since = spec_age(meta, now).map_or_else(String::new, |a| format!(" for {}", age_text(a)));
    Some(
        Finding::new(
            id,
            Severity::High,
            ObjectRef::of(kind, meta),
            format!("its controller has not seen the newest spec{since}"),
        )
        .shown_by("metadata.generation", generation)
        .shown_by("status.observedGeneration", observed)
        .next("make sure that kube-controller-manager runs and holds its lease"),
    )
}

#[cfg(test)]
mod testing {
    use jiff::Timestamp;

    pub(super) const NOW: &str = "2026-11-30T12:00:00Z";

    pub(super) fn now() -> Timestamp {
        NOW.parse().unwrap()
    }

    pub(super) fn ago(seconds: i64) -> String {
        Timestamp::from_second(now().as_second() - seconds).unwrap().to_string()
    }

    pub(super) fn from<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    pub(super) fn ids(found: &[super::Finding]) -> Vec<&'static str> {
        found.iter().map(|f| f.id).collect()
    }
}
