//! Pods that have ended, and pods nobody hears of any more.

use super::{JobState, Look};
use crate::rules::finding::{Finding, Severity};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// A pod that ended well is told only when asked for.
pub(super) fn succeeded(look: &Look<'_>) -> Option<Finding> {
    look.around.include_completed.then(|| {
        look.find("pod/completed", Severity::Info, "ended well")
            .shown_by("status.phase", "Succeeded")
            .since(ended_at(look))
            .next("nothing to do; delete it when its log is no longer needed")
    })
}

/// `status.phase: Failed`. Why it failed stands in `status.reason`, in the `DisruptionTarget` condition, or in the
/// containers' exit codes. The failed pod of a Job that is complete by now was retried, and is no issue.
pub(super) fn failed(look: &Look<'_>) -> Option<Finding> {
    let job = look.around.job_of(look.pod);
    let recovered = job == Some(JobState::Complete);
    if recovered && !look.around.include_completed {
        return None;
    }
    let cause = Cause::of(look);
    let severity = match (recovered, job) {
        (true, _) => Severity::Info,
        (_, Some(JobState::Running)) => Severity::Low,
        _ => cause.severity,
    };
    let reason = look.status.and_then(|s| s.reason.as_deref());
    let mut finding = look
        .find(cause.id, severity, cause.message)
        .shown_by("status.phase", "Failed")
        .shown_by_option("status.reason", reason)
        .shown_by_option("status.message", look.status.and_then(|s| s.message.as_deref()))
        .since(ended_at(look))
        .next(cause.next);
    if let Some(condition) = look.condition("DisruptionTarget").filter(|c| c.status == "True") {
        finding = finding.shown_by_option("status.conditions[DisruptionTarget].reason", condition.reason.as_deref());
    }
    for seen in look.containers() {
        if let Some(end) = seen.status.state.as_ref().and_then(|s| s.terminated.as_ref()).filter(|e| e.exit_code != 0) {
            let text = super::crashes::end_text(end);
            finding = finding.shown_by(seen.path("state.terminated"), text);
        }
    }
    match job {
        Some(JobState::Running) => finding.message.push_str("; its job still tries"),
        Some(JobState::Complete) => finding.message.push_str("; its job is complete by now"),
        _ => {}
    }
    Some(finding)
}

/// `status.phase: Unknown`: the node has stopped reporting.
pub(super) fn unknown(look: &Look<'_>) -> Finding {
    look.find("pod/unknown-phase", Severity::High, "its node does not report its state any more")
        .shown_by("status.phase", "Unknown")
        .shown_by_option("spec.nodeName", look.spec().and_then(|s| s.node_name.as_deref()))
        .shown_by_option("status.message", look.status.and_then(|s| s.message.as_deref()))
        .since(look.condition("Ready").and_then(|c| c.last_transition_time.as_ref()))
        .next("look at the node: `get_nodes`, `get_warning_events`")
}

struct Cause {
    id: &'static str,
    severity: Severity,
    message: String,
    next: &'static str,
}

impl Cause {
    fn of(look: &Look<'_>) -> Self {
        let reason = look.status.and_then(|s| s.reason.as_deref()).unwrap_or("");
        let disruption = look.condition("DisruptionTarget").and_then(|c| c.reason.as_deref()).unwrap_or("");
        let (id, severity, message, next) = match (reason, disruption) {
            ("Evicted", _) => {
                let pressure = pressure(look).map_or_else(String::new, |what| format!(" for want of {what}"));
                (
                    "pod/evicted",
                    Severity::Medium,
                    format!("evicted by its node{pressure}"),
                    "look at the node's conditions, and set requests near the real use so that others go first",
                )
            }
            ("NodeLost", _) | (_, "DeletionByTaintManager" | "DeletionByPodGC") => (
                "pod/node-lost",
                Severity::High,
                "its node is gone or unreachable".to_owned(),
                "look at the node: `get_nodes`, `get_warning_events`",
            ),
            ("Preempting" | "Preempted", _) | (_, "PreemptionByScheduler") => (
                "pod/preempted",
                Severity::Medium,
                "made room for a pod of higher priority".to_owned(),
                "give it a priorityClassName that fits, or add room",
            ),
            ("NodeShutdown" | "Terminated" | "Shutdown", _) => (
                "pod/node-shutdown",
                Severity::Low,
                "ended when its node shut down".to_owned(),
                "delete it; its owner has made another",
            ),
            ("DeadlineExceeded", _) => (
                "pod/deadline-exceeded",
                Severity::High,
                "ran longer than its activeDeadlineSeconds".to_owned(),
                "raise activeDeadlineSeconds, or find out what takes so long",
            ),
            ("UnexpectedAdmissionError" | "NodeAffinity" | "NodePorts" | "InvalidNodeInfo", _) => (
                "pod/refused-by-node",
                Severity::High,
                "refused by the node it was bound to".to_owned(),
                "compare the pod's needs with the node: `describe_pod`, `get_nodes`",
            ),
            (reason, _) if reason.starts_with("OutOf") => (
                "pod/refused-by-node",
                Severity::High,
                format!("refused by the node it was bound to: out of {}", &reason["OutOf".len()..]),
                "the node filled up between scheduling and start; lower the requests or add room",
            ),
            (_, "EvictionByEvictionAPI") => (
                "pod/evicted",
                Severity::Low,
                "evicted through the API, as a drain does".to_owned(),
                "delete it; its owner has made another",
            ),
            _ => (
                "pod/failed",
                Severity::High,
                "ended with a failure".to_owned(),
                "read its log and its exit code: `describe_pod`, `get_pod_logs`",
            ),
        };
        Self { id, severity, message, next }
    }
}

