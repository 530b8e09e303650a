//! Whole namespaces: resources, security, owners, and the report, beside what the server and kubectl say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use pintle_testkit::cluster::{helm, shared};
use serde_json::{Value, json};

use crate::asked::{Asked, found, items, text};

const MIXED: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: shop}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry.example/web:1'}]
---
apiVersion: v1
kind: Pod
metadata: {name: whole, labels: {app: whole}}
spec:
  securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: main
    image: registry.example/main:1
    resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 100m, memory: 64Mi}}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
---
apiVersion: v1
kind: Pod
metadata: {name: half, labels: {app: half}}
spec:
  hostNetwork: true
  containers:
  - name: main
    image: registry.example/main:1
    ports: [{containerPort: 80}]
    resources: {requests: {cpu: 100m}}
    securityContext: {capabilities: {add: [SYS_ADMIN]}, privileged: true}
  volumes: [{name: host, hostPath: {path: /}}]
---
apiVersion: v1
kind: Pod
metadata: {name: root, labels: {app: root}}
spec:
  initContainers:
  - {name: before, image: 'registry.example/before:1', securityContext: {runAsUser: 0, procMount: Default}}
  containers: [{name: main, image: 'registry.example/main:1', securityContext: {seLinuxOptions: {user: system_u}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: once}
spec:
  template:
    metadata: {labels: {app: once}}
    spec:
      restartPolicy: Never
      containers: [{name: once, image: 'registry.example/once:1'}]
";

#[test]
fn kt_check_resource_limits_classes_are_the_servers_and_defaults_of_limit_ranges_count() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "resources");
    namespace.apply(MIXED);
    namespace.pods("app=once", "Succeeded", 1);
    namespace.pods("app=web", "Running", 2);
    let asked = Asked::of(clusters.kubeconfig());
    let arguments = json!({"clusters": [context], "namespace": namespace.name()});
    let ours = asked.answer("check_resource_limits", arguments.clone());
    let list = namespace.get(&["pods"]);
    let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
    for pod in items(&list).iter().filter(|pod| pod["status"]["phase"] != "Succeeded") {
        *classes.entry(text(&pod["status"]["qosClass"])).or_default() += 1;
    }
    assert_eq!(ours["counts"]["by_qos"], json!(classes));
    assert_eq!(classes.keys().collect::<Vec<_>>(), [&"BestEffort", &"Burstable", &"Guaranteed"]);
    let rows = crate::asked::rows(&ours);
    for (owner, is_told) in [("web", true), ("half", true), ("root", true), ("whole", false), ("once", false)] {
        assert_eq!(found(&rows, owner).contains(&"resources/missing"), is_told, "{owner}: {rows:?}");
    }
    // what a LimitRange gives is in the pods that come after it
    namespace.kubectl(&["delete", "deployment/web"]);
    namespace.apply(
        "
apiVersion: v1
kind: LimitRange
metadata: {name: usual}
spec: {limits: [{type: Container, default: {cpu: 200m, memory: 128Mi}, defaultRequest: {cpu: 100m, memory: 64Mi}}]}
",
    );
    namespace.apply(MIXED.split("---").next().unwrap());
    namespace.pods("app=web", "Running", 2);
    let rows = asked.rows("check_resource_limits", context, namespace.name());
    assert!(!found(&rows, "web").contains(&"resources/missing"), "{rows:?}");
    assert!(found(&rows, "half").contains(&"resources/missing"), "older pods stay as they are: {rows:?}");
}

