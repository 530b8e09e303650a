//! Pods that run and take no traffic.

use super::{Look, Seen};
use crate::rules::{
    containers::{self, Role},
    finding::{Finding, Severity, age_text},
};
use k8s_openapi::api::core::v1::Probe;

/// How long a pod may be unready, in seconds, beyond what its probes allow for starting.
const GRACE: i64 = 60;

/// When an unready pod is no longer a start that takes long, in seconds.
const LONG: i64 = 600;

/// `Ready: False` for longer than a start may take, unless a finding about its containers tells why already. A
/// startup probe that has not yet succeeded is no error: the kubelet restarts the container when it gives up.
pub(super) fn check(look: &Look<'_>, found: &mut Vec<Finding>) {
    let Some(ready) = look.condition("Ready").filter(|c| c.status != "True") else { return };
    if ready.reason.as_deref() == Some("PodCompleted") {
        return;
    }
    let since = ready.last_transition_time.as_ref();
    let Some(age) = look.age(since.or_else(|| look.status.and_then(|s| s.start_time.as_ref()))) else { return };
    if age <= GRACE + starting_allowance(look) {
        return;
    }
    let explained = |name: &str| found.iter().any(|f| f.container.as_deref() == Some(name));
    let unready: Vec<Seen<'_>> = look.containers().filter(|c| serves(c) && !c.status.ready).collect();
    let severity = if age > LONG { Severity::High } else { Severity::Medium };
    if unready.is_empty() {
        found.extend(gates(look, severity, age));
        return;
    }
    let mut told = Vec::new();
    for seen in unready.iter().filter(|c| !explained(&c.status.name) && is_running(c)) {
        let name = &seen.status.name;
        let started = seen.status.started != Some(false);
        let words = if started { "is not ready" } else { "has not passed its startup probe" };
        told.push(
            look.find("pod/not-ready", severity, format!("runs but {words} for {}", age_text(age)))
                .in_container(name)
                .shown_by(seen.path("ready"), false)
                .shown_by_option("status.conditions[Ready].reason", ready.reason.as_deref())
                .shown_by_option("status.conditions[Ready].message", ready.message.as_deref())
                .shown_by_option(format!("spec.containers[{name}].readinessProbe"), probe_text(look, name))
                .since(since)
                .next(format!("see what the probe says: `get_warning_events involved_object={}`", pod_name(look))),
        );
    }
    found.append(&mut told);
}

/// All containers are ready, the pod is not: a condition of `spec.readinessGates` is missing or false.
fn gates(look: &Look<'_>, severity: Severity, age: i64) -> Option<Finding> {
    let gates = look.spec()?.readiness_gates.as_deref().unwrap_or_default();
    let closed: Vec<&str> = gates
        .iter()
        .map(|g| g.condition_type.as_str())
        .filter(|kind| look.condition(kind).is_none_or(|c| c.status != "True"))
        .collect();
    let ready = look.condition("Ready")?;
    let finding = if closed.is_empty() {
        // The node controller marks pods of a node that stopped reporting so; kubelet and containers are silent.
        look.find("pod/not-ready", severity, format!("is not ready for {} though its containers are", age_text(age)))
            .shown_by_option("spec.nodeName", look.spec()?.node_name.as_deref())
            .next("look at the node: `get_nodes`")
    } else {
        look.find("pod/readiness-gate", severity, format!("readiness gates are closed for {}", age_text(age)))
            .shown_by("spec.readinessGates", closed.join(", "))
            .next("find the controller that sets these conditions, a load balancer's most often")
    };
    Some(
        finding
            .shown_by_option("status.conditions[Ready].reason", ready.reason.as_deref())
            .since(ready.last_transition_time.as_ref()),
    )
}

fn serves(seen: &Seen<'_>) -> bool {
    matches!(seen.role, Role::Main | Role::Sidecar)
}

fn is_running(seen: &Seen<'_>) -> bool {
    seen.status.state.as_ref().is_none_or(|s| s.running.is_some())
}

fn pod_name<'a>(look: &Look<'a>) -> &'a str {
    look.pod.metadata.name.as_deref().unwrap_or("?")
}

