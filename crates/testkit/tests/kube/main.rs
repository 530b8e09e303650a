//! The fake Kubernetes API server, seen by the client that the product uses and by the types of the API.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod faults;
mod shapes;
mod watches;

use pintle_testkit::kube::{FakeCluster, Objects};
use serde_json::Value;

/// A plain GET: status and body.
async fn get(cluster: &FakeCluster, path: &str, accept: &str) -> (u16, Value) {
    let response = client().get(format!("{}{path}", cluster.url())).header("accept", accept).send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

fn client() -> reqwest::Client {
    // It is there already when another test of this process was first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

async fn start(objects: Objects) -> FakeCluster {
    FakeCluster::start(objects).await.unwrap()
}

/// The client of the product, as a kubeconfig makes it.
async fn kube(kubeconfig: &pintle_testkit::kube::Kubeconfig) -> kube::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let parsed: kube::config::Kubeconfig = serde_json::from_str(&kubeconfig.text()).unwrap();
    let mut config =
        kube::Config::from_custom_kubeconfig(parsed, &kube::config::KubeConfigOptions::default()).await.unwrap();
    config.proxy_url = None;
    kube::Client::try_from(config).unwrap()
}
