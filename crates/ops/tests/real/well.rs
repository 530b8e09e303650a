//! A namespace where all is well, of which nothing is said, and its broken twin, of which everything is.

use std::time::Duration;

use pintle_testkit::cluster::{Namespace, shared};
use serde_json::{Value, json};

use crate::asked::{Asked, found, items, rows, text};

/// Past the time that workloads may take to settle.
const LATER: Duration = Duration::from_secs(600);

/// Every kind of workload with what stands before it. `NODES` and `LEAST` make the twin.
const ALL: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: 'registry.example/web:1', ports: [{name: http, containerPort: 8080}]}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      nodeSelector: {NODES}
      containers: [{name: main, image: 'registry.example/db:1'}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: main, image: 'registry.example/agent:1'}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: 0 3 1 1 *
  suspend: SUSPENDED
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'registry.example/main:1'}]}}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    metadata: {labels: {app: once}}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: 'registry.example/once:1'}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: LEAST, selector: {matchLabels: {app: web}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {clusterIP: None, selector: {app: DATABASE}, ports: [{port: 5432}]}
---
apiVersion: v1
kind: Service
metadata: {name: agent}
spec: {selector: {app: agent}, ports: [{port: 9100}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: door}
spec: {rules: [{host: shop.example, http: {paths: [
  {path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}},
  {path: /old, pathType: Prefix, backend: {service: {name: OLD, port: {number: 80}}}}]}}]}
";

fn made(namespace: &Namespace<'_>, changes: [(&str, &str); 5]) {
    let text = changes.iter().fold(ALL.to_owned(), |text, (word, value)| text.replace(word, value));
    namespace.apply(&text);
    namespace.pods("app=web", "Running", 2);
    namespace.pods("app=once", "Succeeded", 1);
    namespace.kubectl(&["wait", "deployment/web", "--for=condition=Available", "--timeout=60s"]);
    namespace.kubectl(&["wait", "job/once", "--for=condition=Complete", "--timeout=60s"]);
    namespace.kubectl(&["wait", "pdb/web", "--for=jsonpath={.status.currentHealthy}=2", "--timeout=60s"]);
    namespace.kubectl(&["rollout", "status", "daemonset/agent", "--timeout=60s"]);
}

#[test]
fn kt_find_deployment_issues_kt_find_pod_issues_kt_analyze_namespace_nothing_is_said_where_all_is_well() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "well");
    let well = [("NODES", ""), ("LEAST", "1"), ("SUSPENDED", "false"), ("DATABASE", "db"), ("OLD", "web")];
    made(&namespace, well);
    namespace.kubectl(&["rollout", "status", "statefulset/db", "--timeout=60s"]);
    let asked = Asked::later(clusters.kubeconfig(), LATER);
    for tool in ["find_pod_issues", "find_deployment_issues"] {
        let rows = asked.rows(tool, context, namespace.name());
        assert!(rows.is_empty(), "{tool}: {rows:?}");
    }
    let report = asked.value("analyze_namespace", json!({"clusters": [context], "namespace": namespace.name()}));
    assert_eq!(report.get("worst"), None, "{report}");
    assert_eq!(report["deployments"]["degraded"], 0);
}

#[test]
fn kt_find_deployment_issues_kt_find_pod_issues_kt_analyze_namespace_each_part_of_the_broken_twin_is_found() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "broken");
    let broken = [
        ("NODES", "example.test/absent: 'yes'"),
        ("LEAST", "2"),
        ("SUSPENDED", "true"),
        ("DATABASE", "nobody"),
        ("OLD", "old"),
    ];
    made(&namespace, broken);
    let agents = namespace.get(&["pods", "-l", "app=agent"]);
    for pod in items(&agents) {
        namespace.make_wait(text(&pod["metadata"]["name"]), "main", "CrashLoopBackOff", 7);
    }
    namespace.kubectl(&["wait", "daemonset/agent", "--for=jsonpath={.status.numberReady}=0", "--timeout=60s"]);
    namespace.kubectl(&["wait", "pod/db-0", "--for=condition=PodScheduled=False", "--timeout=60s"]);
    let ready = "--for=jsonpath={.endpoints[0].conditions.ready}=false";
    let slice = ["wait", "endpointslice", "-l", "kubernetes.io/service-name=agent", ready, "--timeout=60s"];
    namespace.kubectl(&slice);
    let asked = Asked::later(clusters.kubeconfig(), LATER);
    let workloads = asked.rows("find_deployment_issues", context, namespace.name());
    assert_eq!(found(&workloads, "db"), ["statefulset/shortfall"]);
    assert_eq!(found(&workloads, "agent"), ["daemonset/not-ready"]);
    assert_eq!(found(&workloads, "nightly"), ["cronjob/suspended"]);
    assert_eq!(found(&workloads, "web"), ["pdb/blocks-eviction"]);
    let pods = asked.rows("find_pod_issues", context, namespace.name());
    assert_eq!(found(&pods, "db"), ["pod/unschedulable"]);
    assert_eq!(found(&pods, "agent"), ["pod/crash-loop"]);
    let report = asked.value("analyze_namespace", json!({"clusters": [context], "namespace": namespace.name()}));
    let worst = json!({"rows": report["worst"]});
    let worst: Vec<Value> = rows(&worst);
    assert!(found(&worst, "agent").contains(&"service/none-ready"), "{worst:?}");
    assert!(found(&worst, "db").contains(&"service/matches-nothing"), "{worst:?}");
    assert_eq!(found(&worst, "door"), ["ingress/no-service"]);
}
