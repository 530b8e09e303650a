//! Pods: the word that `kubectl get pods` shows, and what stands beside it.

use super::{Condition, Metadata, condition};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, de::IgnoredAny};

/// A pod as far as a list shows it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SlimPod {
    pub(crate) metadata: Metadata,
    pub(crate) spec: Option<SlimSpec>,
    pub(crate) status: Option<SlimStatus>,
}

/// Its spec.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SlimSpec {
    pub(crate) node_name: Option<String>,
    containers: Option<Vec<IgnoredAny>>,
    init_containers: Option<Vec<InitContainer>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct InitContainer {
    name: Option<String>,
    restart_policy: Option<String>,
}

/// Its status.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct SlimStatus {
    phase: Option<String>,
    reason: Option<String>,
    conditions: Option<Vec<Condition>>,
    container_statuses: Option<Vec<ContainerStatus>>,
    init_container_statuses: Option<Vec<ContainerStatus>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ContainerStatus {
    name: Option<String>,
    ready: Option<bool>,
    started: Option<bool>,
    restart_count: Option<u32>,
    state: Option<State>,
    last_state: Option<State>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    waiting: Option<Waiting>,
    running: Option<IgnoredAny>,
    terminated: Option<Terminated>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Waiting {
    reason: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    exit_code: i32,
    signal: Option<i32>,
    reason: Option<String>,
    finished_at: Option<Time>,
}

impl Terminated {
    /// Its reason, else signal or exit code.
    fn word(&self) -> String {
        match (self.reason.as_deref(), self.signal) {
            (Some(reason), _) if !reason.is_empty() => reason.to_owned(),
            (_, Some(signal)) if signal != 0 => format!("Signal:{signal}"),
            _ => format!("ExitCode:{}", self.exit_code),
        }
    }
}

/// What a list says of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The word.
    pub(crate) status: String,
    /// Containers that are ready, sidecars included.
    pub(crate) ready: usize,
    /// Containers that should be.
    pub(crate) total: usize,
    /// Restarts of all of them.
    pub(crate) restarts: u32,
    /// When one last ended.
    pub(crate) last_restart: Option<Timestamp>,
}

/// The word of a pod and its numbers, by the rules of the API server's own table: what starts first and does not come
/// up tells more than the phase, and so does what waits or ended.
pub(crate) fn shown(pod: &SlimPod) -> Shown {
    let nothing = SlimStatus::default();
    let status = pod.status.as_ref().unwrap_or(&nothing);
    let empty = SlimSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&empty);
    let mut word = status.reason.clone().filter(|reason| !reason.is_empty()).unwrap_or_else(|| {
        status.phase.clone().filter(|phase| !phase.is_empty()).unwrap_or_else(|| "Unknown".to_owned())
    });
    let conditions = status.conditions.as_ref();
    if condition(conditions, "PodScheduled").is_some_and(|c| c.reason.as_deref() == Some("SchedulingGated")) {
        word = "SchedulingGated".to_owned();
    }
    let inits = spec.init_containers.as_deref().unwrap_or_default();
    let is_sidecar = |name: Option<&str>| {
        inits.iter().any(|init| init.name.as_deref() == name && init.restart_policy.as_deref() == Some("Always"))
    };
    let sidecars = inits.iter().filter(|init| init.restart_policy.as_deref() == Some("Always")).count();
    let total = spec.containers.as_ref().map_or(0, Vec::len) + sidecars;
    let mut counts = Counts::default();
    let mut starting = None;
    let mut sidecar_restarts = 0;
    for (index, container) in status.init_container_statuses.iter().flatten().enumerate() {
        counts.add(container);
        let sidecar = is_sidecar(container.name.as_deref());
        if sidecar {
            sidecar_restarts += container.restart_count.unwrap_or_default();
        }
        let state = container.state.clone().unwrap_or_default();
        let went_well = state.terminated.as_ref().is_some_and(|terminated| terminated.exit_code == 0);
        if went_well {
            continue;
        }
        if sidecar && container.started == Some(true) {
            counts.ready += usize::from(container.ready == Some(true));
            continue;
        }
        starting = Some(match (&state.terminated, state.waiting.and_then(|waiting| waiting.reason)) {
            (Some(terminated), _) => format!("Init:{}", terminated.word()),
            (None, Some(reason)) if !reason.is_empty() && reason != "PodInitializing" => format!("Init:{reason}"),
            _ => format!("Init:{index}/{}", inits.len()),
        });
        break;
    }
    let initialized = condition(conditions, "Initialized").is_some_and(|c| c.is("True"));
    match starting {
        Some(starting) if !initialized => word = starting,
        starting => {
            if let Some(starting) = starting {
                word = starting;
            }
            counts.restarts = sidecar_restarts;
            word = main_word(word, status, &mut counts);
        }
    }
    let phase_is = |phase: &str| status.phase.as_deref() == Some(phase);
    if pod.metadata.deletion_timestamp.is_some() {
        if status.reason.as_deref() == Some("NodeLost") {
            word = "Unknown".to_owned();
        } else if !phase_is("Succeeded") && !phase_is("Failed") {
            word = "Terminating".to_owned();
        }
    }
    Shown { status: word, ready: counts.ready, total, restarts: counts.restarts, last_restart: counts.last }
}

