//! Containers that wait: for an image, for their configuration, for the runtime.

use super::{Look, Seen, image::pull_failure};
use crate::rules::{
    containers::Role,
    finding::{Finding, Severity, age_text},
};

/// How long a pod may take to start its containers before it is told, in seconds: large images take minutes.
const SLOW_START: i64 = 300;

/// Every waiting reason but the crash loop, which is the business of `crashes`. `ContainerCreating` and
/// `PodInitializing` are what every pod goes through.
pub(super) fn check(look: &Look<'_>, found: &mut Vec<Finding>) {
    for seen in look.containers() {
        let Some(waiting) = seen.status.state.as_ref().and_then(|s| s.waiting.as_ref()) else { continue };
        let reason = waiting.reason.as_deref().unwrap_or("");
        let message = waiting.message.as_deref().unwrap_or("");
        if matches!(reason, "" | "ContainerCreating" | "PodInitializing" | "CrashLoopBackOff") {
            continue;
        }
        let Cause { id, severity, words, next } = cause(reason, message);
        // A debug container that does not start harms nobody but the one who debugs.
        let severity = if seen.role == Role::Ephemeral { Severity::Low } else { severity };
        found.push(
            look.find(id, severity, words)
                .in_container(&seen.status.name)
                .shown_by(seen.path("state.waiting.reason"), reason)
                .shown_by_option(seen.path("state.waiting.message"), waiting.message.as_deref())
                .shown_by_option(seen.path("image"), image_of(look, &seen))
                .since(waiting_since(look))
                .next(next),
        );
    }
}

/// A pod with a node whose containers have not started for long.
pub(super) fn slow_start(look: &Look<'_>) -> Option<Finding> {
    let start = look.status?.start_time.as_ref().or(look.pod.metadata.creation_timestamp.as_ref());
    let age = look.age(start)?;
    if age < SLOW_START {
        return None;
    }
    if let Some(init) = look.containers().find(|c| c.role == Role::Init && is_running(c)) {
        let name = &init.status.name;
        return Some(
            look.find(
                "pod/init-running-long",
                Severity::Medium,
                format!("its init container runs for {}", age_text(age)),
            )
            .in_container(name)
            .shown_by(init.path("state.running.startedAt"), age_text(age))
            .since(start)
            .next(look.logs_hint(name, false)),
        );
    }
    let sandbox = look.condition("PodReadyToStartContainers").is_some_and(|c| c.status == "False");
    let (what, next) = if sandbox {
        (
            "its sandbox is not ready",
            "look for FailedCreatePodSandBox, network plug-in and volume events: `get_warning_events`",
        )
    } else {
        (
            "its containers are still being created",
            "look for FailedMount, FailedAttachVolume and Pulling events: `get_warning_events`",
        )
    };
    let waiting: Vec<&str> = look
        .containers()
        .filter(|c| c.status.state.as_ref().is_some_and(|s| s.waiting.is_some()))
        .map(|c| c.status.name.as_str())
        .collect();
    Some(
        look.find("pod/stuck-creating", Severity::High, format!("{what} after {}", age_text(age)))
            .shown_by("status.phase", "Pending")
            .shown_by("waiting containers", waiting.join(", "))
            .shown_by_option("spec.nodeName", look.spec().and_then(|s| s.node_name.as_deref()))
            .since(start)
            .next(next),
    )
}

fn is_running(seen: &Seen<'_>) -> bool {
    seen.status.state.as_ref().is_some_and(|s| s.running.is_some())
}

/// A waiting state has no time of its own; the condition that it keeps from being true has.
fn waiting_since<'a>(look: &Look<'a>) -> Option<&'a k8s_openapi::apimachinery::pkg::apis::meta::v1::Time> {
    look.condition("ContainersReady")
        .filter(|c| c.status == "False")
        .and_then(|c| c.last_transition_time.as_ref())
        .or_else(|| look.status.and_then(|s| s.start_time.as_ref()))
}

fn image_of<'a>(look: &Look<'a>, seen: &Seen<'a>) -> Option<&'a str> {
    crate::rules::containers::all(look.spec()?).find(|c| c.name == seen.status.name).and_then(|c| c.image)
}

struct Cause {
    id: &'static str,
    severity: Severity,
    words: String,
    next: String,
}

