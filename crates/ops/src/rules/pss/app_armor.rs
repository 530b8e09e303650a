//! AppArmor profiles, by field and by the older annotation.

use super::{Breach, Place, Reason, Subject};
use std::collections::BTreeSet;

const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Baseline: fields name `RuntimeDefault` or `Localhost`, annotations `runtime/default` or `localhost/…`, or nothing.
/// The API server counts distinct values of fields, and annotations one by one.
pub(super) fn check(subject: &Subject<'_>) -> Option<Breach> {
    let is_profile = |kind: &str| matches!(kind, "RuntimeDefault" | "Localhost");
    let is_value = |v: &str| v.is_empty() || v == "runtime/default" || v.starts_with("localhost/");
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.app_armor_profile.as_ref());
    let mut places: Vec<Place> = pod
        .filter(|p| !is_profile(&p.type_))
        .map(|p| Place::pod("spec.securityContext.appArmorProfile.type", &p.type_))
        .into_iter()
        .collect();
    places.extend(subject.containers().filter_map(|c| {
        let profile = c.security_context?.app_armor_profile.as_ref().filter(|p| !is_profile(&p.type_))?;
        Some(Place::container(&c, "securityContext.appArmorProfile.type", &profile.type_))
    }));
    let of_fields = places.iter().map(|p| p.value.as_str()).collect::<BTreeSet<_>>().len();
    let annotations: Vec<Place> = subject
        .annotations
        .iter()
        .filter(|(key, value)| key.starts_with(ANNOTATION) && !is_value(value))
        .map(|(key, value)| Place::pod(format!("metadata.annotations[{key}]"), value))
        .collect();
    let plural = of_fields + annotations.len() != 1;
    places.extend(annotations);
    (!places.is_empty()).then_some(Breach { reason: Reason::AppArmor { plural }, places })
}

#[cfg(test)]
mod tests {
    use super::super::{Level, Version, check as check_pod, testing::*};
    use serde_json::json;

    #[test]
    fn an_2_2_app_armor_fields_in_pod_and_each_list() {
        for (kind, expected) in [("RuntimeDefault", 0), ("Localhost", 0), ("Unconfined", 1)] {
            let profile = json!({"appArmorProfile": {"type": kind}});
            assert_eq!(broken(&json!({"securityContext": profile}), Level::Baseline, 0).len(), expected, "{kind}");
            for spec in in_each_list(&json!({"securityContext": profile})) {
                assert_eq!(broken(&spec, Level::Baseline, 37).len(), expected, "{spec}");
            }
        }
    }

    #[test]
    fn an_2_2_app_armor_annotations_of_any_container() {
        for (value, expected) in [("", 0), ("runtime/default", 0), ("localhost/x", 0), ("unconfined", 1)] {
            let annotations = json!({"container.apparmor.security.beta.kubernetes.io/other": value});
            assert_eq!(broken_with(&json!({}), &annotations, Level::Baseline, 37).len(), expected, "{value}");
        }
    }

    #[test]
    fn an_2_2_the_reason_counts_values_as_the_server_does() {
        let spec = json!({
            "securityContext": {"appArmorProfile": {"type": "Unconfined"}},
            "containers": [{"name": "a", "securityContext": {"appArmorProfile": {"type": "Unconfined"}}}],
        });
        let spec = serde_json::from_value(spec).unwrap();
        let reason = |annotations: serde_json::Value| {
            let annotations = serde_json::from_value(annotations).unwrap();
            check_pod(&spec, &annotations, Level::Baseline, Version::Latest)[0].reason.clone()
        };
        assert_eq!(reason(json!({})), "forbidden AppArmor profile");
        let annotation = json!({"container.apparmor.security.beta.kubernetes.io/a": "unconfined"});
        assert_eq!(reason(annotation), "forbidden AppArmor profiles");
    }
}
