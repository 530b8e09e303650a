//! What pods take from their node: namespaces, ports, folders, the reach of probes, and processes of Windows.

use serde_json::{Value, json};

use super::case::{Case, List, WITH_PORTS, WITH_PROBES, bare, hard, hardened, in_lists, merged, pod, whole};

pub fn cases() -> Vec<Case> {
    let mut all = namespaces();
    all.extend(ports());
    all.extend(probes());
    all.extend(windows());
    all
}

fn namespaces() -> Vec<Case> {
    const FIELDS: [&str; 3] = ["hostNetwork", "hostPID", "hostIPC"];
    let mut all: Vec<Case> = (0..8_usize)
        .map(|bits| {
            let mut spec = json!({});
            for (index, field) in FIELDS.iter().enumerate() {
                spec[field] = json!(bits & (1 << index) != 0);
            }
            pod(format!("host namespaces {spec}"), &[], &spec)
        })
        .collect();
    all.extend(FIELDS.map(|field| pod(format!("{field} alone"), &[], &json!({ field: true }))));
    all.push(pod("hostUsers true", &[35], &json!({"hostUsers": true})));
    all.push(pod("hostUsers false", &[35], &json!({"hostUsers": false})));
    all.push(pod("a shared process namespace", &[], &json!({"shareProcessNamespace": true})));
    all
}

fn ports() -> Vec<Case> {
    let mut all = Vec::new();
    for (label, ports) in [
        ("no host port", json!([{"containerPort": 80}])),
        ("host port 0", json!([{"containerPort": 80, "hostPort": 0}])),
        ("host port", json!([{"containerPort": 80, "hostPort": 8080}])),
        ("two host ports", json!([{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 81}])),
        (
            "one host port of two, by UDP",
            json!([{"containerPort": 80}, {"containerPort": 53, "hostPort": 53, "protocol": "UDP"}]),
        ),
        ("a host port of one address", json!([{"containerPort": 80, "hostPort": 8080, "hostIP": "127.0.0.1"}])),
    ] {
        all.extend(in_lists(label, &[], &WITH_PORTS, &json!({ "ports": ports })));
    }
    // with the network of the node each port of a container becomes one of the node
    let container = merged(hard("app"), &json!({"ports": [{"containerPort": 80}]}));
    all.push(pod("a port with hostNetwork", &[], &json!({"hostNetwork": true, "containers": [container]})));
    all
}

fn probes() -> Vec<Case> {
    let handlers: [(&str, Value); 9] = [
        ("httpGet", json!({"httpGet": {"port": 80}})),
        ("httpGet with an empty host", json!({"httpGet": {"port": 80, "host": ""}})),
        ("httpGet of the pod's loopback", json!({"httpGet": {"port": 80, "host": "127.0.0.1"}})),
        ("httpGet of a host", json!({"httpGet": {"port": 80, "host": "10.0.0.1"}})),
        (
            "httpGet with a Host header",
            json!({"httpGet": {"port": 80, "httpHeaders": [{"name": "Host", "value": "metadata.example"}]}}),
        ),
        ("tcpSocket", json!({"tcpSocket": {"port": 80}})),
        ("tcpSocket with an empty host", json!({"tcpSocket": {"port": 80, "host": ""}})),
        ("tcpSocket of a host", json!({"tcpSocket": {"port": 80, "host": "metadata.example"}})),
        ("exec", json!({"exec": {"command": ["true"]}})),
    ];
    let mut all = Vec::new();
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        for (label, handler) in &handlers {
            all.extend(in_lists(&format!("{field} by {label}"), &[34], &WITH_PROBES, &json!({ field: handler })));
        }
        let grpc = json!({ field: {"grpc": {"port": 80}} });
        all.extend(in_lists(&format!("{field} by grpc"), &[34], &WITH_PROBES, &grpc));
    }
    for field in ["postStart", "preStop"] {
        for (label, handler) in &handlers {
            let change = json!({"lifecycle": { field: handler }});
            all.extend(in_lists(&format!("{field} by {label}"), &[34], &WITH_PROBES, &change));
        }
    }
    let both = json!({
        "livenessProbe": {"httpGet": {"port": 80, "host": "a.example"}},
        "readinessProbe": {"tcpSocket": {"port": 80, "host": "b.example"}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
    });
    all.extend(in_lists("two probes of hosts", &[34], &[List::Main, List::Sidecar], &both));
    all
}

fn windows() -> Vec<Case> {
    const CHANGES: &[u32] = &[8, 19, 22, 25, 35];
    let windows = |context: Value, container: Value| {
        let container = merged(bare("app"), &json!({ "securityContext": container }));
        json!({"os": {"name": "windows"}, "securityContext": context, "containers": [container]})
    };
    let process = |value: bool| json!({"windowsOptions": {"hostProcess": value}});
    let on_host = |spec: Value| merged(spec, &json!({"hostNetwork": true}));
    let unnamed = |spec: Value| merged(spec, &json!({"os": null}));
    let two = |second: Value| {
        let mut spec = on_host(windows(process(true), json!({})));
        spec["initContainers"] = json!([merged(bare("before"), &json!({ "securityContext": second }))]);
        spec
    };
    vec![
        whole("windows, nothing said", CHANGES, windows(json!({}), json!({}))),
        whole("windows, not as root by pod", CHANGES, windows(json!({"runAsNonRoot": true}), json!({}))),
        whole("windows, not as root by container", CHANGES, windows(json!({}), json!({"runAsNonRoot": true}))),
        whole(
            "windows, as root by container",
            CHANGES,
            windows(json!({"runAsNonRoot": true}), json!({"runAsNonRoot": false})),
        ),
        whole(
            "windows with a user",
            CHANGES,
            windows(json!({"runAsNonRoot": true, "windowsOptions": {"runAsUserName": "ContainerUser"}}), json!({})),
        ),
        whole("windows, no host process by pod", CHANGES, windows(process(false), json!({}))),
        whole("windows, no host process by container", CHANGES, windows(json!({}), process(false))),
        whole("windows, host process by pod", CHANGES, on_host(windows(process(true), json!({})))),
        whole("windows, host process by container", CHANGES, on_host(windows(json!({}), process(true)))),
        whole("windows, host process by both", CHANGES, on_host(windows(process(true), process(true)))),
        whole("host process, system unnamed", CHANGES, unnamed(on_host(windows(process(true), json!({}))))),
        whole(
            "host process of a container, system unnamed",
            CHANGES,
            unnamed(on_host(windows(json!({}), process(true)))),
        ),
        whole("host process, also before", CHANGES, two(json!({}))),
        whole("host process, also before by itself", CHANGES, two(process(true))),
        pod("linux by name", CHANGES, &json!({"os": {"name": "linux"}})),
        whole(
            "linux by name, nothing said",
            CHANGES,
            merged(hardened(), &json!({"os": {"name": "linux"}, "containers": [bare("app")]})),
        ),
    ]
}
