//! Names for whoever types one, and the objects that a resource template names.

use crate::world::{World, pod};
use pintle_core::{Caller, Code, Door, Reference};
use pintle_dispatch::{Policy, Request};
use pintle_testkit::kube::{FakeCluster, Mode, Objects};
use serde_json::{Map, Value, json};
use std::{path::Path, time::Duration};

const OBJECT: &str = "fleet://objects/{cluster}/{namespace}/{kind}/{name}";

fn request(door: Door) -> Request {
    Request::new("", Map::new(), Caller { door, principal: "test".to_owned() })
}

async fn complete(world: &World, reference: Reference, argument: &str, value: &str, others: Value) -> Vec<String> {
    let Value::Object(others) = others else { panic!("arguments are an object") };
    world.catalog.complete(&reference, argument, value, &others, &request(Door::People)).await
}

fn prompt() -> Reference {
    Reference::Prompt("k8s-issues".to_owned())
}

fn tool(name: &str) -> Reference {
    Reference::Tool(name.to_owned())
}

fn objects() -> Objects {
    let namespaces = ["shop", "shop-test", "other"];
    let objects = namespaces.into_iter().fold(Objects::new(), Objects::namespace);
    objects
        .define("a.example.com", "Widget", "widgets", true, &[])
        .define("b.example.com", "Widget", "widgets", true, &[])
        .with(pod("shop", "web-1", json!({"running": {}})))
        .with(pod("shop", "web-2", json!({"running": {}})))
        .with(pod("other", "web-3", json!({"running": {}})))
}

/// Two clusters, `here` being the current one.
async fn world(policy: &str) -> World {
    let here = FakeCluster::start(objects()).await.unwrap();
    let there = FakeCluster::start(Objects::new().namespace("elsewhere")).await.unwrap();
    let kubeconfig = here.kubeconfig(["here"]).and(there.kubeconfig(["there"]));
    let policy = Policy::parse(policy, Path::new("policy.toml")).unwrap();
    World::written(vec![here, there], &kubeconfig.text(), policy, Vec::new())
}

#[tokio::test]
async fn contexts_are_offered_and_nobody_is_asked() {
    let world = world("").await;
    for reference in [prompt(), tool("get_pods"), Reference::Resource(OBJECT.to_owned())] {
        assert_eq!(complete(&world, reference, "clusters", "t", json!({})).await, ["there"]);
    }
    assert_eq!(complete(&world, tool("get_pods"), "clusters", "", json!({})).await, ["here", "there"]);
    assert!(complete(&world, tool("box.build"), "clusters", "", json!({})).await.is_empty(), "no tool of ours");
    assert!(complete(&world, prompt(), "severity", "", json!({})).await.is_empty());
    assert!(world.clusters.iter().all(|cluster| cluster.requests().is_empty()));
}

#[tokio::test]
async fn namespaces_kinds_and_names_are_those_of_the_current_context_alone() {
    let world = world("").await;
    for reference in [prompt(), tool("get_pods"), Reference::Resource(OBJECT.to_owned())] {
        assert_eq!(complete(&world, reference, "namespace", "sh", json!({})).await, ["shop", "shop-test"]);
    }
    let kinds = complete(&world, tool("list_resources"), "kind", "", json!({})).await;
    for kind in ["pods", "deployments", "widgets.a.example.com", "widgets.b.example.com"] {
        assert!(kinds.iter().any(|known| known == kind), "{kind}: {kinds:?}");
    }
    assert!(!kinds.iter().any(|kind| kind == "widgets"), "a word that means two kinds is no name: {kinds:?}");
    let shop = json!({"namespace": "shop"});
    assert_eq!(complete(&world, tool("describe_pod"), "name", "web", shop.clone()).await, ["web-1", "web-2"]);
    assert!(complete(&world, tool("find_resource_owners"), "name", "", shop).await.is_empty());
    let object = json!({"kind": "pods", "namespace": "other", "cluster": "here"});
    assert_eq!(complete(&world, Reference::Resource(OBJECT.to_owned()), "name", "", object).await, ["web-3"]);
    assert_eq!(
        complete(&world, tool("get_resource"), "name", "sh", json!({"kind": "ns"})).await,
        ["shop", "shop-test"]
    );
    assert!(world.clusters[1].requests().is_empty(), "only the current context was asked");

    for clusters in [json!("there"), json!(["there"]), json!("nowhere")] {
        let others = json!({"clusters": clusters});
        assert!(complete(&world, prompt(), "namespace", "", others).await.is_empty(), "names of another cluster");
    }
    let both = json!({"clusters": ["*"]});
    assert_eq!(complete(&world, prompt(), "namespace", "o", both).await, ["other"]);
    assert!(world.clusters[1].requests().is_empty());
}

