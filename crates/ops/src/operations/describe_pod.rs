//! `describe_pod`

mod view;

use crate::{
    Host,
    model::{
        event::EventRow,
        pod::{SlimPod, shown},
    },
    reading::{OLD_FORMS, select},
    rules::{
        containers::{self, Role},
        finding::Moment,
        pods::meaning_of_exit,
    },
    secrets,
};
use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Event, Pod, Volume};
use pintle_core::{Call, Foreign, Query, Row, Spellings, Stop};
use pintle_fleet::{Cause, Cluster, ClusterError, ListParams, PerCluster, ResourceType, Targets, fan_values_over};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Events that are told.
const EVENTS: usize = 20;

/// Describe a pod: reasons, containers, last exits, probes, volumes, owners, events.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct DescribePod {
    #[serde(flatten)]
    targets: Targets,
    /// Pod
    #[schemars(extend("x-cli" = {"positional": 1, "common": true}))]
    name: String,
    /// Default: that of the context, else `default`
    #[serde(default)]
    #[schemars(extend("x-cli" = {"short": "n", "common": true}))]
    namespace: Option<String>,
}

/// A pod. Values of its environment, arguments and commands are not told: they may be secrets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Described {
    namespace: String,
    name: String,
    /// Status as kubectl shows it
    status: String,
    ready: String,
    restarts: u32,
    /// Why, in the words of the cluster
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Moment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<Moment>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    finalizers: Vec<String>,
    age: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    qos: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_account: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority_class: Option<String>,
    owners: Vec<String>,
    labels: BTreeMap<String, String>,
    /// Their names; values may be anything
    annotations: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    node_selector: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scheduling_gates: Vec<String>,
    conditions: Vec<ToldCondition>,
    containers: Vec<ToldContainer>,
    volumes: Vec<ToldVolume>,
    /// The newest, newest first
    events: Vec<EventRow>,
    /// What could not be looked at
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A condition.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ToldCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Moment>,
}

/// A container of any of the three lists.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ToldContainer {
    name: String,
    /// main, init, sidecar or ephemeral
    role: &'static str,
    image: String,
    state: String,
    ready: bool,
    restarts: i32,
    /// How it last ended
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    requests: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    limits: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ports: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    probes: Vec<&'static str>,
    /// Names, and where values come from
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mounts: Vec<String>,
}

/// A volume.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ToldVolume {
    name: String,
    /// Its kind, and what it is made of
    source: String,
}

impl Query for DescribePod {
    type Host = Host;
    type Answer = PerCluster<Described>;
    const NAME: &'static str = "describe_pod";
    const SPELLINGS: Spellings = OLD_FORMS;
    const PAGED: bool = true;

    async fn run(self, host: &Host, call: &Call) -> Result<PerCluster<Described>, Stop> {
        let selection = select(host, &self.targets, self.namespace.as_deref(), call).await?;
        let wanted = &self;
        let found = fan_values_over(host.fleet(), selection, call, |cluster| async move {
            wanted.describe(host, &cluster, call).await
        });
        Ok(found.await?)
    }
}

impl DescribePod {
    async fn describe(&self, host: &Host, cluster: &Cluster, call: &Call) -> Result<Described, ClusterError> {
        let namespace = self.namespace.as_deref().or_else(|| cluster.default_namespace()).unwrap_or("default");
        let path = ResourceType::PODS.object_path(Some(namespace), &self.name);
        let mut value: Value = match cluster.get_json(&path).await {
            Ok(value) => value,
            Err(error) => return Err(explained(cluster, namespace, error).await),
        };
        secrets::hide(&mut value, call);
        let bad = |error: &serde_json::Error| ClusterError {
            cluster: cluster.name().to_owned(),
            cause: Cause::BadAnswer { path: path.clone(), why: format!("it is no pod, at line {}", error.line()) },
        };
        let slim: SlimPod = serde_json::from_value(value.clone()).map_err(|error| bad(&error))?;
        let pod: Pod = serde_json::from_value(value).map_err(|error| bad(&error))?;
        let mut told = described(&pod, &slim, namespace, host);
        let mut params = ListParams::in_namespace(Some(namespace));
        let name = super::get_warning_events::escaped(&self.name);
        params.field_selector = Some(format!("involvedObject.kind=Pod,involvedObject.name={name}"));
        match cluster.list::<Event>(&ResourceType::EVENTS, &params).await {
            Ok(events) => {
                // Events of an earlier pod of the same name are not its own.
                let mine = |event: &&Event| {
                    let uid = event.involved_object.uid.as_ref();
                    uid.is_none() || pod.metadata.uid.is_none() || uid == pod.metadata.uid.as_ref()
                };
                let mut rows: Vec<_> =
                    events.value.iter().filter(mine).map(|event| EventRow::of(event, host.now())).collect();
                rows.sort_by_cached_key(Row::key);
                if rows.len() > EVENTS {
                    told.notes.push(format!("the newest {EVENTS} of {} events", rows.len()));
                    rows.truncate(EVENTS);
                }
                told.events = rows;
            }
            Err(error @ ClusterError { cause: Cause::Cancelled, .. }) => return Err(error),
            Err(error) => told.notes.push(format!("events could not be read: {}", error.cause)),
        }
        Ok(told)
    }
}

