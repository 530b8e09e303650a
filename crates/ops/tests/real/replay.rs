//! The fake API server beside the real one: what our tools ask of the fake is asked of both, over the same objects, and
//! the answers have the same status, type of content, members and types.

use std::collections::{BTreeMap, BTreeSet};

use http_body_util::BodyExt;
use kube::{Client, Config, client::Body, config::KubeConfigOptions, config::Kubeconfig};
use pintle_testkit::cluster::shared;
use pintle_testkit::kube::{FakeCluster, Objects};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::asked::{Asked, items};

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry.example/web:1', ports: [{containerPort: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
";

/// A request as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sent {
    path: String,
    accept: String,
}

/// What came back.
struct Came {
    status: u16,
    content: String,
    body: Value,
}

async fn client(kubeconfig: Kubeconfig, context: &str) -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    config.proxy_url = None;
    Client::try_from(config).unwrap()
}

async fn send(client: &Client, sent: &Sent) -> Came {
    let request = http::Request::get(&sent.path).header("accept", &sent.accept).body(Body::empty()).unwrap();
    let response = client.send(request).await.unwrap();
    let status = response.status().as_u16();
    let content = response.headers().get("content-type").map_or("", |value| value.to_str().unwrap()).to_owned();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Came { status, content, body: serde_json::from_slice(&bytes).unwrap_or(Value::String(text)) }
}

/// Members whose own members are names that people choose.
const FREE: [&str; 12] = [
    "labels",
    "annotations",
    "fieldsV1",
    "matchLabels",
    "selector",
    "nodeSelector",
    "data",
    "capacity",
    "allocatable",
    "limits",
    "requests",
    "allocatedResourcesStatus",
];

/// The members of an answer, each with its type: `items[].spec.nodeName: string`.
fn shape(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    found.insert(format!("{path}: {kind}"));
    match value {
        Value::Array(all) => all.iter().for_each(|one| shape(one, &format!("{path}[]"), found)),
        Value::Object(all) => {
            let last = path.rsplit('.').next().unwrap_or_default();
            if !FREE.contains(&last) {
                all.iter().for_each(|(name, one)| shape(one, &format!("{path}.{name}"), found));
            }
        }
        _ => {}
    }
}

/// A table by its columns, since a row is an array whose places mean something.
fn by_column(table: &Value) -> Value {
    let columns = table["columnDefinitions"].as_array().unwrap();
    let mut told = table.clone();
    let definitions = columns.iter().map(|column| {
        let named = |name: &str| column[name].to_string();
        // what it is typed is compared in itself, its description is only a text
        let word = format!("{} {} {}", named("type"), named("format"), named("priority")).replace(['"', '.'], "");
        let mut told = column.clone();
        told[word] = Value::Null;
        (column["name"].as_str().unwrap().to_owned(), told)
    });
    told["columnDefinitions"] = definitions.collect::<BTreeMap<_, _>>().into_iter().collect();
    for row in told["rows"].as_array_mut().unwrap() {
        let cells = row["cells"].take();
        let cells = columns.iter().zip(cells.as_array().unwrap());
        let cells: BTreeMap<String, Value> =
            cells.map(|(column, cell)| (column["name"].as_str().unwrap().to_owned(), cell.clone())).collect();
        row["cells"] = json!(cells);
    }
    told
}

fn shape_of(body: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if body["kind"] == "Table" {
        shape(&by_column(body), "", &mut found)
    } else {
        shape(body, "", &mut found)
    }
    found
}

/// What a real server may have beside: kinds that the fake does not know have more in their discovery, and a server
/// says of itself what nobody asks.
fn may_be_missing(sent: &Sent, member: &str) -> bool {
    let discovery = sent.path.starts_with("/api?") || ["/api", "/apis"].contains(&sent.path.as_str());
    discovery && (member.contains("subresources[].") || member.contains("acceptedTypes"))
        || sent.path.starts_with("/version")
}

/// Everything in which the fake differs.
fn differences(sent: &Sent, real: &Came, fake: &Came) -> Vec<String> {
    let mut all = Vec::new();
    if (real.status, &real.content) != (fake.status, &fake.content) {
        all.push(format!("{} {} for {} {}", fake.status, fake.content, real.status, real.content));
    }
    let (theirs, ours) = (shape_of(&real.body), shape_of(&fake.body));
    all.extend(ours.difference(&theirs).map(|member| format!("has {member}")));
    all.extend(theirs.difference(&ours).filter(|m| !may_be_missing(sent, m)).map(|member| format!("lacks {member}")));
    all
}

