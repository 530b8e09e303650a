//! Folders and sockets of the node that amount to the node itself.

use super::Look;
use crate::rules::{
    containers::View,
    finding::{Finding, Severity},
};

/// Sockets of container runtimes: whoever talks to one starts privileged containers.
const SOCKETS: [&str; 7] = [
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/var/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/var/run/crio/crio.sock",
    "/run/k3s/containerd/containerd.sock",
];

/// Folders whose writer owns the node, and what lies there.
const FOLDERS: [(&str, &str); 9] = [
    ("/", "the whole node"),
    ("/etc", "the node's configuration"),
    ("/root", "root's home"),
    ("/var/lib/kubelet", "every pod's secrets"),
    ("/etc/kubernetes", "the control plane's keys"),
    ("/var/lib/etcd", "the cluster's database"),
    ("/proc", "the node's processes"),
    ("/sys", "the node's kernel"),
    ("/dev", "the node's devices"),
];

/// A hostPath volume that is mounted: a runtime's socket or a folder that holds one is critical however it is mounted,
/// a folder of the node's own is critical when it can be written, and high when it can be read.
pub(super) fn check(look: &Look<'_>, found: &mut Vec<Finding>) {
    for volume in look.spec.volumes.iter().flatten() {
        let Some(path) = volume.host_path.as_ref().map(|h| normal(&h.path)) else { continue };
        for view in look.containers() {
            for mount in view.volume_mounts.iter().filter(|m| m.name == volume.name) {
                let read_only = mount.read_only == Some(true);
                found.extend(judge(look, &view, &path, read_only).map(|finding| {
                    finding
                        .in_container(view.name)
                        .shown_by(format!("spec.volumes[{}].hostPath.path", volume.name), &path)
                        .shown_by(
                            view.path(&format!("volumeMounts[{}]", mount.name)),
                            format!("{}{}", mount.mount_path, if read_only { " (read only)" } else { "" }),
                        )
                }));
            }
        }
    }
}

fn judge(look: &Look<'_>, _view: &View<'_>, path: &str, read_only: bool) -> Option<Finding> {
    if SOCKETS.contains(&path) {
        return Some(
            look.find(
                "security/runtime-socket",
                Severity::Critical,
                "holds the container runtime's socket, and with it the node",
            )
            .next("use an API of the cluster in its place: building, listing and metrics all have one"),
        );
    }
    if matches!(path, "/run" | "/var/run" | "/run/containerd" | "/var/run/containerd" | "/run/crio" | "/var/run/crio") {
        return Some(
            look.find(
                "security/runtime-socket",
                Severity::Critical,
                "holds the folder of the container runtime's socket",
            )
            .next("mount the one file that is needed, read only"),
        );
    }
    let (_, what) = FOLDERS.iter().find(|(folder, _)| *folder == path)?;
    let (severity, verb) = if read_only { (Severity::High, "read") } else { (Severity::Critical, "write") };
    Some(
        look.find("security/node-folder", severity, format!("can {verb} {what}"))
            .next("mount the one file or folder that is needed, read only"),
    )
}

/// Without a slash at the end, without doubled ones.
fn normal(path: &str) -> String {
    let joined = path.split('/').filter(|p| !p.is_empty() && *p != ".").collect::<Vec<_>>().join("/");
    format!("/{joined}")
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_2_extended_runtime_sockets_and_node_folders() {
        for (path, read_only, expected) in [
            ("/var/run/docker.sock", true, Some(("security/runtime-socket", Severity::Critical))),
            ("/run/containerd/containerd.sock", false, Some(("security/runtime-socket", Severity::Critical))),
            ("/var/run/", false, Some(("security/runtime-socket", Severity::Critical))),
            ("/", false, Some(("security/node-folder", Severity::Critical))),
            ("//etc/", true, Some(("security/node-folder", Severity::High))),
            ("/data", false, None),
        ] {
            let found = examine_spec(json!({
                "volumes": [{"name": "v", "hostPath": {"path": path}}],
                "initContainers": [{"name": "i", "image": "r/a@sha256:0", "securityContext": {"readOnlyRootFilesystem": true},
                    "volumeMounts": [{"name": "v", "mountPath": "/m", "readOnly": read_only}]}],
                "containers": [],
            }));
            assert_eq!(found.first().map(|f| (f.id, f.severity)), expected, "{path}");
        }
        let unmounted = json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}], "containers": []});
        assert!(examine_spec(unmounted).is_empty());
    }
}
