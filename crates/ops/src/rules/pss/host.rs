//! What a pod takes from its node: namespaces, folders, ports, and the reach of its probes.

use super::{Breach, Place, Subject, breach};
use k8s_openapi::api::core::v1::{HTTPGetAction, TCPSocketAction};

/// Baseline: network, process and IPC namespaces of the node stay its own.
pub(super) fn namespaces(subject: &Subject<'_>) -> Option<Breach> {
    let spec = subject.spec;
    let places =
        [("spec.hostNetwork", spec.host_network), ("spec.hostPID", spec.host_pid), ("spec.hostIPC", spec.host_ipc)]
            .into_iter()
            .filter(|(_, value)| *value == Some(true))
            .map(|(field, _)| Place::pod(field, "true"));
    breach("host namespaces", places.collect())
}

/// Baseline: no hostPath volume, whatever its path.
pub(super) fn paths(subject: &Subject<'_>) -> Option<Breach> {
    let places = subject.spec.volumes.iter().flatten().filter_map(|volume| {
        let path = &volume.host_path.as_ref()?.path;
        Some(Place::pod(format!("spec.volumes[{}].hostPath.path", volume.name), path))
    });
    breach("hostPath volumes", places.collect())
}

/// Baseline: no container takes a port of the node; 0 means none.
pub(super) fn ports(subject: &Subject<'_>) -> Option<Breach> {
    let places = subject.containers().flat_map(|c| {
        c.ports
            .iter()
            .filter_map(|p| p.host_port.filter(|n| *n != 0))
            .map(move |n| Place::container(&c, "ports.hostPort", n.to_string()))
            .collect::<Vec<_>>()
    });
    breach("hostPort", places.collect())
}

/// Baseline since 1.34: probes and lifecycle hooks reach their own pod only; the kubelet would call any host.
pub(super) fn probes(subject: &Subject<'_>) -> Option<Breach> {
    let mut places = Vec::new();
    for c in subject.containers() {
        let of_probes = c.probes.iter().filter_map(|(name, p)| p.map(|p| (*name, &p.http_get, &p.tcp_socket)));
        let hooks = c
            .lifecycle
            .into_iter()
            .flat_map(|l| [("lifecycle.postStart", l.post_start.as_ref()), ("lifecycle.preStop", l.pre_stop.as_ref())]);
        let of_hooks = hooks.filter_map(|(name, h)| h.map(|h| (name, &h.http_get, &h.tcp_socket)));
        for (name, http, tcp) in of_probes.chain(of_hooks) {
            for (handler, host) in [("httpGet", http_host(http)), ("tcpSocket", tcp_host(tcp))] {
                if let Some(host) = host {
                    places.push(Place::container(&c, &format!("{name}.{handler}.host"), host));
                }
            }
        }
    }
    breach("probe or lifecycle host", places)
}

fn http_host(action: &Option<HTTPGetAction>) -> Option<&str> {
    action.as_ref()?.host.as_deref().filter(|h| !h.is_empty())
}

fn tcp_host(action: &Option<TCPSocketAction>) -> Option<&str> {
    action.as_ref()?.host.as_deref().filter(|h| !h.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::{Level, Version, check, testing::*};
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn an_2_2_host_namespaces_are_not_shared() {
        for field in ["hostNetwork", "hostPID", "hostIPC"] {
            assert_eq!(broken(&json!({field: true}), Level::Baseline, 0), ["hostNamespaces"], "{field}");
            assert_eq!(broken(&json!({field: false}), Level::Baseline, 37), [] as [&str; 0], "{field}");
        }
        let all = json!({"hostNetwork": true, "hostPID": true, "hostIPC": true, "containers": [{"name": "a"}]});
        let found = check(&serde_json::from_value(all).unwrap(), &BTreeMap::new(), Level::Baseline, Version::Latest);
        assert_eq!((found.len(), found[0].places.len(), found[0].reason.as_str()), (1, 3, "host namespaces"));
    }

    #[test]
    fn an_2_2_host_path_volumes_are_forbidden_whatever_their_path() {
        for path in ["/var/run/docker.sock", "/tmp"] {
            let spec = json!({"volumes": [{"name": "v", "hostPath": {"path": path}}]});
            assert_eq!(broken(&spec, Level::Baseline, 0), ["hostPathVolumes"]);
        }
    }

    #[test]
    fn an_2_2_host_ports_are_forbidden_in_each_list_and_zero_means_none() {
        for (port, expected) in [(json!(8080), 1), (json!(0), 0), (json!(null), 0)] {
            for spec in in_each_list(&json!({"ports": [{"containerPort": 80, "hostPort": port}]})) {
                assert_eq!(broken(&spec, Level::Baseline, 37).len(), expected, "{spec}");
            }
        }
    }

    #[test]
    fn an_2_2_probe_and_hook_hosts_are_forbidden_since_1_34() {
        let handlers = [
            json!({"httpGet": {"host": "10.0.0.1", "port": 80}}),
            json!({"tcpSocket": {"host": "10.0.0.1", "port": 80}}),
        ];
        for handler in handlers {
            for body in [
                json!({"livenessProbe": handler}),
                json!({"readinessProbe": handler}),
                json!({"startupProbe": handler}),
                json!({"lifecycle": {"postStart": handler}}),
                json!({"lifecycle": {"preStop": handler}}),
            ] {
                for spec in in_each_list(&body) {
                    assert_eq!(broken(&spec, Level::Baseline, 34), ["hostProbesAndHostLifecycle"], "{spec}");
                    assert_eq!(broken(&spec, Level::Baseline, 33), [] as [&str; 0]);
                }
            }
        }
        for spec in in_each_list(&json!({"livenessProbe": {"httpGet": {"host": "", "port": 80}}})) {
            assert_eq!(broken(&spec, Level::Baseline, 37), [] as [&str; 0]);
        }
    }
}
