//! Services that lead nowhere, and ingresses that point at what is not there.

use super::finding::{Finding, Moment, ObjectRef, Severity, age_text};
use jiff::Timestamp;
use k8s_openapi::api::{
    core::v1::Service,
    discovery::v1::EndpointSlice,
    networking::v1::{Ingress, IngressBackend},
};

/// The label by which a slice belongs to its Service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// How long a cloud may take to give a load balancer an address, in seconds.
const BALANCER: i64 = 300;

/// What is wrong with a Service. `slices` are the EndpointSlices of its namespace, where they could be read. A Service
/// without selector has its endpoints written by somebody else, and one of type ExternalName has none.
#[must_use]
pub fn service(service: &Service, slices: Option<&[EndpointSlice]>, now: Timestamp) -> Vec<Finding> {
    let Some(spec) = service.spec.as_ref() else { return Vec::new() };
    if spec.type_.as_deref() == Some("ExternalName") {
        return Vec::new();
    }
    let object = || ObjectRef::of("Service", &service.metadata);
    let mut found = Vec::new();
    let selects = spec.selector.as_ref().is_some_and(|s| !s.is_empty());
    if let Some(slices) = slices.filter(|_| selects) {
        let (all, ready) = endpoints(service, slices);
        let selector = || spec.selector.iter().flatten().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",");
        if all == 0 {
            found.push(
                Finding::new("service/matches-nothing", Severity::Medium, object(), "no pod stands behind it")
                    .shown_by("spec.selector", selector())
                    .next("compare its selector with the pods' labels; a workload at 0 replicas explains it"),
            );
        } else if ready == 0 && spec.publish_not_ready_addresses != Some(true) {
            found.push(
                Finding::new("service/none-ready", Severity::High, object(), "none of its pods is ready")
                    .shown_by("spec.selector", selector())
                    .shown_by("endpoints", format!("0 of {all} ready"))
                    .next("look at its pods: `find_pod_issues` in the namespace"),
            );
        }
    }
    let balancer = service.status.as_ref().and_then(|s| s.load_balancer.as_ref()?.ingress.as_ref());
    let age = service.metadata.creation_timestamp.as_ref().map_or(0, |t| Moment::from(t).age(now));
    if spec.type_.as_deref() == Some("LoadBalancer") && balancer.is_none_or(Vec::is_empty) && age > BALANCER {
        found.push(
            Finding::new(
                "service/no-load-balancer",
                Severity::Medium,
                object(),
                format!("has waited {} for the address of its load balancer", age_text(age)),
            )
            .shown_by("spec.type", "LoadBalancer")
            .since(service.metadata.creation_timestamp.as_ref())
            .next("look at its events and at the cloud controller; a cluster without one never gives an address"),
        );
    }
    found
}

/// All endpoints of a Service, and those that are ready; unknown counts as ready, as the API says.
fn endpoints(service: &Service, slices: &[EndpointSlice]) -> (usize, usize) {
    let own = slices.iter().filter(|s| {
        s.metadata.namespace == service.metadata.namespace
            && s.metadata.labels.as_ref().and_then(|l| l.get(SERVICE_NAME)) == service.metadata.name.as_ref()
    });
    let all: Vec<_> = own.flat_map(|s| s.endpoints.iter().flatten()).collect();
    let ready = all.iter().filter(|e| e.conditions.as_ref().and_then(|c| c.ready) != Some(false)).count();
    (all.len(), ready)
}

/// What is wrong with an Ingress among the Services of its namespace. A backend may be a resource in place of a
/// Service, and a rule may have no paths at all.
#[must_use]
pub fn ingress(ingress: &Ingress, services: &[Service]) -> Vec<Finding> {
    let Some(spec) = ingress.spec.as_ref() else { return Vec::new() };
    let rules = spec.rules.iter().flatten().flat_map(|rule| {
        let host = rule.host.as_deref().unwrap_or("*");
        let paths = rule.http.iter().flat_map(|http| &http.paths);
        paths.map(move |path| (format!("{host}{}", path.path.as_deref().unwrap_or("/")), &path.backend))
    });
    let default = spec.default_backend.iter().map(|backend| ("default backend".to_owned(), backend));
    let find = |id, message: String, place: &str| {
        Finding::new(id, Severity::High, ObjectRef::of("Ingress", &ingress.metadata), message)
            .shown_by("spec.rules", place)
            .next("name a Service and a port that exist in the same namespace")
    };
    let mut found = Vec::new();
    for (place, backend) in default.chain(rules) {
        match missing(backend, ingress, services) {
            Some(Missing::Service(name)) => {
                found.push(find(
                    "ingress/no-service",
                    format!("leads to service {name}, which does not exist"),
                    &place,
                ));
            }
            Some(Missing::Port(name, port)) => {
                found.push(find(
                    "ingress/no-port",
                    format!("leads to port {port}, which service {name} does not have"),
                    &place,
                ));
            }
            None => {}
        }
    }
    // Many paths often share one backend.
    found.sort_by(|a, b| a.message.cmp(&b.message));
    found.dedup_by(|a, b| a.id == b.id && a.message == b.message);
    found
}

