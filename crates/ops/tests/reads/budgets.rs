//! What the tools cost a model in bytes, and a server in requests.

use crate::world::{World, pod};
use pintle_core::{Door, Outcome};
use pintle_testkit::kube::{FakeCluster, Log, Objects};
use serde_json::{Map, Value, json};

/// Most bytes of an answer by itself, as data and as text.
const ANSWER: usize = 25_000;

#[tokio::test]
async fn what_a_model_sees_of_a_tool_is_short() {
    let world = World::of(Objects::bare()).await;
    let size = |l: &pintle_dispatch::Listed| {
        let seen =
            json!({"name": l.name, "description": l.description, "inputSchema": l.input, "annotations": l.hints});
        seen.to_string().len()
    };
    let ours = |l: &&pintle_dispatch::Listed| !["list_resources", "get_resource"].contains(&l.name.as_str());
    let sizes: Vec<_> =
        world.catalog.listed().filter(ours).map(|listed| (size(listed), listed.name.as_str())).collect();
    let mean = sizes.iter().map(|(size, _)| size).sum::<usize>().div_ceil(sizes.len());
    assert!(sizes.len() == 17 && mean <= 520, "{mean} bytes a tool: {sizes:?}");
}

/// What an agent may leave out of a schema, since it is the same in many tools, the instructions tell.
#[tokio::test]
async fn what_many_tools_take_is_told_once() {
    let world = World::of(Objects::bare()).await;
    let toolset =
        pintle_ops::toolset(std::sync::Arc::new(pintle_ops::Host::new(pintle_fleet::FleetOptions::default())));
    for name in ["clusters", "cluster", "namespace", "severity", "label_selector", "limit"] {
        let takes = |listed: &&pintle_dispatch::Listed| listed.input["properties"].get(name).is_some();
        let told: Vec<_> =
            world.catalog.listed().filter(takes).map(|l| l.input["properties"][name]["description"].clone()).collect();
        assert!(told.len() > 1 && told.iter().all(Value::is_null), "{name}: {told:?}");
        assert!(toolset.instructions.contains(&format!("`{name}`")), "{name}: {}", toolset.instructions);
    }
}

#[tokio::test]
async fn an_6_09_the_answer_of_every_tool_over_five_thousand_pods_is_bounded_and_full() {
    let last_of = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "BackOff",
        "metadata": {"namespace": "team-00", "name": name}, "count": 3, "lastTimestamp": "2026-01-01T23:00:00Z",
        "message": format!("back-off restarting failed container of {name} {}", "x".repeat(200)),
        "involvedObject": {"kind": "Pod", "namespace": "team-00", "name": name}})
    };
    let objects =
        (0..1_500).fold(Objects::new().pods(5_000), |objects, n| objects.with(last_of(&format!("event-{n:04}"))));
    let lines: Vec<String> = (0..5_000).map(|n| format!("line {n} {}", "y".repeat(60))).collect();
    let objects = objects.with(pod("default", "p", json!({"running": {}}))).log(
        "default",
        "p",
        "app",
        Log::new(lines.iter().map(String::as_str)),
    );
    let world = World::of(objects).await;
    let needed = |tool: &str, name: &str| match name {
        "kind" => json!(if tool == "get_resource" { "pods" } else { "events" }),
        "namespace" => json!("team-00"),
        "name" => json!("p"),
        other => panic!("nobody knows what `{other}` is to be"),
    };
    let tools: Vec<(String, Value)> = world.catalog.listed().map(|l| (l.name.clone(), l.input.clone())).collect();
    let mut full = 0;
    for (name, schema) in &tools {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let arguments: Map<String, Value> = required.map(|key| (key.to_owned(), needed(name, key))).collect();
        let reply = world.call_as(Door::Agents, name, Value::Object(arguments)).await;
        assert!(matches!(reply.outcome, Outcome::Ok | Outcome::Findings), "{name}: {reply:?}");
        let (text, data) = (reply.view.plain().len(), reply.answer.map_or(0, |answer| answer.to_string().len()));
        assert!(text <= ANSWER && data <= ANSWER, "{name}: {text} bytes of text, {data} of data");
        full += usize::from(text.max(data) > ANSWER / 2);
    }
    assert!(tools.len() == 19 && full >= 5, "only {full} answers come near the limit: it was not tried");
}

#[tokio::test]
async fn discovery_of_three_hundred_definitions_costs_two_requests_for_all_calls() {
    let cluster = FakeCluster::start(Objects::new().definitions(300)).await.unwrap();
    let kubeconfig = cluster.kubeconfig(["one"]);
    let world = World::with(vec![cluster], &kubeconfig);
    let asked =
        || -> Vec<String> { world.clusters[0].take_requests().into_iter().map(|request| request.path).collect() };
    for kind in ["widget000s", "Widget123", "pods", "deploy"] {
        world.answer("list_resources", json!({"kind": kind})).await;
    }
    let mut paths = asked();
    paths.sort();
    let lists = ["/api/v1/pods", "/apis", "/apis/apps/v1/deployments"];
    let widgets = ["/apis/group-00.example.com/v1/widget000s", "/apis/group-12.example.com/v1/widget123s"];
    assert_eq!(paths, [&["/api"][..], &lists, &widgets].concat(), "two documents, and a list for each call");
    let (first, second) = tokio::join!(
        world.answer("list_resources", json!({"kind": "nodes"})),
        world.answer("get_resource", json!({"kind": "ns", "name": "default"}))
    );
    assert!(first["kind"] == "nodes" && second.is_object());
    assert_eq!(asked().len(), 2, "what was discovered is still known");
}
