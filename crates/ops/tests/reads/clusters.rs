use crate::world::World;
use pintle_core::{Caller, Code, Door, Outcome};
use pintle_dispatch::{Policy, Request};
use pintle_testkit::kube::{FakeCluster, Fault, Kubeconfig, Mode, Objects};
use serde_json::{Map, Value, json};

#[tokio::test]
async fn kt_list_clusters_kw_59_asks_nobody_and_lists_in_order() {
    let cluster = FakeCluster::start(Objects::new()).await.unwrap();
    let kubeconfig = cluster.kubeconfig(["zeta", "alpha"]);
    let other = FakeCluster::start(Objects::new()).await.unwrap();
    let kubeconfig = kubeconfig.and(other.kubeconfig(["beta"]));
    let world = World::with(vec![cluster, other], &kubeconfig);
    let answer = world.answer("list_clusters", json!({"source": ""})).await;
    let clusters = answer["clusters"].as_array().unwrap();
    assert_eq!(clusters.iter().map(|c| c["name"].as_str().unwrap()).collect::<Vec<_>>(), ["alpha", "beta", "zeta"]);
    assert_eq!((&answer["current"], &clusters[2]["current"]), (&json!("zeta"), &json!(true)));
    assert_eq!(clusters[0]["same_as"], "zeta", "two names of one cluster");
    assert!(world.clusters.iter().all(|cluster| cluster.requests().is_empty()));
    let refused = world.call("list_clusters", json!({"source": "kubestellar"})).await.failure.unwrap();
    assert_eq!(refused.code, Code::Unavailable);
    assert_eq!(world.call("list_clusters", json!({"source": "ocm"})).await.outcome, Outcome::Failed);
}

#[tokio::test]
async fn a_kubeconfig_that_is_not_there_is_told_alike_by_all() {
    let world = World::written(Vec::new(), "", Policy::default(), Vec::new());
    std::fs::remove_file(world.folder.path().join("config")).unwrap();
    for (tool, arguments) in [
        ("get_pods", json!({})),
        ("get_cluster_health", json!({})),
        ("get_nodes", json!({"clusters": "all"})),
        ("list_clusters", json!({})),
        ("audit_kubeconfig", json!({})),
    ] {
        let failure = world.call(tool, arguments).await.failure.unwrap();
        assert_eq!(failure.code, Code::NotFound, "{tool}: {failure:?}");
        assert_eq!(failure.hints, ["check --kubeconfig"], "{tool}: {failure:?}");
    }
}

#[tokio::test]
async fn an_empty_kubeconfig_and_a_malformed_one_are_told_apart() {
    let world = World::written(Vec::new(), "apiVersion: v1\nkind: Config\n", Policy::default(), Vec::new());
    let text = world.text("list_clusters", json!({})).await;
    assert!(text.starts_with("no clusters found: no context in "), "{text}");
    let failure = world.call("get_pods", json!({})).await.failure.unwrap();
    assert!(!failure.hints.is_empty(), "{failure:?}");
    let world = World::written(Vec::new(), "contexts: [\n", Policy::default(), Vec::new());
    let failure = world.call("list_clusters", json!({})).await.failure.unwrap();
    assert_eq!(failure.code, Code::Invalid);
    assert!(failure.problems.iter().any(|problem| problem.line.is_some()), "{failure:?}");
}

#[tokio::test]
async fn kt_get_cluster_health_kw_27_tells_the_reason() {
    let world = World::of(Objects::new().pods(20)).await;
    let health = |answer: &Value| answer["clusters"][0]["value"].clone();
    let well = health(&world.answer("get_cluster_health", json!({})).await);
    assert_eq!(
        (&well["status"], &well["version"], &well["nodes_ready"]),
        (&json!("Healthy"), &json!("v1.37.2"), &json!(20))
    );
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-07"}, "status": {"conditions": [
        {"type": "Ready", "status": "Unknown"}]}});
    world.clusters[0].apply(node);
    world.clusters[0].rebuild(|objects| objects.failing_check("etcd"));
    let reply = world.call("get_cluster_health", json!({})).await;
    assert_eq!(reply.outcome, Outcome::Findings, "an answer, not an error");
    let bad = health(&reply.answer.unwrap());
    assert_eq!(
        (&bad["status"], &bad["failing_checks"], &bad["nodes_ready"]),
        (&json!("Degraded"), &json!(["etcd"]), &json!(19))
    );
    let reasons = bad["reasons"].to_string();
    assert!(reasons.contains("failing etcd") && reasons.contains("node-07 is NotReady"), "{reasons}");
    world.clusters[0].heal();
    world.clusters[0].fault("/version", Fault::Unauthorized);
    let away = health(&world.answer("get_cluster_health", json!({})).await);
    assert_eq!((&away["status"], &away["error"]["code"]), (&json!("Unhealthy"), &json!("unauthorized")));
    let text = world.text("get_cluster_health", json!({})).await;
    assert!(text.contains("Status: Unhealthy") && text.contains("Reason: "), "{text}");
}

