use crate::world::World;
use pintle_core::{Door, Outcome};
use pintle_testkit::kube::{Fault, Log, Objects};
use serde_json::{Value, json};

fn pod(name: &str, containers: Value, annotations: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": annotations}, "spec": {"containers": containers}})
}

fn value(answer: &Value) -> Value {
    answer["clusters"][0]["value"].clone()
}

#[tokio::test]
async fn kt_get_pod_logs_an_6_10_kw_48_every_byte_is_told_or_flagged() {
    let log = Log::new([b"one".as_slice(), b"t\xff\xfe\0wo", b"\x1b[31mthree\x1b[0m"]).previous(["before"]);
    let world =
        World::of(Objects::new().with(pod("p", json!([{"name": "app"}]), json!({}))).log("default", "p", "app", log))
            .await;
    let all = value(&world.answer("get_pod_logs", json!({"name": "p"})).await);
    assert_eq!((&all["text"], &all["lossy"]), (&json!("one\nt\u{fffd}\u{fffd}wo\nthree\n"), &json!(true)));
    let text = world.text("get_pod_logs", json!({"name": "p", "tail_lines": 1})).await;
    assert_eq!(text, "three\n");
    let previous = value(&world.answer("get_pod_logs", json!({"name": "p", "previous": "true"})).await);
    assert_eq!(previous["text"], "before\n");
    let cut = value(&world.answer("get_pod_logs", json!({"name": "p", "limit_bytes": 2})).await);
    assert_eq!((&cut["text"], &cut["cut"]), (&json!("on"), &json!(true)));
    let stamped = value(&world.answer("get_pod_logs", json!({"name": "p", "timestamps": true, "since": "1h"})).await);
    assert!(stamped["text"].as_str().unwrap().lines().all(|line| line.starts_with("20")), "{stamped}");
    assert!(world.clusters[0].requests().iter().any(|r| r.parameter("sinceSeconds").as_deref() == Some("3600")));
}

#[tokio::test]
async fn kt_get_pod_logs_chooses_the_usual_container_and_says_so() {
    let containers = json!([{"name": "side"}, {"name": "app"}]);
    let wish = json!({"kubectl.kubernetes.io/default-container": "app"});
    let objects = Objects::new()
        .with(pod("wish", containers.clone(), wish))
        .with(pod("none", containers, json!({})))
        .log("default", "wish", "app", Log::new(["from app"]))
        .log("default", "none", "side", Log::new(["from side"]));
    let world = World::of(objects).await;
    let told = value(&world.answer("get_pod_logs", json!({"name": "wish"})).await);
    assert_eq!(
        (&told["container"], &told["text"], &told["note"]),
        (&json!("app"), &json!("from app\n"), &json!("container app; there are also side"))
    );
    let told = value(&world.answer("get_pod_logs", json!({"name": "none"})).await);
    assert_eq!(told["text"], "from side\n");
    let failure =
        world.call("get_pod_logs", json!({"name": "none", "container": "x&previous=true"})).await.failure.unwrap();
    assert!(failure.message.contains("container x&previous=true is not valid"), "{failure:?}");
    let missing = world.call("get_pod_logs", json!({"name": "nobody"})).await.failure.unwrap();
    assert!(missing.message.contains("not found"), "{missing:?}");
    assert_eq!(world.call("get_pod_logs", json!({})).await.outcome, Outcome::Failed, "the pod must be named");
}

#[tokio::test]
async fn kt_get_pod_logs_kw_56_a_long_log_is_bounded_and_kept_whole() {
    let lines: Vec<String> = (0..5000).map(|index| format!("line {index:05} of a log that is long")).collect();
    let world = World::of(Objects::new().with(pod("p", json!([{"name": "app"}]), json!({}))).log(
        "default",
        "p",
        "app",
        Log::new(&lines),
    ))
    .await;
    let reply = world.call("get_pod_logs", json!({"name": "p", "tail_lines": 5000})).await;
    // The link to the whole stands below the cut text.
    assert!(reply.view.plain().len() <= 25_200 && reply.truncated, "{} {}", reply.view.plain().len(), reply.truncated);
    assert!(reply.parts.iter().any(|part| format!("{part:?}").contains("pintle://spill/")), "{:?}", reply.parts);
    let people = world.call_as(Door::People, "get_pod_logs", json!({"name": "p", "tail_lines": 5000})).await;
    assert_eq!(people.view.plain().lines().count(), 5000, "people see all of it");
}

#[tokio::test]
async fn kt_get_pod_logs_forbidden_is_the_servers_word() {
    let world = World::of(Objects::new().with(pod("p", json!([{"name": "app"}]), json!({})))).await;
    world.clusters[0].fault("*/log", Fault::Forbidden);
    let failure = world.call("get_pod_logs", json!({"name": "p"})).await.failure.unwrap();
    assert!(failure.message.contains("cannot get resource \"pods/log\""), "{failure:?}");
}
