//! A secret that is planted wherever secrets can lie leaves by no way.

use crate::world::{World, files};
use pintle_core::{
    BoxFuture, Call, Caller, Code, Confirm, Digest, Door, Effect, Gate, LogLevel, Outcome, Output, Reply, Spec, Stop,
    Tool, Toolset, View,
};
use pintle_dispatch::{Events, Policy, Request};
use pintle_testkit::kube::{FakeCluster, Fault, Objects};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{Arc, Mutex},
};

const CANARY: &str = "canary-3fe91c77aa";
const ENCODED: &str = "Y2FuYXJ5LTNmZTkxYzc3YWE=";

fn planted() -> Objects {
    let applied = json!({"kubectl.kubernetes.io/last-applied-configuration":
        format!("{{\"kind\":\"Secret\",\"data\":{{\"a\":\"{ENCODED}\"}},\"stringData\":{{\"b\":\"{CANARY}\"}}}}")});
    let container = json!({"name": "app", "image": "web:1", "args": [format!("--token={CANARY}")],
        "env": [{"name": "PLAIN", "value": CANARY}, {"name": "DB_PASSWORD", "value": CANARY}]});
    Objects::new()
        .with(json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "annotations": applied},
            "data": {"a": ENCODED}, "stringData": {"b": CANARY}}))
        .with(json!({"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
            "metadata": {"name": "sh.helm.release.v1.web.v1", "labels": {"owner": "helm"}}, "data": {"release": ENCODED}}))
        .with(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"db-password": CANARY}}))
        .with(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "annotations": applied},
            "spec": {"containers": [container]}, "status": {"phase": "Running"}}))
        .with(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "annotations": applied},
            "spec": {"template": {"spec": {"containers": [container]}}}}))
}

/// Every call that might show one of the planted objects.
fn calls() -> Vec<(&'static str, Value)> {
    let mut calls: Vec<(&'static str, Value)> = vec![
        ("describe_pod", json!({"name": "p"})),
        ("get_pod_logs", json!({"name": "p"})),
        ("analyze_namespace", json!({"namespace": "default"})),
        ("find_resource_owners", json!({"namespace": "default"})),
    ];
    let plain = [
        "list_clusters",
        "get_cluster_health",
        "audit_kubeconfig",
        "get_pods",
        "get_deployments",
        "get_services",
        "get_nodes",
        "get_events",
        "get_warning_events",
        "find_pod_issues",
        "find_deployment_issues",
        "check_resource_limits",
        "check_security_issues",
    ];
    calls.extend(plain.map(|tool| (tool, json!({}))));
    for (kind, name) in [
        ("secret", "s"),
        ("secret", "sh.helm.release.v1.web.v1"),
        ("configmap", "c"),
        ("pod", "p"),
        ("deployment", "d"),
    ] {
        calls.push(("get_resource", json!({"kind": kind, "name": name})));
        calls.push(("list_resources", json!({"kind": kind})));
        let fields = json!(["data", "stringData", "spec", "metadata.annotations"]);
        calls.push(("list_resources", json!({"kind": kind, "fields": fields})));
    }
    calls
}

fn leaks(reply: &Reply) -> bool {
    shows(&format!("{reply:?} {}", reply.view.plain()))
}

fn shows(text: &str) -> bool {
    text.contains(CANARY) || text.contains(ENCODED)
}

/// Everything that was told to the client while a call ran.
#[derive(Default)]
struct Heard(Mutex<String>);

impl Heard {
    fn add(&self, said: impl std::fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{said:?}\n"));
    }
}

impl Events for Heard {
    fn progress(&self, _: f64, _: Option<f64>, message: &str) {
        self.add(message);
    }
    fn row(&self, row: Value) {
        self.add(row);
    }
    fn log(&self, level: LogLevel, logger: &str, data: Value) {
        self.add((level, logger, data));
    }
}

