//! Objects of any kind beside `kubectl get`.

use pintle_core::Code;
use pintle_testkit::cluster::{Clusters, shared};
use serde_json::{Value, json};

use crate::asked::{Asked, cells, items, rows, text};

const SOME: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry.example/web:1'}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: '1', b: '2'}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {password: hunter2hunter2}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: door}
spec: {rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: 0 3 * * *
  suspend: true
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'registry.example/main:1'}]}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
";

#[test]
fn list_resources_shows_the_columns_that_kubectl_shows() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "kinds");
    namespace.apply(SOME);
    namespace.pods("app=web", "Running", 2);
    namespace.kubectl(&["wait", "deployment/web", "--for=condition=Available", "--timeout=60s"]);
    namespace.kubectl(&["wait", "pdb/web", "--for=jsonpath={.status.disruptionsAllowed}=1", "--timeout=60s"]);
    let asked = Asked::of(clusters.kubeconfig());
    for kind in ["deploy", "rs", "Pod", "configmaps", "secrets", "ing", "cronjobs.batch", "pdb", "serviceaccounts"] {
        let arguments = json!({"clusters": [context], "namespace": namespace.name(), "kind": kind});
        let reply = asked.call("list_resources", arguments);
        let shown = reply.view.plain();
        let ours = without_age(cells(shown.split_once('\n').unwrap().1));
        // our tables name the namespace always, kubectl's when it was asked for all of them
        let mut theirs = without_age(cells(&clusters.kubectl(context, &["get", kind, "-A"]).text()));
        theirs.retain(|row| row[0] == "NAMESPACE" || row[0] == namespace.name());
        assert_eq!(ours, theirs, "{kind}: {shown}");
        assert!(theirs.len() > 1, "there are some {kind}");
        assert!(!shown.contains("hunter2"));
    }
    let fields = json!(["spec.replicas", "spec.template.spec.containers[*].image"]);
    let arguments =
        json!({"clusters": [context], "namespace": namespace.name(), "kind": "deployments", "fields": fields});
    let row = &rows(&asked.answer("list_resources", arguments))[0];
    assert_eq!((&row["name"], &row["spec.replicas"]), (&json!("web"), &json!(2)));
    assert_eq!(row["spec.template.spec.containers[*].image"], json!(["registry.example/web:1"]));
    let count = asked.answer("list_resources", json!({"clusters": ["*"], "kind": "nodes", "count": true}));
    for context in clusters.contexts() {
        let list = clusters.kubectl(context, &["get", "nodes", "-o", "json"]).json();
        assert_eq!(count["counts"][context], items(&list).len());
    }
}

/// A table without the column that changes while one looks.
fn without_age(mut table: Vec<Vec<String>>) -> Vec<Vec<String>> {
    if let Some(at) = table[0].iter().position(|column| column == "AGE") {
        // cells before the last may be empty, and are then not seen
        let end = table[0].len() - at;
        table.iter_mut().for_each(|row| drop(row.remove(row.len() - end)));
    }
    table
}

#[test]
fn get_resource_shows_what_kubectl_shows_without_secrets() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "one");
    namespace.apply(SOME);
    let asked = Asked::of(clusters.kubeconfig());
    let get = |kind: &str, name: &str| {
        asked.value(
            "get_resource",
            json!({"clusters": [context], "namespace": namespace.name(), "kind": kind, "name": name}),
        )
    };
    for (kind, name) in
        [("ingress", "door"), ("cj", "nightly"), ("poddisruptionbudgets.policy", "web"), ("cm", "settings")]
    {
        let (ours, theirs) = (get(kind, name), namespace.get(&[kind, name]));
        assert_eq!((&ours["spec"], &ours["data"]), (&theirs["spec"], &theirs["data"]), "{kind}");
        assert_eq!(ours["metadata"]["uid"], theirs["metadata"]["uid"]);
    }
    let ours = get("secret", "keys").to_string();
    let theirs = clusters.kubectl(context, &["-n", namespace.name(), "get", "secret", "keys", "-o", "json"]).text();
    // `hunter2hunter2` as the API writes it, and as kubectl remembers what was applied
    assert!(theirs.contains("aHVudGVyMmh1bnRlcjI=") && theirs.contains("hunter2hunter2"), "{theirs}");
    assert!(!ours.contains("aHVudGVyMmh1bnRlcjI=") && !ours.contains("hunter2hunter2"), "{ours}");
}

