//! Seccomp profiles: by annotation once, by field since 1.19.

use super::{Breach, Place, Subject, breach};
use k8s_openapi::api::core::v1::SeccompProfile;

const REASON: &str = "seccompProfile";
const OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";

fn is_profile(profile: &SeccompProfile) -> bool {
    matches!(profile.type_.as_str(), "RuntimeDefault" | "Localhost")
}

/// Baseline up to 1.18: the annotations of the pod and of its containers.
pub(super) fn annotations(subject: &Subject<'_>) -> Option<Breach> {
    let is_good = |v: &str| matches!(v, "runtime/default" | "docker/default") || v.starts_with("localhost/");
    let keys =
        std::iter::once(OF_POD.to_owned()).chain(subject.containers().map(|c| format!("{OF_CONTAINER}{}", c.name)));
    let places = keys.filter_map(|key| {
        let value = subject.annotations.get(&key).filter(|v| !is_good(v))?;
        Some(Place::pod(format!("metadata.annotations[{key}]"), value))
    });
    breach(REASON, places.collect())
}

/// Baseline since 1.19: whatever is set is a profile.
pub(super) fn baseline(subject: &Subject<'_>) -> Option<Breach> {
    breach(REASON, forbidden(subject))
}

/// Restricted since 1.19: a profile is set for the pod, or for every container.
pub(super) fn restricted(subject: &Subject<'_>) -> Option<Breach> {
    let mut places = forbidden(subject);
    if !of_pod(subject).is_some_and(is_profile) {
        let unset = subject
            .containers()
            .filter(|c| c.security_context.is_none_or(|s| s.seccomp_profile.is_none()))
            .map(|c| Place::container(&c, "securityContext.seccompProfile.type", "unset"));
        places.extend(unset);
    }
    breach(REASON, places)
}

/// Restricted since 1.25: Windows pods cannot set a profile.
pub(super) fn restricted_but_on_windows(subject: &Subject<'_>) -> Option<Breach> {
    if subject.is_windows() { None } else { restricted(subject) }
}

fn of_pod<'a>(subject: &Subject<'a>) -> Option<&'a SeccompProfile> {
    subject.spec.security_context.as_ref()?.seccomp_profile.as_ref()
}

fn forbidden(subject: &Subject<'_>) -> Vec<Place> {
    let pod = of_pod(subject)
        .filter(|p| !is_profile(p))
        .map(|p| Place::pod("spec.securityContext.seccompProfile.type", &p.type_));
    let containers = subject.containers().filter_map(|c| {
        let profile = c.security_context?.seccomp_profile.as_ref().filter(|p| !is_profile(p))?;
        Some(Place::container(&c, "securityContext.seccompProfile.type", &profile.type_))
    });
    pod.into_iter().chain(containers).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use serde_json::{Value, json};

    fn profile(kind: &Value) -> Value {
        if kind.is_null() { json!({}) } else { json!({"seccompProfile": {"type": kind}}) }
    }

    #[test]
    fn an_2_2_seccomp_fields_container_overrides_pod() {
        let (good, bad, none) = (json!("RuntimeDefault"), json!("Unconfined"), json!(null));
        for (pod, container, baseline, restricted) in [
            (&none, &none, true, false),
            (&good, &none, true, true),
            (&none, &good, true, true),
            (&bad, &good, false, false),
            (&good, &bad, false, false),
            (&bad, &none, false, false),
        ] {
            for mut spec in in_each_list(&json!({"securityContext": profile(container)})) {
                spec["securityContext"] = profile(pod);
                let is_good = |level| !broken(&spec, level, 37).iter().any(|id| id.starts_with("seccomp"));
                assert_eq!((is_good(Level::Baseline), is_good(Level::Restricted)), (baseline, restricted), "{spec}");
            }
        }
        for kind in ["Localhost", "RuntimeDefault"] {
            assert_eq!(
                broken(&json!({"securityContext": profile(&json!(kind))}), Level::Baseline, 19),
                [] as [&str; 0]
            );
        }
    }

    #[test]
    fn an_2_2_seccomp_annotations_are_looked_at_up_to_1_18() {
        for (key, value, expected) in [
            ("seccomp.security.alpha.kubernetes.io/pod", "unconfined", true),
            ("seccomp.security.alpha.kubernetes.io/pod", "runtime/default", false),
            ("container.seccomp.security.alpha.kubernetes.io/app", "unconfined", true),
            ("container.seccomp.security.alpha.kubernetes.io/app", "localhost/x.json", false),
            ("container.seccomp.security.alpha.kubernetes.io/app", "docker/default", false),
            ("container.seccomp.security.alpha.kubernetes.io/other", "unconfined", false),
        ] {
            let found = |minor| !broken_with(&json!({}), &json!({key: value}), Level::Baseline, minor).is_empty();
            assert_eq!(found(18), expected, "{key}={value}");
            assert!(!found(19));
        }
    }

    #[test]
    fn an_2_2_seccomp_restricted_leaves_windows_alone_since_1_25() {
        let windows = json!({"os": {"name": "windows"}});
        assert!(broken(&windows, Level::Restricted, 24).contains(&"seccompProfile_restricted"));
        assert!(!broken(&windows, Level::Restricted, 25).contains(&"seccompProfile_restricted"));
        let bad = json!({"os": {"name": "windows"}, "securityContext": {"seccompProfile": {"type": "Unconfined"}}});
        assert!(!broken(&bad, Level::Restricted, 25).iter().any(|id| id.starts_with("seccomp")));
        assert!(broken(&bad, Level::Baseline, 25).contains(&"seccompProfile_baseline"));
    }
}
