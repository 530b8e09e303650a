//! Containers that end when they should run.

use super::{Look, Seen};
use crate::rules::{
    containers::Role,
    finding::{Finding, Moment, Severity},
};
use k8s_openapi::api::core::v1::ContainerStateTerminated;

/// Restarts count while the last end is that young, in seconds.
const RECENT: i64 = 3_600;

/// A container that restarts now and then stays worth knowing that long, in seconds.
const DAY: i64 = 86_400;

/// How many restarts make a pattern.
const SEVERAL: i32 = 3;

/// Crash loops, ends out of turn, and restarts weighed by how long ago the last one was. The last end of a container
/// that runs or waits again stands in `lastState.terminated`.
pub(super) fn check(look: &Look<'_>, found: &mut Vec<Finding>) {
    for seen in look.containers().filter(|c| c.role != Role::Ephemeral) {
        found.extend(check_one(look, &seen));
    }
}

fn check_one(look: &Look<'_>, seen: &Seen<'_>) -> Option<Finding> {
    let state = seen.status.state.as_ref();
    let last = seen.status.last_state.as_ref().and_then(|s| s.terminated.as_ref());
    if state.and_then(|s| s.waiting.as_ref()).and_then(|w| w.reason.as_deref()) == Some("CrashLoopBackOff") {
        return Some(crash_loop(look, seen, last));
    }
    if let Some(end) = state.and_then(|s| s.terminated.as_ref()) {
        return ended(look, seen, end);
    }
    last.and_then(|end| restarted(look, seen, end))
}

fn crash_loop(look: &Look<'_>, seen: &Seen<'_>, last: Option<&ContainerStateTerminated>) -> Finding {
    let oom = last.is_some_and(is_out_of_memory);
    let (id, words) = if oom {
        ("pod/oom-killed", "runs out of memory again and again".to_owned())
    } else {
        let why = last.map_or("", |end| meaning_of_exit(end.exit_code));
        (
            "pod/crash-loop",
            if why.is_empty() { "crashes again and again".into() } else { format!("crashes again and again: {why}") },
        )
    };
    let next = if oom { raise_memory(look, seen) } else { look.logs_hint(&seen.status.name, true) };
    with_end(look.find(id, Severity::Critical, words), seen, last, "lastState.terminated")
        .shown_by(seen.path("state.waiting.reason"), "CrashLoopBackOff")
        .since(last.and_then(|end| end.started_at.as_ref()))
        .next(next)
}

/// A container in its end state in a pod that still runs. Between two restarts that lasts for a moment only; under
/// `restartPolicy: Never` it stays. An init container that ended well has done its work.
fn ended(look: &Look<'_>, seen: &Seen<'_>, end: &ContainerStateTerminated) -> Option<Finding> {
    let policy = look.spec().and_then(|s| s.restart_policy.as_deref()).unwrap_or("Always");
    let comes_back = policy == "Always" && seen.role != Role::Init;
    if end.exit_code == 0 && !comes_back {
        return None;
    }
    if is_out_of_memory(end) {
        let finding = look.find("pod/oom-killed", Severity::High, "killed for using more memory than its limit");
        return Some(
            with_end(finding, seen, Some(end), "state.terminated")
                .since(end.finished_at.as_ref())
                .next(raise_memory(look, seen)),
        );
    }
    if end.exit_code == 0 && seen.status.restart_count < SEVERAL {
        return None;
    }
    let what = if end.exit_code == 0 { "ends by itself although it should run" } else { "ended with a failure" };
    let severity = if policy == "Never" { Severity::High } else { Severity::Medium };
    let finding = look.find("pod/container-ended", severity, format!("{what}: {}", meaning_of_exit(end.exit_code)));
    Some(
        with_end(finding, seen, Some(end), "state.terminated")
            .since(end.finished_at.as_ref())
            .next(look.logs_hint(&seen.status.name, false)),
    )
}

