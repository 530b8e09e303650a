//! Namespaces that cannot go.

use super::finding::{Finding, Moment, ObjectRef, Severity, age_text};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Namespace;

/// How long the deletion of a namespace may take, in seconds.
const DELETION: i64 = 120;

/// A namespace that is still there long after it was deleted, with what holds it: the conditions of its status name
/// the remaining kinds, the finalizers on them, or the API group that does not answer.
#[must_use]
pub fn stuck(namespace: &Namespace, now: Timestamp) -> Option<Finding> {
    let deleted = namespace.metadata.deletion_timestamp.as_ref()?;
    let age = Moment::from(deleted).age(now);
    if age <= DELETION {
        return None;
    }
    let conditions = namespace.status.as_ref().and_then(|s| s.conditions.as_deref()).unwrap_or_default();
    let holding: Vec<_> = conditions.iter().filter(|c| c.status == "True").collect();
    let unreachable = holding.iter().any(|c| c.type_ == "NamespaceDeletionDiscoveryFailure");
    let next = if unreachable {
        "mend or remove the APIService that does not answer: kubectl get apiservices"
    } else {
        "find the controllers that serve the finalizers of what remains; do not remove the namespace's own by force"
    };
    let mut finding = Finding::new(
        "namespace/stuck-terminating",
        Severity::High,
        ObjectRef::of("Namespace", &namespace.metadata),
        format!("was deleted {} ago and is still there", age_text(age)),
    )
    .shown_by("metadata.deletionTimestamp", Moment::from(deleted))
    .since(Some(deleted))
    .next(next);
    for condition in holding {
        finding = finding.shown_by(
            format!("status.conditions[{}].message", condition.type_),
            condition.message.as_deref().unwrap_or(""),
        );
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn examine(deleted: Value, conditions: Value) -> Option<Finding> {
        let value =
            json!({"metadata": {"name": "old", "deletionTimestamp": deleted}, "status": {"conditions": conditions}});
        stuck(&serde_json::from_value(value).unwrap(), "2026-11-30T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn an_2_1_namespaces_that_cannot_go_name_what_holds_them() {
        assert_eq!(examine(json!(null), json!([])), None);
        assert_eq!(examine(json!("2026-11-30T11:59:00Z"), json!([])), None);
        let remaining = json!([{"type": "NamespaceContentRemaining", "status": "True", "message": "gadgets.example.com has 1 resource instances"}]);
        let found = examine(json!("2026-11-30T11:00:00Z"), remaining).unwrap();
        assert!(found.evidence_of("status.conditions[NamespaceContentRemaining].message").unwrap().contains("gadgets"));
        let failing = json!([{"type": "NamespaceDeletionDiscoveryFailure", "status": "True", "message": "m"}]);
        assert!(examine(json!("2026-11-30T11:00:00Z"), failing).unwrap().next_step.contains("APIService"));
    }
}
