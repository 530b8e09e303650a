//! The table form: columns as the server computes them for people.

use super::{
    objects::{Key, Stored, head},
    resource::Resource,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// A column and how its cell is found.
struct Column {
    name: String,
    kind: &'static str,
    /// Shown in the wide form only.
    wide: bool,
    cell: Cell,
}

enum Cell {
    At(String),
    Made(fn(&Value) -> Value),
}

/// A `Table` of these objects. `include` is the parameter `includeObject`.
pub(crate) fn list(
    resource: &Resource,
    metadata: &str,
    objects: &[(&Key, &Arc<Stored>)],
    include: Option<&str>,
) -> Vec<u8> {
    let columns = columns(resource);
    let definitions: Vec<Value> = columns
        .iter()
        .map(|column| {
            json!({
                "name": column.name, "type": column.kind,
                "format": if column.name == "Name" { "name" } else { "" },
                "description": "", "priority": i32::from(column.wide)
            })
        })
        .collect();
    let mut out = head("Table", "meta.k8s.io/v1").into_bytes();
    out.extend_from_slice(format!("\"metadata\":{metadata},\"columnDefinitions\":").as_bytes());
    out.extend_from_slice(Value::Array(definitions).to_string().as_bytes());
    out.extend_from_slice(b",\"rows\":[");
    for (index, (_, stored)) in objects.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let value = stored.value();
        let cells: Vec<Value> = columns.iter().map(|column| column.cell(&value)).collect();
        out.extend_from_slice(format!("{{\"cells\":{}", Value::Array(cells)).as_bytes());
        match include {
            Some("None") => {}
            Some("Object") => {
                out.extend_from_slice(b",\"object\":");
                out.extend_from_slice(&stored.typed(resource));
            }
            _ => {
                out.extend_from_slice(b",\"object\":");
                out.extend_from_slice(head("PartialObjectMetadata", "meta.k8s.io/v1").as_bytes());
                out.extend_from_slice(b"\"metadata\":");
                out.extend_from_slice(stored.metadata());
                out.push(b'}');
            }
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
    out
}

impl Column {
    fn cell(&self, value: &Value) -> Value {
        match &self.cell {
            Cell::At(path) => at(value, path).cloned().unwrap_or_default(),
            Cell::Made(make) => make(value),
        }
    }
}

/// A path like `.spec.size` or `.status.conditions[0].type`; conditions inside it are not understood.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
    steps.try_fold(value, |value, step| match (value, step.parse::<usize>()) {
        (Value::Array(items), Ok(index)) => items.get(index),
        (value, _) => value.get(step),
    })
}

fn columns(resource: &Resource) -> Vec<Column> {
    let plain = |name: &str, path: &str| Column {
        name: name.to_owned(),
        kind: "string",
        wide: false,
        cell: Cell::At(path.to_owned()),
    };
    let made = |name: &str, kind, make| Column { name: name.to_owned(), kind, wide: false, cell: Cell::Made(make) };
    let mut columns = vec![plain("Name", ".metadata.name")];
    match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => {
            columns.push(made("Ready", "string", pod_ready));
            columns.push(made("Status", "string", pod_status));
            columns.push(made("Restarts", "string", pod_restarts));
        }
        ("apps", "deployments") => {
            columns.push(made("Ready", "string", |value| {
                let ready = value["status"]["readyReplicas"].as_u64().unwrap_or_default();
                json!(format!("{ready}/{}", value["spec"]["replicas"].as_u64().unwrap_or(1)))
            }));
            columns.push(made("Up-to-date", "string", |v| number(&v["status"]["updatedReplicas"])));
            columns.push(made("Available", "string", |v| number(&v["status"]["availableReplicas"])));
        }
        ("", "services") => {
            columns.push(plain("Type", ".spec.type"));
            columns.push(plain("Cluster-IP", ".spec.clusterIP"));
        }
        ("", "nodes") => {
            columns.push(made("Status", "string", node_status));
            columns.push(plain("Version", ".status.nodeInfo.kubeletVersion"));
        }
        ("", "namespaces") => columns.push(plain("Status", ".status.phase")),
        ("", "configmaps" | "secrets") => {
            if resource.plural == "secrets" {
                columns.push(plain("Type", ".type"));
            }
            columns.push(made("Data", "string", |value| {
                json!(value["data"].as_object().map_or(0, serde_json::Map::len).to_string())
            }));
        }
        _ => columns.extend(resource.columns.iter().map(|(name, path)| plain(name, path))),
    }
    let date = if resource.custom { "date" } else { "string" };
    columns.push(made("Age", date, |value| match value["metadata"]["creationTimestamp"].as_str() {
        Some(time) => json!(age(time)),
        None => json!("<unknown>"),
    }));
    let wide = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => vec![
            plain("IP", ".status.podIP"),
            plain("Node", ".spec.nodeName"),
            made("Nominated Node", "string", |_| json!("<none>")),
            made("Readiness Gates", "string", |_| json!("<none>")),
        ],
        ("apps", "deployments") => vec![
            made("Containers", "string", |value| each_container(value, "name")),
            made("Images", "string", |value| each_container(value, "image")),
            made("Selector", "string", |value| {
                let labels = value["spec"]["selector"]["matchLabels"].as_object().into_iter().flatten();
                let labels = labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
                json!(labels.collect::<Vec<_>>().join(","))
            }),
        ],
        _ => Vec::new(),
    };
    columns.extend(wide.into_iter().map(|column| Column { wide: true, ..column }));
    columns
}

fn each_container(workload: &Value, field: &str) -> Value {
    let containers = workload["spec"]["template"]["spec"]["containers"].as_array().into_iter().flatten();
    json!(containers.filter_map(|container| container[field].as_str()).collect::<Vec<_>>().join(","))
}

fn number(value: &Value) -> Value {
    json!(value.as_u64().unwrap_or_default())
}

fn age(time: &str) -> String {
    let Ok(time) = time.parse::<jiff::Timestamp>() else { return "<invalid>".to_owned() };
    let seconds = jiff::Timestamp::now().as_second() - time.as_second();
    match seconds {
        ..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86400),
    }
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    pod["status"]["containerStatuses"].as_array().into_iter().flatten()
}

fn pod_ready(pod: &Value) -> Value {
    let ready = containers(pod).filter(|status| status["ready"] == true).count();
    json!(format!("{ready}/{}", pod["spec"]["containers"].as_array().map_or(0, Vec::len)))
}

fn pod_status(pod: &Value) -> Value {
    if pod["metadata"]["deletionTimestamp"].is_string() {
        return json!("Terminating");
    }
    let waiting = containers(pod).find_map(|status| {
        let state = &status["state"];
        state["waiting"]["reason"].as_str().or(state["terminated"]["reason"].as_str())
    });
    let reason = waiting.or(pod["status"]["reason"].as_str()).or(pod["status"]["phase"].as_str());
    json!(reason.unwrap_or("Unknown"))
}

fn pod_restarts(pod: &Value) -> Value {
    let restarts: u64 = containers(pod).filter_map(|status| status["restartCount"].as_u64()).sum();
    json!(restarts.to_string())
}

fn node_status(node: &Value) -> Value {
    let conditions = node["status"]["conditions"].as_array().into_iter().flatten();
    let ready = conditions.into_iter().any(|c| c["type"] == "Ready" && c["status"] == "True");
    let mut status = if ready { "Ready".to_owned() } else { "NotReady".to_owned() };
    if node["spec"]["unschedulable"] == true {
        status.push_str(",SchedulingDisabled");
    }
    json!(status)
}
