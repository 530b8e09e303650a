use crate::world::{World, pod};
use pintle_core::{Code, Door, Outcome};
use pintle_dispatch::Policy;
use pintle_testkit::kube::{FakeCluster, Fault, Kubeconfig, Mode, Objects};
use serde_json::{Value, json};
use std::path::Path;

fn column(answer: &Value, name: &str) -> Vec<String> {
    let rows = answer["rows"].as_array().unwrap().iter();
    rows.map(|row| row[name].as_str().map_or_else(|| row[name].to_string(), str::to_owned)).collect()
}

#[tokio::test]
async fn kt_get_pods_tells_the_words_of_kubectl_and_counts_first() {
    let objects = Objects::new()
        .with(pod("b", "well", json!({"running": {}})))
        .with(pod("a", "crash", json!({"waiting": {"reason": "CrashLoopBackOff"}})))
        .with(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "a", "name": "null"}, "status": null}),
        );
    let world = World::of(objects).await;
    let answer = world.answer("get_pods", json!({})).await;
    assert_eq!(answer["counts"], json!({"CrashLoopBackOff": 1, "Running": 1, "Unknown": 1}));
    assert_eq!(column(&answer, "name"), ["crash", "null", "well"]);
    assert_eq!(column(&answer, "ready"), ["0/1", "0/0", "1/1"]);
    assert_eq!((&answer["rows"][0]["restarts"], &answer["rows"][0]["last_restart"]), (&json!(7), &json!("60m")));
    let text = world.text("get_pods", json!({"label_selector": "app in (well)"})).await;
    assert_eq!(
        text,
        "1 pod: 1 Running\nNAMESPACE  NAME  READY  STATUS   RESTARTS     AGE  NODE\nb          well  1/1    Running  7 (60m ago)  24h  node-1"
    );
}

#[tokio::test]
async fn kt_get_pods_kw_54_kw_55_kw_62_old_forms_and_hostile_names_are_taken() {
    let cluster = FakeCluster::start(Objects::new().with(pod("a", "p", json!({"running": {}})))).await.unwrap();
    let names = ["arn:aws:eks:eu-west-1:1:cluster/a", "user@host:6443/ns", "ein Öl"];
    let kubeconfig = cluster.kubeconfig(names);
    let world = World::with(vec![cluster], &kubeconfig);
    for name in names {
        let answer = world.answer("get_pods", json!({"cluster": name, "namespace": "", "label_selector": null})).await;
        assert_eq!(answer["rows"][0]["cluster"], name);
    }
    let answer = world.answer("get_pods", json!({"clusters": "ein*"})).await;
    assert_eq!(answer["totals"]["ok"], 1);
}

#[tokio::test]
async fn kw_41_a_misspelt_or_wrong_argument_is_refused_and_no_other_cluster_is_asked() {
    let world = World::of(Objects::new()).await;
    for arguments in
        [json!({"cluter": "one"}), json!({"cluster": 3}), json!({"clusters": ["on"]}), json!({"namespace": "A_b"})]
    {
        let reply = world.call("get_pods", arguments.clone()).await;
        assert_eq!(reply.outcome, Outcome::Failed, "{arguments}");
    }
    let unknown = world.call("get_pods", json!({"clusters": ["on"]})).await.failure.unwrap();
    assert!(unknown.code == Code::NotFound && unknown.hints.join(" ").contains("`one`"), "{unknown:?}");
    assert!(world.clusters[0].requests().is_empty());
}

#[tokio::test]
async fn kw_42_system_namespaces_can_be_read_and_absent_ones_are_told_from_forbidden() {
    let world = World::of(Objects::new().with(pod("kube-system", "dns", json!({"running": {}})))).await;
    let answer = world.answer("get_pods", json!({"namespace": "kube-system"})).await;
    assert_eq!(column(&answer, "name"), ["dns"]);
    let text = world.text("get_pods", json!({"namespace": "nowhere"})).await;
    assert_eq!(text, "no pods found\none: namespace `nowhere` does not exist");
    world.clusters[0].fault("/api/v1/namespaces/default/pods", Fault::Forbidden);
    let reply = world.call("get_pods", json!({"namespace": "default"})).await;
    let failure = reply.failure.unwrap();
    assert!(failure.message.contains("forbidden") && failure.message.contains("\"default\""), "{failure:?}");
    world.clusters[0].heal();
    world.clusters[0].fault("/api/v1/namespaces/*", Fault::Forbidden.when("nothing"));
    world.clusters[0].fault("/api/v1/namespaces/secret", Fault::Forbidden);
    let text = world.text("get_pods", json!({"namespace": "secret"})).await;
    assert!(text.contains("reading namespaces is forbidden"), "{text}");
}