/// Calls through that door; the answer, and all that was said before it.
async fn heard(world: &World, door: Door, tool: &str, arguments: &Value) -> (Reply, String) {
    let Value::Object(arguments) = arguments.clone() else { panic!("arguments are an object") };
    let heard = Arc::new(Heard::default());
    let mut request = Request::new(tool, arguments, Caller { door, principal: "test".to_owned() });
    request.events = Arc::clone(&heard) as _;
    let reply = world.catalog.call(request).await;
    let said = heard.0.lock().unwrap().clone();
    (reply, said)
}

/// The answer of a call that must show nothing, nor say anything of it on the way.
async fn quiet(world: &World, door: Door, tool: &str, arguments: &Value) -> Reply {
    let (reply, said) = heard(world, door, tool, arguments).await;
    assert!(!leaks(&reply), "{tool}: {reply:?}");
    assert!(!shows(&said), "{tool}: {said}");
    reply
}

/// Nothing of it in state, audit or spill.
fn kept_clean(world: &World, tool: &str) {
    let state = files(&world.folder.path().join("state"));
    let state = String::from_utf8_lossy(&state);
    assert!(state.contains(tool), "the audit is there");
    assert!(!shows(&state), "and nothing of it in state, audit or spill");
}

#[tokio::test]
async fn an_6_13_a_planted_secret_leaves_by_no_way() {
    let cluster = FakeCluster::setup(planted()).token(CANARY).start().await.unwrap();
    let kubeconfig = cluster.kubeconfig(["one"]).text();
    let world = World::written(vec![cluster], &kubeconfig, Policy::default(), Vec::new());
    for (tool, arguments) in calls() {
        for door in [Door::Agents, Door::People] {
            quiet(&world, door, tool, &arguments).await;
        }
    }
    let requests = world.clusters[0].requests();
    for kind in ["secrets/s", "secrets/sh.helm.release.v1.web.v1", "configmaps/c", "pods/p", "deployments/d"] {
        assert!(requests.iter().any(|request| request.path.ends_with(kind)), "{kind} was served");
    }
    assert!(requests.iter().all(|request| request.header("authorization").is_some_and(|value| value.contains(CANARY))));
    // Errors that repeat a credential, too.
    world.clusters[0].fault("*", Fault::Status(400, "BadRequest".into(), format!("no {CANARY} {ENCODED}")));
    for (tool, arguments) in calls() {
        quiet(&world, Door::Agents, tool, &arguments).await;
    }
    kept_clean(&world, "get_resource");
}

/// A kubeconfig whose user is a plug-in of these lines of shell, which first notes that it ran.
fn plugged(cluster: &FakeCluster, script: &str, runs: &Path) -> String {
    let mut config: Value = serde_json::from_str(&cluster.kubeconfig(["one"]).text()).unwrap();
    let script = format!("echo run >> '{}'; echo 'warning: {CANARY}' >&2; {script}", runs.display());
    config["users"][0]["user"] = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh",
        "args": ["-c", script], "interactiveMode": "Never"}});
    config.to_string()
}

fn credential(kind: &str, status: &Value) -> String {
    let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": kind, "status": status});
    format!("echo '{credential}'")
}

