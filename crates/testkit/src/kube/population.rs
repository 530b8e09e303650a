//! Many objects of realistic size at little cost.

use super::objects::{Objects, Stored, uid};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Pods of one owner.
const REPLICAS: usize = 25;
/// Namespaces over which owners are spread.
const NAMESPACES: usize = 20;
const NODES: usize = 20;
/// One pod in so many is ill.
const ILL: usize = 50;

impl Objects {
    /// With that many pods of about 6 KB each, `managedFields` included, spread over 20 namespaces (`team-00` …) and
    /// 20 nodes, and with their ReplicaSets and Deployments. Two in a hundred are ill: crashing, without image,
    /// or not scheduled, in turn.
    #[must_use]
    pub fn pods(mut self, count: usize) -> Self {
        for index in 0..NODES.min(count) {
            self = self.with(node(index));
        }
        for index in 0..NAMESPACES.min(count.div_ceil(REPLICAS)) {
            self = self.namespace(&format!("team-{index:02}"));
        }
        for index in 0..count.div_ceil(REPLICAS) {
            let replicas = REPLICAS.min(count - index * REPLICAS);
            self = self.with(owner("Deployment", index, replicas)).with(owner("ReplicaSet", index, replicas));
        }
        let templates = [Health::Well, Health::Crashing, Health::NoImage, Health::Unscheduled].map(Template::new);
        let Some(resource) = self.resource("", "v1", "pods") else { return self };
        for index in 0..count {
            let ill = index % ILL == ILL - 1;
            let template = &templates[if ill { 1 + index / ILL % 3 } else { 0 }];
            self.revision += 1;
            let (key, stored) = template.pod(index, self.revision);
            self.keep(&resource, key, stored);
        }
        self
    }

    /// With that many kinds from definitions (`Widget000` in `group-00.example.com` …); every tenth kind is named
    /// `Widget` and comes in a group of its own.
    #[must_use]
    pub fn definitions(mut self, count: usize) -> Self {
        for index in 0..count {
            let (group, kind) = if index % 10 == 9 {
                (format!("same-{index:03}.example.com"), "Widget".to_owned())
            } else {
                (format!("group-{:02}.example.com", index / 10), format!("Widget{index:03}"))
            };
            let plural = format!("{}s", kind.to_lowercase());
            self = self.define(&group, &kind, &plural, true, &[("Size", ".spec.size")]);
        }
        self
    }
}

fn team(owner: usize) -> String {
    format!("team-{:02}", owner % NAMESPACES)
}

fn hash(owner: usize) -> String {
    format!("7c5d{:04x}bf", owner * 2654 % 65536)
}

fn node(index: usize) -> Value {
    let name = format!("node-{index:02}");
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": reason,
            "lastHeartbeatTime": "2026-01-02T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"
        })
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            "topology.kubernetes.io/zone": format!("zone-{}", index % 3)
        }},
        "spec": {"podCIDR": format!("10.{index}.0.0/16")},
        "status": {
            "capacity": {"cpu": "64", "memory": "263921212Ki", "pods": "500"},
            "allocatable": {"cpu": "63", "memory": "259000000Ki", "pods": "500"},
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID"),
                condition("Ready", "True", "KubeletReady")
            ],
            "nodeInfo": {
                "kubeletVersion": "v1.37.2", "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64",
                "osImage": "Fedora Linux 43", "kernelVersion": "6.17.0", "containerRuntimeVersion": "containerd://2.2.0",
                "machineID": "", "systemUUID": "", "bootID": ""
            }
        }
    })
}

fn owner(kind: &str, index: usize, replicas: usize) -> Value {
    let deployment = format!("app-{index:03}");
    let name = if kind == "Deployment" { deployment.clone() } else { format!("{deployment}-{}", hash(index)) };
    let labels = json!({"app.kubernetes.io/name": deployment, "tier": "backend"});
    let mut metadata = json!({
        "name": name, "namespace": team(index), "labels": labels, "generation": 1,
        "annotations": {"deployment.kubernetes.io/revision": "1"}
    });
    if kind == "ReplicaSet" {
        metadata["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": "Deployment", "name": deployment, "controller": true,
            "blockOwnerDeletion": true, "uid": uid("deployments.apps", &team(index), &deployment)
        }]);
    }
    json!({
        "apiVersion": "apps/v1", "kind": kind,
        "metadata": metadata,
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels},
                "spec": {"containers": [{"name": "app", "image": "registry.example.com/team/app:1.4.2"}]}}
        },
        "status": {
            "observedGeneration": 1, "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas,
            "updatedReplicas": replicas
        }
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Well,
    Crashing,
    NoImage,
    Unscheduled,
}

