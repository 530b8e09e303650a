//! Host process containers of Windows.

use super::{Breach, Place, Subject, breach};

/// Baseline: neither the pod nor a container is a process of the host.
pub(super) fn host_process(subject: &Subject<'_>) -> Option<Breach> {
    let pod = subject.spec.security_context.as_ref().and_then(|s| s.windows_options.as_ref()?.host_process);
    let of_pod = (pod == Some(true)).then(|| Place::pod("spec.securityContext.windowsOptions.hostProcess", "true"));
    let of_containers = subject.containers().filter_map(|c| {
        let value = c.security_context?.windows_options.as_ref()?.host_process;
        (value == Some(true)).then(|| Place::container(&c, "securityContext.windowsOptions.hostProcess", "true"))
    });
    breach("hostProcess", of_pod.into_iter().chain(of_containers).collect())
}

#[cfg(test)]
mod tests {
    use super::super::{Level, testing::*};
    use serde_json::json;

    #[test]
    fn an_2_2_windows_host_process_in_pod_and_each_list() {
        for (value, expected) in [(json!(true), 1), (json!(false), 0), (json!(null), 0)] {
            let options = json!({"windowsOptions": {"hostProcess": value}});
            assert_eq!(broken(&json!({"securityContext": options}), Level::Baseline, 0).len(), expected);
            for spec in in_each_list(&json!({"securityContext": options})) {
                assert_eq!(broken(&spec, Level::Baseline, 37).len(), expected, "{spec}");
            }
        }
    }
}
