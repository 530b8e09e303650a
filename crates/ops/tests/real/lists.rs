//! Lists beside the tables of `kubectl get`.

use std::collections::BTreeMap;

use pintle_testkit::cluster::{Namespace, shared};
use serde_json::{Value, json};

use crate::asked::{Asked, cells, items, rows, text};

/// Pods that no scheduler places, so that nobody but the test says how they are. Each with what to patch its status
/// with; containers are `before` (init), `beside` (sidecar), `main` and `other`.
pub fn hand_made() -> Vec<(&'static str, Value)> {
    let waits = |reason: &str| json!({"waiting": {"reason": reason}});
    let ended = |code: i32, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason}});
    let runs = || json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let of = |name: &str, state: Value, ready: bool, restarts: u32| json!({"name": name, "image": "", "imageID": "", "state": state, "ready": ready, "started": ready, "restartCount": restarts});
    let begun = || vec![of("before", ended(0, "Completed"), true, 0), of("beside", runs(), true, 1)];
    let status = |phase: &str, init: Vec<Value>, main: Vec<Value>| json!({"phase": phase, "initContainerStatuses": init, "containerStatuses": main});
    let both = |state: Value, ready: bool, restarts: u32| {
        vec![of("main", state, ready, restarts), of("other", runs(), true, 0)]
    };
    let mut last = of("main", waits("CrashLoopBackOff"), false, 7);
    last["lastState"] = json!({"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-01-01T00:00:01Z"}});
    let mut evicted = status("Failed", vec![], vec![]);
    evicted["reason"] = json!("Evicted");
    let mut lost = status("Unknown", begun(), both(runs(), true, 0));
    lost["reason"] = json!("NodeLost");
    let mut ready = status("Running", begun(), both(ended(0, "Completed"), false, 0));
    ready["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    let mut signal = ended(137, "");
    signal["terminated"]["signal"] = json!(9);
    vec![
        ("pending", json!({"phase": "Pending"})),
        ("evicted", evicted),
        ("lost", lost),
        ("fine", status("Running", begun(), both(runs(), true, 2))),
        ("crash-loop", status("Running", begun(), vec![last, of("other", runs(), true, 1)])),
        ("image", status("Pending", begun(), both(waits("ImagePullBackOff"), false, 0))),
        ("creating", status("Pending", begun(), both(waits("ContainerCreating"), false, 0))),
        ("config", status("Pending", begun(), both(waits("CreateContainerConfigError"), false, 0))),
        ("out-of-memory", status("Running", begun(), both(ended(137, "OOMKilled"), false, 3))),
        ("no-reason", status("Running", begun(), both(ended(3, ""), false, 0))),
        ("signalled", status("Running", begun(), both(signal, false, 0))),
        ("one-completed", status("Running", begun(), both(ended(0, "Completed"), false, 0))),
        ("one-completed-ready", ready),
        (
            "completed",
            status(
                "Succeeded",
                begun(),
                vec![of("main", ended(0, "Completed"), false, 0), of("other", ended(0, "Completed"), false, 0)],
            ),
        ),
        (
            "failed",
            status(
                "Failed",
                begun(),
                vec![of("main", ended(1, "Error"), false, 0), of("other", ended(0, "Completed"), false, 0)],
            ),
        ),
        (
            "init-waits",
            status(
                "Pending",
                vec![
                    of("before", waits("PodInitializing"), false, 0),
                    of("beside", waits("PodInitializing"), false, 0),
                ],
                vec![],
            ),
        ),
        (
            "init-runs",
            status(
                "Pending",
                vec![of("before", runs(), false, 2), of("beside", waits("PodInitializing"), false, 0)],
                vec![],
            ),
        ),
        (
            "init-crash",
            status(
                "Pending",
                vec![
                    of("before", waits("CrashLoopBackOff"), false, 4),
                    of("beside", waits("PodInitializing"), false, 0),
                ],
                vec![],
            ),
        ),
        (
            "init-error",
            status(
                "Pending",
                vec![of("before", ended(2, "Error"), false, 1), of("beside", waits("PodInitializing"), false, 0)],
                vec![],
            ),
        ),
        (
            "init-code",
            status(
                "Pending",
                vec![of("before", ended(2, ""), false, 1), of("beside", waits("PodInitializing"), false, 0)],
                vec![],
            ),
        ),
        (
            "sidecar-crash",
            status(
                "Pending",
                vec![of("before", ended(0, "Completed"), true, 0), of("beside", waits("CrashLoopBackOff"), false, 9)],
                vec![],
            ),
        ),
    ]
}

