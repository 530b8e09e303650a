//! What warning events tell that no status does: probes, mounts, sandboxes, quotas.

use super::finding::{Finding, Moment, ObjectRef, Severity, age_text};
use super::pods::pull_failure;
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::Event,
    apimachinery::pkg::apis::meta::v1::{MicroTime, Time},
};
use pintle_core::Foreign;
use std::collections::BTreeMap;

/// Events older than that say nothing about the present, in seconds; the API server keeps them an hour by default.
const RECENT: i64 = 3_600;

/// When an event was last seen: its series, then its single time, then the older fields, then its creation.
#[must_use]
pub fn last_seen(event: &Event) -> Option<Timestamp> {
    let micro = |t: &MicroTime| t.0;
    let whole = |t: &Time| t.0;
    event
        .series
        .as_ref()
        .and_then(|s| s.last_observed_time.as_ref())
        .map(micro)
        .or_else(|| event.last_timestamp.as_ref().map(whole))
        .or_else(|| event.event_time.as_ref().map(micro))
        .or_else(|| event.first_timestamp.as_ref().map(whole))
        .or_else(|| event.metadata.creation_timestamp.as_ref().map(whole))
}

/// How often it was seen.
#[must_use]
pub fn count(event: &Event) -> i32 {
    event.series.as_ref().and_then(|s| s.count).or(event.count).unwrap_or(1)
}

/// One finding for each object and kind of trouble among recent warnings, with the newest message.
#[must_use]
pub fn examine(events: &[Event], now: Timestamp) -> Vec<Finding> {
    let mut newest: BTreeMap<Key, Newest<'_>> = BTreeMap::new();
    for event in events.iter().filter(|e| e.type_.as_deref() == Some("Warning")) {
        let seen = last_seen(event);
        if seen.is_some_and(|t| Moment(t).age(now) > RECENT) {
            continue;
        }
        let Some(trouble) = Trouble::of(event) else { continue };
        let object = ObjectRef {
            kind: event.involved_object.kind.clone().unwrap_or_default(),
            namespace: event.involved_object.namespace.clone(),
            name: event.involved_object.name.clone().unwrap_or_default(),
        };
        let entry = newest.entry((object, trouble.id, container_of(event))).or_insert(Newest {
            event,
            trouble,
            seen,
            count: 0,
        });
        entry.count = entry.count.saturating_add(count(event));
        if seen > entry.seen {
            (entry.event, entry.seen) = (event, seen);
        }
    }
    let mut found: Vec<Finding> = newest
        .into_iter()
        .map(|((object, _, container), Newest { event, trouble, seen, count })| {
            let mut finding = Finding::new(trouble.id, trouble.severity, object, trouble.words)
                .shown_by("event.reason", event.reason.as_deref().unwrap_or(""))
                .shown_by_option("event.message", event.message.as_deref())
                .shown_by("event.count", count)
                .shown_by_option("event.lastSeen", seen.map(|t| format!("{} ago", age_text(Moment(t).age(now)))))
                .next(trouble.next);
            finding.container = container;
            finding.since = event.first_timestamp.as_ref().map(Moment::from).or(seen.map(Moment));
            finding
        })
        .collect();
    super::finding::sort(&mut found);
    found
}

/// Object, kind of trouble, container.
type Key = (ObjectRef, &'static str, Option<String>);

/// The newest of several events that tell the same.
struct Newest<'a> {
    event: &'a Event,
    trouble: Trouble,
    seen: Option<Timestamp>,
    count: i32,
}

struct Trouble {
    id: &'static str,
    severity: Severity,
    words: String,
    next: String,
}