/// "Not found" says also whether the namespace is there.
pub(super) async fn explained(cluster: &Cluster, namespace: &str, error: ClusterError) -> ClusterError {
    let Cause::NotFound { what, said } = &error.cause else { return error };
    match cluster.has_namespace(namespace).await {
        Ok(false) => {
            let said = format!("namespace `{namespace}` does not exist");
            ClusterError { cause: Cause::NotFound { what: what.clone(), said }, cluster: error.cluster }
        }
        _ => {
            let said = said.clone();
            ClusterError { cause: Cause::NotFound { what: what.clone(), said }, cluster: error.cluster }
        }
    }
}

fn described(pod: &Pod, slim: &SlimPod, namespace: &str, host: &Host) -> Described {
    let seen = shown(slim);
    let metadata = &pod.metadata;
    let spec = pod.spec.clone().unwrap_or_default();
    let status = pod.status.clone().unwrap_or_default();
    let words = |reason: Option<String>, message: Option<String>| {
        let parts: Vec<String> = reason.into_iter().chain(message).map(|text| Foreign::one_line(&text)).collect();
        (!parts.is_empty()).then(|| parts.join(": "))
    };
    let conditions = status.conditions.iter().flatten().map(|condition| ToldCondition {
        kind: condition.type_.clone(),
        status: condition.status.clone(),
        reason: condition.reason.clone(),
        message: condition.message.as_deref().map(Foreign::one_line).filter(|text| !text.is_empty()),
        since: condition.last_transition_time.as_ref().map(Moment::from),
    });
    let mut owners: Vec<String> =
        metadata.owner_references.iter().flatten().map(|owner| format!("{}/{}", owner.kind, owner.name)).collect();
    owners.sort();
    let annotations = metadata.annotations.iter().flatten().map(|(name, _)| name.clone());
    Described {
        namespace: metadata.namespace.clone().unwrap_or_else(|| namespace.to_owned()),
        name: metadata.name.clone().unwrap_or_default(),
        status: seen.status,
        ready: format!("{}/{}", seen.ready, seen.total),
        restarts: seen.restarts,
        reason: words(status.reason.clone(), status.message.clone()),
        node: spec.node_name.clone(),
        ip: status.pod_ip.clone(),
        started: status.start_time.as_ref().map(Moment::from),
        deleted: metadata.deletion_timestamp.as_ref().map(Moment::from),
        finalizers: metadata.finalizers.clone().unwrap_or_default(),
        age: slim.metadata.age(host.now()),
        qos: status.qos_class.clone(),
        service_account: spec.service_account_name.clone(),
        priority_class: spec.priority_class_name.clone(),
        owners,
        labels: metadata.labels.clone().unwrap_or_default(),
        annotations: annotations.collect(),
        node_selector: spec.node_selector.clone().unwrap_or_default(),
        scheduling_gates: spec.scheduling_gates.iter().flatten().map(|gate| gate.name.clone()).collect(),
        conditions: conditions.collect(),
        containers: told_containers(pod),
        volumes: spec.volumes.iter().flatten().map(told_volume).collect(),
        events: Vec::new(),
        notes: Vec::new(),
    }
}