#[tokio::test]
async fn kt_audit_kubeconfig_kw_45_kw_58_grades_quotes_and_never_recommends_on_timeout() {
    let start = |mode: Mode| FakeCluster::setup(Objects::new()).mode(mode).start();
    let (live, hole, gone) =
        (start(Mode::Serve).await.unwrap(), start(Mode::BlackHole).await.unwrap(), start(Mode::Gone).await.unwrap());
    let kubeconfig =
        live.kubeconfig(["live", "twin"]).and(hole.kubeconfig(["behind a vpn"])).and(gone.kubeconfig(["gone"]));
    let mut told: Value = serde_json::from_str(&kubeconfig.text()).unwrap();
    told["contexts"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "it's; broken", "context": {"cluster": "no such", "user": "live"}}));
    told["users"].as_array_mut().unwrap().push(json!({"name": "left over", "user": {}}));
    let world = World::written(vec![live, hole, gone], &told.to_string(), Policy::default(), Vec::new());
    let reply = world.call("audit_kubeconfig", json!({"timeout_seconds": 1})).await;
    assert_eq!(reply.outcome, Outcome::Findings, "{reply:?}");
    let answer = reply.answer.unwrap();
    let grades: Vec<_> = answer["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| (c["context"].as_str().unwrap(), c["grade"].as_str().unwrap()))
        .collect();
    assert_eq!(
        grades,
        [
            ("behind a vpn", "passing"),
            ("gone", "passing"),
            ("it's; broken", "broken"),
            ("live", "good"),
            ("twin", "good")
        ]
    );
    assert_eq!(answer["same_cluster"], json!([["live", "twin"]]));
    let commands: Vec<_> = answer["commands"].as_array().unwrap().iter().map(|c| c.as_str().unwrap()).collect();
    assert_eq!(
        commands,
        ["kubectl config delete-context 'it'\\''s; broken'", "kubectl config delete-user 'left over'"]
    );
    let text = world.text("audit_kubeconfig", json!({"timeout_seconds": 1})).await;
    assert!(
        text.starts_with("2 of 5 contexts answer\n") && text.contains("one cluster, 2 contexts: live, twin"),
        "{text}"
    );
}

#[tokio::test]
async fn kw_60_a_changed_kubeconfig_is_seen_by_the_next_call() {
    let one = FakeCluster::start(Objects::new()).await.unwrap();
    let two = FakeCluster::start(Objects::new()).await.unwrap();
    let (before, after) = (one.kubeconfig(["first"]), two.kubeconfig(["second"]));
    let world = World::with(vec![one, two], &before);
    assert_eq!(world.answer("list_clusters", json!({})).await["current"], "first");
    after.write(world.folder.path().join("config")).unwrap();
    assert_eq!(world.answer("list_clusters", json!({})).await["current"], "second");
}

#[tokio::test]
async fn the_resource_of_clusters_asks_nobody() {
    let cluster = FakeCluster::start(Objects::new()).await.unwrap();
    let kubeconfig: Kubeconfig = cluster.kubeconfig(["prod", "test"]);
    let world = World::with(vec![cluster], &kubeconfig);
    let caller = Caller { door: Door::Agents, principal: "test".to_owned() };
    let request = Request::new("", Map::new(), caller);
    let contents = world.catalog.read("fleet://clusters", &request).await.unwrap();
    let told: Value = serde_json::from_str(contents[0].text.as_deref().unwrap()).unwrap();
    assert_eq!(told["current"], "prod");
    assert!(world.clusters[0].requests().is_empty());
}