#[tokio::test]
async fn kt_get_pods_an_6_03_kw_56_many_pods_come_in_pages_within_the_budget() {
    let world = World::of(Objects::new().pods(1200)).await;
    let mut seen = Vec::new();
    let mut arguments = json!({});
    for page in 0.. {
        let reply = world.call("get_pods", arguments.clone()).await;
        let answer = reply.answer.unwrap();
        assert!(answer.to_string().len() <= 25_000 && reply.view.plain().len() <= 25_000);
        assert_eq!(answer["totals"]["rows"], 1200, "page {page}");
        seen.extend(column(&answer, "name"));
        match reply.next_cursor {
            Some(cursor) => arguments = json!({"cursor": cursor}),
            None => break,
        }
        assert!(page < 100);
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 1200);
    let requests = world.clusters[0].requests();
    assert!(requests.iter().all(|request| request.parameter("limit").as_deref() == Some("500")), "lists are paged");
}

#[tokio::test]
async fn kw_50_kw_57_kw_58_an_6_07_dead_clusters_hide_no_live_ones() {
    let start = |objects: Objects, mode: Mode| FakeCluster::setup(objects).mode(mode).start();
    let live = start(Objects::new().with(pod("a", "p", json!({"running": {}}))), Mode::Serve).await.unwrap();
    let busy = start(Objects::new(), Mode::Serve).await.unwrap();
    busy.fault("*", Fault::TooManyRequests(60));
    let gone = start(Objects::new(), Mode::Gone).await.unwrap();
    let reset = start(Objects::new(), Mode::Reset).await.unwrap();
    let broken = start(Objects::new(), Mode::Serve).await.unwrap();
    broken.fault("/api/v1/pods", Fault::BrokenJson);
    let all = [("live", &live), ("busy", &busy), ("gone", &gone), ("reset", &reset), ("broken", &broken)];
    let kubeconfig =
        all.iter().fold(Kubeconfig::default(), |config, (name, cluster)| config.and(cluster.kubeconfig([*name])));
    let world = World::with(vec![live, busy, gone, reset, broken], &kubeconfig);
    let reply = world.call("get_pods", json!({"clusters": "all"})).await;
    assert_eq!(reply.outcome, Outcome::Partial);
    let answer = reply.answer.unwrap();
    assert_eq!((column(&answer, "cluster"), &answer["totals"]["failed"]), (vec!["live".to_owned()], &json!(4)));
    let sections = answer["clusters"].as_array().unwrap();
    let told: Vec<_> = sections
        .iter()
        .map(|s| (s["cluster"].as_str().unwrap(), s["error"]["code"].as_str().unwrap_or("ok")))
        .collect();
    assert_eq!(told[..3], [("broken", "bad_answer"), ("busy", "busy"), ("gone", "refused")], "in stable order");
    assert_eq!(told[3].1, "ok");
}

#[tokio::test]
async fn policy_keeps_namespaces_and_clusters_out() {
    let cluster = FakeCluster::start(Objects::new().with(pod("open", "a", json!({"running": {}}))).with(pod(
        "closed",
        "b",
        json!({"running": {}}),
    )))
    .await
    .unwrap();
    let kubeconfig = cluster.kubeconfig(["one"]).text();
    let rules = "[[rule]]\nnamespace = \"closed\"\nallow = false\n";
    let policy = Policy::parse(rules, Path::new("policy.toml")).unwrap();
    let world = World::written(vec![cluster], &kubeconfig, policy, Vec::new());
    let answer = world.answer("get_pods", json!({})).await;
    assert_eq!(column(&answer, "name"), ["a"]);
    assert_eq!(answer["clusters"][0]["notes"], json!(["1 left out: policy denies closed"]));
    let refused = world.call("get_pods", json!({"namespace": "closed"})).await.failure.unwrap();
    assert_eq!(refused.code, Code::Denied);
}

#[tokio::test]
async fn kt_get_deployments_summarises_and_never_dumps() {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"namespace": "a", "name": "web", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"replicas": 3, "strategy": {"type": "RollingUpdate"}, "template": {"spec": {"containers": [
            {"name": "c", "image": "web:1", "env": [{"name": "PASSWORD", "value": "hunter2hunter2"}]}]}}},
        "status": {"observedGeneration": 2, "replicas": 3, "readyReplicas": 1, "updatedReplicas": 3, "availableReplicas": 1,
            "conditions": [{"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable", "message": "x"}]}
    });
    let world = World::of(Objects::new().with(deployment)).await;
    let answer = world.answer("get_deployments", json!({})).await;
    let row = &answer["rows"][0];
    assert_eq!((&row["state"], &row["ready"], &row["desired"]), (&json!("degraded"), &json!(1), &json!(3)));
    assert_eq!(row["reason"], "MinimumReplicasUnavailable: x");
    assert_eq!(row["images"], json!(["web:1"]));
    assert!(!answer.to_string().contains("hunter2"));
    let text = world.text("get_deployments", json!({})).await;
    assert!(text.starts_with("1 deployment: 1 degraded\n"), "{text}");
}

