//! What nodes are asked for, as `check_resource_limits` tells it.

use crate::world::World;
use pintle_core::Outcome;
use pintle_testkit::kube::{Fault, Objects};
use serde_json::{Value, json};

fn node(name: &str, cpu: &str, unschedulable: bool) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"unschedulable": unschedulable},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}})
}

fn pod(name: &str, node: Option<&str>, cpu: &str) -> Value {
    let resources = json!({"requests": {"cpu": cpu, "memory": "1Gi"}, "limits": {"cpu": cpu, "memory": "1Gi"}});
    let owner = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "1", "controller": true}]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": name, "ownerReferences": owner},
        "spec": {"nodeName": node, "containers": [{"name": "app", "image": "db:1", "resources": resources}]},
        "status": {"phase": if node.is_some() { "Running" } else { "Pending" }}})
}

fn objects() -> Objects {
    Objects::new()
        .namespace("shop")
        .with(node("calm", "8", false))
        .with(node("overfull", "4", false))
        .with(node("resting", "2", true))
        .with(pod("db-0", Some("calm"), "1"))
        .with(pod("db-1", Some("overfull"), "3"))
        .with(pod("db-2", Some("overfull"), "2"))
        .with(pod("db-3", None, "16"))
        .with(pod("db-4", Some("resting"), "1900m"))
}

#[tokio::test]
async fn kt_check_resource_limits_an_2_3_nodes_are_judged_with_one_request_when_all_namespaces_are_looked_at() {
    let world = World::of(objects()).await;
    let answer = world.answer("check_resource_limits", json!({})).await;
    let rows: Vec<_> = answer["rows"].as_array().unwrap().iter().map(|r| [&r["id"], &r["owner"]["name"]]).collect();
    assert_eq!(
        json!(rows),
        json!([
            ["resources/node-overcommitted", "overfull"],
            ["resources/fits-nowhere", "db"],
            ["resources/node-full", "resting"]
        ])
    );
    assert_eq!(answer["rows"][1]["examples"], json!(["db-3"]));
    assert!(answer["rows"][2]["message"].as_str().unwrap().ends_with("; it is unschedulable"));
    assert_eq!(answer["counts"]["looked_at"], json!({"nodes": 3, "pods": 5}));
    let fullest = &answer["counts"]["fullest_nodes"];
    assert_eq!([0, 1, 2].map(|n| &fullest[n]["node"]), ["overfull", "resting", "calm"]);
    assert_eq!(
        fullest[0]["requested"],
        json!({"cpu": "5 of 4 (125 %)", "memory": "2Gi of 8Gi (25 %)", "pods": "2 of 110 (1 %)"})
    );
    let paths = world.clusters[0].take_requests().into_iter().map(|request| request.path);
    assert_eq!(paths.filter(|path| path.contains("/nodes")).count(), 1);

    let text = world.text("check_resource_limits", json!({})).await;
    assert!(text.contains("one/resting (unschedulable): cpu 1900m of 2 (95 %), memory 1Gi of 8Gi (12 %)"), "{text}");
}

#[tokio::test]
async fn kt_check_resource_limits_an_2_3_nodes_are_left_alone_for_one_namespace_and_noted_when_forbidden() {
    let world = World::of(objects()).await;
    let reply = world.call("check_resource_limits", json!({"namespace": "shop"})).await;
    let answer = reply.answer.unwrap();
    assert_eq!((reply.outcome, &answer["counts"]["looked_at"]), (Outcome::Ok, &json!({"pods": 5})));
    assert!(world.clusters[0].take_requests().iter().all(|request| !request.path.contains("/nodes")));

    world.clusters[0].fault("*/nodes", Fault::Forbidden);
    let answer = world.answer("check_resource_limits", json!({})).await;
    assert_eq!((&answer["rows"], &answer["clusters"][0]["outcome"]), (&json!([]), &json!("ok")));
    let note = answer["clusters"][0]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("nodes could not be read (forbidden)"), "{note}");
}
