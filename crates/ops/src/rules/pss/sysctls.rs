//! Kernel parameters that a pod sets.

use super::{Breach, Place, Subject, breach};

const V0: &[&str] = &[
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_syncookies",
];
const V27: &[&str] = &["net.ipv4.ip_local_reserved_ports"];
const V29: &[&str] = &[
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
];
const V32: &[&str] = &["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];
const V37: &[&str] = &["net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_slow_start_after_idle"];

/// Baseline: five that stay within the pod.
pub(super) fn v0(subject: &Subject<'_>) -> Option<Breach> {
    check(subject, &[V0])
}

/// Baseline since 1.27.
pub(super) fn v27(subject: &Subject<'_>) -> Option<Breach> {
    check(subject, &[V0, V27])
}

/// Baseline since 1.29.
pub(super) fn v29(subject: &Subject<'_>) -> Option<Breach> {
    check(subject, &[V0, V27, V29])
}

/// Baseline since 1.32.
pub(super) fn v32(subject: &Subject<'_>) -> Option<Breach> {
    check(subject, &[V0, V27, V29, V32])
}

/// Baseline since 1.37.
pub(super) fn v37(subject: &Subject<'_>) -> Option<Breach> {
    check(subject, &[V0, V27, V29, V32, V37])
}

fn check(subject: &Subject<'_>, allowed: &[&[&str]]) -> Option<Breach> {
    let sysctls = subject.spec.security_context.as_ref().and_then(|s| s.sysctls.as_deref()).unwrap_or_default();
    let places = sysctls
        .iter()
        .filter(|s| !allowed.iter().any(|list| list.contains(&s.name.as_str())))
        .map(|s| Place::pod(format!("spec.securityContext.sysctls[{}]", s.name), &s.value));
    breach("forbidden sysctls", places.collect())
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_2_sysctls_are_allowed_from_their_version_on() {
        let found = |name: &str, minor| {
            let spec = json!({"securityContext": {"sysctls": [{"name": name, "value": "1"}]}});
            !broken(&spec, Level::Baseline, minor).is_empty()
        };
        for (names, since) in [(V0, 0), (V27, 27), (V29, 29), (V32, 32), (V37, 37)] {
            for name in names {
                assert!(!found(name, since), "{name} at 1.{since}");
                assert!(since == 0 || found(name, since - 1), "{name} before 1.{since}");
            }
        }
        assert!(found("kernel.msgmax", 37) && found("net.core.somaxconn", 37));
    }
}
