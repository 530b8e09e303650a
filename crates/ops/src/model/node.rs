//! Nodes.

use super::{Condition, condition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, de::IgnoredAny};
use std::collections::BTreeMap;

/// A node as far as a list shows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SlimNode {
    pub(crate) metadata: NodeMetadata,
    spec: Option<Spec>,
    status: Option<Status>,
}

/// Its metadata, labels included.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct NodeMetadata {
    pub(crate) name: Option<String>,
    pub(crate) creation_timestamp: Option<Time>,
    labels: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    unschedulable: Option<bool>,
    taints: Option<Vec<IgnoredAny>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    conditions: Option<Vec<Condition>>,
    node_info: Option<Info>,
    addresses: Option<Vec<Address>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Info {
    kubelet_version: Option<String>,
    os_image: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Address {
    #[serde(rename = "type")]
    kind: Option<String>,
    address: Option<String>,
}

impl SlimNode {
    fn conditions(&self) -> Option<&Vec<Condition>> {
        self.status.as_ref()?.conditions.as_ref()
    }

    /// Whether its kubelet says it is ready.
    pub(crate) fn is_ready(&self) -> bool {
        condition(self.conditions(), "Ready").is_some_and(|ready| ready.is("True"))
    }

    /// `Ready`, `NotReady` or `Unknown` (its kubelet is not heard of), and `SchedulingDisabled` when it is cordoned.
    pub(crate) fn status(&self) -> String {
        let ready = match condition(self.conditions(), "Ready").and_then(|ready| ready.status.as_deref()) {
            Some("True") => "Ready",
            Some("False") => "NotReady",
            Some("Unknown") => "NotReady (kubelet not heard of)",
            _ => "Unknown",
        };
        let cordoned = self.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true);
        if cordoned { format!("{ready},SchedulingDisabled") } else { ready.to_owned() }
    }

    /// Conditions that say something is short, such as `MemoryPressure`.
    pub(crate) fn pressure(&self) -> Vec<String> {
        let all = self.conditions().into_iter().flatten();
        all.filter(|c| c.is("True")).filter_map(|c| c.kind.clone()).filter(|kind| kind != "Ready").collect()
    }

    /// Roles by its labels, in order.
    pub(crate) fn roles(&self) -> Vec<String> {
        let labels = self.metadata.labels.iter().flatten();
        let mut roles: Vec<String> = labels
            .filter_map(|(key, value)| match key.as_str() {
                "kubernetes.io/role" => Some(value.clone()),
                key => key.strip_prefix("node-role.kubernetes.io/").map(str::to_owned),
            })
            .filter(|role| !role.is_empty())
            .collect();
        roles.sort();
        roles.dedup();
        roles
    }

    pub(crate) fn version(&self) -> String {
        self.info().and_then(|info| info.kubelet_version.clone()).unwrap_or_default()
    }

    pub(crate) fn os(&self) -> Option<String> {
        self.info()?.os_image.clone().filter(|os| !os.is_empty())
    }

    fn info(&self) -> Option<&Info> {
        self.status.as_ref()?.node_info.as_ref()
    }

    pub(crate) fn taints(&self) -> usize {
        self.spec.as_ref().and_then(|spec| spec.taints.as_ref()).map_or(0, Vec::len)
    }

    pub(crate) fn internal_ip(&self) -> Option<String> {
        let addresses = self.status.as_ref()?.addresses.as_ref()?;
        addresses.iter().find(|address| address.kind.as_deref() == Some("InternalIP"))?.address.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn node(value: Value) -> SlimNode {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn kt_get_nodes_kw_59_status_roles_and_pressure_are_told_in_stable_order() {
        let one = node(json!({
            "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "",
                "kubernetes.io/role": "edge"}},
            "spec": {"unschedulable": true, "taints": [{}, {}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "DiskPressure", "status": "True"},
                {"type": "PIDPressure", "status": "False"}]}
        }));
        assert_eq!(one.status(), "Ready,SchedulingDisabled");
        assert_eq!(one.roles(), ["control-plane", "edge", "worker"]);
        assert_eq!((one.pressure(), one.taints(), one.is_ready()), (vec!["DiskPressure".to_owned()], 2, true));
        let lost = node(json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}));
        assert_eq!(lost.status(), "NotReady (kubelet not heard of)");
        assert_eq!(node(json!({"status": null, "spec": null})).status(), "Unknown");
    }
}
