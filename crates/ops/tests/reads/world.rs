//! Fake clusters, a kubeconfig that leads to them, and a catalogue over it.

use pintle_core::{Caller, Door, Outcome, Reply, Toolset};
use pintle_dispatch::{Catalog, Policy, Request, Settings, StateFolder};
use pintle_fleet::FleetOptions;
use pintle_ops::Host;
use pintle_testkit::kube::{FakeCluster, Kubeconfig, Objects};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, time::Duration};
use tempfile::TempDir;

/// The moment at which all tests look.
pub const NOW: &str = "2026-01-02T00:00:00Z";

pub struct World {
    pub folder: TempDir,
    pub clusters: Vec<FakeCluster>,
    pub catalog: Catalog,
}

impl World {
    /// One context `one` over these objects.
    pub async fn of(objects: Objects) -> Self {
        let cluster = FakeCluster::start(objects).await.unwrap();
        let kubeconfig = cluster.kubeconfig(["one"]);
        Self::with(vec![cluster], &kubeconfig)
    }

    /// Clusters behind that kubeconfig.
    pub fn with(clusters: Vec<FakeCluster>, kubeconfig: &Kubeconfig) -> Self {
        Self::written(clusters, &kubeconfig.text(), Policy::default(), Vec::new())
    }

    /// The kubeconfig as text, policy, and toolsets beside ours.
    pub fn written(clusters: Vec<FakeCluster>, kubeconfig: &str, policy: Policy, more: Vec<Toolset>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        std::fs::write(&path, kubeconfig).unwrap();
        let options = FleetOptions {
            kubeconfig: Some(path),
            connect_deadline: Duration::from_millis(500),
            ..FleetOptions::default()
        };
        let host = Arc::new(Host::new(options).at(NOW.parse().unwrap()));
        let mut toolsets = vec![pintle_ops::toolset(Arc::clone(&host)), pintle_ops::extra(&host)];
        toolsets.extend(more);
        let state = Some(StateFolder::at(folder.path().join("state")));
        let catalog = Catalog::new(toolsets, Settings { policy, state, ..Settings::default() }).unwrap();
        Self { folder, clusters, catalog }
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.call_as(Door::Agents, tool, arguments).await
    }

    pub async fn call_as(&self, door: Door, tool: &str, arguments: Value) -> Reply {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let caller = Caller { door, principal: "test".to_owned() };
        self.catalog.call(Request::new(tool, arguments, caller)).await
    }

    /// What a call that must go well answers.
    pub async fn answer(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments).await;
        assert!(matches!(reply.outcome, Outcome::Ok | Outcome::Findings), "{tool}: {reply:?}");
        reply.answer.unwrap()
    }

    /// The text of a call as people read it.
    pub async fn text(&self, tool: &str, arguments: Value) -> String {
        self.call_as(Door::People, tool, arguments).await.view.plain()
    }
}

/// Everything that lies in files below a folder.
pub fn files(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.extend(std::fs::read(&path).unwrap_or_default()) }
    }
    all
}

/// A pod with one container in that state.
pub fn pod(namespace: &str, name: &str, state: Value) -> Value {
    let running = state.get("running").is_some();
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": name}, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"nodeName": "node-1", "containers": [{"name": "app", "image": "web:1"}]},
        "status": {"phase": "Running", "containerStatuses": [
            {"name": "app", "ready": running, "restartCount": 7, "state": state,
             "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-01-01T23:00:00Z"}}}]}
    })
}
