//! Linux capabilities that containers add and drop.

use super::{Breach, Place, Subject, breach};

/// The runtimes' default set.
const DEFAULT_SET: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Baseline: nothing is added beyond the default set.
pub(super) fn baseline(subject: &Subject<'_>) -> Option<Breach> {
    breach("non-default capabilities", added(subject, |name| DEFAULT_SET.contains(&name)))
}

/// Restricted since 1.22: every container drops `ALL` (spelt so) and adds `NET_BIND_SERVICE` at most.
pub(super) fn restricted(subject: &Subject<'_>) -> Option<Breach> {
    let mut places: Vec<Place> = subject
        .containers()
        .filter_map(|c| {
            let dropped = c.security_context.and_then(|s| s.capabilities.as_ref()?.drop.as_deref()).unwrap_or_default();
            if dropped.iter().any(|d| d == "ALL") {
                return None;
            }
            let value = if dropped.is_empty() { "unset".to_owned() } else { dropped.join(", ") };
            Some(Place::container(&c, "securityContext.capabilities.drop", value))
        })
        .collect();
    places.extend(added(subject, |name| name == "NET_BIND_SERVICE"));
    breach("unrestricted capabilities", places)
}

/// Restricted since 1.25: Windows pods cannot set capabilities.
pub(super) fn restricted_but_on_windows(subject: &Subject<'_>) -> Option<Breach> {
    if subject.is_windows() { None } else { restricted(subject) }
}

fn added(subject: &Subject<'_>, allowed: fn(&str) -> bool) -> Vec<Place> {
    subject
        .containers()
        .filter_map(|c| {
            let add = c.security_context.and_then(|s| s.capabilities.as_ref()?.add.as_deref()).unwrap_or_default();
            let bad: Vec<&str> = add.iter().map(String::as_str).filter(|name| !allowed(name)).collect();
            (!bad.is_empty()).then(|| Place::container(&c, "securityContext.capabilities.add", bad.join(", ")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_2_baseline_capabilities_allow_the_default_set_alone() {
        for name in DEFAULT_SET {
            for spec in in_each_list(&json!({"securityContext": {"capabilities": {"add": [name]}}})) {
                assert_eq!(broken(&spec, Level::Baseline, 37), [] as [&str; 0], "{name}");
            }
        }
        // The prefixed and the lower-case form are other names to the API server.
        for name in ["NET_RAW", "SYS_ADMIN", "ALL", "CAP_CHOWN", "chown"] {
            for spec in in_each_list(&json!({"securityContext": {"capabilities": {"add": ["CHOWN", name]}}})) {
                assert_eq!(broken(&spec, Level::Baseline, 0), ["capabilities_baseline"], "{name}");
            }
        }
    }

    #[test]
    fn an_2_2_restricted_capabilities_drop_all_and_add_one_at_most() {
        for (capabilities, good) in [
            (json!(null), false),
            (json!({"drop": ["NET_RAW"]}), false),
            (json!({"drop": ["all"]}), false),
            (json!({"drop": ["NET_RAW", "ALL"]}), true),
            (json!({"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}), true),
            (json!({"drop": ["ALL"], "add": ["CHOWN"]}), false),
        ] {
            for spec in in_each_list(&json!({"securityContext": {"capabilities": capabilities}})) {
                let found = broken(&spec, Level::Restricted, 22).contains(&"capabilities_restricted");
                assert_eq!(found, !good, "{spec}");
                assert!(!broken(&spec, Level::Restricted, 21).contains(&"capabilities_restricted"));
            }
        }
        let windows = json!({"os": {"name": "windows"}});
        assert!(broken(&windows, Level::Restricted, 24).contains(&"capabilities_restricted"));
        assert!(!broken(&windows, Level::Restricted, 25).contains(&"capabilities_restricted"));
    }
}
