//! `privileged` and `allowPrivilegeEscalation`: ways to gain more than was given.

use super::{Breach, Place, Subject, breach};

/// Baseline: no container is privileged.
pub(super) fn privileged(subject: &Subject<'_>) -> Option<Breach> {
    let places = subject
        .containers()
        .filter(|c| c.security_context.is_some_and(|s| s.privileged == Some(true)))
        .map(|c| Place::container(&c, "securityContext.privileged", "true"));
    breach("privileged", places.collect())
}

/// Restricted since 1.8: every container forbids escalation in so many words; the default allows it.
pub(super) fn allowed(subject: &Subject<'_>) -> Option<Breach> {
    let places = subject.containers().filter_map(|c| {
        let value = match c.security_context.and_then(|s| s.allow_privilege_escalation) {
            Some(false) => return None,
            Some(true) => "true",
            None => "unset",
        };
        Some(Place::container(&c, "securityContext.allowPrivilegeEscalation", value))
    });
    breach("allowPrivilegeEscalation != false", places.collect())
}

/// Restricted since 1.25: Windows pods cannot set the field.
pub(super) fn allowed_but_on_windows(subject: &Subject<'_>) -> Option<Breach> {
    if subject.is_windows() { None } else { allowed(subject) }
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use serde_json::json;

    #[test]
    fn an_2_2_privileged_is_seen_in_each_list() {
        for spec in in_each_list(&json!({"securityContext": {"privileged": true}})) {
            assert_eq!(broken(&spec, Level::Baseline, 0), ["privileged"], "{spec}");
        }
        for spec in in_each_list(&json!({"securityContext": {"privileged": false}})) {
            assert_eq!(broken(&spec, Level::Baseline, 37), [] as [&str; 0]);
        }
    }

    #[test]
    fn an_2_2_allow_privilege_escalation_must_be_false_in_each_list_since_1_8_but_on_windows_since_1_25() {
        for value in [json!(null), json!(true), json!(false)] {
            for spec in in_each_list(&json!({"securityContext": {"allowPrivilegeEscalation": value}})) {
                let found = broken(&spec, Level::Restricted, 8).contains(&"allowPrivilegeEscalation");
                assert_eq!(found, value != json!(false), "{spec}");
                assert!(!broken(&spec, Level::Restricted, 7).contains(&"allowPrivilegeEscalation"));
            }
        }
        let windows = json!({"os": {"name": "windows"}});
        assert!(broken(&windows, Level::Restricted, 24).contains(&"allowPrivilegeEscalation"));
        assert_eq!(broken(&windows, Level::Restricted, 25), ["runAsNonRoot"]);
    }
}
