//! What looks broken and is not, beside what is.

use std::time::{Duration, Instant};

use pintle_testkit::cluster::{Namespace, shared};
use serde_json::json;

use crate::asked::{Asked, found, items, text};
use crate::lists::{hand_made, pod};

const NONE: [&str; 0] = [];

#[test]
fn kt_find_pod_issues_an_1_5_a_gated_pod_waits_and_one_that_fits_nowhere_is_found() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "gated");
    let pod = |name: &str, more: &str| {
        format!(
            "
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: {name}}}}}
spec:
  {more}
  containers: [{{name: main, image: 'registry.example/main:1'}}]
"
        )
    };
    namespace.apply(&pod("gated", "schedulingGates: [{name: example.test/quota}]"));
    namespace.apply(&pod("nowhere", "nodeSelector: {example.test/absent: 'yes'}"));
    namespace.kubectl(&["wait", "pod/nowhere", "--for=condition=PodScheduled=False", "--timeout=60s"]);
    namespace.kubectl(&["wait", "pod/gated", "--for=condition=PodScheduled=False", "--timeout=60s"]);
    let asked = Asked::of(clusters.kubeconfig());
    let told = asked.rows("find_pod_issues", context, namespace.name());
    assert_eq!(found(&told, "gated"), NONE);
    assert_eq!(found(&told, "nowhere"), ["pod/unschedulable"], "{told:?}");
}

/// A job whose pods nobody runs: the test says how they end.
fn job(name: &str, retries: u32) -> String {
    format!(
        "
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}}}
spec:
  backoffLimit: {retries}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      schedulerName: nobody
      restartPolicy: Never
      containers: [{{name: main, image: 'registry.example/main:1'}}]
"
    )
}

/// The pods of a job, once there are so many, oldest first.
fn pods_of(namespace: &Namespace<'_>, job: &str, count: usize) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(90);
    loop {
        let list = namespace.get(&["pods", "-l", &format!("app={job}"), "--sort-by=.metadata.creationTimestamp"]);
        if items(&list).len() == count {
            return items(&list).iter().map(|pod| text(&pod["metadata"]["name"]).to_owned()).collect();
        }
        assert!(Instant::now() < end, "not {count} pods of job {job}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn end(namespace: &Namespace<'_>, pod: &str, code: i32) {
    let (phase, reason) = if code == 0 { ("Succeeded", "Completed") } else { ("Failed", "Error") };
    let ended = json!({"exitCode": code, "reason": reason, "finishedAt": "2026-01-01T00:00:00Z", "startedAt": "2026-01-01T00:00:00Z"});
    let container = json!({"name": "main", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": {"terminated": ended}});
    namespace.patch_status(&format!("pod/{pod}"), &json!({"phase": phase, "containerStatuses": [container]}));
}

#[test]
fn kt_find_pod_issues_kt_find_deployment_issues_an_1_5_job_that_recovered_is_fine_and_one_that_gave_up_is_found() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "jobs");
    namespace.apply(&job("recovered", 3));
    namespace.apply(&job("gave-up", 0));
    end(&namespace, &pods_of(&namespace, "gave-up", 1)[0], 1);
    end(&namespace, &pods_of(&namespace, "recovered", 1)[0], 1);
    // the job's controller waits before it tries again
    let pods = pods_of(&namespace, "recovered", 2);
    let list = namespace.get(&["pods", "-l", "app=recovered", "--field-selector=status.phase=Pending"]);
    let second = text(&items(&list)[0]["metadata"]["name"]).to_owned();
    assert!(pods.contains(&second));
    end(&namespace, &second, 0);
    namespace.kubectl(&["wait", "job/recovered", "--for=condition=Complete", "--timeout=60s"]);
    namespace.kubectl(&["wait", "job/gave-up", "--for=condition=Failed", "--timeout=60s"]);
    let failed = namespace.get(&["job", "recovered"]);
    assert_eq!(failed["status"]["failed"], 1, "it did fail once");

    let asked = Asked::of(clusters.kubeconfig());
    let pods = asked.rows("find_pod_issues", context, namespace.name());
    let workloads = asked.rows("find_deployment_issues", context, namespace.name());
    assert_eq!((found(&pods, "recovered"), found(&workloads, "recovered")), (NONE.to_vec(), NONE.to_vec()));
    assert_eq!(found(&workloads, "gave-up"), ["job/failed"]);
    assert!(!found(&pods, "gave-up").is_empty(), "{pods:?}");
}

const SETS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: well}
spec:
  replicas: 2
  selector: {matchLabels: {app: well}}
  template:
    metadata: {labels: {app: well}}
    spec:
      containers: [{name: main, image: 'registry.example/main:1'}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: asleep}
spec:
  replicas: 0
  selector: {matchLabels: {app: asleep}}
  template:
    metadata: {labels: {app: asleep}}
    spec:
      containers: [{name: main, image: 'registry.example/main:1'}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: stuck}
spec:
  replicas: 2
  progressDeadlineSeconds: 1
  selector: {matchLabels: {app: stuck}}
  template:
    metadata: {labels: {app: stuck}}
    spec:
      nodeSelector: {example.test/absent: 'yes'}
      containers: [{name: main, image: 'registry.example/main:1'}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: over-quota}
spec:
  replicas: 1
  progressDeadlineSeconds: 1
  selector: {matchLabels: {app: over-quota}}
  template:
    metadata: {labels: {app: over-quota}}
    spec:
      containers: [{name: main, image: 'registry.example/main:1', resources: {requests: {cpu: '64'}, limits: {cpu: '64'}}}]
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: small}
spec: {hard: {requests.cpu: '8'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: usual}
spec: {limits: [{type: Container, defaultRequest: {cpu: 10m}}]}
";

#[test]
fn kt_find_deployment_issues_tells_what_kubectl_rollout_tells() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "rollouts");
    let (sets, rules) = SETS.split_at(SETS.find("---\napiVersion: v1\nkind: ResourceQuota").unwrap());
    namespace.apply(rules);
    namespace.kubectl(&["wait", "resourcequota/small", "--for=jsonpath={.status.hard}", "--timeout=60s"]);
    namespace.apply(sets);
    namespace.pods("app=well", "Running", 2);
    namespace.kubectl(&["wait", "deployment/well", "--for=condition=Available", "--timeout=60s"]);
    for name in ["stuck", "over-quota"] {
        namespace.kubectl(&[
            "wait",
            &format!("deployment/{name}"),
            "--for=condition=Progressing=False",
            "--timeout=60s",
        ]);
    }
    let asked = Asked::of(clusters.kubeconfig());
    let told = asked.rows("find_deployment_issues", context, namespace.name());
    for (name, is_well) in [("well", true), ("asleep", true), ("stuck", false), ("over-quota", false)] {
        let rollout = format!("deployment/{name}");
        let arguments = ["--namespace", namespace.name(), "rollout", "status", &rollout, "--watch=false"];
        let answer = clusters.kubectl(context, &arguments);
        let done = answer.good && answer.stdout.contains("successfully rolled out");
        assert_eq!(done, is_well, "{name}: {}{}", answer.stdout, answer.stderr);
        assert_eq!(found(&told, name).is_empty(), is_well, "{name}: {told:?}");
    }
    assert!(found(&told, "stuck").contains(&"deployment/rollout-stuck"), "{told:?}");
    assert!(found(&told, "over-quota").iter().any(|id| id.ends_with("replica-failure")), "{told:?}");
    let pods = asked.rows("find_pod_issues", context, namespace.name());
    assert_eq!(found(&pods, "stuck"), ["pod/unschedulable"], "two pods of one owner are one row");
    let stuck = pods.iter().find(|row| row["owner"]["name"] == "stuck").unwrap();
    assert_eq!((&stuck["count"], &stuck["owner"]["kind"]), (&json!(2), &json!("Deployment")));
    assert_eq!(found(&pods, "well"), NONE);
}