enum Missing {
    Service(String),
    Port(String, String),
}

fn missing(backend: &IngressBackend, ingress: &Ingress, services: &[Service]) -> Option<Missing> {
    let wanted = backend.service.as_ref()?;
    let name = pintle_core::Foreign::one_line(&wanted.name);
    let service = services
        .iter()
        .find(|s| s.metadata.name.as_ref() == Some(&wanted.name) && s.metadata.namespace == ingress.metadata.namespace);
    let Some(service) = service else { return Some(Missing::Service(name)) };
    let port = wanted.port.as_ref()?;
    let ports = service.spec.as_ref().and_then(|s| s.ports.as_deref()).unwrap_or_default();
    let has = ports.iter().any(|p| match (&port.name, port.number) {
        (Some(name), _) => p.name.as_ref() == Some(name),
        (None, number) => number == Some(p.port),
    });
    let text = port.name.clone().or_else(|| port.number.map(|n| n.to_string()))?;
    (!has).then(|| Missing::Port(name, pintle_core::Foreign::one_line(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: &str = "2026-11-30T12:00:00Z";

    fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn web(spec: Value) -> Service {
        from(
            json!({"metadata": {"name": "web", "namespace": "shop", "creationTimestamp": "2026-11-30T10:00:00Z"}, "spec": spec}),
        )
    }

    fn slice(ready: &[Value]) -> EndpointSlice {
        let endpoints: Vec<_> =
            ready.iter().map(|r| json!({"addresses": ["10.0.0.1"], "conditions": {"ready": r}})).collect();
        from(
            json!({"metadata": {"name": "web-x", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"}},
            "addressType": "IPv4", "endpoints": endpoints}),
        )
    }

    fn ids(found: &[Finding]) -> Vec<&'static str> {
        found.iter().map(|f| f.id).collect()
    }

    #[test]
    fn an_2_1_services_without_pods_or_without_ready_ones_are_told() {
        let now = NOW.parse().unwrap();
        let selecting = web(json!({"selector": {"app": "web"}}));
        let of = |ready: &[Value]| ids(&service(&selecting, Some(&[slice(ready)]), now));
        assert_eq!(of(&[json!(true), json!(false)]), [] as [&str; 0]);
        assert_eq!(of(&[json!(null)]), [] as [&str; 0], "unknown counts as ready");
        assert_eq!(of(&[json!(false)]), ["service/none-ready"]);
        assert_eq!(of(&[]), ["service/matches-nothing"]);
        assert_eq!(ids(&service(&selecting, None, now)), [] as [&str; 0], "unread is not empty");
        for harmless in [json!({}), json!({"type": "ExternalName", "selector": {"a": "b"}})] {
            assert_eq!(ids(&service(&web(harmless), Some(&[]), now)), [] as [&str; 0]);
        }
    }

    #[test]
    fn an_2_1_load_balancers_that_wait_are_told() {
        let now = NOW.parse().unwrap();
        let mut balanced = web(json!({"type": "LoadBalancer"}));
        assert_eq!(ids(&service(&balanced, None, now)), ["service/no-load-balancer"]);
        balanced.status = Some(from(json!({"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}})));
        assert_eq!(ids(&service(&balanced, None, now)), [] as [&str; 0]);
    }

    #[test]
    fn an_1_5_ingress_backends_may_be_absent_or_resources_while_missing_services_and_ports_are_found() {
        let services = [web(json!({"ports": [{"name": "http", "port": 80}]}))];
        let of = |spec: Value| {
            let value = json!({"metadata": {"name": "i", "namespace": "shop"}, "spec": spec});
            ids(&ingress(&from(value), &services))
        };
        let path =
            |backend: Value| json!({"rules": [{"host": "h", "http": {"paths": [{"path": "/", "backend": backend}]}}]});
        assert_eq!(of(json!({"rules": [{"host": "h"}]})), [] as [&str; 0]);
        assert_eq!(of(path(json!({"resource": {"kind": "Bucket", "name": "b"}}))), [] as [&str; 0]);
        assert_eq!(of(path(json!({"service": {"name": "web", "port": {"number": 80}}}))), [] as [&str; 0]);
        assert_eq!(of(path(json!({"service": {"name": "web", "port": {"name": "http"}}}))), [] as [&str; 0]);
        assert_eq!(of(path(json!({"service": {"name": "gone", "port": {"number": 80}}}))), ["ingress/no-service"]);
        assert_eq!(of(path(json!({"service": {"name": "web", "port": {"number": 81}}}))), ["ingress/no-port"]);
        assert_eq!(of(json!({"defaultBackend": {"service": {"name": "gone"}}})), ["ingress/no-service"]);
    }
}