/// A container that runs again after an end that is not long ago.
fn restarted(look: &Look<'_>, seen: &Seen<'_>, end: &ContainerStateTerminated) -> Option<Finding> {
    if seen.role == Role::Init {
        return None;
    }
    let age = look.age(end.finished_at.as_ref());
    let recent = age.is_none_or(|a| a < RECENT);
    let this_day = age.is_none_or(|a| a < DAY);
    if is_out_of_memory(end) && this_day {
        let severity = if recent { Severity::High } else { Severity::Medium };
        let finding = look.find("pod/oom-killed", severity, "was killed for using more memory than its limit");
        return Some(
            with_end(finding, seen, Some(end), "lastState.terminated")
                .since(end.finished_at.as_ref())
                .next(raise_memory(look, seen)),
        );
    }
    let severity = match seen.status.restart_count {
        n if recent && n >= SEVERAL => Severity::Medium,
        n if this_day && n > 5 => Severity::Low,
        _ => return None,
    };
    let words = format!("restarted {} times: {}", seen.status.restart_count, meaning_of_exit(end.exit_code));
    Some(
        with_end(look.find("pod/restarts", severity, words), seen, Some(end), "lastState.terminated")
            .since(end.finished_at.as_ref())
            .next(look.logs_hint(&seen.status.name, true)),
    )
}

fn with_end(finding: Finding, seen: &Seen<'_>, end: Option<&ContainerStateTerminated>, field: &str) -> Finding {
    let finding =
        finding.in_container(&seen.status.name).shown_by(seen.path("restartCount"), seen.status.restart_count);
    let Some(end) = end else { return finding };
    finding.shown_by(seen.path(field), end_text(end)).shown_by_option(
        seen.path(&format!("{field}.message")),
        end.message.as_deref().filter(|m| !m.trim().is_empty()),
    )
}

fn raise_memory(look: &Look<'_>, seen: &Seen<'_>) -> String {
    let limit = look
        .spec()
        .into_iter()
        .flat_map(crate::rules::containers::all)
        .find(|c| c.name == seen.status.name)
        .and_then(|c| c.resources?.limits.as_ref()?.get("memory").map(|q| q.0.clone()));
    match limit {
        Some(limit) => format!("its limit is {limit}: raise it, or find what needs so much"),
        None => "it has no limit of its own: the node or the pod's limit ran out; set one".to_owned(),
    }
}

fn is_out_of_memory(end: &ContainerStateTerminated) -> bool {
    end.reason.as_deref() == Some("OOMKilled")
}

/// An end in one line: `OOMKilled, exit 137 (killed by SIGKILL) at 2026-11-30T10:00:00Z`.
pub(super) fn end_text(end: &ContainerStateTerminated) -> String {
    let mut text = end.reason.clone().unwrap_or_else(|| "ended".into());
    text.push_str(&format!(", exit {}", end.exit_code));
    let meaning = meaning_of_exit(end.exit_code);
    if !meaning.is_empty() {
        text.push_str(&format!(" ({meaning})"));
    }
    if let Some(signal) = end.signal.filter(|s| *s != 0) {
        text.push_str(&format!(", signal {signal}"));
    }
    if let Some(at) = &end.finished_at {
        text.push_str(&format!(" at {}", Moment::from(at)));
    }
    text
}