#[tokio::test]
async fn kt_get_services_tells_where_they_lead() {
    let service = |name: &str, spec: Value| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec});
    let objects = Objects::new()
        .with(service(
            "web",
            json!({"type": "NodePort", "clusterIP": "10.0.0.1", "selector": {"b": "2", "a": "1"},
            "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP", "targetPort": 8080}]}),
        ))
        .with(service("lb", json!({"type": "LoadBalancer"})));
    let world = World::of(objects).await;
    let answer = world.answer("get_services", json!({"namespace": "default"})).await;
    assert_eq!(column(&answer, "name"), ["lb", "web"]);
    assert_eq!(answer["rows"][0]["external"], "<pending>");
    assert_eq!(answer["rows"][1]["ports"], json!(["80:30080/TCP→8080"]));
    assert_eq!(answer["rows"][1]["selector"], "a=1,b=2");
}

#[tokio::test]
async fn kt_get_nodes_tells_status_roles_and_pressure() {
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"node-role.kubernetes.io/worker": ""}},
        "spec": {"unschedulable": true}, "status": {"nodeInfo": {"kubeletVersion": "v1.37.2"},
            "conditions": [{"type": "Ready", "status": "False"}, {"type": "DiskPressure", "status": "True"}]}});
    let world = World::of(Objects::new().with(node)).await;
    let text = world.text("get_nodes", json!({})).await;
    let expected = "1 node: 1 NotReady,SchedulingDisabled\n\
        NAME  STATUS                       ROLES   AGE  VERSION  PRESSURE\n\
        n1    NotReady,SchedulingDisabled  worker  24h  v1.37.2  DiskPressure";
    assert_eq!(text, expected);
}

fn event(name: &str, kind: &str, object: &str, more: Value) -> Value {
    let mut event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "a",
            "creationTimestamp": "2026-01-01T00:00:00Z"}, "type": kind, "reason": "Failed", "message": "line\none",
        "involvedObject": {"kind": "Pod", "name": object, "namespace": "a"}});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

#[tokio::test]
async fn kt_get_events_kw_12_an_6_20_newest_first_with_counts_and_odd_ones_survive() {
    let objects = Objects::new()
        .with(event("a-old", "Normal", "p", json!({"lastTimestamp": "2026-01-01T10:00:00Z", "count": 3})))
        .with(event(
            "b-series",
            "Warning",
            "q",
            json!({"series": {"count": 9, "lastObservedTime": "2026-01-01T23:59:00.000000Z"}}),
        ))
        .with(event(
            "c-micro",
            "Warning",
            "p",
            json!({"eventTime": "2026-01-01T12:00:00.000000Z", "lastTimestamp": null, "series": null}),
        ))
        .with(event("d-bare", "Normal", "p", json!({"involvedObject": {}, "message": null})));
    let world = World::of(objects).await;
    let answer = world.answer("get_events", json!({})).await;
    assert_eq!(column(&answer, "object"), ["Pod/q", "Pod/p", "Pod/p", "?/?"]);
    assert_eq!(column(&answer, "count"), ["9", "1", "3", "1"]);
    assert_eq!((&answer["rows"][0]["age"], &answer["rows"][0]["message"]), (&json!("60s"), &json!("line one")));
    let newest = world.answer("get_events", json!({"limit": 1, "namespace": "a"})).await;
    assert_eq!(column(&newest, "object"), ["Pod/q"]);
    assert_eq!(newest["clusters"][0]["notes"], json!(["the newest 1 of 4 events; `limit` shows more"]));
}

#[tokio::test]
async fn kt_get_warning_events_kw_12_the_server_filters_before_anything_is_cut() {
    let mut objects =
        Objects::new().with(event("z-mine", "Warning", "mine", json!({"lastTimestamp": "2026-01-01T01:00:00Z"})));
    for index in 0..60 {
        let name = format!("a-{index:02}");
        objects = objects.with(event(&name, "Warning", "other", json!({"lastTimestamp": "2026-01-01T02:00:00Z"})));
    }
    let world = World::of(objects.with(event("normal", "Normal", "mine", json!({})))).await;
    let answer = world.answer("get_warning_events", json!({"involved_object": "mine"})).await;
    assert_eq!(column(&answer, "object"), ["Pod/mine"]);
    let all = world.answer("get_warning_events", json!({})).await;
    assert_eq!(all["totals"]["rows"], 50);
}

#[tokio::test]
async fn a_cluster_that_dies_or_forgets_in_the_middle_of_paging_is_told() {
    let world = World::of(Objects::new().pods(1200)).await;
    world.clusters[0].fault("/api/v1/pods", Fault::Gone.when("continue").times(1));
    let answer = world.answer("get_pods", json!({})).await;
    assert_eq!(answer["totals"]["rows"], 1200, "nothing twice, nothing lost");
    assert!(answer["clusters"][0]["notes"][0].as_str().unwrap().contains("begun anew"));
    world.clusters[0].fault("/api/v1/pods", Fault::Cut(1000).when("continue"));
    let reply = world.call_as(Door::People, "get_pods", json!({})).await;
    assert_eq!(reply.outcome, Outcome::Failed, "half a list is no list");
}

#[tokio::test]
async fn a_selector_that_does_not_parse_is_the_servers_word() {
    let world = World::of(Objects::new()).await;
    let failure = world.call("get_pods", json!({"label_selector": "a in (b"})).await.failure.unwrap();
    assert!(failure.message.contains("unable to parse requirement"), "{failure:?}");
}