pub fn pod(name: &str) -> String {
    format!(
        "
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{made: by-hand}}}}
spec:
  schedulerName: nobody
  initContainers:
  - {{name: before, image: registry.example/before:1}}
  - {{name: beside, image: registry.example/beside:1, restartPolicy: Always}}
  containers:
  - {{name: main, image: registry.example/main:1}}
  - {{name: other, image: registry.example/other:1}}
"
    )
}

const RUNNING: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry.example/web:1'}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    metadata: {labels: {app: once}}
    spec:
      restartPolicy: Never
      containers: [{name: once, image: 'registry.example/once:1'}]
---
apiVersion: v1
kind: Pod
metadata: {name: gated, labels: {app: gated}}
spec:
  schedulingGates: [{name: example.test/quota}]
  containers: [{name: main, image: 'registry.example/main:1'}]
---
apiVersion: v1
kind: Pod
metadata: {name: nowhere, labels: {app: nowhere}}
spec:
  nodeSelector: {example.test/absent: 'yes'}
  containers: [{name: main, image: 'registry.example/main:1'}]
---
apiVersion: v1
kind: Pod
metadata: {name: leaving, labels: {app: leaving}, finalizers: [example.test/held]}
spec:
  containers: [{name: main, image: 'registry.example/main:1'}]
---
apiVersion: v1
kind: Pod
metadata: {name: unreachable, labels: {app: leaving}, finalizers: [example.test/held]}
spec:
  containers: [{name: main, image: 'registry.example/main:1'}]
";

/// Lets go of the pods that a finalizer holds, however the test ends.
struct Held<'a>(&'a Namespace<'a>);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        for pod in ["pod/leaving", "pod/unreachable"] {
            self.0.kubectl(&["patch", pod, "--type=merge", "-p", r#"{"metadata": {"finalizers": null}}"#]);
        }
    }
}

#[test]
fn kt_get_pods_says_of_every_pod_what_kubectl_prints() {
    let Some(clusters) = shared() else { return };
    for context in clusters.contexts() {
        let namespace = clusters.namespace(context, "words");
        namespace.apply(RUNNING);
        let made = hand_made();
        namespace.apply(&made.iter().map(|(name, _)| pod(name)).collect::<String>());
        namespace.pods("app=web", "Running", 3);
        namespace.pods("app=once", "Succeeded", 1);
        namespace.pods("app=leaving", "Running", 2);
        let _held = Held(&namespace);
        namespace.kubectl(&["delete", "pod/leaving", "pod/unreachable", "--wait=false"]);
        namespace.patch_status("pod/unreachable", &json!({"reason": "NodeLost"}));
        for (name, status) in &made {
            namespace.patch_status(&format!("pod/{name}"), status);
        }
        let asked = Asked::of(clusters.kubeconfig());
        let ours = asked.answer("get_pods", json!({"clusters": [context]}));
        let table = clusters.kubectl(context, &["get", "pods", "-A", "--no-headers"]).text();
        let theirs: BTreeMap<String, [String; 3]> = cells(&table)
            .into_iter()
            .filter(|cells| cells[0] == namespace.name())
            .map(|cells| (cells[1].clone(), [cells[2].clone(), cells[3].clone(), cells[4].clone()]))
            .collect();
        let mine: BTreeMap<String, [String; 3]> = rows(&ours)
            .iter()
            .filter(|row| row["namespace"] == namespace.name())
            .map(|row| {
                let restarts = match row["last_restart"].as_str() {
                    Some(ago) if row["restarts"] != 0 => format!("{} ({ago} ago)", row["restarts"]),
                    _ => row["restarts"].to_string(),
                };
                let cells = [text(&row["ready"]).to_owned(), text(&row["status"]).to_owned(), restarts];
                (text(&row["name"]).to_owned(), cells)
            })
            .collect();
        assert_eq!(mine.len(), made.len() + 3 + 1 + 4, "{mine:?}");
        assert_eq!(mine, theirs, "in {context}");
        let words: Vec<&str> = mine.values().map(|cells| cells[1].as_str()).collect();
        for word in
            ["CrashLoopBackOff", "Init:CrashLoopBackOff", "SchedulingGated", "Terminating", "Evicted", "Completed"]
        {
            assert!(words.contains(&word), "no pod is {word}: {words:?}");
        }
    }
}