impl Trouble {
    fn of(event: &Event) -> Option<Self> {
        let reason = event.reason.as_deref().unwrap_or("");
        let message = event.message.as_deref().unwrap_or("");
        let (id, severity, words, next): (_, _, String, String) = match reason {
            "Unhealthy" => {
                let probe = message.split_whitespace().next().unwrap_or("A").to_ascii_lowercase();
                let severity = if probe == "liveness" { Severity::High } else { Severity::Medium };
                let id = match probe.as_str() {
                    "liveness" => "event/liveness-probe",
                    "readiness" => "event/readiness-probe",
                    "startup" => "event/startup-probe",
                    _ => "event/probe",
                };
                (
                    id,
                    severity,
                    format!("its {} probe fails", Foreign::one_line(&probe)),
                    "check path, port and timeout of the probe against what the container listens on".into(),
                )
            }
            "FailedMount" | "FailedMapVolume" => (
                "event/mount-failed",
                Severity::High,
                "a volume cannot be mounted".into(),
                "see which Secret, ConfigMap or claim the message names".into(),
            ),
            "FailedAttachVolume" => {
                let multi = message.contains("Multi-Attach");
                (
                    "event/attach-failed",
                    Severity::High,
                    if multi {
                        "a volume is still attached to another node".into()
                    } else {
                        "a volume cannot be attached".into()
                    },
                    if multi {
                        "wait until the old pod is gone, or use a volume that several nodes may attach".into()
                    } else {
                        "look at the claim and at its CSI driver".into()
                    },
                )
            }
            "FailedCreatePodSandBox" | "FailedCreatePodSandbox" => (
                "event/sandbox-failed",
                Severity::High,
                "the pod's sandbox cannot be created".into(),
                "look at the network plug-in and the runtime on that node".into(),
            ),
            "NetworkNotReady" => (
                "event/network-not-ready",
                Severity::High,
                "the node's network is not ready".into(),
                "look at the network plug-in's pods on that node".into(),
            ),
            "FailedCreate" | "FailedCreatePod" => failed_create(message),
            "Failed" if message.contains("pull") => {
                let why = pull_failure(message);
                ("event/image-pull", Severity::High, why.words().into(), why.next().into())
            }
            "Evicted" => (
                "event/evicted",
                Severity::Medium,
                "was evicted by its node".into(),
                "look at the node's conditions".into(),
            ),
            "FailedKillPod" => (
                "event/kill-failed",
                Severity::Medium,
                "cannot be stopped on its node".into(),
                "look at the runtime on that node".into(),
            ),
            "ProvisioningFailed" => (
                "event/provisioning-failed",
                Severity::High,
                "no volume is provisioned for the claim".into(),
                "look at the storage class and its driver".into(),
            ),
            "FailedBinding" => (
                "event/binding-failed",
                Severity::High,
                "the claim finds no volume".into(),
                "give it a storage class, or make a volume that fits".into(),
            ),
            "TooManyMissedTimes" | "FailedNeedsStart" => (
                "event/missed-schedules",
                Severity::High,
                "the CronJob missed more than 100 schedules and starts no job any more".into(),
                "set startingDeadlineSeconds, and find out why it could not start".into(),
            ),
            "UnknownTimeZone" => (
                "event/unknown-time-zone",
                Severity::High,
                "the CronJob names a time zone that does not exist".into(),
                "correct spec.timeZone".into(),
            ),
            // Crash loops, pull back-offs and scheduling are told from the pod itself.
            _ => return None,
        };
        Some(Self { id, severity, words, next })
    }
}

/// A pod that never comes to be leaves its trace only here, on its owner.
fn failed_create(message: &str) -> (&'static str, Severity, String, String) {
    let lower = message.to_ascii_lowercase();
    if lower.contains("exceeded quota") {
        (
            "event/quota-exceeded",
            Severity::High,
            "its pods exceed a ResourceQuota".into(),
            "raise the quota or lower the requests; the message names both".into(),
        )
    } else if lower.contains("violates podsecurity") {
        (
            "event/pod-security",
            Severity::High,
            "its pods violate the namespace's Pod Security level".into(),
            "run `check_security_issues` on the namespace".into(),
        )
    } else if lower.contains("serviceaccount") && lower.contains("not found") {
        (
            "event/service-account-missing",
            Severity::High,
            "its ServiceAccount does not exist".into(),
            "create the ServiceAccount the message names".into(),
        )
    } else if lower.contains("admission webhook") || lower.contains("failed calling webhook") {
        (
            "event/webhook-refused",
            Severity::High,
            "an admission webhook keeps its pods from being made".into(),
            "look at the webhook the message names, and whether its service answers".into(),
        )
    } else if lower.contains("no priorityclass") {
        (
            "event/priority-class-missing",
            Severity::High,
            "its PriorityClass does not exist".into(),
            "create the PriorityClass, or name one that exists".into(),
        )
    } else {
        (
            "event/create-failed",
            Severity::High,
            "its pods cannot be created".into(),
            "the message tells what the API server refused".into(),
        )
    }
}

