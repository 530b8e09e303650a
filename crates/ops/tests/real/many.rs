//! Many pods, and a pod that only one of several clusters has.

use std::collections::BTreeSet;

use pintle_core::{Door, Outcome};
use pintle_testkit::cluster::shared;
use serde_json::json;

use crate::asked::{Asked, items, rows, text};

/// More than one page of a list.
const COUNT: usize = 520;

const MANY: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: many}
spec:
  replicas: COUNT
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec:
      containers: [{name: main, image: 'registry.example/main:1'}]
";

#[test]
fn kt_get_pods_kt_find_pod_issues_kw_56_more_than_one_page_is_read_whole_and_told_in_parts() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let namespace = clusters.namespace(context, "many");
    namespace.apply(&MANY.replace("COUNT", &COUNT.to_string()));
    let pods = namespace.pods("app=many", "Running", COUNT);
    for pod in [&pods[0], &pods[COUNT - 1]] {
        namespace.make_wait(pod, "main", "CrashLoopBackOff", 7);
    }
    let list = namespace.get(&["pods"]);
    let theirs: BTreeSet<&str> = items(&list).iter().map(|pod| text(&pod["metadata"]["name"])).collect();
    let asked = Asked::of(clusters.kubeconfig());
    let all = asked.rows("get_pods", context, namespace.name());
    assert_eq!(all.iter().map(|row| text(&row["name"])).collect::<BTreeSet<_>>(), theirs);
    assert_eq!(theirs.len(), COUNT);

    // an agent gets pages, of which none is large, none repeats and none is left out
    let mut seen = Vec::new();
    let mut arguments = json!({"clusters": [context], "namespace": namespace.name()});
    loop {
        let reply = asked.call_as(Door::Agents, "get_pods", arguments.clone());
        let answer = reply.answer.unwrap_or_else(|| panic!("{:?}", reply.failure));
        assert!(answer.to_string().len() <= 25_000);
        assert_eq!(answer["counts"], json!({"CrashLoopBackOff": 2, "Running": COUNT - 2}), "counts are of all of them");
        seen.extend(rows(&answer).iter().map(|row| text(&row["name"]).to_owned()));
        let Some(cursor) = reply.next_cursor else { break };
        arguments["cursor"] = json!(cursor);
    }
    assert_eq!(seen.len(), COUNT);
    assert_eq!(seen.iter().map(String::as_str).collect::<BTreeSet<_>>(), theirs);

    let issues = asked.answer("find_pod_issues", json!({"clusters": [context], "namespace": namespace.name()}));
    assert_eq!(issues["counts"]["looked_at"]["pods"], COUNT);
    let rows = rows(&issues);
    let crash: Vec<_> = rows.iter().filter(|row| row["id"] == "pod/crash-loop").collect();
    assert_eq!((crash.len(), &crash[0]["count"], &crash[0]["owner"]["name"]), (1, &json!(2), &json!("many")));
}

#[test]
fn kt_describe_pod_kt_get_pod_logs_kw_57_of_several_clusters_one_has_the_pod() {
    let Some(clusters) = shared() else { return };
    if clusters.contexts().len() < 2 {
        pintle_testkit::skip("one cluster is not enough: `cargo xtask cluster up 3` starts three");
        return;
    }
    let [first, second] = [&clusters.contexts()[0], &clusters.contexts()[1]];
    let namespace = clusters.namespace(first, "one-of");
    namespace.apply("apiVersion: v1\nkind: Pod\nmetadata: {name: only, labels: {app: only}}\nspec: {containers: [{name: main, image: 'registry.example/main:1'}]}");
    namespace.pods("app=only", "Running", 1);
    let asked = Asked::of(clusters.kubeconfig());
    for tool in ["describe_pod", "get_pod_logs"] {
        let arguments = json!({"clusters": [first, second], "namespace": namespace.name(), "name": "only"});
        let reply = asked.call(tool, arguments);
        assert_eq!(reply.outcome, Outcome::Partial, "{tool}");
        let answer = reply.answer.unwrap();
        for section in answer["clusters"].as_array().unwrap() {
            if section["cluster"] == first.as_str() {
                assert_eq!(section["outcome"], "ok", "{tool}");
            } else {
                assert_eq!(section["error"]["code"], "not_found", "{tool}");
                assert!(text(&section["error"]["message"]).contains("does not exist"), "{section}");
            }
        }
    }
}