/// How many seconds its probes give the slowest container that has not started yet.
fn starting_allowance(look: &Look<'_>) -> i64 {
    let starting: Vec<&str> = look
        .containers()
        .filter(|c| c.status.started == Some(false) || !c.status.ready)
        .map(|c| c.status.name.as_str())
        .collect();
    let allowance = |probe: &Probe| {
        let times = i64::from(probe.failure_threshold.unwrap_or(3)) * i64::from(probe.period_seconds.unwrap_or(10));
        times + i64::from(probe.initial_delay_seconds.unwrap_or(0))
    };
    look.spec()
        .into_iter()
        .flat_map(containers::all)
        .filter(|c| starting.contains(&c.name))
        .map(|c| {
            let delay = |name| c.probes.iter().find(|(n, _)| *n == name).and_then(|(_, p)| *p);
            delay("startupProbe").map_or(0, allowance)
                + delay("readinessProbe").map_or(0, |p| i64::from(p.initial_delay_seconds.unwrap_or(0)))
        })
        .max()
        .unwrap_or(0)
}

/// What the readiness probe does, without headers: they may hold tokens.
fn probe_text(look: &Look<'_>, container: &str) -> Option<String> {
    let view = containers::all(look.spec()?).find(|c| c.name == container)?;
    let probe = view.probes.iter().find(|(name, _)| *name == "readinessProbe")?.1?;
    let port = |port: &k8s_openapi::apimachinery::pkg::util::intstr::IntOrString| match port {
        k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::Int(n) => n.to_string(),
        k8s_openapi::apimachinery::pkg::util::intstr::IntOrString::String(s) => s.clone(),
    };
    if let Some(http) = &probe.http_get {
        Some(format!("GET {} on port {}", http.path.as_deref().unwrap_or("/"), port(&http.port)))
    } else if let Some(tcp) = &probe.tcp_socket {
        Some(format!("connect to port {}", port(&tcp.port)))
    } else if let Some(grpc) = &probe.grpc {
        Some(format!("gRPC health on port {}", grpc.port))
    } else {
        probe.exec.as_ref().and_then(|e| e.command.as_ref()?.first()).map(|program| format!("runs {program}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn unready(seconds: i64) -> Value {
        pod(json!({
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady",
                "message": "containers with unready status: [app]", "lastTransitionTime": ago(seconds)}],
            "containerStatuses": [{"name": "app", "image": "", "imageID": "", "ready": false, "restartCount": 0,
                "started": true, "state": {"running": {"startedAt": ago(seconds)}}}],
        }))
    }

    #[test]
    fn an_2_1_not_ready_is_told_after_a_grace_and_with_how_long() {
        for (seconds, expected) in [(30, None), (120, Some(Severity::Medium)), (3_600, Some(Severity::High))] {
            let found = examine_value(unready(seconds));
            assert_eq!(found.first().map(|f| f.severity), expected, "{seconds}");
        }
        let mut value = unready(3_600);
        value["spec"]["containers"][0]["readinessProbe"] = json!({"httpGet": {"path": "/ready", "port": "http",
            "httpHeaders": [{"name": "Authorization", "value": "Bearer hidden"}]}});
        let found = examine_value(value);
        assert_eq!(found[0].message, "runs but is not ready for 60m");
        assert_eq!(found[0].evidence_of("spec.containers[app].readinessProbe"), Some("GET /ready on port http"));
        assert!(!format!("{found:?}").contains("hidden"));
    }

    #[test]
    fn an_2_1_startup_probe_that_still_runs_is_no_error() {
        let mut value = unready(500);
        value["status"]["containerStatuses"][0]["started"] = json!(false);
        value["spec"]["containers"][0]["startupProbe"] = json!({"periodSeconds": 10, "failureThreshold": 60});
        assert_eq!(examine_value(value.clone()), []);
        value["status"]["conditions"][0]["lastTransitionTime"] = json!(ago(700));
        assert!(examine_value(value)[0].message.contains("startup probe"));
    }

    #[test]
    fn an_2_1_readiness_gates_that_are_closed_are_named() {
        let mut value = unready(3_600);
        value["status"]["containerStatuses"][0]["ready"] = json!(true);
        value["spec"]["readinessGates"] = json!([{"conditionType": "lb.example.com/attached"}]);
        let found = examine_value(value.clone());
        assert_eq!(ids(&found), ["pod/readiness-gate"]);
        assert_eq!(found[0].evidence_of("spec.readinessGates"), Some("lb.example.com/attached"));
        value["spec"]["readinessGates"] = json!(null);
        assert_eq!(ids(&examine_value(value)), ["pod/not-ready"]);
    }

    #[test]
    fn a_crash_that_explains_it_is_told_once() {
        let mut value = unready(3_600);
        value["status"]["containerStatuses"][0]["state"] = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        assert_eq!(ids(&examine_value(value)), ["pod/crash-loop"]);
    }
}