fn told_containers(pod: &Pod) -> Vec<ToldContainer> {
    let Some(spec) = &pod.spec else { return Vec::new() };
    let status = pod.status.as_ref();
    let find = |role: Role, name: &str| -> Option<&ContainerStatus> {
        let status = status?;
        let list = match role {
            Role::Main => &status.container_statuses,
            Role::Init | Role::Sidecar => &status.init_container_statuses,
            Role::Ephemeral => &status.ephemeral_container_statuses,
        };
        list.as_ref()?.iter().find(|status| status.name == name)
    };
    let told = |view: containers::View<'_>| {
        let status = find(view.role, view.name);
        let amounts = |of: Option<&BTreeMap<String, k8s_openapi::apimachinery::pkg::api::resource::Quantity>>| {
            of.into_iter().flatten().map(|(name, amount)| (name.clone(), amount.0.clone())).collect()
        };
        let port = |port: &k8s_openapi::api::core::v1::ContainerPort| {
            let name = port.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
            format!("{}/{}{name}", port.container_port, port.protocol.as_deref().unwrap_or("TCP"))
        };
        let mount = |mount: &k8s_openapi::api::core::v1::VolumeMount| {
            let only = if mount.read_only == Some(true) { " (ro)" } else { "" };
            format!("{} from {}{only}", mount.mount_path, mount.name)
        };
        ToldContainer {
            name: view.name.to_owned(),
            role: match view.role {
                Role::Main => "main",
                Role::Init => "init",
                Role::Sidecar => "sidecar",
                Role::Ephemeral => "ephemeral",
            },
            image: view.image.unwrap_or_default().to_owned(),
            state: status.and_then(|s| s.state.as_ref()).map_or_else(|| "not started".to_owned(), state),
            ready: status.is_some_and(|status| status.ready),
            restarts: status.map_or(0, |status| status.restart_count),
            last: status.and_then(|s| s.last_state.as_ref()).filter(|s| s.terminated.is_some()).map(state),
            requests: amounts(view.resources.and_then(|r| r.requests.as_ref())),
            limits: amounts(view.resources.and_then(|r| r.limits.as_ref())),
            ports: view.ports.iter().map(port).collect(),
            probes: view.probes.iter().filter(|(_, probe)| probe.is_some()).map(|(name, _)| *name).collect(),
            env: view.env.iter().map(environment).collect(),
            mounts: view.volume_mounts.iter().map(mount).collect(),
        }
    };
    containers::all(spec).map(told).collect()
}

/// A state in words.
fn state(state: &ContainerState) -> String {
    let message = |text: &Option<String>| {
        text.as_deref().map(Foreign::one_line).filter(|text| !text.is_empty()).map(|text| format!(": {text}"))
    };
    if let Some(waiting) = &state.waiting {
        let reason = waiting.reason.as_deref().unwrap_or("waiting");
        return format!("{reason}{}", message(&waiting.message).unwrap_or_default());
    }
    if let Some(ended) = &state.terminated {
        let reason = ended.reason.as_deref().filter(|reason| !reason.is_empty()).unwrap_or("ended");
        let at = ended.finished_at.as_ref().map(|time| format!(" at {}", Moment::from(time))).unwrap_or_default();
        return format!(
            "{reason}{at}, exit code {} ({}){}",
            ended.exit_code,
            meaning_of_exit(ended.exit_code),
            message(&ended.message).unwrap_or_default()
        );
    }
    match state.running.as_ref().map(|running| running.started_at.as_ref()) {
        Some(Some(since)) => format!("running since {}", Moment::from(since)),
        Some(None) => "running".to_owned(),
        None => "not started".to_owned(),
    }
}

/// A variable: its name, and where its value comes from; never the value.
fn environment(variable: &k8s_openapi::api::core::v1::EnvVar) -> String {
    let from = match &variable.value_from {
        None => "literal".to_owned(),
        Some(source) => match (&source.secret_key_ref, &source.config_map_key_ref, &source.field_ref) {
            (Some(secret), _, _) => format!("secret {} key {}", secret.name, secret.key),
            (_, Some(map), _) => format!("configmap {} key {}", map.name, map.key),
            (_, _, Some(field)) => format!("field {}", field.field_path),
            _ => "resource field".to_owned(),
        },
    };
    format!("{} from {from}", variable.name)
}

fn told_volume(volume: &Volume) -> ToldVolume {
    let source = serde_json::to_value(volume).unwrap_or_default();
    let kind = source.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).find(|key| *key != "name");
    let kind = kind.unwrap_or("emptyDir");
    let made_of = ["secretName", "claimName", "name", "path", "driver", "server"];
    let of = made_of.iter().find_map(|key| source[kind][*key].as_str());
    ToldVolume { name: volume.name.clone(), source: of.map_or_else(|| kind.to_owned(), |of| format!("{kind} {of}")) }
}