/// Two groups that have the same kind, gone when the test ends.
struct Groups<'a> {
    clusters: &'a Clusters,
    names: [String; 2],
}

impl Groups<'_> {
    fn definition(group: &str) -> String {
        format!(
            "
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{plural: widgets, singular: widget, kind: Widget, shortNames: [wdg]}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}}}
    additionalPrinterColumns: [{{name: Size, type: integer, jsonPath: .spec.size}}]
"
        )
    }

    fn define(&self, group: &str) {
        let context = &self.clusters.contexts()[0];
        self.clusters.kubectl_fed(context, &["apply", "-f", "-"], &Self::definition(group)).text();
        let name = format!("customresourcedefinition/widgets.{group}");
        self.clusters.kubectl(context, &["wait", &name, "--for=condition=Established", "--timeout=60s"]).text();
    }
}

impl Drop for Groups<'_> {
    fn drop(&mut self) {
        for group in &self.names {
            let name = format!("widgets.{group}");
            let arguments = ["delete", "customresourcedefinition", &name, "--ignore-not-found", "--wait=false"];
            let _ = self.clusters.kubectl(&self.clusters.contexts()[0], &arguments);
        }
    }
}

#[test]
fn an_6_09_a_kind_of_two_groups_is_told_apart_and_one_that_comes_later_is_found() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let names = ["a", "b"].map(|word| format!("{word}{}.example.test", std::process::id()));
    let [a, b] = names.clone();
    let groups = Groups { clusters, names };
    let namespace = clusters.namespace(context, "widgets");
    let asked = Asked::of(clusters.kubeconfig());
    let list = |kind: &str| {
        let arguments = json!({"clusters": [context], "namespace": namespace.name(), "kind": kind});
        asked.call("list_resources", arguments)
    };
    // discovery is known from here on, and knows no widgets
    assert_eq!(list("widgets").failure.unwrap().code, Code::NotFound);
    groups.define(&a);
    let widget = |group: &str, name: &str, size: u32| {
        format!("apiVersion: {group}/v1\nkind: Widget\nmetadata: {{name: {name}}}\nspec: {{size: {size}}}\n")
    };
    namespace.apply(&widget(&a, "first", 3));
    let size = |kind: &str| -> Value {
        let reply = list(kind);
        let answer = reply.answer.clone().unwrap();
        rows(&answer).first().unwrap_or_else(|| panic!("no {kind}: {reply:?}"))["size"].clone()
    };
    for word in ["widgets", "widget", "wdg", "Widget"] {
        assert_eq!(size(word), 3, "{word}");
    }
    groups.define(&b);
    namespace.apply(&widget(&b, "second", 4));
    assert_eq!((size(&format!("widgets.{a}")), size(&format!("widgets.{b}"))), (json!(3), json!(4)));
    let several = list("widgets").failure.unwrap();
    assert!(several.message.contains(&format!("widgets.{a} or widgets.{b}")), "{several:?}");
    // a group that goes
    clusters.kubectl(context, &["delete", "customresourcedefinition", &format!("widgets.{a}")]).text();
    let gone = list(&format!("widgets.{a}"));
    assert_eq!(gone.failure.map(|failure| failure.code), Some(Code::NotFound));
    assert_eq!(size("widgets"), 4, "only one is left");
    assert_eq!(text(&rows(&list("wdg").answer.unwrap())[0]["name"]), "second");
}
