use crate::{kube as connect, start};
use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ListParams, WatchEvent, WatchParams};
use pintle_testkit::kube::Objects;
use serde_json::{Value, json};

fn map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"app": name}}, "data": {"k": value}})
}

fn told(event: &WatchEvent<ConfigMap>) -> String {
    let name = |map: &ConfigMap| map.metadata.name.clone().unwrap_or_default();
    match event {
        WatchEvent::Added(map) => format!("+{}", name(map)),
        WatchEvent::Modified(map) => format!("~{}", name(map)),
        WatchEvent::Deleted(map) => format!("-{}", name(map)),
        WatchEvent::Bookmark(_) => "bookmark".to_owned(),
        WatchEvent::Error(status) => format!("{}", status.code),
    }
}

#[tokio::test]
async fn watches_hear_of_changes_that_fit() {
    let cluster = start(Objects::new().with(map("a", "1")).with(map("b", "1"))).await;
    let client = connect(&cluster.kubeconfig(["x"])).await;
    let maps = Api::<ConfigMap>::namespaced(client, "default");
    let from = maps.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let everything = maps.watch(&WatchParams::default(), &from).await.unwrap().boxed();
    let only_a = maps.watch(&WatchParams::default().labels("app=a"), "0").await.unwrap().boxed();
    cluster.apply(map("a", "2"));
    cluster.apply(map("c", "1"));
    cluster.remove("configmaps", "default", "b");
    cluster.remove("configmaps", "default", "a");
    let heard: Vec<_> = everything.take(4).map_ok(|event| told(&event)).try_collect().await.unwrap();
    assert_eq!(heard, ["~a", "+c", "-b", "-a"]);
    let heard: Vec<_> = only_a.take(3).map_ok(|event| told(&event)).try_collect().await.unwrap();
    assert_eq!(heard, ["+a", "~a", "-a"]);
    cluster.compact();
    let mut late = maps.watch(&WatchParams::default(), &from).await.unwrap().boxed();
    match late.next().await.unwrap() {
        Ok(event) => assert_eq!(told(&event), "410"),
        Err(kube::Error::Api(status)) => assert_eq!(status.code, 410),
        Err(other) => panic!("{other}"),
    }
    assert!(late.next().await.is_none());
}
