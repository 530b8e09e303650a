//! Clusters themselves: what the kubeconfig lists, how they are, and what happens when some are stopped.

use pintle_core::Outcome;
use pintle_testkit::cluster::{Clusters, HOSTILE, private, shared};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::asked::{Asked, found, items, rows, text, written};

fn version(clusters: &Clusters, context: &str) -> String {
    let told = clusters.kubectl(context, &["version", "-o", "json"]).json();
    text(&told["serverVersion"]["gitVersion"]).to_owned()
}

/// The section of a cluster.
fn of<'a>(answer: &'a Value, context: &str) -> &'a Value {
    answer["clusters"].as_array().unwrap().iter().find(|section| section["cluster"] == context).unwrap()
}

#[test]
fn kt_list_clusters_lists_the_contexts_of_kubectl() {
    let Some(clusters) = shared() else { return };
    let asked = Asked::of(clusters.kubeconfig());
    let ours = asked.answer("list_clusters", json!({}));
    let context = &clusters.contexts()[0];
    let mut theirs: Vec<String> = clusters
        .kubectl(context, &["config", "get-contexts", "-o", "name"])
        .text()
        .lines()
        .map(str::to_owned)
        .collect();
    theirs.sort();
    let list = ours["clusters"].as_array().unwrap();
    assert_eq!(list.iter().map(|cluster| text(&cluster["name"])).collect::<Vec<_>>(), theirs);
    let current = clusters.kubectl(context, &["config", "current-context"]).text();
    assert_eq!(text(&ours["current"]), current.trim_end());
    let view = clusters.kubectl(context, &["config", "view", "-o", "json"]).json();
    for cluster in list {
        let theirs = view["contexts"].as_array().unwrap().iter().find(|c| c["name"] == cluster["name"]).unwrap();
        let entry = view["clusters"].as_array().unwrap().iter().find(|c| c["name"] == theirs["context"]["cluster"]);
        assert_eq!(cluster["server"], entry.unwrap()["cluster"]["server"]);
        assert_eq!(cluster["user"], theirs["context"]["user"]);
    }
}

#[test]
fn kt_get_cluster_health_kt_audit_kubeconfig_of_clusters_that_are_well() {
    let Some(clusters) = shared() else { return };
    let asked = Asked::of(clusters.kubeconfig());
    let health = asked.answer("get_cluster_health", json!({"clusters": ["*"]}));
    let audit = asked.answer("audit_kubeconfig", json!({}));
    assert_eq!(audit["unreachable"], 0);
    assert_eq!(audit.get("commands"), None, "nothing to remove");
    for context in clusters.contexts() {
        let value = &of(&health, context)["value"];
        let nodes = clusters.kubectl(context, &["get", "nodes", "-o", "json"]).json();
        let is_ready = |node: &&Value| {
            let conditions = node["status"]["conditions"].as_array().unwrap();
            conditions.iter().any(|c| c["type"] == "Ready" && c["status"] == "True")
        };
        assert_eq!(value["status"], "Healthy", "{value}");
        assert_eq!(value["nodes_total"], items(&nodes).len());
        assert_eq!(value["nodes_ready"], items(&nodes).iter().filter(is_ready).count());
        assert_eq!(value["version"], version(clusters, context));
        assert!(clusters.kubectl(context, &["get", "--raw", "/readyz"]).text().contains("ok"));
        let row = audit["contexts"].as_array().unwrap().iter().find(|row| row["context"] == context.as_str()).unwrap();
        assert_eq!((&row["grade"], &row["version"]), (&json!("good"), &json!(version(clusters, context))));
    }
}

#[test]
fn kt_audit_kubeconfig_kw_45_contexts_that_lead_nowhere_are_told_apart_from_clusters_that_are_away() {
    let Some(clusters) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let context = &clusters.contexts()[0];
    let mut config = flattened(clusters);
    let server = |url: &str| json!({"server": url});
    let add = |config: &mut Value, list: &str, item: Value| config[list].as_array_mut().unwrap().push(item);
    // the discard port: nobody listens
    add(&mut config, "clusters", json!({"name": "gone", "cluster": server("https://127.0.0.1:9")}));
    add(&mut config, "clusters", json!({"name": "left over", "cluster": server("https://127.0.0.1:9")}));
    let user = config["users"][0]["name"].clone();
    let pair = |cluster: &str, user: &Value| json!({"cluster": cluster, "user": user});
    add(&mut config, "contexts", json!({"name": "away", "context": pair("gone", &user)}));
    add(&mut config, "contexts", json!({"name": "broken; rm -rf", "context": pair("nowhere", &user)}));
    let asked = Asked::of(written(folder.path(), &config.to_string()));
    let reply = asked.call("audit_kubeconfig", json!({"timeout_seconds": 3}));
    let audit = reply.answer.unwrap();
    let grade = |name: &str| {
        let row = audit["contexts"].as_array().unwrap().iter().find(|row| row["context"] == name).unwrap();
        (text(&row["grade"]).to_owned(), row["error"]["code"].clone())
    };
    assert_eq!(grade(context), ("good".to_owned(), Value::Null));
    assert_eq!(grade("away"), ("passing".to_owned(), json!("refused")));
    assert_eq!(grade("broken; rm -rf"), ("broken".to_owned(), Value::Null));
    let commands = ["kubectl config delete-context 'broken; rm -rf'", "kubectl config delete-cluster 'left over'"];
    assert_eq!(audit["commands"], json!(commands));
    assert_eq!(reply.outcome, Outcome::Findings);
}

