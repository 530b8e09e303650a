use crate::world::{World, pod};
use pintle_core::Code;
use pintle_testkit::kube::Objects;
use serde_json::{Value, json};

fn custom(group: &str, name: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("{group}/v1"), "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

fn two_groups() -> Objects {
    Objects::new()
        .define("a.example.com", "Widget", "widgets", true, &[("Size", ".spec.size"), ("Token", ".spec.token")])
        .define("b.example.com", "Widget", "widgets", true, &[("Colour", ".spec.colour")])
        .with(custom("a.example.com", "one", json!({"size": 3, "token": "canary-77aa"})))
        .with(custom("b.example.com", "two", json!({"colour": "red"})))
        .with(pod("default", "p", json!({"running": {}})))
}

#[tokio::test]
async fn an_6_09_kw_61_kinds_of_two_groups_are_told_apart_and_discovery_costs_two_requests() {
    let world = World::of(two_groups()).await;
    let several = world.call("list_resources", json!({"kind": "widgets"})).await.failure.unwrap();
    assert!(several.message.contains("write widgets.a.example.com or widgets.b.example.com"), "{several:?}");
    let one = world.answer("list_resources", json!({"kind": "widgets.a.example.com"})).await;
    assert_eq!(
        (&one["counts"]["one"], &one["rows"][0]["name"], &one["rows"][0]["size"]),
        (&json!(1), &json!("one"), &json!(3))
    );
    assert!(!one.to_string().contains("canary"), "a column that says it is a secret is not shown");
    for word in ["Widget.b.example.com", "widgets.v1.b.example.com"] {
        let two = world.answer("list_resources", json!({"kind": word})).await;
        assert_eq!(two["rows"][0]["colour"], "red", "{word}");
    }
    for word in ["po", "pod", "pods", "Pod"] {
        let pods = world.answer("list_resources", json!({"kind": word, "namespace": "default"})).await;
        assert_eq!((&pods["kind"], &pods["rows"][0]["ready"]), (&json!("pods"), &json!("1/1")), "{word}");
    }
    let discoveries = world.clusters[0].requests().iter().filter(|r| r.path == "/api" || r.path == "/apis").count();
    assert_eq!(discoveries, 2);
    let unknown = world.call("list_resources", json!({"kind": "widgts"})).await.failure.unwrap();
    assert!(unknown.code == Code::NotFound && unknown.message.contains("did you mean"), "{unknown:?}");
}

#[tokio::test]
async fn list_resources_counts_and_projects() {
    let world = World::of(Objects::new().pods(60)).await;
    let counted = world.answer("list_resources", json!({"kind": "pods", "count": true})).await;
    assert_eq!((&counted["counts"]["one"], &counted["rows"]), (&json!(60), &json!([])));
    assert!(world.clusters[0].requests().last().unwrap().header("accept").unwrap().contains("PartialObjectMetadata"));
    let arguments = json!({"kind": "pods", "label_selector": "app.kubernetes.io/name=app-001",
        "fields": ["spec.nodeName", "spec.containers[*].name", "metadata.labels['tier']"]});
    let rows = world.answer("list_resources", arguments).await;
    let first = &rows["rows"][0];
    assert_eq!(
        (&first["spec.containers[*].name"], &first["metadata.labels['tier']"]),
        (&json!(["app", "proxy"]), &json!("backend"))
    );
    let text = world.text("list_resources", json!({"kind": "nodes"})).await;
    assert!(text.starts_with("20 nodes\nNAME     STATUS  VERSION  AGE\nnode-00  Ready   v1.37.2"), "{text}");
    let bad = world.call("list_resources", json!({"kind": "pods", "fields": ["a..b"]})).await.failure.unwrap();
    assert_eq!(bad.code, Code::InvalidArgument);
}

#[tokio::test]
async fn get_resource_shows_any_object_without_its_secrets() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "type": "Opaque", "data": {"password": "aHVudGVyMmh1bnRlcjI="}});
    let world = World::of(two_groups().with(secret)).await;
    let object = |answer: Value| answer["clusters"][0]["value"].clone();
    let widget = object(world.answer("get_resource", json!({"kind": "widgets.a.example.com", "name": "one"})).await);
    assert_eq!((&widget["kind"], &widget["spec"]["size"]), (&json!("Widget"), &json!(3)));
    assert!(!widget.to_string().contains("canary"));
    let secret =
        object(world.answer("get_resource", json!({"kind": "secret", "name": "db", "namespace": "default"})).await);
    assert!(secret["data"]["password"].as_str().unwrap().starts_with("‹secret, 14 bytes, hash "), "{secret}");
    let field = object(
        world
            .answer("get_resource", json!({"kind": "secret", "name": "db", "fields": ["data.password", "type"]}))
            .await,
    );
    assert!(field["type"] == "Opaque" && !field.to_string().contains("aHVudGVy"), "{field}");
    let missing = world.call("get_resource", json!({"kind": "cm", "name": "x"})).await.failure.unwrap();
    assert_eq!(missing.code, Code::NotFound);
}
