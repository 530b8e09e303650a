use crate::world::{World, pod};
use pintle_core::Code;
use pintle_testkit::kube::{Fault, Objects};
use serde_json::json;

#[tokio::test]
async fn kt_describe_pod_tells_why_in_one_answer() {
    let mut one = pod("shop", "web-1", json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}));
    one["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": true}]);
    one["metadata"]["uid"] = json!("uid-1");
    one["spec"]["serviceAccountName"] = json!("web");
    one["spec"]["initContainers"] =
        json!([{"name": "setup", "image": "setup:1"}, {"name": "mesh", "image": "mesh:1", "restartPolicy": "Always"}]);
    one["spec"]["containers"][0]["env"] = json!([{"name": "PASSWORD", "value": "hunter2hunter2"},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "db", "key": "k"}}}]);
    one["spec"]["containers"][0]["resources"] = json!({"limits": {"memory": "512Mi"}});
    one["spec"]["volumes"] =
        json!([{"name": "cfg", "configMap": {"name": "web-cfg"}}, {"name": "tmp", "emptyDir": {}}]);
    let event = |name: &str, uid: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "shop"},
        "type": "Warning", "reason": "BackOff", "message": "hunter2hunter2 restarting", "count": 4, "lastTimestamp": "2026-01-01T23:00:00Z",
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1", "uid": uid}})
    };
    let objects =
        Objects::new().namespace("shop").with(one).with(event("mine", "uid-1")).with(event("former", "uid-0"));
    let world = World::of(objects).await;
    let arguments = json!({"name": "web-1", "namespace": "shop"});
    let answer = world.answer("describe_pod", arguments.clone()).await;
    let told = &answer["clusters"][0]["value"];
    assert_eq!((&told["status"], &told["owners"]), (&json!("CrashLoopBackOff"), &json!(["ReplicaSet/web"])));
    let app = told["containers"].as_array().unwrap().iter().find(|container| container["name"] == "app").unwrap();
    assert_eq!(app["state"], "CrashLoopBackOff: back-off");
    assert!(
        app["last"].as_str().unwrap().contains("OOMKilled at 2026-01-01T23:00:00Z, exit code 137 (killed by SIGKILL"),
        "{app}"
    );
    assert_eq!(app["env"], json!(["PASSWORD from literal", "KEY from secret db key k"]));
    let roles: Vec<_> = told["containers"].as_array().unwrap().iter().map(|c| c["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["init", "sidecar", "main"]);
    assert_eq!(
        told["volumes"],
        json!([{"name": "cfg", "source": "configMap web-cfg"}, {"name": "tmp", "source": "emptyDir"}])
    );
    assert_eq!(
        told["events"].as_array().unwrap().len(),
        1,
        "events of the pod that had this name before are not its own"
    );
    assert!(!answer.to_string().contains("hunter2"), "and a copy of the secret elsewhere is masked");
    let text = world.text("describe_pod", arguments).await;
    assert!(text.starts_with("Pod shop/web-1: CrashLoopBackOff, 0/2 ready, 7 restarts, age 24h\n"), "{text}");
    assert!(!text.contains("hunter2"));
}

#[tokio::test]
async fn kt_describe_pod_that_is_not_there_or_half_readable() {
    let world = World::of(Objects::new().with(pod("default", "p", json!({"running": {}})))).await;
    let missing = world.call("describe_pod", json!({"name": "q"})).await.failure.unwrap();
    assert_eq!(missing.code, Code::NotFound);
    let nowhere = world.call("describe_pod", json!({"name": "q", "namespace": "nowhere"})).await.failure.unwrap();
    assert!(nowhere.message.contains("namespace `nowhere` does not exist"), "{nowhere:?}");
    world.clusters[0].fault("*/events", Fault::Forbidden);
    let answer = world.answer("describe_pod", json!({"name": "p"})).await;
    assert!(answer["clusters"][0]["value"]["notes"][0].as_str().unwrap().starts_with("events could not be read"));
}