/// The word once the init containers are done.
fn main_word(mut word: String, status: &SlimStatus, counts: &mut Counts) -> String {
    let mut running = false;
    for container in status.container_statuses.iter().flatten().rev() {
        counts.add(container);
        let Some(state) = &container.state else { continue };
        let waiting = state.waiting.as_ref().and_then(|waiting| waiting.reason.clone()).filter(|r| !r.is_empty());
        if let Some(reason) = waiting {
            word = reason;
        } else if let Some(terminated) = &state.terminated {
            word = terminated.word();
        } else if state.running.is_some() && container.ready == Some(true) {
            running = true;
            counts.ready += 1;
        }
    }
    if word == "Completed" && running {
        let ready = condition(status.conditions.as_ref(), "Ready").is_some_and(|c| c.is("True"));
        word = if ready { "Running" } else { "NotReady" }.to_owned();
    }
    word
}

#[derive(Default)]
struct Counts {
    ready: usize,
    restarts: u32,
    last: Option<Timestamp>,
}

impl Counts {
    fn add(&mut self, container: &ContainerStatus) {
        self.restarts += container.restart_count.unwrap_or_default();
        let ended = container.last_state.as_ref().and_then(|last| last.terminated.as_ref());
        let ended = ended.and_then(|terminated| terminated.finished_at.as_ref()).map(|time| time.0);
        self.last = self.last.max(ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn status_of(spec: Value, status: Value) -> String {
        let pod = json!({"metadata": {"name": "p"}, "spec": spec, "status": status});
        let shown = shown(&serde_json::from_value(pod).unwrap());
        format!("{} {}/{} {}", shown.status, shown.ready, shown.total, shown.restarts)
    }

    #[test]
    fn kt_get_pods_words_are_those_of_kubectl() {
        let one = json!({"containers": [{"name": "c"}]});
        let main = |state: Value| {
            json!({"phase": "Running", "containerStatuses": [
            {"name": "c", "ready": state.get("running").is_some(), "restartCount": 2, "state": state}]})
        };
        let cases = [
            (one.clone(), main(json!({"running": {}})), "Running 1/1 2"),
            (one.clone(), main(json!({"waiting": {"reason": "CrashLoopBackOff"}})), "CrashLoopBackOff 0/1 2"),
            (one.clone(), main(json!({"terminated": {"exitCode": 1, "reason": "Error"}})), "Error 0/1 2"),
            (one.clone(), main(json!({"terminated": {"exitCode": 3}})), "ExitCode:3 0/1 2"),
            (one.clone(), main(json!({"terminated": {"exitCode": 0, "signal": 9}})), "Signal:9 0/1 2"),
            (one.clone(), json!({"phase": "Failed", "reason": "Evicted"}), "Evicted 0/1 0"),
            (one.clone(), json!({"phase": "Pending"}), "Pending 0/1 0"),
            (one.clone(), Value::Null, "Unknown 0/1 0"),
            (Value::Null, Value::Null, "Unknown 0/0 0"),
            (
                one.clone(),
                json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}),
                "SchedulingGated 0/1 0",
            ),
            (
                json!({"containers": [{"name": "a"}, {"name": "b"}]}),
                json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [
                    {"name": "a", "ready": false, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
                    {"name": "b", "ready": true, "state": {"running": {}}}]}),
                "NotReady 1/2 0",
            ),
        ];
        for (spec, status, expected) in cases {
            assert_eq!(status_of(spec, status.clone()), expected, "{status}");
        }
    }

    #[test]
    fn kt_get_pods_init_containers_and_sidecars_are_told_apart() {
        let spec = json!({"initContainers": [{"name": "s", "restartPolicy": "Always"}, {"name": "i"}],
            "containers": [{"name": "c"}]});
        let status = |sidecar: Value, init: Value| {
            json!({"phase": "Pending", "initContainerStatuses": [sidecar, init],
            "containerStatuses": [{"name": "c", "ready": false, "restartCount": 0, "state": {"waiting": {"reason": "PodInitializing"}}}]})
        };
        let up = json!({"name": "s", "ready": true, "started": true, "restartCount": 1, "state": {"running": {}}});
        let init = |state: Value| json!({"name": "i", "restartCount": 4, "state": state});
        assert_eq!(status_of(spec.clone(), status(up.clone(), init(json!({"running": {}})))), "Init:1/2 1/2 5");
        let crash = init(json!({"waiting": {"reason": "CrashLoopBackOff"}}));
        assert_eq!(status_of(spec.clone(), status(up.clone(), crash)), "Init:CrashLoopBackOff 1/2 5");
        let failed = init(json!({"terminated": {"exitCode": 7}}));
        assert_eq!(status_of(spec.clone(), status(up.clone(), failed)), "Init:ExitCode:7 1/2 5");
        let done = json!({"phase": "Running", "initContainerStatuses": [up, init(json!({"terminated": {"exitCode": 0}}))],
            "containerStatuses": [{"name": "c", "ready": true, "restartCount": 3, "state": {"running": {}}}]});
        assert_eq!(status_of(spec, done), "Running 2/2 4", "restarts of finished init containers count no more");
    }

    #[test]
    fn kt_get_pods_deletion_shows() {
        let of = |status: Value| {
            let metadata = json!({"name": "p", "deletionTimestamp": "2026-01-01T00:00:00Z"});
            shown(&serde_json::from_value(json!({"metadata": metadata, "status": status})).unwrap()).status
        };
        assert_eq!(of(json!({"phase": "Running"})), "Terminating");
        assert_eq!(of(json!({"phase": "Running", "reason": "NodeLost"})), "Unknown");
        assert_eq!(of(json!({"phase": "Succeeded"})), "Succeeded");
    }
}
