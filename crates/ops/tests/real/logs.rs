//! Logs and descriptions of single pods beside kubectl.

use pintle_testkit::cluster::shared;
use serde_json::{Value, json};

use crate::asked::{Asked, text};

/// What containers say goes by their names: see the testcluster.
const PODS: &str = "
apiVersion: v1
kind: Pod
metadata: {name: talks, labels: {app: talks}}
spec:
  containers:
  - {name: main, image: 'registry.example/main:1'}
  - {name: junk, image: 'registry.example/junk:1'}
  - {name: silent, image: 'registry.example/silent:1'}
---
apiVersion: v1
kind: Pod
metadata: {name: chosen, labels: {app: talks}, annotations: {kubectl.kubernetes.io/default-container: silent}}
spec:
  containers:
  - {name: main, image: 'registry.example/main:1'}
  - {name: silent, image: 'registry.example/silent:1'}
";

#[test]
fn kt_get_pod_logs_gives_what_kubectl_gives_byte_for_byte() {
    let Some(clusters) = shared() else { return };
    let asked = Asked::of(clusters.kubeconfig());
    for context in clusters.contexts() {
        let namespace = clusters.namespace(context, "logs");
        namespace.apply(PODS);
        namespace.pods("app=talks", "Running", 2);
        let ours = |more: &Value| {
            let mut arguments = json!({"clusters": [context], "namespace": namespace.name(), "name": "talks"});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked.value("get_pod_logs", arguments)
        };
        for (more, flags) in [
            (json!({"container": "main", "tail_lines": 1000}), vec!["-c", "main"]),
            (json!({"container": "main", "tail_lines": 3}), vec!["-c", "main", "--tail=3"]),
            (json!({"container": "main"}), vec!["-c", "main", "--tail=100"]),
            (json!({"container": "main", "previous": true}), vec!["-c", "main", "--previous"]),
            (
                json!({"container": "main", "timestamps": "true", "tail_lines": 5}),
                vec!["-c", "main", "--timestamps", "--tail=5"],
            ),
            (
                json!({"container": "main", "since": "2020-01-01T00:00:00Z"}),
                vec!["-c", "main", "--since-time=2020-01-01T00:00:00Z", "--tail=100"],
            ),
            (json!({"container": "silent"}), vec!["-c", "silent"]),
            (json!({}), vec!["--tail=100"]),
        ] {
            let theirs = namespace.kubectl(&[&["logs", "talks"], flags.as_slice()].concat());
            let mine = ours(&more);
            assert_eq!(text(&mine["text"]), theirs, "{more}");
            assert_eq!(mine.get("lossy"), None);
        }
        let junk = ours(&json!({"container": "junk"}));
        let shown = "red and \nnot UTF-8: \u{fffd}\u{fffd}\na NUL:  and a return:over\n";
        assert_eq!((text(&junk["text"]), &junk["lossy"]), (shown, &json!(true)));
        let raw = namespace.kubectl(&["logs", "talks", "-c", "junk"]);
        assert!(raw.contains('\u{1b}') && raw.contains('\0'), "nothing was there to be left out: {raw:?}");
        let arguments = json!({"clusters": [context], "namespace": namespace.name(), "name": "chosen"});
        let chosen = asked.value("get_pod_logs", arguments);
        assert_eq!((&chosen["container"], text(&chosen["text"])), (&json!("silent"), ""), "as the annotation wants");
    }
}

#[test]
fn kt_get_pod_logs_of_what_is_not_there_is_told_in_the_servers_words() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "no-logs");
    namespace.apply(PODS);
    namespace.pods("app=talks", "Running", 2);
    let asked = Asked::of(clusters.kubeconfig());
    let refused = |more: Value| {
        let mut arguments = json!({"clusters": [context], "namespace": namespace.name(), "name": "talks"});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asked.call("get_pod_logs", arguments).failure.unwrap().message
    };
    let kubectl = |arguments: &[&str]| {
        let answer = clusters.kubectl(context, &[&["--namespace", namespace.name(), "logs"], arguments].concat());
        assert!(!answer.good);
        answer.stderr
    };
    assert!(refused(json!({"container": "absent"})).contains("container absent is not valid for pod talks"));
    assert!(kubectl(&["talks", "-c", "absent"]).contains("container absent is not valid for pod talks"));
    assert!(refused(json!({"name": "nobody"})).contains("pods \"nobody\" not found"));
    assert!(kubectl(&["nobody"]).contains("pods \"nobody\" not found"));
    let away = refused(json!({"namespace": "not-there"}));
    assert!(away.contains("namespace") && away.contains("not-there"), "{away}");
}