/// A pod as text with gaps: serialised once, filled in five thousand times.
struct Template(Vec<String>);

/// What fills the gaps: each appears as `@name@`.
const GAPS: [&str; 7] = ["name", "namespace", "owner", "hash", "node", "ip", "revision"];

impl Template {
    fn new(health: Health) -> Self {
        Self(pod(health).to_string().split('@').map(str::to_owned).collect())
    }

    fn pod(&self, index: usize, revision: u64) -> ((String, String), Stored) {
        let owner = index / REPLICAS;
        let (namespace, owned) = (team(owner), format!("app-{owner:03}"));
        let hash = hash(owner);
        let name = format!("{owned}-{hash}-{index:05}");
        let node = format!("node-{:02}", index % NODES);
        let ip = format!("10.{}.{}.{}", index % NODES, index / 250 % 250, index % 250);
        let revision_text = revision.to_string();
        let uid = uid("pods", &namespace, &name);
        let mut json = String::with_capacity(6500);
        for (position, part) in self.0.iter().enumerate() {
            if position % 2 == 0 {
                json.push_str(part);
                continue;
            }
            let values = [&name, &namespace, &owned, &hash, &node, &ip, &revision_text];
            match GAPS.iter().position(|gap| gap == part) {
                Some(gap) => json.push_str(values[gap]),
                None => json.push_str(&uid),
            }
        }
        let labels = [("app.kubernetes.io/name", owned), ("pod-template-hash", hash), ("tier", "backend".to_owned())];
        let labels: BTreeMap<_, _> = labels.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        ((namespace, name), Stored::new(labels, revision, json))
    }
}

fn pod(health: Health) -> Value {
    let scheduled = health != Health::Unscheduled;
    let ready = if health == Health::Well { "True" } else { "False" };
    let container = |name: &str, port: u16| {
        json!({
            "name": name, "image": format!("registry.example.com/team/{name}:1.4.2"),
            "imagePullPolicy": "IfNotPresent",
            "args": ["--config=/etc/app/config.yaml", "--log-format=json", format!("--listen=:{port}")],
            "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
            "env": [
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}},
                {"name": "LOG_LEVEL", "value": "info"}
            ],
            "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"},
                "initialDelaySeconds": 10, "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
            "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http", "scheme": "HTTP"},
                "timeoutSeconds": 1, "periodSeconds": 5, "successThreshold": 1, "failureThreshold": 3},
            "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsNonRoot": true,
                "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}},
            "volumeMounts": [
                {"name": "config", "mountPath": "/etc/app", "readOnly": true},
                {"name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true}
            ],
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"
        })
    };
    let toleration =
        |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let mut spec = json!({
        "containers": [container("app", 8080), container("proxy", 9090)],
        "volumes": [
            {"name": "config", "configMap": {"name": "@owner@-config", "defaultMode": 420}},
            {"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
            ]}}
        ],
        "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "@owner@", "serviceAccount": "@owner@", "securityContext": {},
        "schedulerName": "default-scheduler", "priority": 0, "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
        "tolerations": [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")]
    });
    if scheduled {
        spec["nodeName"] = json!("@node@");
    }
    json!({
        "metadata": {
            "name": "@name@", "generateName": "@owner@-@hash@-", "namespace": "@namespace@", "uid": "@uid@",
            "resourceVersion": "@revision@", "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app.kubernetes.io/name": "@owner@", "pod-template-hash": "@hash@", "tier": "backend"},
            "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "8080",
                "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "@owner@-@hash@",
                "uid": "@uid@", "controller": true, "blockOwnerDeletion": true}],
            "managedFields": managed()
        },
        "spec": spec,
        "status": status(health, ready, scheduled)
    })
}

