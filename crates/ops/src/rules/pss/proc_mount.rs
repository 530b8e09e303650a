//! How much of `/proc` a container sees.

use super::{Breach, Place, Subject, breach};

/// The masks stay, in every container. Baseline up to 1.34, and restricted since 1.35.
pub(super) fn strict(subject: &Subject<'_>) -> Option<Breach> {
    let places = subject.containers().filter_map(|c| {
        let value = c.security_context?.proc_mount.as_deref().filter(|v| *v != "Default")?;
        Some(Place::container(&c, "securityContext.procMount", value))
    });
    breach("procMount", places.collect())
}

/// Baseline since 1.35: a pod in its own user namespace may do without the masks.
pub(super) fn relaxed(subject: &Subject<'_>) -> Option<Breach> {
    if subject.has_user_namespace() { None } else { strict(subject) }
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use serde_json::json;

    #[test]
    fn an_2_2_proc_mount_keeps_its_masks_but_in_user_namespaces_at_baseline_since_1_35() {
        for mut spec in in_each_list(&json!({"securityContext": {"procMount": "Unmasked"}})) {
            assert_eq!(broken(&spec, Level::Baseline, 35), ["procMount"]);
            spec["hostUsers"] = json!(false);
            assert_eq!(broken(&spec, Level::Baseline, 34), ["procMount"]);
            assert_eq!(broken(&spec, Level::Baseline, 35), [] as [&str; 0]);
            assert!(broken(&spec, Level::Restricted, 34).contains(&"procMount"));
            assert!(broken(&spec, Level::Restricted, 35).contains(&"procMount_restricted"));
        }
        for spec in in_each_list(&json!({"securityContext": {"procMount": "Default"}})) {
            assert_eq!(broken(&spec, Level::Baseline, 37), [] as [&str; 0]);
        }
    }
}