#[test]
fn kt_get_pods_facts_are_those_of_the_objects_and_selectors_are_the_servers() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "facts");
    namespace.apply(RUNNING);
    namespace.pods("app=web", "Running", 3);
    let asked = Asked::of(clusters.kubeconfig());
    for selector in ["", "app=web", "app in (web,gated)", "!app", "app=none"] {
        let arguments = json!({"clusters": [context], "namespace": namespace.name(), "label_selector": selector});
        let ours: Vec<(String, Option<String>)> = rows(&asked.answer("get_pods", arguments))
            .iter()
            .map(|row| (text(&row["name"]).to_owned(), row["node"].as_str().map(str::to_owned)))
            .collect();
        let list = namespace.get(&["pods", "-l", selector]);
        let theirs: Vec<(String, Option<String>)> = items(&list)
            .iter()
            .map(|pod| (text(&pod["metadata"]["name"]).to_owned(), pod["spec"]["nodeName"].as_str().map(str::to_owned)))
            .collect();
        assert_eq!(ours, theirs, "{selector}");
    }
    let bad = json!({"clusters": [context], "label_selector": "app in (web"});
    let refused = asked.call("get_pods", bad).failure.unwrap();
    let kubectl = clusters.kubectl(context, &["get", "--raw", "/api/v1/pods?labelSelector=app%20in%20(web"]);
    assert!(!kubectl.good && refused.message.contains("unable to parse requirement"), "{refused:?}");
}

const SERVICES: &str = "
apiVersion: v1
kind: Service
metadata: {name: plain}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None, selector: {app: web, tier: front}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: node-port}
spec: {type: NodePort, selector: {app: web}, ports: [{name: a, port: 80, nodePort: 0}, {name: b, port: 53, protocol: UDP}]}
---
apiVersion: v1
kind: Service
metadata: {name: balanced}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: given}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 443}]}
---
apiVersion: v1
kind: Service
metadata: {name: elsewhere}
spec: {type: ExternalName, externalName: db.example}
---
apiVersion: v1
kind: Service
metadata: {name: by-hand}
spec: {externalIPs: [192.0.2.7, 192.0.2.8], ports: [{port: 1}]}
";

#[test]
fn kt_get_services_says_what_kubectl_prints() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "services");
    namespace.apply(SERVICES);
    let ingress = json!({"loadBalancer": {"ingress": [{"ip": "198.51.100.4"}, {"hostname": "lb.example"}]}});
    namespace.patch_status("service/given", &ingress);
    let table = namespace.kubectl(&["get", "services", "--no-headers", "-o", "wide"]);
    let asked = Asked::of(clusters.kubeconfig());
    let ours: Vec<Vec<String>> = asked
        .rows("get_services", context, namespace.name())
        .iter()
        .map(|row| {
            let or_none = |value: &Value| value.as_str().unwrap_or("<none>").to_owned();
            // where a port leads is ours to say, kubectl does not
            let ports = row["ports"].as_array().unwrap().iter();
            let ports: Vec<&str> = ports.map(|port| text(port).split('→').next().unwrap()).collect();
            let ports = if ports.is_empty() { "<none>".to_owned() } else { ports.join(",") };
            vec![
                text(&row["name"]).to_owned(),
                text(&row["type"]).to_owned(),
                or_none(&row["cluster_ip"]),
                or_none(&row["external"]),
                ports,
                or_none(&row["selector"]),
            ]
        })
        .collect();
    let theirs: Vec<Vec<String>> = cells(&table)
        .into_iter()
        .map(|mut cells| {
            cells.remove(5); // the age
            cells
        })
        .collect();
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), 7);
}

#[test]
fn kt_get_deployments_counts_what_kubectl_counts() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "deployments");
    namespace.apply(RUNNING);
    let none = RUNNING.split("---").next().unwrap().replace("web", "none").replace("replicas: 3", "replicas: 0");
    let nowhere = RUNNING.split("---").next().unwrap().replace("web", "short").replace(
        "    spec:\n      containers",
        "    spec:\n      nodeSelector: {example.test/absent: 'yes'}\n      containers",
    );
    namespace.apply(&none);
    namespace.apply(&nowhere);
    namespace.pods("app=web", "Running", 3);
    namespace.pods("app=short", "Pending", 3);
    namespace.kubectl(&["wait", "deployment/web", "--for=condition=Available", "--timeout=60s"]);
    namespace.kubectl(&["wait", "deployment/short", "--for=condition=Progressing", "--timeout=60s"]);
    namespace.kubectl(&["rollout", "pause", "deployment/web"]);
    let table = namespace.kubectl(&["get", "deployments", "--no-headers", "-o", "wide"]);
    let asked = Asked::of(clusters.kubeconfig());
    let rows = asked.rows("get_deployments", context, namespace.name());
    let ours: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let images: Vec<&str> = row["images"].as_array().unwrap().iter().map(text).collect();
            vec![
                text(&row["name"]).to_owned(),
                format!("{}/{}", row["ready"], row["desired"]),
                row["updated"].to_string(),
                row["available"].to_string(),
                images.join(","),
            ]
        })
        .collect();
    let theirs: Vec<Vec<String>> =
        cells(&table).into_iter().map(|c| [0, 1, 2, 3, 6].map(|column| c[column].clone()).to_vec()).collect();
    assert_eq!(ours, theirs);
    let states: Vec<&str> = rows.iter().map(|row| text(&row["state"])).collect();
    assert_eq!(states, ["scaled to 0", "degraded", "paused"]);
}