/// The shared kubeconfig with all its material in it, to be changed.
fn flattened(clusters: &Clusters) -> Value {
    clusters.kubectl(&clusters.contexts()[0], &["config", "view", "--raw", "--flatten", "-o", "json"]).json()
}

#[test]
fn kt_get_nodes_kw_25_kw_60_an_alias_is_asked_once_and_a_changed_kubeconfig_is_read_again() {
    let Some(clusters) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut config = flattened(clusters);
    let first = config["contexts"][0].clone();
    config["contexts"] = json!([first]);
    config["current-context"] = first["name"].clone();
    let asked = Asked::of(written(folder.path(), &config.to_string()));
    let all = json!({"clusters": ["*"]});
    let before = asked.answer("get_nodes", all.clone());
    assert_eq!((&before["totals"]["clusters"], &before["totals"]["ok"]), (&json!(1), &json!(1)));
    let mut alias = first.clone();
    alias["name"] = json!("zz \u{fc}ber alias");
    config["contexts"] = json!([first, alias]);
    written(folder.path(), &config.to_string());
    let after = asked.answer("get_nodes", all);
    assert_eq!((&after["totals"]["skipped"], &after["totals"]["rows"]), (&json!(1), &before["totals"]["rows"]));
    assert_eq!(of(&after, "zz \u{fc}ber alias")["outcome"], "skipped");
    // who names both means both
    let both = asked.answer("get_nodes", json!({"clusters": [first["name"], alias["name"]]}));
    assert_eq!(both["totals"]["ok"], 2);
}

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry.example/web:1', resources: {requests: {cpu: 100m}}}]
";

fn autoscaler(name: &str) -> String {
    format!(
        "
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}}}
spec:
  minReplicas: 1
  maxReplicas: 5
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 80}}}}}}]
"
    )
}

