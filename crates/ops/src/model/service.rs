//! Services.

use super::Metadata;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A service as far as a list shows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SlimService {
    pub(crate) metadata: Metadata,
    pub(crate) spec: Option<Spec>,
    status: Option<Status>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Spec {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    #[serde(rename = "clusterIP")]
    pub(crate) cluster_ip: Option<String>,
    #[serde(rename = "externalIPs")]
    external_ips: Option<Vec<String>>,
    external_name: Option<String>,
    ports: Option<Vec<Port>>,
    pub(crate) selector: Option<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Port {
    port: i32,
    node_port: Option<i32>,
    target_port: Option<Value>,
    protocol: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    load_balancer: Option<LoadBalancer>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct LoadBalancer {
    ingress: Option<Vec<Ingress>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Ingress {
    ip: Option<String>,
    hostname: Option<String>,
}

impl SlimService {
    /// Where it can be reached from outside: addresses of its load balancer, a name, `<pending>`, or nothing.
    pub(crate) fn external(&self) -> Option<String> {
        let spec = self.spec.as_ref()?;
        if spec.kind.as_deref() == Some("ExternalName") {
            return spec.external_name.clone();
        }
        let balancer = self.status.as_ref().and_then(|status| status.load_balancer.as_ref());
        let ingress = balancer.and_then(|balancer| balancer.ingress.as_ref()).into_iter().flatten();
        let addresses = ingress.filter_map(|ingress| ingress.ip.clone().or_else(|| ingress.hostname.clone()));
        let all: Vec<String> = addresses.chain(spec.external_ips.iter().flatten().cloned()).collect();
        match (all.is_empty(), spec.kind.as_deref()) {
            (false, _) => Some(all.join(",")),
            (true, Some("LoadBalancer")) => Some("<pending>".to_owned()),
            _ => None,
        }
    }

    /// `80:30080/TCP→http`: port, node port, protocol, and the port of the pods where it differs.
    pub(crate) fn ports(&self) -> Vec<String> {
        let ports = self.spec.as_ref().and_then(|spec| spec.ports.as_ref()).into_iter().flatten();
        ports
            .map(|port| {
                let node = port.node_port.filter(|node| *node != 0).map(|node| format!(":{node}")).unwrap_or_default();
                let target = match &port.target_port {
                    Some(Value::String(name)) => format!("→{name}"),
                    Some(Value::Number(number)) if number.as_i64() != Some(port.port.into()) => format!("→{number}"),
                    _ => String::new(),
                };
                format!("{}{node}/{}{target}", port.port, port.protocol.as_deref().unwrap_or("TCP"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn service(value: Value) -> SlimService {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn kt_get_services_ports_and_addresses_are_told() {
        let one = service(json!({"spec": {"type": "LoadBalancer", "ports": [
            {"port": 80, "nodePort": 30080, "targetPort": "http"}, {"port": 53, "protocol": "UDP", "targetPort": 53},
            {"port": 443, "targetPort": 8443}]}}));
        assert_eq!(one.ports(), ["80:30080/TCP→http", "53/UDP", "443/TCP→8443"]);
        assert_eq!(one.external().as_deref(), Some("<pending>"));
        let up = service(json!({"spec": {"type": "LoadBalancer", "externalIPs": ["198.51.100.1"]},
            "status": {"loadBalancer": {"ingress": [{"hostname": "lb.example"}, {"ip": "192.0.2.1"}]}}}));
        assert_eq!(up.external().as_deref(), Some("lb.example,192.0.2.1,198.51.100.1"));
        let named = service(json!({"spec": {"type": "ExternalName", "externalName": "db.example"}}));
        assert_eq!(named.external().as_deref(), Some("db.example"));
        assert_eq!(service(json!({"spec": null, "status": null})).external(), None);
    }
}