#[test]
fn kt_find_pod_issues_kw_13_every_state_that_kubectl_words_is_judged() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "states");
    let made = hand_made();
    // these have a node: without one a pod has no containers whose state could mean something
    let on_nodes: String = made.iter().map(|(name, _)| pod(name).replace("schedulerName: nobody", "")).collect();
    namespace.apply(&on_nodes);
    namespace.pods("made=by-hand", "Running", made.len());
    for (name, status) in &made {
        let mut status = status.clone();
        if status.get("conditions").is_none() && *name != "fine" {
            status["conditions"] = json!([{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]);
        }
        namespace.patch_status(&format!("pod/{name}"), &status);
    }
    let asked = Asked::of(clusters.kubeconfig());
    let told = asked.rows("find_pod_issues", context, namespace.name());
    let fine =
        ["pending", "fine", "creating", "completed", "one-completed", "one-completed-ready", "init-waits", "init-runs"];
    for (name, _) in &made {
        let ids = found(&told, name);
        assert_eq!(ids.is_empty(), fine.contains(name), "{name}: {ids:?}");
    }
    for (name, id) in [
        ("evicted", "pod/evicted"),
        ("lost", "pod/unknown-phase"),
        ("crash-loop", "pod/crash-loop"),
        ("init-crash", "pod/crash-loop"),
        ("sidecar-crash", "pod/crash-loop"),
        ("image", "pod/image-pull"),
        ("config", "pod/config-error"),
        ("out-of-memory", "pod/oom-killed"),
        ("failed", "pod/failed"),
    ] {
        assert!(found(&told, name).contains(&id), "{name}: {:?}", found(&told, name));
    }
    let crash = told.iter().find(|row| row["owner"]["name"] == "crash-loop" && row["id"] == "pod/crash-loop").unwrap();
    assert_eq!(crash["container"], "main");
    assert!(crash["evidence"].to_string().contains('7'), "restarts are shown: {crash}");
}
