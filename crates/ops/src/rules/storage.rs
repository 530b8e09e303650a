//! Claims for storage that wait or have lost their volume.

use super::finding::{Finding, Moment, ObjectRef, Severity, age_text};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::PersistentVolumeClaim;

/// How long a claim may wait for its volume, in seconds.
const BINDING: i64 = 120;

/// What is wrong with a claim. `used` says whether a pod waits for it: a claim that nobody uses waits for its first
/// consumer, in most storage classes on purpose.
#[must_use]
pub fn claim(claim: &PersistentVolumeClaim, used: bool, now: Timestamp) -> Vec<Finding> {
    let object = || ObjectRef::of("PersistentVolumeClaim", &claim.metadata);
    let status = claim.status.as_ref();
    let class = claim.spec.as_ref().and_then(|s| s.storage_class_name.as_deref());
    let phase = status.and_then(|s| s.phase.as_deref()).unwrap_or("");
    let mut found = Vec::new();
    if phase == "Lost" {
        found.push(
            Finding::new("claim/lost", Severity::Critical, object(), "its volume is gone")
                .shown_by("status.phase", phase)
                .shown_by_option("spec.volumeName", claim.spec.as_ref().and_then(|s| s.volume_name.as_deref()))
                .next("restore the volume, or make the claim anew: what was on it may be lost"),
        );
    }
    let age = claim.metadata.creation_timestamp.as_ref().map_or(0, |t| Moment::from(t).age(now));
    if phase == "Pending" && age > BINDING {
        let (severity, words) = if used {
            (Severity::High, format!("has had no volume for {}, and pods wait for it", age_text(age)))
        } else {
            (Severity::Low, "has no volume, and no pod uses it".to_owned())
        };
        found.push(
            Finding::new("claim/pending", severity, object(), words)
                .shown_by("status.phase", phase)
                .shown_by("spec.storageClassName", class.unwrap_or("the default"))
                .since(claim.metadata.creation_timestamp.as_ref())
                .next("look at its events: the class may not exist, its driver may fail, or no volume fits"),
        );
    }
    for condition in status.and_then(|s| s.conditions.as_deref()).unwrap_or_default() {
        let failed =
            matches!(condition.type_.as_str(), "ControllerResizeError" | "NodeResizeError" | "ModifyVolumeError");
        if failed && condition.status == "True" {
            found.push(
                Finding::new("claim/change-failed", Severity::Medium, object(), "a change of its volume fails")
                    .shown_by(
                        format!("status.conditions[{}].message", condition.type_),
                        condition.message.as_deref().unwrap_or(""),
                    )
                    .since(condition.last_transition_time.as_ref())
                    .next("read the message; the driver tells why"),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn examine(status: Value, used: bool) -> Vec<(&'static str, Severity)> {
        let value = json!({"metadata": {"name": "data", "namespace": "shop", "creationTimestamp": "2026-11-30T11:00:00Z"}, "status": status});
        let found = claim(&serde_json::from_value(value).unwrap(), used, "2026-11-30T12:00:00Z".parse().unwrap());
        found.iter().map(|f| (f.id, f.severity)).collect()
    }

    #[test]
    fn an_2_1_claims_that_wait_are_lost_or_fail_to_change_are_told() {
        assert_eq!(examine(json!({"phase": "Bound"}), true), []);
        assert_eq!(examine(json!({"phase": "Lost"}), true), [("claim/lost", Severity::Critical)]);
        assert_eq!(examine(json!({"phase": "Pending"}), true), [("claim/pending", Severity::High)]);
        assert_eq!(examine(json!({"phase": "Pending"}), false), [("claim/pending", Severity::Low)]);
        let failing = json!({"phase": "Bound", "conditions": [{"type": "NodeResizeError", "status": "True"}]});
        assert_eq!(examine(failing, true), [("claim/change-failed", Severity::Medium)]);
        assert_eq!(examine(json!(null), true), []);
    }
}