/// `spec.containers{app}` names a container.
fn container_of(event: &Event) -> Option<String> {
    let path = event.involved_object.field_path.as_deref()?;
    let name = path.split_once('{')?.1.strip_suffix('}')?;
    Some(Foreign::one_line(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: &str = "2026-11-30T12:00:00Z";

    fn event(reason: &str, message: &str, extra: Value) -> Event {
        let mut value = json!({
            "metadata": {}, "type": "Warning", "reason": reason, "message": message,
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web", "fieldPath": "spec.containers{app}"},
            "lastTimestamp": "2026-11-30T11:58:00Z",
        });
        for (key, v) in extra.as_object().unwrap() {
            value[key] = v.clone();
        }
        serde_json::from_value(value).unwrap()
    }

    fn examine_at(events: &[Event]) -> Vec<Finding> {
        examine(events, NOW.parse().unwrap())
    }

    #[test]
    fn an_2_1_events_tell_probes_mounts_sandboxes_and_quotas() {
        for (reason, message, id) in [
            ("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", "event/liveness-probe"),
            ("Unhealthy", "Readiness probe failed: dial tcp", "event/readiness-probe"),
            ("Unhealthy", "Startup probe failed", "event/startup-probe"),
            ("FailedMount", "MountVolume.SetUp failed for volume \"x\": secret \"y\" not found", "event/mount-failed"),
            ("FailedAttachVolume", "Multi-Attach error for volume", "event/attach-failed"),
            ("FailedCreatePodSandBox", "cni plugin not initialized", "event/sandbox-failed"),
            ("NetworkNotReady", "", "event/network-not-ready"),
            ("Failed", "Failed to pull image \"a\": toomanyrequests", "event/image-pull"),
            ("FailedCreate", "pods \"x\" is forbidden: exceeded quota: q, requested: pods=1", "event/quota-exceeded"),
            ("FailedCreate", "pods \"x\" is forbidden: violates PodSecurity \"baseline:latest\"", "event/pod-security"),
            (
                "FailedCreate",
                "error looking up service account shop/x: serviceaccount \"x\" not found",
                "event/service-account-missing",
            ),
            ("FailedCreate", "failed calling webhook \"v.example\"", "event/webhook-refused"),
            ("FailedCreate", "no PriorityClass with name urgent was found", "event/priority-class-missing"),
            ("TooManyMissedTimes", "too many missed start times", "event/missed-schedules"),
        ] {
            let found = examine_at(&[event(reason, message, json!({}))]);
            assert_eq!(found.first().map(|f| f.id), Some(id), "{reason}: {message}");
        }
    }

    #[test]
    fn an_2_1_old_normal_and_meaningless_events_give_nothing() {
        let old = event("FailedMount", "x", json!({"lastTimestamp": "2026-11-30T09:00:00Z"}));
        let normal = event("FailedMount", "x", json!({"type": "Normal"}));
        let other = event("SomethingElse", "x", json!({}));
        assert_eq!(examine_at(&[old, normal, other]), []);
    }

    #[test]
    fn kw_12_the_newest_of_several_is_told_with_the_sum_of_their_counts_and_no_time_is_no_harm() {
        let first = event("Unhealthy", "Readiness probe failed: one", json!({"count": 3}));
        let series = event(
            "Unhealthy",
            "Readiness probe failed: two",
            json!({"lastTimestamp": null, "eventTime": "2026-11-30T11:00:00Z",
                "series": {"count": 4, "lastObservedTime": "2026-11-30T11:59:30Z"}}),
        );
        let found = examine_at(&[series, first]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].evidence_of("event.message"), Some("Readiness probe failed: two"));
        assert_eq!(found[0].evidence_of("event.count"), Some("7"));
        assert_eq!(found[0].container.as_deref(), Some("app"));

        let timeless = event("NetworkNotReady", "", json!({"lastTimestamp": null, "count": null}));
        assert_eq!(last_seen(&timeless), None);
        assert_eq!(examine_at(&[timeless]).len(), 1);
    }

    #[test]
    fn an_6_20_events_with_null_or_missing_fields_do_no_harm() {
        let bare = json!({"metadata": {}, "type": "Warning", "reason": "NetworkNotReady", "involvedObject": {}});
        let only_event_time = json!({"metadata": {}, "type": "Warning", "reason": "NetworkNotReady", "message": null,
            "series": null, "eventTime": "2026-11-30T11:59:00.123456Z", "firstTimestamp": null, "lastTimestamp": null,
            "involvedObject": {"kind": null, "name": null, "fieldPath": "spec"}});
        let no_object = json!({"metadata": null, "type": "Warning", "reason": "FailedMount"});
        for value in [bare, only_event_time, no_object] {
            let event: Event = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(examine_at(&[event]).len(), 1, "{value}");
        }
        assert_eq!(examine_at(&[Event::default()]), []);
    }
}
