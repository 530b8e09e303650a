//! A namespace for one test, and objects in states that only broken machines have.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Clusters;

/// A fake node runs a pod in moments; past this something is wrong, and the test fails.
const LIMIT: Duration = Duration::from_secs(120);

/// A namespace of one cluster, deleted when the value goes. Objects outside namespaces are the test's own to delete.
#[derive(Debug)]
pub struct Namespace<'a> {
    clusters: &'a Clusters,
    context: String,
    name: String,
}

impl<'a> Namespace<'a> {
    pub(super) fn new(clusters: &'a Clusters, context: &str, word: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{word}-{}-{count}", std::process::id());
        let made = Self { clusters, context: context.to_owned(), name };
        clusters.kubectl(context, &["create", "namespace", &made.name]).text();
        // pods are refused before their service account is there
        made.kubectl(&["wait", "--for=create", "serviceaccount/default", "--timeout=60s"]);
        made
    }

    /// Its name, which no other test has.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The context of its cluster.
    pub fn context(&self) -> &str {
        &self.context
    }

    /// What kubectl says in this namespace.
    ///
    /// # Panics
    /// It fails.
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        self.clusters.kubectl(&self.context, &self.here(arguments)).text()
    }

    /// One object or list, as kubectl gets it with `-o json`.
    ///
    /// # Panics
    /// kubectl fails.
    pub fn get(&self, arguments: &[&str]) -> Value {
        let arguments = [&["get", "-o", "json"], arguments].concat();
        self.clusters.kubectl(&self.context, &self.here(&arguments)).json()
    }

    /// Applies YAML documents.
    ///
    /// # Panics
    /// The cluster refuses one.
    pub fn apply(&self, yaml: &str) {
        self.clusters.kubectl_fed(&self.context, &self.here(&["apply", "-f", "-"]), yaml).text();
    }

    /// Waits until that many pods match the selector and each is in the phase, and gives their names in order.
    ///
    /// # Panics
    /// They do not get there in time.
    pub fn pods(&self, selector: &str, phase: &str, count: usize) -> Vec<String> {
        let end = Instant::now() + LIMIT;
        loop {
            let list = self.get(&["pods", "-l", selector]);
            let pods = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
            if pods.len() == count && pods.iter().all(|pod| pod["status"]["phase"] == phase) {
                let names = pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str());
                let mut names: Vec<String> = names.map(str::to_owned).collect();
                names.sort();
                return names;
            }
            assert!(
                Instant::now() < end,
                "not {count} pods {phase} with {selector}: {}",
                self.kubectl(&["get", "pods,events"])
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Merges into the status of an object, as a kubelet or a controller would. A list is replaced as a whole.
    ///
    /// # Panics
    /// The cluster refuses it.
    pub fn patch_status(&self, object: &str, status: &Value) {
        let patch = json!({ "status": status }).to_string();
        self.kubectl(&["patch", object, "--subresource=status", "--type=merge", "-p", &patch]);
    }

    /// Makes a container of a running pod wait for a reason (`CrashLoopBackOff`, `ImagePullBackOff`, …) after so many
    /// restarts, the last of which ended with exit code 1. The pod stays so.
    ///
    /// # Panics
    /// The pod has no status for such a container yet.
    pub fn make_wait(&self, pod: &str, container: &str, reason: &str, restarts: u32) {
        let mut waits = json!({
            "ready": false,
            "started": false,
            "restartCount": restarts,
            "state": {"waiting": {"reason": reason, "message": format!("{reason}: made so by a test")}},
        });
        if restarts > 0 {
            waits["lastState"] = json!({"terminated": {
                "exitCode": 1,
                "reason": "Error",
                "startedAt": "2026-01-01T00:00:00Z",
                "finishedAt": "2026-01-01T00:00:01Z",
            }});
        }
        self.alter_container(pod, container, &waits);
    }

    /// Replaces fields of one container's status and says that the pod is not ready.
    ///
    /// # Panics
    /// The pod has no status for such a container yet.
    pub fn alter_container(&self, pod: &str, container: &str, fields: &Value) {
        let mut status = self.get(&["pod", pod])["status"].take();
        let mut found = false;
        for list in ["containerStatuses", "initContainerStatuses"] {
            // not by index, which would put a null where the list is missing
            let entries = status.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
            for entry in entries.filter(|entry| entry["name"] == container) {
                found = true;
                for (key, value) in fields.as_object().into_iter().flatten() {
                    entry[key] = value.clone();
                }
            }
        }
        assert!(found, "pod {pod} has no status of a container {container}: {status}");
        for condition in status.get_mut("conditions").and_then(Value::as_array_mut).into_iter().flatten() {
            if condition["type"] == "Ready" || condition["type"] == "ContainersReady" {
                condition["status"] = "False".into();
                condition["reason"] = "ContainersNotReady".into();
            }
        }
        self.patch_status(&format!("pod/{pod}"), &status);
    }

    fn here<'b>(&'b self, arguments: &[&'b str]) -> Vec<&'b str> {
        [&["--namespace", self.name.as_str()], arguments].concat()
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        // a cluster that the test stopped has no namespaces to delete
        let arguments = ["delete", "namespace", &self.name, "--wait=false", "--request-timeout=5s"];
        let _ = self.clusters.kubectl(&self.context, &arguments);
    }
}