#[test]
fn kt_check_security_issues_an_2_2_names_what_enforcing_would_refuse() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "security");
    namespace.apply(MIXED);
    namespace.pods("app=once", "Succeeded", 1);
    namespace.pods("app=web", "Running", 2);
    namespace.kubectl(&["delete", "job/once"]);
    let asked = Asked::of(clusters.kubeconfig());
    for level in ["baseline", "restricted"] {
        for version in ["latest", "v1.24", "v1.18"] {
            // the server lists the pods that the label would refuse, each with reasons
            let labels = [
                format!("pod-security.kubernetes.io/enforce={level}"),
                format!("pod-security.kubernetes.io/enforce-version={version}"),
            ];
            let arguments =
                ["label", "--dry-run=server", "--overwrite", "namespace", namespace.name(), &labels[0], &labels[1]];
            let answer = clusters.kubectl(context, &arguments);
            assert!(answer.good, "{}", answer.stderr);
            let mut theirs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for line in answer.stderr.lines().filter_map(|line| line.strip_prefix("Warning: ")) {
                if line.starts_with("existing pods in namespace") {
                    continue;
                }
                let (pods, reasons) = line.split_once(": ").unwrap();
                let first = pods.split(" (and").next().unwrap();
                let owner = if first.starts_with("web-") { "web" } else { first };
                theirs.insert(owner.to_owned(), reasons.split(", ").map(str::to_owned).collect());
            }
            let arguments = json!({"clusters": [context], "namespace": namespace.name(), "level": level,
                "version": version, "extended": false});
            let mut ours: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for row in crate::asked::rows(&asked.answer("check_security_issues", arguments)) {
                if text(&row["id"]).starts_with("pss/") {
                    let message = text(&row["message"]);
                    let reason = message.rsplit_once(" (").map_or(message, |(reason, _)| reason);
                    let owner = text(&row["owner"]["name"]).to_owned();
                    ours.entry(owner).or_default().insert(reason.to_owned());
                }
            }
            assert!(!theirs.is_empty());
            assert_eq!(ours, theirs, "{level}:{version}");
        }
    }
    let rows = asked.rows("check_security_issues", context, namespace.name());
    assert!(found(&rows, namespace.name()).contains(&"namespace/not-enforced"), "{rows:?}");
}

#[test]
fn kt_analyze_namespace_counts_what_kubectl_counts() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "report");
    namespace.apply(
        "
apiVersion: v1
kind: ResourceQuota
metadata: {name: share}
spec: {hard: {pods: '20', requests.cpu: '4'}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: usual}
spec: {limits: [{type: Container, default: {cpu: 200m}, defaultRequest: {cpu: 100m}}]}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {password: hunter2hunter2}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
",
    );
    namespace.apply(MIXED);
    namespace.pods("app=once", "Succeeded", 1);
    let web = namespace.pods("app=web", "Running", 2);
    namespace.kubectl(&["wait", "deployment/web", "--for=condition=Available", "--timeout=60s"]);
    namespace.make_wait(&web[0], "web", "CrashLoopBackOff", 9);
    namespace.kubectl(&["wait", "deployment/web", "--for=jsonpath={.status.readyReplicas}=1", "--timeout=60s"]);
    let asked = Asked::of(clusters.kubeconfig());
    let arguments = json!({"clusters": [context], "namespace": namespace.name()});
    let ours = asked.value("analyze_namespace", arguments);
    let count = |kind: &str| items(&namespace.get(&[kind])).len();
    for (part, kind) in [
        ("pods", "pods"),
        ("deployments", "deployments"),
        ("services", "services"),
        ("config_maps", "configmaps"),
        ("secrets", "secrets"),
        ("persistent_volume_claims", "persistentvolumeclaims"),
        ("ingresses", "ingresses"),
    ] {
        assert_eq!(ours[part]["total"], count(kind), "{part}: {ours}");
    }
    let pods = namespace.get(&["pods"]);
    for phase in ["Running", "Pending", "Failed", "Succeeded"] {
        let theirs = items(&pods).iter().filter(|pod| pod["status"]["phase"] == phase).count();
        assert_eq!(ours["pods"][phase.to_lowercase()], theirs, "{phase}");
    }
    assert_eq!((&ours["pods"]["crashing"], &ours["deployments"]["degraded"]), (&json!(1), &json!(1)));
    assert_eq!(ours["persistent_volume_claims"]["pending"], 1);
    assert_eq!(ours["limit_ranges"]["names"], json!(["usual"]));
    let quota = namespace.get(&["resourcequota", "share"]);
    for (resource, hard) in quota["status"]["hard"].as_object().unwrap() {
        let used = text(&quota["status"]["used"][resource]);
        let told = format!("{used} of {}", text(hard));
        assert_eq!(ours["resource_quotas"]["quotas"]["share"][resource], told.as_str(), "{resource}");
    }
    assert_eq!(ours["phase"], "Active");
    assert!(!ours.to_string().contains("hunter2"));
    let missing = asked.call("analyze_namespace", json!({"clusters": [context], "namespace": "not-there"}));
    assert!(missing.failure.unwrap().message.contains("not-there"));
}