#[test]
fn kt_get_nodes_says_what_kubectl_prints() {
    let Some(clusters) = shared() else { return };
    let asked = Asked::of(clusters.kubeconfig());
    for context in clusters.contexts() {
        let table = clusters.kubectl(context, &["get", "nodes", "--no-headers"]).text();
        let ours: Vec<Vec<String>> = rows(&asked.answer("get_nodes", json!({"clusters": [context]})))
            .iter()
            .map(|row| {
                let roles: Vec<&str> = row["roles"].as_array().unwrap().iter().map(text).collect();
                let roles = if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") };
                vec![
                    text(&row["name"]).to_owned(),
                    text(&row["status"]).to_owned(),
                    roles,
                    text(&row["version"]).to_owned(),
                ]
            })
            .collect();
        let theirs: Vec<Vec<String>> =
            cells(&table).into_iter().map(|c| [0, 1, 2, 4].map(|column| c[column].clone()).to_vec()).collect();
        assert_eq!(ours, theirs, "in {context}");
        assert!(!ours.is_empty());
    }
    let all = asked.answer("get_nodes", json!({"clusters": ["*"]}));
    assert_eq!(all["totals"]["ok"], clusters.contexts().len());
}

fn event(name: &str, kind: &str, reason: &str, object: &str, count: u32, at: &str) -> String {
    format!(
        "
---
apiVersion: v1
kind: Event
metadata: {{name: {name}}}
type: {kind}
reason: {reason}
message: said by {name}
count: {count}
firstTimestamp: '2026-01-01T00:00:00Z'
lastTimestamp: '{at}'
involvedObject: {{apiVersion: v1, kind: Pod, name: {object}, namespace: NAMESPACE}}
"
    )
}

#[test]
fn kt_get_events_kt_get_warning_events_are_those_of_kubectl_newest_first() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "events");
    let events = [
        event("old", "Warning", "BackOff", "web", 12, "2026-01-01T10:00:00Z"),
        event("new", "Normal", "Pulled", "web", 1, "2026-01-01T12:00:00Z"),
        event("middle", "Warning", "Unhealthy", "db", 3, "2026-01-01T11:00:00Z"),
    ];
    namespace.apply(&events.concat().replace("NAMESPACE", namespace.name()));
    let asked = Asked::of(clusters.kubeconfig());
    let facts = |row: &Value| {
        let count = row["count"].as_i64().unwrap();
        (text(&row["reason"]).to_owned(), text(&row["type"]).to_owned(), text(&row["message"]).to_owned(), count)
    };
    let theirs = |selector: &str| -> Vec<_> {
        let list = namespace.get(&["events", "--field-selector", selector]);
        let mut events = items(&list).to_vec();
        events.sort_by_key(|event| std::cmp::Reverse(text(&event["lastTimestamp"]).to_owned()));
        events.iter().map(facts).collect()
    };
    let ours = |tool: &str, more: Value| -> Vec<_> {
        let mut arguments = json!({"clusters": [context], "namespace": namespace.name()});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rows(&asked.answer(tool, arguments)).iter().map(facts).collect()
    };
    assert_eq!(ours("get_events", json!({})), theirs(""));
    assert_eq!(ours("get_events", json!({})).len(), 3);
    assert_eq!(ours("get_events", json!({"limit": 1})), theirs("")[..1]);
    assert_eq!(ours("get_warning_events", json!({})), theirs("type=Warning"));
    let of_one = ours("get_warning_events", json!({"involved_object": "db"}));
    assert_eq!(of_one, theirs("type=Warning,involvedObject.name=db"));
    assert_eq!(of_one.len(), 1);
}

#[test]
fn kt_get_events_of_the_scheduler_have_no_times_of_old_and_are_told_all_the_same() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "scheduler");
    namespace.apply(RUNNING);
    namespace.kubectl(&["wait", "pod/nowhere", "--for=condition=PodScheduled=False", "--timeout=60s"]);
    let asked = Asked::of(clusters.kubeconfig());
    let mut tries = 0;
    let row = loop {
        let rows = asked.rows("get_warning_events", context, namespace.name());
        if let Some(row) = rows.into_iter().find(|row| row["object"] == "Pod/nowhere") {
            break row;
        }
        tries += 1;
        assert!(tries < 100, "no event of the scheduler");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert_eq!(row["reason"], "FailedScheduling");
    assert!(row["last_seen"].is_string() && text(&row["message"]).contains("node(s) didn't match"), "{row}");
}
