//! As whom containers run.

use super::{Breach, Place, Subject, breach};

/// Restricted: `runAsNonRoot` is true for the pod, or for every container; a container's own value wins. Explicit
/// `false` counts even where every container says otherwise.
pub(super) fn non_root(subject: &Subject<'_>) -> Option<Breach> {
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.run_as_non_root);
    let mut explicit = Vec::new();
    let mut implicit = Vec::new();
    if pod == Some(false) {
        explicit.push(Place::pod("spec.securityContext.runAsNonRoot", "false"));
    }
    for c in subject.containers() {
        match c.security_context.and_then(|s| s.run_as_non_root) {
            Some(true) => {}
            Some(false) => explicit.push(Place::container(&c, "securityContext.runAsNonRoot", "false")),
            None if pod == Some(true) => {}
            None => implicit.push(Place::container(&c, "securityContext.runAsNonRoot", "unset")),
        }
    }
    explicit.append(&mut implicit);
    breach("runAsNonRoot != true", explicit)
}

/// Restricted since 1.35: root of a user namespace is not the node's root.
pub(super) fn non_root_relaxed(subject: &Subject<'_>) -> Option<Breach> {
    if subject.has_user_namespace() { None } else { non_root(subject) }
}

/// Restricted since 1.23: no user id 0 is set; unset is left to `runAsNonRoot`.
pub(super) fn user(subject: &Subject<'_>) -> Option<Breach> {
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.run_as_user);
    let of_pod = (pod == Some(0)).then(|| Place::pod("spec.securityContext.runAsUser", "0"));
    let of_containers = subject
        .containers()
        .filter(|c| c.security_context.is_some_and(|s| s.run_as_user == Some(0)))
        .map(|c| Place::container(&c, "securityContext.runAsUser", "0"));
    breach("runAsUser=0", of_pod.into_iter().chain(of_containers).collect())
}

/// Restricted since 1.35: see [`non_root_relaxed`].
pub(super) fn user_relaxed(subject: &Subject<'_>) -> Option<Breach> {
    if subject.has_user_namespace() { None } else { user(subject) }
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use serde_json::{Value, json};

    fn spec(pod: &Value, container: &Value, host_users: &Value) -> Value {
        json!({"hostUsers": host_users, "securityContext": {"runAsNonRoot": pod},
            "containers": [{"name": "a", "securityContext": {"runAsNonRoot": container}}]})
    }

    #[test]
    fn an_2_2_run_as_non_root_container_overrides_pod() {
        let (t, f, n) = (json!(true), json!(false), json!(null));
        for (pod, container, good) in [
            (&n, &n, false),
            (&n, &t, true),
            (&n, &f, false),
            (&t, &n, true),
            (&t, &t, true),
            (&t, &f, false),
            (&f, &n, false),
            (&f, &t, false),
        ] {
            let found = broken(&spec(pod, container, &n), Level::Restricted, 34).contains(&"runAsNonRoot");
            assert_eq!(found, !good, "pod {pod} container {container}");
        }
        for list in ["initContainers", "ephemeralContainers"] {
            let spec = json!({"containers": [hardened()], list: [{"name": "b"}]});
            assert!(broken(&spec, Level::Restricted, 37).contains(&"runAsNonRoot"), "{list}");
        }
    }

    #[test]
    fn an_2_2_run_as_user_zero_is_forbidden_since_1_23() {
        for body in in_each_list(&json!({"securityContext": {"runAsUser": 0}})) {
            assert!(broken(&body, Level::Restricted, 23).contains(&"runAsUser"));
            assert!(!broken(&body, Level::Restricted, 22).contains(&"runAsUser"));
        }
        assert!(broken(&json!({"securityContext": {"runAsUser": 0}}), Level::Restricted, 37).contains(&"runAsUser"));
        assert!(
            !broken(&json!({"securityContext": {"runAsUser": 1000}}), Level::Restricted, 37).contains(&"runAsUser")
        );
    }

    #[test]
    fn an_2_2_user_namespaces_relax_both_since_1_35() {
        let spec = json!({"hostUsers": false, "securityContext": {"runAsUser": 0}});
        let both = |minor| {
            let found = broken(&spec, Level::Restricted, minor);
            (found.contains(&"runAsNonRoot"), found.contains(&"runAsUser"))
        };
        assert_eq!(both(34), (true, true));
        assert_eq!(both(35), (false, false));
    }
}
