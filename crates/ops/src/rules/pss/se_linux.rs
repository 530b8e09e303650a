//! SELinux options.

use super::{Breach, Place, Subject, breach};
use k8s_openapi::api::core::v1::SELinuxOptions;

/// Baseline: a type of the container family or none, no user, no role.
pub(super) fn v0(subject: &Subject<'_>) -> Option<Breach> {
    check(subject, &["", "container_t", "container_init_t", "container_kvm_t"])
}

/// Baseline since 1.31: `container_engine_t` as well.
pub(super) fn v31(subject: &Subject<'_>) -> Option<Breach> {
    check(subject, &["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"])
}

fn check(subject: &Subject<'_>, types: &[&str]) -> Option<Breach> {
    let bad = |options: &SELinuxOptions| {
        let of = |value: &Option<String>| value.clone().unwrap_or_default();
        let (kind, user, role) = (of(&options.type_), of(&options.user), of(&options.role));
        let mut bad = Vec::new();
        if !types.contains(&kind.as_str()) {
            bad.push(("type", kind));
        }
        bad.extend([("user", user), ("role", role)].into_iter().filter(|(_, v)| !v.is_empty()));
        bad
    };
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.se_linux_options.as_ref());
    let mut places: Vec<Place> = pod
        .map(bad)
        .unwrap_or_default()
        .into_iter()
        .map(|(field, value)| Place::pod(format!("spec.securityContext.seLinuxOptions.{field}"), value))
        .collect();
    for c in subject.containers() {
        let options = c.security_context.and_then(|s| s.se_linux_options.as_ref());
        for (field, value) in options.map(bad).unwrap_or_default() {
            places.push(Place::container(&c, &format!("securityContext.seLinuxOptions.{field}"), value));
        }
    }
    breach("seLinuxOptions", places)
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use serde_json::json;

    #[test]
    fn an_2_2_se_linux_types_by_version_and_no_user_or_role() {
        for (options, at_30, at_31) in [
            (json!({"level": "s0:c1,c2"}), 0, 0),
            (json!({"type": ""}), 0, 0),
            (json!({"type": "container_t"}), 0, 0),
            (json!({"type": "container_init_t"}), 0, 0),
            (json!({"type": "container_kvm_t"}), 0, 0),
            (json!({"type": "container_engine_t"}), 1, 0),
            (json!({"type": "spc_t"}), 1, 1),
            (json!({"user": "system_u"}), 1, 1),
            (json!({"role": "system_r"}), 1, 1),
        ] {
            let pod = json!({"securityContext": {"seLinuxOptions": options}});
            let found = |minor| broken(&pod, Level::Baseline, minor).len();
            assert_eq!((found(30), found(31)), (at_30, at_31), "{options}");
            for spec in in_each_list(&json!({"securityContext": {"seLinuxOptions": options}})) {
                assert_eq!(broken(&spec, Level::Baseline, 31).len(), at_31, "{spec}");
            }
        }
    }
}