fn conditions(active: bool, limit: &str) -> Value {
    let of = |kind: &str, status: bool, reason: &str| {
        let status = if status { "True" } else { "False" };
        json!({"type": kind, "status": status, "reason": reason, "message": "said by a test", "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    json!({
        "currentReplicas": 1,
        "desiredReplicas": 1,
        "conditions": [
            of("AbleToScale", true, "ReadyForNewScale"),
            of("ScalingActive", active, if active { "ValidMetricFound" } else { "FailedGetResourceMetric" }),
            of("ScalingLimited", true, limit),
        ],
    })
}

/// A private set, since clusters of it are stopped.
#[test]
fn kt_get_cluster_health_kt_find_pod_issues_kt_audit_kubeconfig_kw_50_kw_57_an_1_5_an_6_07_of_three_clusters_some_stop()
{
    let Some(clusters) = private(&HOSTILE) else { return };
    let [first, second, third] = HOSTILE;
    let asked = Asked::of(clusters.kubeconfig());
    let everywhere = json!({"clusters": ["*"]});
    let status = |context: &str| {
        let reply = asked.call("get_cluster_health", everywhere.clone());
        let answer = reply.answer.unwrap();
        let value = of(&answer, context)["value"].clone();
        (text(&value["status"]).to_owned(), text(&value["api_server"]).to_owned(), value)
    };
    for context in HOSTILE {
        assert_eq!(status(context).0, "Healthy");
    }

    // one pod crashes in the first and in the third
    let spaces = [first, third].map(|context| clusters.namespace(context, "outage"));
    for space in &spaces {
        space.apply(WEB);
        let pod = space.pods("app=web", "Running", 1).remove(0);
        space.make_wait(&pod, "web", "CrashLoopBackOff", 7);
    }
    let issues = || {
        let reply = asked.call("find_pod_issues", everywhere.clone());
        let answer = reply.answer.unwrap();
        let mut at: Vec<String> = rows(&answer)
            .iter()
            .filter(|row| row["id"] == "pod/crash-loop" && row["owner"]["name"] == "web")
            .map(|row| text(&row["cluster"]).to_owned())
            .collect();
        at.sort();
        (reply.outcome, at, answer)
    };
    let (outcome, at, _) = issues();
    assert_eq!((outcome, at), (Outcome::Findings, vec![first.to_owned(), third.to_owned()]));

    // nobody writes the status of autoscalers any more: one rests at its minimum, one is blind, one wants more
    let parts = &clusters.set().state().components;
    let controllers = parts.iter().find(|part| part.name == "controller-manager" && part.context == first).unwrap();
    let space = &spaces[0];
    space.apply(&["rests", "blind", "full"].map(autoscaler).concat());
    controllers.process.signal(Signal::STOP).unwrap();
    space.patch_status("hpa/rests", &conditions(true, "TooFewReplicas"));
    space.patch_status("hpa/blind", &conditions(false, "DesiredWithinRange"));
    space.patch_status("hpa/full", &conditions(true, "TooManyReplicas"));
    let told = asked.rows("find_deployment_issues", first, space.name());
    assert_eq!(found(&told, "rests"), [] as [&str; 0], "an autoscaler at its minimum is no finding");
    assert_eq!(found(&told, "blind"), ["hpa/no-metrics"]);
    assert_eq!(found(&told, "full"), ["hpa/at-maximum"]);

    // and nobody says any more that the node is ready
    let nodes = parts.iter().find(|part| part.name == "kwok" && part.context == first).unwrap();
    nodes.process.signal(Signal::STOP).unwrap();
    let node = clusters.kubectl(first, &["get", "nodes", "-o", "name"]).text();
    let broken = r#"{"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]}}"#;
    clusters.kubectl(first, &["patch", node.trim_end(), "--subresource=status", "-p", broken]).text();
    let table = clusters.kubectl(first, &["get", "nodes", "--no-headers"]).text();
    assert!(table.contains(" NotReady "), "{table}");
    assert_eq!(rows(&asked.answer("get_nodes", json!({"clusters": [first]})))[0]["status"], "NotReady");
    let (word, server, value) = status(first);
    assert_eq!((word.as_str(), server.as_str(), &value["nodes_ready"]), ("Degraded", "Reachable", &json!(0)));
    assert!(value["reasons"].to_string().contains("is NotReady"), "{value}");
    nodes.process.signal(Signal::CONT).unwrap();
    controllers.process.signal(Signal::CONT).unwrap();
    clusters.kubectl(first, &["wait", node.trim_end(), "--for=condition=Ready", "--timeout=120s"]).text();

    // a node that is cordoned
    clusters.kubectl(first, &["cordon", node.trim_end()]).text();
    let nodes = rows(&asked.answer("get_nodes", json!({"clusters": [first]})));
    assert_eq!(nodes[0]["status"], "Ready,SchedulingDisabled");
    let table = clusters.kubectl(first, &["get", "nodes", "--no-headers"]).text();
    assert!(table.contains("Ready,SchedulingDisabled"), "{table}");

    // the second is killed: connections are refused
    clusters.set().signal_apiserver(second, Signal::KILL).unwrap();
    let (outcome, at, answer) = issues();
    assert_eq!((outcome, at), (Outcome::Partial, vec![first.to_owned(), third.to_owned()]));
    assert_eq!(of(&answer, second)["error"]["code"], "refused");
    assert_eq!((&answer["totals"]["ok"], &answer["totals"]["failed"]), (&json!(2), &json!(1)));
    let (word, server, value) = status(second);
    assert_eq!((word.as_str(), server.as_str()), ("Unhealthy", "Unreachable"), "{value}");
    assert_eq!(value["error"]["code"], "refused");

    // the third hangs
    clusters.set().signal_apiserver(third, Signal::STOP).unwrap();
    let (word, _, value) = status(third);
    assert_eq!(word, "Unhealthy", "{value}");
    let (outcome, at, answer) = issues();
    assert_eq!((outcome, at), (Outcome::Partial, vec![first.to_owned()]));
    assert_eq!(of(&answer, third)["error"]["code"], "timed_out", "{answer}");
    let audit = asked.call("audit_kubeconfig", json!({"timeout_seconds": 2})).answer.unwrap();
    assert_eq!((&audit["reachable"], &audit["unreachable"]), (&json!(1), &json!(2)));
    assert_eq!(audit.get("commands"), None, "what may come back is never removed");
    let listed = asked.answer("list_clusters", json!({}));
    assert_eq!(listed["clusters"].as_array().unwrap().len(), 3);
    clusters.set().signal_apiserver(third, Signal::CONT).unwrap();
    let (_, at, _) = issues();
    assert_eq!(at, [first.to_owned(), third.to_owned()], "it is back, and so is its answer");
    drop(spaces);
    clusters.stop();
}