/// What an exit code means. Above 128 a shell and the runtimes add the number of the signal.
#[must_use]
pub const fn meaning_of_exit(code: i32) -> &'static str {
    match code {
        0 => "its process ended without an error",
        1 => "the application reports an error",
        2 => "wrong usage of a command",
        126 => "the command cannot be executed",
        127 => "the command was not found",
        128 => "the runtime could not start it",
        130 => "interrupted by SIGINT",
        132 => "illegal instruction (SIGILL): built for another processor",
        134 => "aborted by itself (SIGABRT)",
        135 => "bus error (SIGBUS)",
        136 => "arithmetic error (SIGFPE)",
        137 => "killed by SIGKILL: memory, a failing liveness probe, or a grace period that ran out",
        139 => "segmentation fault (SIGSEGV)",
        141 => "broken pipe (SIGPIPE)",
        143 => "ended by SIGTERM",
        255 => "an error without a code of its own",
        _ => "an error of the application",
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn running(restarts: i32, state: Value, last: Value) -> Value {
        pod(json!({
            "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "app", "image": "", "imageID": "", "ready": true, "restartCount": restarts,
                "state": state, "lastState": last}],
        }))
    }

    fn end(reason: &str, code: i32, seconds: i64) -> Value {
        json!({"terminated": {"reason": reason, "exitCode": code, "startedAt": ago(seconds + 5), "finishedAt": ago(seconds)}})
    }

    #[test]
    fn an_2_1_crash_loop_tells_the_last_end() {
        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}});
        let found = examine_value(running(9, waiting, end("Error", 127, 60)));
        assert_eq!((found[0].id, found[0].severity), ("pod/crash-loop", Severity::Critical));
        assert!(found[0].message.ends_with("the command was not found"));
        let last = found[0].evidence_of("status.containerStatuses[app].lastState.terminated").unwrap();
        assert!(last.starts_with("Error, exit 127 (the command was not found) at 2026-11-30T11:59:00Z"), "{last}");
        assert!(found[0].next_step.contains("previous=true"));
    }

    #[test]
    fn kw_13_an_2_1_out_of_memory_is_found_in_the_last_state() {
        let looping = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        let mut value = running(4, looping, end("OOMKilled", 137, 60));
        value["spec"]["containers"][0]["resources"] = json!({"limits": {"memory": "64Mi"}});
        let found = examine_value(value);
        assert_eq!((found[0].id, found[0].severity), ("pod/oom-killed", Severity::Critical));
        assert!(found[0].next_step.contains("64Mi"));

        let again = json!({"running": {"startedAt": ago(50)}});
        for (seconds, expected) in [(60, Some(Severity::High)), (7_200, Some(Severity::Medium)), (200_000, None)] {
            let found = examine_value(running(1, again.clone(), end("OOMKilled", 137, seconds)));
            assert_eq!(found.first().map(|f| f.severity), expected, "{seconds} s ago");
        }
    }

    #[test]
    fn an_2_1_restarts_are_weighed_by_when_the_last_one_was() {
        let again = json!({"running": {"startedAt": ago(50)}});
        for (restarts, seconds, expected) in [
            (1, 60, None),
            (3, 60, Some(Severity::Medium)),
            (3, 7_200, None),
            (6, 7_200, Some(Severity::Low)),
            (400, 200_000, None),
        ] {
            let found = examine_value(running(restarts, again.clone(), end("Error", 1, seconds)));
            assert_eq!(found.first().map(|f| f.severity), expected, "{restarts} restarts, {seconds} s ago");
        }
    }

    #[test]
    fn kw_13_crashing_init_containers_and_sidecars_count_finished_ones_do_not() {
        let status = |role: &str, state: Value| {
            let mut value = pod(json!({
                "phase": "Pending", "startTime": ago(60),
                "initContainerStatuses": [{"name": "setup", "image": "", "imageID": "", "ready": false,
                    "restartCount": 4, "state": state, "lastState": end("Error", 1, 30)}],
            }));
            value["spec"]["initContainers"] = json!([{"name": "setup", "restartPolicy": role}]);
            value
        };
        let looping = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        assert_eq!(ids(&examine_value(status("Never", looping.clone()))), ["pod/crash-loop"]);
        assert_eq!(ids(&examine_value(status("Always", looping))), ["pod/crash-loop"]);
        assert_eq!(examine_value(status("Never", end("Completed", 0, 30))), []);
    }

    #[test]
    fn a_container_that_failed_for_good_beside_a_running_one_is_found_one_that_finished_is_not() {
        let mut value = running(0, end("Error", 3, 60), json!({}));
        value["spec"]["restartPolicy"] = json!("Never");
        assert_eq!(ids(&examine_value(value.clone())), ["pod/container-ended"]);
        value["status"]["containerStatuses"][0]["state"] = end("Completed", 0, 60);
        assert_eq!(examine_value(value), []);
    }
}