#[tokio::test]
async fn what_policy_denies_is_not_offered() {
    let world = world(
        "[[rule]]\ncluster = \"there\"\nallow = false\n[[rule]]\nnamespace = \"shop-*\"\nallow = false\n\
         [[rule]]\ntool = \"get_nodes\"\nallow = false\n",
    )
    .await;
    assert_eq!(complete(&world, prompt(), "clusters", "", json!({})).await, ["here"]);
    assert_eq!(complete(&world, prompt(), "namespace", "shop", json!({})).await, ["shop"]);
    let there = json!({"namespace": "shop-test"});
    assert!(complete(&world, tool("describe_pod"), "name", "", there).await.is_empty());
    assert!(complete(&world, tool("get_nodes"), "clusters", "", json!({})).await.is_empty(), "a tool that is denied");
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_offers_nothing_and_holds_nobody() {
    let cluster = FakeCluster::setup(Objects::new()).mode(Mode::BlackHole).start().await.unwrap();
    let kubeconfig = cluster.kubeconfig(["hole"]);
    let world = World::with(vec![cluster], &kubeconfig);
    let mut typing = request(Door::Agents);
    typing.deadline = Some(Duration::from_millis(300));
    assert!(world.catalog.complete(&prompt(), "namespace", "", &Map::new(), &typing).await.is_empty());
    typing.cancel.cancel();
    typing.deadline = Some(Duration::from_secs(3600));
    assert!(world.catalog.complete(&prompt(), "namespace", "", &Map::new(), &typing).await.is_empty());
}

#[tokio::test]
async fn an_object_of_a_cluster_is_a_resource() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"},
        "data": {"a": "Y2FuYXJ5LTNmZTkxYzc3YWE="}});
    let cluster = FakeCluster::start(objects().with(secret)).await.unwrap();
    let kubeconfig = cluster.kubeconfig(["arn:aws:eks:eu-west-1:1:cluster/a"]);
    let world = World::with(vec![cluster], &kubeconfig);
    assert_eq!(
        world.catalog.resource_templates().iter().filter(|known| known.template == OBJECT).count(),
        1,
        "it is a template"
    );
    let read = async |rest: &str| {
        let uri = format!("fleet://objects/{rest}");
        let contents = world.catalog.read(&uri, &request(Door::Agents)).await?;
        let value: Value = serde_json::from_str(contents[0].text.as_deref().unwrap()).unwrap();
        Ok::<_, pintle_core::Failure>(value)
    };
    let cluster = "arn:aws:eks:eu-west-1:1:cluster%2Fa";
    let pod = read(&format!("{cluster}/shop/pods/web-1")).await.unwrap();
    assert_eq!(pod["metadata"]["name"], "web-1");
    let node = read(&format!("{cluster}/-/namespaces/shop")).await.unwrap();
    assert_eq!(node["metadata"]["name"], "shop");
    let secret = read(&format!("{cluster}/shop/secrets/s")).await.unwrap();
    assert!(secret["data"]["a"].is_string() && !secret.to_string().contains("Y2FuYXJ5"), "{secret}");
    for (wrong, code) in [
        (format!("{cluster}/shop/pods"), Code::NotFound),
        (format!("{cluster}/shop/pods/none"), Code::NotFound),
        ("*/shop/pods/web-1/x".to_owned(), Code::NotFound),
        ("nowhere/shop/pods/web-1".to_owned(), Code::NotFound),
        (format!("{cluster}/..%2F../pods/web-1"), Code::InvalidArgument),
    ] {
        assert_eq!(read(&wrong).await.unwrap_err().code, code, "{wrong}");
    }
}