/// Asks our tools, so that the fake learns what they ask.
fn ask(asked: &Asked, namespace: &str, pod: &str) {
    let here = |mut more: Value| {
        more["namespace"] = json!(namespace);
        more
    };
    for tool in ["get_pods", "get_deployments", "get_services", "find_resource_owners", "check_resource_limits"] {
        asked.answer(tool, here(json!({})));
    }
    asked.answer("describe_pod", here(json!({"name": pod})));
    asked.answer("list_resources", here(json!({"kind": "pods"})));
    asked.answer("list_resources", here(json!({"kind": "deployments.apps"})));
    asked.answer("list_resources", here(json!({"kind": "configmaps", "count": true})));
    asked.answer("list_resources", here(json!({"kind": "services", "fields": ["spec.clusterIP"]})));
    asked.answer("get_resource", here(json!({"kind": "deployments.apps", "name": "web"})));
    asked.answer("get_nodes", json!({}));
    for (tool, arguments) in [
        ("get_resource", here(json!({"kind": "pods", "name": "nobody"}))),
        ("get_resource", here(json!({"kind": "deployments.apps", "name": "nobody"}))),
        ("get_pod_logs", here(json!({"name": "nobody"}))),
        ("get_pods", here(json!({"label_selector": "a in (b"}))),
        ("list_resources", here(json!({"kind": "pods", "field_selector": "spec.colour=blue"}))),
    ] {
        assert!(asked.call(tool, arguments.clone()).failure.is_some(), "{tool} {arguments}");
    }
}

#[test]
fn the_fake_server_answers_in_the_shapes_of_the_real_one() {
    let Some(clusters) = shared() else { return };
    let context = &clusters.contexts()[0];
    let space = clusters.namespace(context, "replay");
    space.apply(WEB);
    let pods = space.pods("app=web", "Running", 5);
    let whole = |arguments: &[&str]| -> Vec<Value> {
        let arguments = [&["get"], arguments, &["-o", "json", "--show-managed-fields"]].concat();
        items(&clusters.kubectl(context, &arguments).json()).to_vec()
    };
    let named = ["deployments,replicasets,pods,services,configmaps,events", "-n", space.name()];
    let objects = [whole(&named), whole(&["nodes,namespaces"])].concat();

    let runtime = Runtime::new().unwrap();
    let fake = runtime.block_on(FakeCluster::start(Objects::bare().with(objects))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("config");
    fake.kubeconfig(["fake"]).write(&kubeconfig).unwrap();
    ask(&Asked::of(kubeconfig), space.name(), &pods[0]);
    let recorded = fake.take_requests().into_iter().map(|request| Sent {
        path: if request.query.is_empty() {
            request.path.clone()
        } else {
            format!("{}?{}", request.path, request.query)
        },
        accept: request.header("accept").unwrap().to_owned(),
    });
    let mut all: BTreeSet<Sent> = recorded.collect();
    let accepts: BTreeSet<String> = all.iter().map(|sent| sent.accept.clone()).collect();
    assert!(all.len() >= 15 && accepts.len() >= 5, "{all:?}");
    // paths that nobody serves, and a list that is looked at again when its revision is long gone
    let path = format!("/api/v1/namespaces/{}/pods", space.name());
    let more = ["/nothing".to_owned(), "/apis/apps/v1/nothings".to_owned(), format!("{path}?continue=nonsense")];
    all.extend(more.map(|path| Sent { path, accept: "application/json".to_owned() }));

    let mut wrong = Vec::new();
    runtime.block_on(async {
        let real = client(Kubeconfig::read_from(clusters.kubeconfig()).unwrap(), context).await;
        let ours = client(serde_json::from_str(&fake.kubeconfig(["fake"]).text()).unwrap(), "fake").await;
        for sent in &all {
            let (theirs, ours) = (send(&real, sent).await, send(&ours, sent).await);
            wrong
                .extend(differences(sent, &theirs, &ours).into_iter().map(|what| format!("{sent:?}: the fake {what}")));
        }
        for accept in &accepts {
            wrong.extend(paged(&real, &ours, &path, accept).await);
        }
    });
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// A list in pages of two, each server led on by its own tokens.
async fn paged(real: &Client, ours: &Client, path: &str, accept: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut tokens = [String::new(), String::new()];
    for page in 0..3 {
        let at = |token: &str| Sent { path: format!("{path}?limit=2{token}"), accept: accept.to_owned() };
        let (theirs, fakes) = (send(real, &at(&tokens[0])).await, send(ours, &at(&tokens[1])).await);
        let sent = at("");
        wrong.extend(
            differences(&sent, &theirs, &fakes).into_iter().map(|what| format!("page {page} of {sent:?}: {what}")),
        );
        let left = |came: &Came| came.body["metadata"]["remainingItemCount"].clone();
        if left(&theirs) != left(&fakes) {
            wrong.push(format!("page {page} of {sent:?}: {} left for {}", left(&fakes), left(&theirs)));
        }
        let next =
            [&theirs, &fakes].map(|came| came.body["metadata"]["continue"].as_str().unwrap_or_default().to_owned());
        if page == 2 {
            assert_eq!(next, ["", ""], "five pods are three pages");
        }
        tokens = next.map(|token| format!("&continue={token}"));
    }
    wrong
}
