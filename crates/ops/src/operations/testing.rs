//! Fake clusters and a catalogue over them, for the tests of single operations.

use super::*;
use crate::Host;
use jiff::Timestamp;
use pintle_core::{Caller, Confirm, Door, Reply, Toolset, query};
use pintle_dispatch::{Catalog, Request, Settings};
use pintle_fleet::FleetOptions;
use pintle_testkit::kube::{FakeCluster, Objects};
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

/// The moment at which all tests look.
pub(super) const NOW: &str = "2026-11-30T12:00:00Z";

/// A cluster and everything that leads to it.
pub(super) struct World {
    _folder: TempDir,
    pub(super) cluster: FakeCluster,
    catalog: Catalog,
}

impl World {
    /// With one context `fake` over a cluster that holds these objects.
    pub(super) async fn of(objects: Objects) -> Self {
        Self::and_dead(objects, &[]).await
    }

    /// And with contexts that lead nowhere.
    pub(super) async fn and_dead(objects: Objects, dead: &[&str]) -> Self {
        let cluster = FakeCluster::start(objects).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        let mut kubeconfig = cluster.kubeconfig(["fake"]);
        for name in dead {
            let gone = FakeCluster::start(Objects::new()).await.unwrap();
            kubeconfig = kubeconfig.and(gone.kubeconfig([*name]));
            gone.mode(pintle_testkit::kube::Mode::Gone);
        }
        kubeconfig.write(&path).unwrap();
        let options = FleetOptions { kubeconfig: Some(path), ..FleetOptions::default() };
        let host = Arc::new(Host::new(options).at(NOW.parse().unwrap()));
        let catalog = Catalog::new(vec![toolset(&host)], Settings::default()).unwrap();
        Self { _folder: folder, cluster, catalog }
    }

    /// Calls a tool as a person does, without a bound.
    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.call_as(Door::People, tool, arguments).await
    }

    pub(super) async fn call_as(&self, door: Door, tool: &str, arguments: Value) -> Reply {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let caller = Caller { door, principal: "test".to_owned() };
        self.catalog.call(Request::new(tool, arguments, caller)).await
    }
}

fn toolset(host: &Arc<Host>) -> Toolset {
    Toolset {
        name: "ops",
        server_name: "kubestellar-ops",
        summary: "",
        instructions: "",
        confirm: Confirm::Plan,
        tools: vec![
            query::<analyze_namespace::AnalyzeNamespace>(host),
            query::<check_resource_limits::CheckResourceLimits>(host),
            query::<check_security_issues::CheckSecurityIssues>(host),
            query::<find_deployment_issues::FindDeploymentIssues>(host),
            query::<find_pod_issues::FindPodIssues>(host),
            query::<find_resource_owners::FindResourceOwners>(host),
        ],
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}

/// The rows of an answer.
pub(super) fn rows(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["rows"].as_array().unwrap().iter()
}

/// Name of a row's owner.
pub(super) fn name(row: &Value) -> &str {
    row["owner"]["name"].as_str().unwrap()
}

/// `seconds` before [`NOW`].
pub(super) fn ago(seconds: i64) -> String {
    let now: Timestamp = NOW.parse().unwrap();
    Timestamp::from_second(now.as_second() - seconds).unwrap().to_string()
}

/// A pod in namespace `shop` on a node, an hour old.
pub(super) fn pod(name: &str, status: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "creationTimestamp": ago(3_600)},
        "spec": {"nodeName": "node-1", "containers": [{"name": "app", "image": "app:1"}]},
        "status": status,
    })
}

/// The status of a pod whose container waits for that reason.
pub(super) fn waiting(reason: &str) -> Value {
    json!({"phase": "Running", "startTime": ago(3_600), "containerStatuses": [{"name": "app", "image": "", "imageID": "",
        "ready": false, "restartCount": 9, "state": {"waiting": {"reason": reason}}}]})
}
