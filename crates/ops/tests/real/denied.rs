//! A user who may do nothing, or little: what is forbidden is said, and never taken for emptiness.

use pintle_core::Outcome;
use pintle_testkit::cluster::shared;
use serde_json::{Value, json};

use crate::asked::{Asked, text};

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry.example/web:1'}]
";

/// Reads that ask for nothing but one namespace or pod.
const READS: [&str; 14] = [
    "get_pods",
    "get_deployments",
    "get_services",
    "get_nodes",
    "get_events",
    "get_warning_events",
    "describe_pod",
    "get_pod_logs",
    "find_pod_issues",
    "find_deployment_issues",
    "check_resource_limits",
    "check_security_issues",
    "analyze_namespace",
    "find_resource_owners",
];

fn arguments(tool: &str, context: &str, namespace: &str, pod: &str) -> Value {
    let mut arguments = json!({"clusters": [context]});
    if tool != "get_nodes" {
        arguments["namespace"] = json!(namespace);
    }
    if matches!(tool, "describe_pod" | "get_pod_logs") {
        arguments["name"] = json!(pod);
    }
    if tool == "find_resource_owners" {
        arguments["resource_type"] = json!("pods");
    }
    arguments
}

#[test]
fn kw_16_kt_analyze_namespace_kt_find_resource_owners_forbidden_is_said_by_every_read() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "forbidden");
    namespace.apply(WEB);
    let pod = namespace.pods("app=web", "Running", 2).remove(0);
    let admin = Asked::of(clusters.kubeconfig());
    let alice = Asked::of(clusters.limited_kubeconfig());
    for tool in READS {
        let arguments = arguments(tool, context, namespace.name(), &pod);
        // the control: there is something to see
        let seen = admin.call(tool, arguments.clone());
        assert!(matches!(seen.outcome, Outcome::Ok | Outcome::Findings), "{tool}: {seen:?}");
        let reply = alice.call(tool, arguments);
        if tool == "analyze_namespace" {
            let answer = reply.answer.unwrap();
            let value = &answer["clusters"][0]["value"];
            for part in [
                "pods",
                "deployments",
                "services",
                "config_maps",
                "secrets",
                "persistent_volume_claims",
                "resource_quotas",
                "limit_ranges",
                "warning_events",
                "ingresses",
            ] {
                let part = &value[part];
                assert_eq!((&part["unread"]["code"], part.get("total")), (&json!("forbidden"), None), "{value}");
            }
            continue;
        }
        assert_eq!(reply.outcome, Outcome::Failed, "{tool}");
        let failure = reply.failure.unwrap();
        assert!(failure.message.contains("forbidden"), "{tool}: {failure:?}");
    }
    let health = alice.answer("get_cluster_health", json!({"clusters": [context]}));
    let value = &health["clusters"][0]["value"];
    assert_eq!((&value["status"], value.get("nodes_total")), (&json!("Degraded"), None), "{value}");
    assert!(value["reasons"].to_string().contains("forbidden"), "{value}");
    let audit = alice.answer("audit_kubeconfig", json!({}));
    assert_eq!(audit["unreachable"], 0, "it answers, if only to refuse");
    let listed = alice.answer("list_clusters", json!({}));
    assert_eq!(listed["clusters"].as_array().unwrap().len(), clusters.contexts().len());
}

#[test]
fn kt_find_pod_issues_kt_check_resource_limits_kt_check_security_issues_what_cannot_be_read_beside_pods_is_noted() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "partly");
    namespace.apply(WEB);
    let pod = namespace.pods("app=web", "Running", 2).remove(0);
    namespace.make_wait(&pod, "web", "CrashLoopBackOff", 7);
    namespace.apply(
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: sees-pods}
rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: alice-sees-pods}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: sees-pods}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
",
    );
    let alice = Asked::of(clusters.limited_kubeconfig());
    // roles take a moment to be known to the server
    let mut tries = 0;
    let may = ["auth", "can-i", "list", "pods", "--as=alice", "--namespace", namespace.name()];
    while !clusters.kubectl(context, &may).good {
        tries += 1;
        assert!(tries < 50, "the role is not known");
    }
    for (tool, unread) in [
        ("get_pods", vec![]),
        ("find_pod_issues", vec!["jobs", "events"]),
        ("check_resource_limits", vec!["limitranges"]),
        ("check_security_issues", vec!["deployments", "namespaces"]),
        ("describe_pod", vec!["events"]),
    ] {
        let answer = alice.answer(tool, arguments(tool, context, namespace.name(), &pod));
        let section = &answer["clusters"][0];
        let notes = if tool == "describe_pod" { &section["value"]["notes"] } else { &section["notes"] };
        for word in unread {
            let is_told = notes
                .as_array()
                .into_iter()
                .flatten()
                .any(|note| text(note).starts_with(word) && text(note).contains("forbidden"));
            assert!(is_told, "{tool}: nothing of {word} in {notes}");
        }
        assert_eq!(section["outcome"], "ok");
    }
    let report = alice.value("analyze_namespace", arguments("analyze_namespace", context, namespace.name(), &pod));
    assert_eq!((&report["pods"]["total"], &report["pods"]["crashing"]), (&json!(2), &json!(1)));
    assert_eq!(report["secrets"]["unread"]["code"], "forbidden");
    let away = alice.call("get_pods", json!({"clusters": [context]})).failure.unwrap();
    assert!(away.message.contains("forbidden"), "all namespaces stay forbidden: {away:?}");
}
