//! A secret that is planted wherever secrets can lie leaves by no way.

use crate::world::{World, files};
use pintle_core::{
    BoxFuture, Call, Confirm, Digest, Door, Effect, Gate, Output, Reply, Spec, Stop, Tool, Toolset, View,
};
use pintle_dispatch::Policy;
use pintle_testkit::kube::{FakeCluster, Fault, Objects};
use serde_json::{Value, json};
use std::sync::Arc;

const CANARY: &str = "canary-3fe91c77aa";
const ENCODED: &str = "Y2FuYXJ5LTNmZTkxYzc3YWE=";

fn planted() -> Objects {
    let applied = json!({"kubectl.kubernetes.io/last-applied-configuration":
        format!("{{\"kind\":\"Secret\",\"data\":{{\"a\":\"{ENCODED}\"}},\"stringData\":{{\"b\":\"{CANARY}\"}}}}")});
    let container = json!({"name": "app", "image": "web:1", "args": [format!("--token={CANARY}")],
        "env": [{"name": "PLAIN", "value": CANARY}, {"name": "DB_PASSWORD", "value": CANARY}]});
    Objects::new()
        .with(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "annotations": applied},
            "data": {"a": ENCODED}, "stringData": {"b": CANARY}}))
        .with(json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
            "metadata": {"name": "sh.helm.release.v1.web.v1", "labels": {"owner": "helm"}}, "data": {"release": ENCODED}}))
        .with(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"db-password": CANARY}}))
        .with(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": applied},
            "spec": {"containers": [container]}, "status": {"phase": "Running"}}))
        .with(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "annotations": applied},
            "spec": {"template": {"spec": {"containers": [container]}}}}))
}

/// Every call that might show one of the planted objects.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls: Vec<(&'static str, Value)> = vec![
        ("describe_pod", json!({"name": "p"})),
        ("get_pod_logs", json!({"name": "p"})),
        ("analyze_namespace", json!({"namespace": "default"})),
        ("find_resource_owners", json!({"namespace": "default"})),
    ];
    let plain = [
        "list_clusters",
        "get_cluster_health",
        "audit_kubeconfig",
        "get_pods",
        "get_deployments",
        "get_services",
        "get_nodes",
        "get_events",
        "get_warning_events",
        "find_pod_issues",
        "find_deployment_issues",
        "check_resource_limits",
        "check_security_issues",
    ];
    calls.extend(plain.map(|tool| (tool, json!({}))));
    for (kind, name) in [
        ("secret", "s"),
        ("secret", "sh.helm.release.v1.web.v1"),
        ("configmap", "c"),
        ("pod", "p"),
        ("deployment", "d"),
    ] {
        calls.push(("get_resource", json!({"kind": kind, "name": name})));
        calls.push(("list_resources", json!({"kind": kind})));
        let fields = json!(["data", "stringData", "spec", "metadata.annotations"]);
        calls.push(("list_resources", json!({"kind": kind, "fields": fields})));
    }
    calls
}

fn leaks(reply: &Reply) -> bool {
    let all = format!("{reply:?} {}", reply.view.plain());
    all.contains(CANARY) || all.contains(ENCODED)
}

#[tokio::test]
async fn an_6_13_a_planted_secret_leaves_by_no_way() {
    let cluster = FakeCluster::setup(planted()).token(CANARY).start().await.unwrap();
    let kubeconfig = cluster.kubeconfig(["one"]).text();
    let world = World::written(vec![cluster], &kubeconfig, Policy::default(), Vec::new());
    for (tool, arguments) in calls() {
        for door in [Door::Agents, Door::People] {
            let reply = world.call_as(door, tool, arguments.clone()).await;
            assert!(!leaks(&reply), "{tool} {arguments}: {reply:?}");
        }
    }
    let requests = world.clusters[0].requests();
    for kind in ["secrets/s", "secrets/sh.helm.release.v1.web.v1", "configmaps/c", "pods/p", "deployments/d"] {
        assert!(requests.iter().any(|request| request.path.ends_with(kind)), "{kind} was served");
    }
    assert!(requests.iter().all(|request| request.header("authorization").is_some_and(|value| value.contains(CANARY))));
    // Errors that repeat a credential, too.
    world.clusters[0].fault("*", Fault::Status(400, "BadRequest".into(), format!("no {CANARY} {ENCODED}")));
    for (tool, arguments) in calls() {
        assert!(!leaks(&world.call(tool, arguments).await), "{tool}");
    }
    let state = files(&world.folder.path().join("state"));
    let state = String::from_utf8_lossy(&state);
    assert!(state.contains("get_resource"), "the audit is there");
    assert!(!state.contains(CANARY) && !state.contains(ENCODED), "and nothing of it in state, audit or spill");
}

/// A tool that gives back what it should not.
struct Echo(Spec);

impl Tool for Echo {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn call<'a>(&'a self, _: Value, gate: &'a dyn Gate, _: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            let seen = Digest::of("");
            gate.admit(pintle_core::Ask::read(&seen)).await?;
            Ok(Output { view: View::text(CANARY), ..Output::default() })
        })
    }
}

#[tokio::test]
async fn the_canary_catches_a_tool_that_echoes_it() {
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let toolset = Toolset {
        name: "trial",
        server_name: "trial",
        summary: "",
        instructions: "",
        confirm: Confirm::Nothing,
        tools: vec![Arc::new(Echo(Spec::new("echo", "echoes", input, Effect::READ)))],
        resources: None,
        prompts: Vec::new(),
        completions: None,
    };
    let world = World::written(Vec::new(), "", Policy::default(), vec![toolset]);
    assert!(leaks(&world.call("echo", json!({})).await));
}
