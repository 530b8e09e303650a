use crate::{client, get, kube as connect, start};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams};
use pintle_testkit::kube::{FakeCluster, Fault, Mode, Objects};
use serde_json::{Value, json};
use std::{future::Future, time::Duration};

const JSON: &str = "application/json";

/// That it does not end; a short while is enough to see that nothing came.
async fn hangs<T>(future: impl Future<Output = T>) -> bool {
    tokio::time::timeout(Duration::from_millis(200), future).await.is_err()
}

#[tokio::test]
async fn statuses_are_those_of_the_real_server() {
    let cluster = start(Objects::new()).await;
    cluster.fault("/api/v1/pods", Fault::Forbidden);
    cluster.fault("/api/v1/namespaces/a/pods/p/log", Fault::Forbidden);
    cluster.fault("/version", Fault::Forbidden);
    cluster.fault("/api/v1/nodes", Fault::TooManyRequests(7));
    cluster.fault("/apis/**", Fault::Status(503, "ServiceUnavailable".into(), "away".into()));
    let message = |told: &Value| told["message"].as_str().unwrap().to_owned();
    let (status, told) = get(&cluster, "/api/v1/pods", JSON).await;
    assert_eq!((status, &told["details"]["kind"]), (403, &json!("pods")));
    assert_eq!(
        message(&told),
        "pods is forbidden: User \"fake-user\" cannot list resource \"pods\" in API group \"\" at the cluster scope"
    );
    let (_, told) = get(&cluster, "/api/v1/namespaces/a/pods/p/log", JSON).await;
    assert_eq!(
        message(&told),
        "pods \"p\" is forbidden: User \"fake-user\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"a\""
    );
    assert_eq!(
        message(&get(&cluster, "/version", JSON).await.1),
        "forbidden: User \"fake-user\" cannot get path \"/version\""
    );
    let response = client().get(format!("{}/api/v1/nodes", cluster.url())).send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(get(&cluster, "/apis/apps/v1/deployments", JSON).await.0, 503);
    cluster.heal();
    assert_eq!(get(&cluster, "/api/v1/pods", JSON).await.0, 200);
}

#[tokio::test]
async fn a_list_may_be_gone_in_the_middle() {
    let cluster = start(Objects::new().pods(30)).await;
    let client = connect(&cluster.kubeconfig(["a"])).await;
    let pods = Api::<Pod>::all(client);
    let first = pods.list(&ListParams::default().limit(10)).await.unwrap();
    let next = ListParams::default().limit(10).continue_token(&first.metadata.continue_.unwrap());
    cluster.fault("/api/v1/pods", Fault::Gone.when("continue").times(1));
    assert!(matches!(pods.list(&next).await, Err(kube::Error::Api(status)) if status.code == 410));
    assert_eq!(pods.list(&next).await.unwrap().items.len(), 10, "only once");
    cluster.compact();
    assert!(matches!(pods.list(&next).await, Err(kube::Error::Api(status)) if status.reason == "Expired"));
}

#[tokio::test]
async fn bodies_suffer_as_planned() {
    let cluster = start(Objects::new().pods(20)).await;
    let whole = client().get(format!("{}/api/v1/pods", cluster.url())).send().await.unwrap().bytes().await.unwrap();
    let body = |path: &str| {
        let url = format!("{}{path}", cluster.url());
        async move { client().get(url).send().await.unwrap().bytes().await }
    };
    cluster.fault("/api/v1/pods", Fault::Cut(1000).times(1));
    assert!(body("/api/v1/pods").await.is_err());
    cluster.fault("/api/v1/pods", Fault::Stall(1000).times(1));
    assert!(hangs(body("/api/v1/pods")).await);
    cluster.fault("/api/v1/pods", Fault::Drip(20_000, Duration::from_millis(1)).times(1));
    assert_eq!(body("/api/v1/pods").await.unwrap(), whole);
    cluster.fault("/api/v1/pods", Fault::BrokenJson.times(1));
    assert!(serde_json::from_slice::<Value>(&body("/api/v1/pods").await.unwrap()).is_err());
    cluster.fault("/api/v1/pods", Fault::Slow(Duration::from_millis(1)).times(1));
    assert_eq!(body("/api/v1/pods").await.unwrap(), whole);
    cluster.fault("/api/v1/pods", Fault::Body(200, "text/html".into(), "<html>".into()).times(1));
    assert_eq!(body("/api/v1/pods").await.unwrap(), "<html>");
    cluster.fault("/api/v1/pods", Fault::Hang.times(1));
    assert!(hangs(body("/api/v1/pods")).await);
    assert_eq!(body("/api/v1/pods").await.unwrap(), whole);
}

#[tokio::test]
async fn dead_servers_are_dead_each_in_its_way() {
    let modes = [Mode::BlackHole, Mode::HalfClosed, Mode::Reset, Mode::Gone];
    for mode in modes {
        let cluster = FakeCluster::setup(Objects::new()).mode(mode).start().await.unwrap();
        let request = client().get(format!("{}/version", cluster.url())).send();
        if mode == Mode::BlackHole {
            assert!(hangs(request).await);
        } else {
            let error = request.await.unwrap_err();
            assert_eq!(error.is_connect(), mode == Mode::Gone, "{mode:?}: {error:?}");
        }
        assert!(cluster.requests().is_empty());
    }
    let cluster = start(Objects::new()).await;
    let keeping = client();
    let asked = || keeping.get(format!("{}/version", cluster.url())).send();
    assert!(asked().await.is_ok());
    cluster.mode(Mode::BlackHole);
    assert!(hangs(asked()).await, "on the connection that is there");
    cluster.mode(Mode::Gone);
    assert!(asked().await.unwrap_err().is_connect());
}

#[tokio::test]
async fn writes_are_refused_and_on_record() {
    let cluster = start(Objects::new()).await;
    let url = format!("{}/api/v1/namespaces/default/configmaps/x", cluster.url());
    let response = client().patch(url).body("{}").send().await.unwrap();
    assert_eq!(response.status().as_u16(), 405);
    let url = format!("{}/api/v1/namespaces/default/pods/p/exec?command=id", cluster.url());
    client().get(url).send().await.unwrap();
    let reads: Vec<bool> = cluster.requests().iter().map(|request| request.reads()).collect();
    assert_eq!(reads, [false, false]);
    let recorded = &cluster.requests()[1];
    assert_eq!((recorded.method.as_str(), recorded.parameter("command").as_deref()), ("GET", Some("id")));
}