fn cause(reason: &str, message: &str) -> Cause {
    let plain = |id, severity, words: &str, next: &str| Cause { id, severity, words: words.into(), next: next.into() };
    match reason {
        "ErrImagePull" | "ImagePullBackOff" => {
            let why = pull_failure(message);
            plain("pod/image-pull", Severity::High, why.words(), why.next())
        }
        "ErrImageNeverPull" => plain(
            "pod/image-never-pull",
            Severity::High,
            "the image is not on the node, and imagePullPolicy forbids to pull it",
            "load the image on the node, or set imagePullPolicy to IfNotPresent",
        ),
        "InvalidImageName" => plain(
            "pod/invalid-image-name",
            Severity::High,
            "the image's name cannot be parsed",
            "correct `image`: registry/repository:tag, lower case, no blanks",
        ),
        "ImageInspectError" => plain(
            "pod/image-inspect",
            Severity::High,
            "the runtime cannot inspect the image",
            "the image on the node may be damaged; remove it there and let it be pulled again",
        ),
        "RegistryUnavailable" => plain(
            "pod/registry-unavailable",
            Severity::High,
            "the registry cannot be reached",
            "check the registry's name, DNS, proxy and firewall from the node",
        ),
        "SignatureValidationFailed" => plain(
            "pod/image-signature",
            Severity::High,
            "the image's signature is not valid",
            "sign the image, or correct the node's signature policy",
        ),
        "CreateContainerConfigError" => config_error(message),
        "CreateContainerError" => plain(
            "pod/create-error",
            Severity::High,
            "the runtime cannot create the container",
            "read the runtime's message; names in use, bad mounts and unknown runtime handlers are the usual causes",
        ),
        "RunContainerError" | "StartError" => plain(
            "pod/run-error",
            Severity::High,
            "the container cannot be started",
            "check command, arguments, working directory and mounts against the image",
        ),
        "PreCreateHookError" | "PreStartHookError" | "PostStartHookError" => plain(
            "pod/hook-error",
            Severity::High,
            "a lifecycle hook fails, so the container is killed",
            "run the hook's command by hand in the image",
        ),
        other => Cause {
            id: "pod/waiting",
            severity: Severity::Medium,
            words: format!("waits: {}", pintle_core::Foreign::one_line(other)),
            next: "read the message and the pod's events: `describe_pod`, `get_warning_events`".into(),
        },
    }
}