#[test]
fn kt_find_resource_owners_follows_owners_to_the_top_and_knows_the_deploying_tool() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "owners");
    namespace.apply(MIXED);
    namespace.pods("app=web", "Running", 2);
    namespace.pods("app=once", "Succeeded", 1);
    namespace.kubectl(&["scale", "deployment/web", "--replicas=1"]);
    namespace.pods("app=web", "Running", 1);
    let asked = Asked::of(clusters.kubeconfig());
    let arguments = |kind: &str| json!({"clusters": [context], "namespace": namespace.name(), "resource_type": kind});
    let all = crate::asked::rows(&asked.answer("find_resource_owners", arguments("all")));
    let of = |kind: &str, name: &str| -> Value {
        let is = |row: &&Value| row["object"]["kind"] == kind && text(&row["object"]["name"]).starts_with(name);
        all.iter().find(is).unwrap_or_else(|| panic!("no {kind} {name} in {all:?}")).clone()
    };
    let chain = |row: &Value| -> Vec<String> {
        let owners = row["owners"].as_array().into_iter().flatten();
        owners.map(|owner| format!("{}/{}", text(&owner["kind"]), text(&owner["name"]))).collect()
    };
    let pod = of("Pod", "web-");
    let theirs = namespace.get(&["pod", text(&pod["object"]["name"])]);
    let set = text(&theirs["metadata"]["ownerReferences"][0]["name"]);
    assert_eq!(chain(&pod), [format!("ReplicaSet/{set}"), "Deployment/web".to_owned()]);
    assert_eq!(chain(&of("Pod", "once-")), ["Job/once"]);
    let web = of("Deployment", "web");
    let fields = namespace.get(&["deployment", "web", "--show-managed-fields"]);
    let managers: Vec<&str> =
        fields["metadata"]["managedFields"].as_array().unwrap().iter().map(|m| text(&m["manager"])).collect();
    assert!(managers.len() > 1, "kubectl, and the controller that writes the status: {managers:?}");
    assert_eq!(web["manager"]["name"], "kubectl-client-side-apply", "neither the last nor the status's: {managers:?}");
    assert_eq!(web["people"][0], json!({"key": "team", "value": {"text": "shop"}}));
    let only = crate::asked::rows(&asked.answer("find_resource_owners", arguments("pods")));
    let theirs = namespace.get(&["pods"]);
    assert_eq!(only.len(), items(&theirs).len());
    assert!(only.iter().all(|row| row["object"]["kind"] == "Pod"));

    if helm().is_none() {
        return;
    }
    let chart = tempfile::tempdir().unwrap();
    fs::write(chart.path().join("Chart.yaml"), "apiVersion: v2\nname: trial\nversion: 1.2.3\n").unwrap();
    fs::create_dir(chart.path().join("templates")).unwrap();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: charted}\nspec: {ports: [{port: 80}]}\n";
    fs::write(chart.path().join("templates/service.yaml"), service).unwrap();
    let chart = chart.path().to_string_lossy().into_owned();
    clusters.helm(context, &["install", "first", &chart, "--namespace", namespace.name()]).unwrap().text();
    let services = crate::asked::rows(&asked.answer("find_resource_owners", arguments("services")));
    let charted = services.iter().find(|row| row["object"]["name"] == "charted").unwrap();
    assert_eq!(charted["looked_after_by"], format!("helm:{}/first", namespace.name()), "{charted}");
}