const DESCRIBED: &str = "
apiVersion: v1
kind: ServiceAccount
metadata: {name: worker}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {example.test/note: hidden-value}}
    spec:
      serviceAccountName: worker
      initContainers:
      - {name: before, image: 'registry.example/before:1'}
      - {name: beside, image: 'registry.example/beside:1', restartPolicy: Always}
      containers:
      - name: main
        image: registry.example/main:1
        env: [{name: PASSWORD, value: hunter2hunter2}, {name: KEY, valueFrom: {secretKeyRef: {name: keys, key: k, optional: true}}}]
        ports: [{containerPort: 8080, name: http}]
        resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
        readinessProbe: {httpGet: {port: 8080}}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      - {name: junk, image: 'registry.example/junk:1'}
      volumes: [{name: tmp, emptyDir: {}}]
";

#[test]
fn kt_describe_pod_tells_the_facts_of_the_object_and_its_events() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "described");
    namespace.apply(DESCRIBED);
    let pod = namespace.pods("app=web", "Running", 1).remove(0);
    namespace.make_wait(&pod, "main", "CrashLoopBackOff", 7);
    let asked = Asked::of(clusters.kubeconfig());
    let arguments = json!({"clusters": [context], "namespace": namespace.name(), "name": pod});
    let ours = asked.value("describe_pod", arguments.clone());
    let theirs = namespace.get(&["pod", &pod]);
    let (spec, status) = (&theirs["spec"], &theirs["status"]);
    for (mine, other) in [
        ("node", &spec["nodeName"]),
        ("service_account", &spec["serviceAccountName"]),
        ("ip", &status["podIP"]),
        ("qos", &status["qosClass"]),
        ("labels", &theirs["metadata"]["labels"]),
        ("started", &status["startTime"]),
        ("name", &theirs["metadata"]["name"]),
    ] {
        assert_eq!(&ours[mine], other, "{mine}");
    }
    let owner = &theirs["metadata"]["ownerReferences"][0];
    assert_eq!(ours["owners"], json!([format!("ReplicaSet/{}", text(&owner["name"]))]));
    let pairs = |list: &Value| -> Vec<(String, String)> {
        let list = list.as_array().unwrap().iter();
        list.map(|item| (text(&item["type"]).to_owned(), text(&item["status"]).to_owned())).collect()
    };
    assert_eq!(pairs(&ours["conditions"]), pairs(&status["conditions"]));
    let containers = ours["containers"].as_array().unwrap();
    let names: Vec<(&str, &str)> = containers.iter().map(|c| (text(&c["name"]), text(&c["role"]))).collect();
    assert_eq!(names, [("before", "init"), ("beside", "sidecar"), ("main", "main"), ("junk", "main")]);
    let states = ["initContainerStatuses", "containerStatuses"];
    let states: Vec<&Value> = states.iter().flat_map(|list| status[*list].as_array().unwrap()).collect();
    for container in containers {
        let state = states.iter().find(|state| state["name"] == container["name"]).unwrap();
        assert_eq!((&container["ready"], &container["restarts"]), (&state["ready"], &state["restartCount"]));
        assert_eq!(container["image"], format!("registry.example/{}:1", text(&container["name"])));
    }
    let main = &containers[2];
    assert!(text(&main["state"]).starts_with("CrashLoopBackOff: "), "{main}");
    assert!(text(&main["last"]).contains("exit code 1"), "{main}");
    assert_eq!(main["requests"], spec["containers"][0]["resources"]["requests"]);
    assert_eq!(main["limits"], spec["containers"][0]["resources"]["limits"]);
    let table = namespace.kubectl(&["get", "pod", &pod, "--no-headers"]);
    let shown = format!("{} {}", text(&ours["ready"]), text(&ours["status"]));
    assert!(table.split_whitespace().collect::<Vec<_>>().join(" ").contains(&shown), "{shown} in {table}");
    assert!(!ours.to_string().contains("hunter2") && !ours.to_string().contains("hidden-value"));
    // the control: kubectl shows both
    let described = namespace.kubectl(&["describe", "pod", &pod]);
    assert!(described.contains("hunter2") && described.contains("hidden-value"));
    for event in ours["events"].as_array().unwrap() {
        assert!(described.contains(text(&event["message"])), "{event} is not in {described}");
    }
    assert!(ours["events"].as_array().unwrap().iter().any(|event| event["reason"] == "Scheduled"), "{ours}");
    let missing = asked.call("describe_pod", json!({"clusters": [context], "namespace": "not-there", "name": "x"}));
    assert!(missing.failure.unwrap().message.contains("namespace `not-there` does not exist"));
}