/// Names the missing Secret, ConfigMap or key. The kubelet writes `secret "x" not found`, `configmap "x" not found`,
/// `couldn't find key k in ConfigMap ns/x`.
fn config_error(message: &str) -> Cause {
    let missing = |what: &str, next: String| Cause {
        id: "pod/config-missing",
        severity: Severity::High,
        words: format!("{what} is missing"),
        next,
    };
    let quoted = |word: &str| {
        let rest = message.to_ascii_lowercase().find(word).map(|at| &message[at + word.len()..])?;
        rest.split('"').nth(1).map(str::to_owned)
    };
    if let Some((key, place)) = message.split_once("find key ").and_then(|(_, rest)| rest.split_once(" in ")) {
        let place = place.trim_end_matches('.');
        return missing(
            &format!("key {} of {}", pintle_core::Foreign::one_line(key), pintle_core::Foreign::one_line(place)),
            "add the key, or mark the reference as optional".into(),
        );
    }
    if message.contains("not found") {
        for (word, kind) in [("secret ", "Secret"), ("configmap ", "ConfigMap"), ("serviceaccount ", "ServiceAccount")]
        {
            if let Some(name) = quoted(word) {
                let what = format!("{kind} {}", pintle_core::Foreign::one_line(&name));
                return missing(
                    &what,
                    format!("create {what} in the pod's namespace, or mark the reference as optional"),
                );
            }
        }
    }
    if message.contains("runAsNonRoot") {
        return Cause {
            id: "pod/config-error",
            severity: Severity::High,
            words: "the image runs as root, and runAsNonRoot forbids it".into(),
            next: "set runAsUser to a user of the image that is not root".into(),
        };
    }
    Cause {
        id: "pod/config-error",
        severity: Severity::High,
        words: "the container's configuration cannot be made".into(),
        next: "read the message: environment, mounts and security context are made from it".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use serde_json::{Value, json};

    fn waiting(list: &str, name: &str, reason: &str, message: &str) -> Value {
        pod(json!({
            "phase": "Pending", "startTime": ago(60),
            list: [{"name": name, "image": "", "imageID": "", "ready": false, "restartCount": 0,
                "state": {"waiting": {"reason": reason, "message": message}}}],
        }))
    }

    #[test]
    fn kw_13_an_2_1_waiting_reasons_that_are_issues_are_found() {
        for (reason, id) in [
            ("ErrImagePull", "pod/image-pull"),
            ("ImagePullBackOff", "pod/image-pull"),
            ("ErrImageNeverPull", "pod/image-never-pull"),
            ("InvalidImageName", "pod/invalid-image-name"),
            ("ImageInspectError", "pod/image-inspect"),
            ("RegistryUnavailable", "pod/registry-unavailable"),
            ("SignatureValidationFailed", "pod/image-signature"),
            ("CreateContainerConfigError", "pod/config-error"),
            ("CreateContainerError", "pod/create-error"),
            ("RunContainerError", "pod/run-error"),
            ("PreCreateHookError", "pod/hook-error"),
            ("PreStartHookError", "pod/hook-error"),
            ("PostStartHookError", "pod/hook-error"),
            ("SomethingNew", "pod/waiting"),
        ] {
            let found = examine_value(waiting("containerStatuses", "app", reason, ""));
            assert_eq!(ids(&found), [id], "{reason}");
            assert_eq!(found[0].container.as_deref(), Some("app"));
            let field = "status.containerStatuses[app].state.waiting.reason";
            assert_eq!(found[0].evidence_of(field), Some(reason));
        }
    }

    #[test]
    fn kw_13_init_containers_that_wait_for_their_turn_are_no_issue_but_those_without_image_are() {
        for reason in ["PodInitializing", "ContainerCreating"] {
            assert_eq!(examine_value(waiting("initContainerStatuses", "setup", reason, "")), [], "{reason}");
        }
        let found = examine_value(waiting("initContainerStatuses", "setup", "ImagePullBackOff", "401 Unauthorized"));
        assert_eq!(ids(&found), ["pod/image-pull"]);
        assert_eq!(found[0].message, "the registry refuses the credentials");
    }

    #[test]
    fn an_2_1_config_errors_name_the_missing_secret_configmap_or_key() {
        for (message, words) in [
            ("secret \"db\" not found", "Secret db is missing"),
            ("configmap \"settings\" not found", "ConfigMap settings is missing"),
            ("couldn't find key PASSWORD in Secret shop/db", "key PASSWORD of Secret shop/db is missing"),
        ] {
            let found = examine_value(waiting("containerStatuses", "app", "CreateContainerConfigError", message));
            assert_eq!((found[0].id, found[0].message.as_str()), ("pod/config-missing", words));
        }
        let root = "container has runAsNonRoot and image will run as root (pod: \"x\", container: app)";
        let found = examine_value(waiting("containerStatuses", "app", "CreateContainerConfigError", root));
        assert!(found[0].message.contains("runs as root"));
    }

    #[test]
    fn an_2_1_ephemeral_containers_are_reported_apart() {
        let found = examine_value(waiting("ephemeralContainerStatuses", "debug", "ErrImagePull", "manifest unknown"));
        assert_eq!((found[0].id, found[0].severity), ("pod/image-pull", Severity::Low));
    }

    #[test]
    fn an_2_1_pods_that_do_not_start_for_long_are_found() {
        let mut value = waiting("containerStatuses", "app", "ContainerCreating", "");
        assert_eq!(examine_value(value.clone()), []);
        value["status"]["startTime"] = json!(ago(900));
        assert_eq!(ids(&examine_value(value.clone())), ["pod/stuck-creating"]);
        value["status"]["conditions"] = json!([{"type": "PodReadyToStartContainers", "status": "False"}]);
        assert!(examine_value(value.clone())[0].message.contains("sandbox"));
        value["status"]["initContainerStatuses"] = json!([{"name": "setup", "image": "", "imageID": "", "ready": false,
            "restartCount": 0, "state": {"running": {"startedAt": ago(890)}}}]);
        assert_eq!(ids(&examine_value(value)), ["pod/init-running-long"]);
    }
}