#[tokio::test]
async fn an_6_13_an_6_08_what_a_plug_in_prints_leaves_by_no_way() {
    let later = "2999-01-01T00:00:00Z";
    let table = [
        (credential("ExecCredential", &json!({"token": CANARY, "expirationTimestamp": later})), true),
        (credential("ExecCredential", &json!({"token": CANARY, "expirationTimestamp": CANARY})), false),
        (credential("ExecCredential", &json!({"clientCertificateData": CANARY, "clientKeyData": CANARY})), false),
        (credential(CANARY, &json!({"token": CANARY})), false),
        (format!("echo 'token: {CANARY}'"), false),
        (format!("echo '{CANARY}'; exit 7"), false),
    ];
    for (script, works) in table {
        let cluster = FakeCluster::setup(planted()).token(CANARY).start().await.unwrap();
        let notes = tempfile::tempdir().unwrap();
        let runs = notes.path().join("runs");
        let kubeconfig = plugged(&cluster, &script, &runs);
        let world = World::written(vec![cluster], &kubeconfig, Policy::default(), Vec::new());
        for (tool, arguments) in calls() {
            for door in [Door::Agents, Door::People] {
                quiet(&world, door, tool, &arguments).await;
            }
        }
        let reply = quiet(&world, Door::Agents, "get_pods", &json!({})).await;
        assert_eq!(reply.outcome == Outcome::Ok, works, "{script}: {reply:?}");
        assert!(std::fs::read_to_string(&runs).unwrap().starts_with("run\n"), "the plug-in ran");
        let shown = world.clusters[0]
            .requests()
            .iter()
            .any(|request| request.header("authorization").is_some_and(|value| value.contains(CANARY)));
        assert_eq!(shown, works, "its token went to the server and nowhere else");
        kept_clean(&world, "get_pods");
    }
}

/// A tool that breaks down with what it had in its hands.
struct Breaks(Spec, fn());

impl Tool for Breaks {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn call<'a>(&'a self, _: Value, gate: &'a dyn Gate, _: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            gate.admit(pintle_core::Ask::read(&Digest::of(""))).await?;
            (self.1)();
            Ok(Output { view: View::text("unharmed"), ..Output::default() })
        })
    }
}

#[tokio::test]
async fn an_6_13_what_a_broken_operation_says_leaves_by_no_way() {
    let breaks: [(&str, fn()); 3] = [
        ("formatted", || panic!("cannot use {}", String::from(CANARY))),
        ("unwrapped", || "x".parse::<u8>().map(drop).map_err(|_| format!("token {CANARY}")).unwrap()),
        ("written", || panic!("nothing but words of ours")),
    ];
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tools = breaks.map(|(name, breaks)| {
        Arc::new(Breaks(Spec::new(name, "breaks down", input.clone(), Effect::READ), breaks)) as Arc<dyn Tool>
    });
    let world = World::written(Vec::new(), "", Policy::default(), vec![trial(tools.into())]);
    for (name, _) in breaks {
        for door in [Door::Agents, Door::People] {
            let reply = quiet(&world, door, name, &json!({})).await;
            let failure = reply.failure.unwrap();
            assert_eq!(failure.code, Code::Internal);
            assert!(failure.message.starts_with(&format!("{name} broke down: ")), "{failure:?}");
            assert_eq!(failure.message.ends_with("nothing but words of ours"), name == "written", "{failure:?}");
        }
    }
    kept_clean(&world, "formatted");
}

fn trial(tools: Vec<Arc<dyn Tool>>) -> Toolset {
    Toolset {
        name: "trial",
        server_name: "trial",
        summary: "",
        instructions: "",
        confirm: Confirm::Nothing,
        tools,
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}

/// A tool that says and gives back what it should not.
struct Echo(Spec);

impl Tool for Echo {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn call<'a>(&'a self, _: Value, gate: &'a dyn Gate, call: &'a Call) -> BoxFuture<'a, Result<Output, Stop>> {
        Box::pin(async move {
            call.log(LogLevel::Info, "echo", json!(CANARY));
            let seen = Digest::of("");
            gate.admit(pintle_core::Ask::read(&seen)).await?;
            Ok(Output { view: View::text(CANARY), ..Output::default() })
        })
    }
}

#[tokio::test]
async fn the_canary_catches_a_tool_that_echoes_it() {
    let input = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let toolset = trial(vec![Arc::new(Echo(Spec::new("echo", "echoes", input, Effect::READ)))]);
    let world = World::written(Vec::new(), "", Policy::default(), vec![toolset]);
    let (reply, said) = heard(&world, Door::Agents, "echo", &json!({})).await;
    assert!(leaks(&reply) && shows(&said));
}