fn status(health: Health, ready: &str, scheduled: bool) -> Value {
    let condition = |kind: &str, status: &str| {
        json!({"type": kind, "status": status,
        "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:05Z"})
    };
    if !scheduled {
        return json!({"phase": "Pending", "qosClass": "Burstable", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "lastProbeTime": null, "lastTransitionTime": "2026-01-01T00:00:00Z",
            "message": "0/20 nodes are available: 12 Insufficient cpu, 8 Insufficient memory."
        }]});
    }
    let running = json!({"running": {"startedAt": "2026-01-01T00:00:03Z"}});
    let container = |name: &str, state: Value, last: Value, ready: bool, restarts: u32| {
        json!({
            "name": name, "state": state, "lastState": last, "ready": ready, "restartCount": restarts, "started": ready,
            "image": format!("registry.example.com/team/{name}:1.4.2"),
            "imageID": "sha256:9b2f6f4d0c1a5e8b7c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b",
            "containerID": "containerd://4f1d2c3b4a5968778695a4b3c2d1e0f9182736455463728190a1b2c3d4e5f607"
        })
    };
    let app = match health {
        Health::Crashing => container(
            "app",
            json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container=app"}}),
            json!({"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-01-01T00:10:00Z",
                "finishedAt": "2026-01-01T00:12:00Z", "containerID": "containerd://4f1d"}}),
            false,
            12,
        ),
        Health::NoImage => container(
            "app",
            json!({"waiting": {"reason": "ImagePullBackOff",
                "message": "Back-off pulling image \"registry.example.com/team/app:1.4.2\""}}),
            json!({}),
            false,
            0,
        ),
        Health::Well | Health::Unscheduled => container("app", running.clone(), json!({}), true, 0),
    };
    json!({
        "phase": if health == Health::NoImage { "Pending" } else { "Running" },
        "conditions": [
            condition("PodReadyToStartContainers", "True"), condition("Initialized", "True"),
            condition("Ready", ready), condition("ContainersReady", ready), condition("PodScheduled", "True")
        ],
        "hostIP": "192.0.2.10", "hostIPs": [{"ip": "192.0.2.10"}], "podIP": "@ip@", "podIPs": [{"ip": "@ip@"}],
        "startTime": "2026-01-01T00:00:00Z", "qosClass": "Burstable",
        "containerStatuses": [app, container("proxy", running, json!({}), true, 0)]
    })
}

fn managed() -> Value {
    let entry = |manager: &str, subresource: Option<&str>, fields: Value| {
        let mut entry = json!({
            "manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": fields
        });
        if let Some(subresource) = subresource {
            entry["subresource"] = json!(subresource);
        }
        entry
    };
    let container = json!({
        ".": {}, "f:args": {}, "f:env": {".": {}, "k:{\"name\":\"LOG_LEVEL\"}": {".": {}, "f:name": {}, "f:value": {}}},
        "f:image": {}, "f:imagePullPolicy": {}, "f:livenessProbe": {".": {}, "f:failureThreshold": {}, "f:httpGet": {
            ".": {}, "f:path": {}, "f:port": {}, "f:scheme": {}}, "f:periodSeconds": {}, "f:timeoutSeconds": {}},
        "f:name": {}, "f:ports": {}, "f:resources": {".": {}, "f:limits": {".": {}, "f:cpu": {}, "f:memory": {}}},
        "f:securityContext": {".": {}, "f:allowPrivilegeEscalation": {}}, "f:volumeMounts": {}
    });
    let condition = json!({".": {}, "f:lastProbeTime": {}, "f:lastTransitionTime": {}, "f:status": {}, "f:type": {}});
    json!([
        entry(
            "kube-controller-manager",
            None,
            json!({
                "f:metadata": {"f:annotations": {".": {}, "f:prometheus.io/scrape": {}}, "f:generateName": {},
                    "f:labels": {".": {}, "f:app.kubernetes.io/name": {}, "f:pod-template-hash": {}}, "f:ownerReferences": {}},
                "f:spec": {"f:containers": {"k:{\"name\":\"app\"}": container, "k:{\"name\":\"proxy\"}": container},
                    "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {}, "f:volumes": {}}
            })
        ),
        entry(
            "kubelet",
            Some("status"),
            json!({
                "f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": condition, "k:{\"type\":\"Initialized\"}": condition,
                    "k:{\"type\":\"ContainersReady\"}": condition},
                    "f:containerStatuses": {}, "f:hostIP": {}, "f:phase": {}, "f:podIP": {}, "f:podIPs": {}, "f:startTime": {}}
            })
        )
    ])
}