/// Which resource the node ran short of; the kubelet says so only in words.
fn pressure(look: &Look<'_>) -> Option<&'static str> {
    let message = look.status?.message.as_deref()?.to_ascii_lowercase();
    [
        ("ephemeral-storage", "ephemeral storage"),
        ("diskpressure", "disk"),
        ("inodes", "inodes"),
        ("memory", "memory"),
        ("pid", "process ids"),
        ("usage of emptydir", "an emptyDir's size limit"),
    ]
    .into_iter()
    .find_map(|(word, what)| message.contains(word).then_some(what))
}

fn ended_at<'a>(look: &Look<'a>) -> Option<&'a Time> {
    look.containers()
        .filter_map(|seen| seen.status.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref())
        .max_by_key(|t| t.0)
        .or_else(|| look.status.and_then(|s| s.start_time.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::super::{examine, testing::*};
    use super::*;
    use serde_json::{Value, json};

    fn failed_pod(reason: Value, message: &str) -> Value {
        pod(json!({"phase": "Failed", "reason": reason, "message": message, "startTime": ago(600)}))
    }

    #[test]
    fn kw_13_an_2_1_failed_pods_are_told_with_the_reason_of_their_end() {
        for (reason, message, id) in [
            ("Evicted", "The node was low on resource: ephemeral-storage.", "pod/evicted"),
            ("NodeLost", "", "pod/node-lost"),
            ("Preempting", "", "pod/preempted"),
            ("Terminated", "Pod was terminated in response to imminent node shutdown.", "pod/node-shutdown"),
            ("DeadlineExceeded", "", "pod/deadline-exceeded"),
            ("OutOfcpu", "", "pod/refused-by-node"),
            ("UnexpectedAdmissionError", "", "pod/refused-by-node"),
            ("", "", "pod/failed"),
        ] {
            assert_eq!(ids(&examine_value(failed_pod(json!(reason), message))), [id], "{reason}");
        }
        let found = examine_value(failed_pod(json!("Evicted"), "The node was low on resource: memory."));
        assert!(found[0].message.ends_with("for want of memory"));
    }

    #[test]
    fn an_2_1_disruption_conditions_tell_what_the_reason_does_not() {
        let mut value = failed_pod(json!(null), "");
        value["status"]["conditions"] =
            json!([{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]);
        let found = examine_value(value);
        assert_eq!(ids(&found), ["pod/preempted"]);
        assert_eq!(found[0].evidence_of("status.conditions[DisruptionTarget].reason"), Some("PreemptionByScheduler"));
    }

    #[test]
    fn an_2_1_unknown_phase_is_told_with_the_node() {
        let found = examine_value(pod(json!({"phase": "Unknown"})));
        assert_eq!(ids(&found), ["pod/unknown-phase"]);
        assert_eq!(found[0].evidence_of("spec.nodeName"), Some("node-1"));
    }

    #[test]
    fn completed_pods_are_told_only_when_asked_for() {
        let value = pod(json!({"phase": "Succeeded"}));
        assert_eq!(examine_value(value.clone()), []);
        let mut around = around();
        around.include_completed = true;
        assert_eq!(ids(&examine(&serde_json::from_value(value).unwrap(), &around)), ["pod/completed"]);
    }

    #[test]
    fn an_1_5_job_retried_then_succeeded_is_fine_while_a_job_that_gave_up_is_found() {
        let mut value = failed_pod(json!(null), "");
        value["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "batch/v1", "kind": "Job", "name": "load", "uid": "1", "controller": true}]);
        let pod = serde_json::from_value(value).unwrap();
        for (state, expected) in [
            (Some(JobState::Complete), None),
            (Some(JobState::Running), Some(Severity::Low)),
            (Some(JobState::Failed), Some(Severity::High)),
            (None, Some(Severity::High)),
        ] {
            let mut around = around();
            around.jobs.extend(state.map(|s| (("shop".to_owned(), "load".to_owned()), s)));
            assert_eq!(examine(&pod, &around).first().map(|f| f.severity), expected, "{state:?}");
        }
    }
}
