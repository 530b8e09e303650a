//! Security findings: Pod Security Standards as findings, and what they do not ask for.
//!
//! The standards' own controls keep their names, as `pss/<control>`. The extended checks follow what polaris,
//! kubescape, popeye and kube-score agree on. Values of environment variables are looked at and never shown.

mod environment;
mod image;
mod node_access;

use super::{
    containers::{self, Role, View},
    finding::{Finding, ObjectRef, Severity, sort},
    pss::{self, Level, Version, Violation},
};
use k8s_openapi::{api::core::v1::PodSpec, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use std::collections::BTreeMap;

pub use image::{ImageName, parse_image};

/// What a pod, or a pod made from a template, breaks: controls of the standards up to `level`, then the extended
/// checks when asked for. `object` is the pod or the owner of the template, `meta` the pod's own metadata.
#[must_use]
pub fn examine(
    object: &ObjectRef,
    meta: Option<&ObjectMeta>,
    spec: &PodSpec,
    level: Level,
    version: Version,
    extended: bool,
) -> Vec<Finding> {
    let none = BTreeMap::new();
    let annotations = meta.and_then(|m| m.annotations.as_ref()).unwrap_or(&none);
    let mut found: Vec<Finding> =
        pss::check(spec, annotations, level, version).iter().map(|v| of_violation(object, v)).collect();
    let look = Look { object, spec };
    node_access::check(&look, &mut found);
    if extended {
        environment::check(&look, &mut found);
        image::check(&look, &mut found);
        hygiene(&look, &mut found);
    }
    sort(&mut found);
    found
}

struct Look<'a> {
    object: &'a ObjectRef,
    spec: &'a PodSpec,
}

impl<'a> Look<'a> {
    fn find(&self, id: &'static str, severity: Severity, message: impl Into<String>) -> Finding {
        Finding::new(id, severity, self.object.clone(), message)
    }

    fn containers(&self) -> impl Iterator<Item = View<'a>> + use<'a> {
        containers::all(self.spec)
    }
}

/// A broken control as one finding with its places as evidence; a single place names its container.
fn of_violation(object: &ObjectRef, violation: &Violation) -> Finding {
    let (id, severity, next) = weight(violation);
    let mut finding = Finding::new(id, severity, object.clone(), format!("{} ({})", violation.reason, violation.level));
    if let [only] = violation.places.as_slice()
        && let Some(container) = &only.container
    {
        finding = finding.in_container(container);
    }
    for place in violation.places.iter().take(MOST_PLACES) {
        finding = finding.shown_by(&place.field, &place.value);
    }
    if violation.places.len() > MOST_PLACES {
        finding = finding.shown_by("more places", violation.places.len() - MOST_PLACES);
    }
    finding.next(next)
}

/// How many places one finding shows.
const MOST_PLACES: usize = 6;

/// How bad a broken control is, and what mends it. The standards know no severity; this is ours: critical opens the
/// node, high gives a step toward it, medium and low take a layer away.
fn weight(violation: &Violation) -> (&'static str, Severity, &'static str) {
    let opens =
        |words: &[&str]| violation.places.iter().flat_map(|p| p.value.split(", ")).any(|value| words.contains(&value));
    match violation.control {
        "privileged" => {
            ("pss/privileged", Severity::Critical, "drop privileged; add the one capability or device that is needed")
        }
        "hostNamespaces" => ("pss/hostNamespaces", Severity::Critical, "drop hostNetwork, hostPID and hostIPC"),
        "windowsHostProcess" => ("pss/windowsHostProcess", Severity::Critical, "run it as an ordinary container"),
        "hostPathVolumes" => {
            ("pss/hostPathVolumes", Severity::High, "use a claim, an emptyDir or a CSI volume in place of hostPath")
        }
        "hostPorts" => ("pss/hostPorts", Severity::Medium, "expose it by a Service in place of hostPort"),
        "hostProbesAndHostLifecycle" => (
            "pss/hostProbesAndHostLifecycle",
            Severity::Medium,
            "leave `host` out: the kubelet then asks the pod itself",
        ),
        "capabilities_baseline"
            if opens(&["ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "DAC_READ_SEARCH", "BPF"]) =>
        {
            ("pss/capabilities_baseline", Severity::Critical, "drop capabilities that amount to root on the node")
        }
        "capabilities_baseline" => {
            ("pss/capabilities_baseline", Severity::High, "add only capabilities of the default set")
        }
        "seccompProfile_baseline" => {
            ("pss/seccompProfile_baseline", Severity::High, "set seccompProfile to RuntimeDefault")
        }
        "appArmorProfile" => ("pss/appArmorProfile", Severity::High, "set the AppArmor profile to RuntimeDefault"),
        "seLinuxOptions" => ("pss/seLinuxOptions", Severity::High, "leave user and role out, and use a container type"),
        "procMount" => ("pss/procMount", Severity::High, "leave procMount at Default"),
        "procMount_restricted" => ("pss/procMount_restricted", Severity::High, "leave procMount at Default"),
        "sysctls" => ("pss/sysctls", Severity::Medium, "set only sysctls that stay within the pod"),
        "runAsUser" => ("pss/runAsUser", Severity::High, "set runAsUser to a user that is not 0"),
        "runAsNonRoot" => {
            ("pss/runAsNonRoot", Severity::Medium, "set runAsNonRoot to true, and use an image with a user")
        }
        "allowPrivilegeEscalation" => {
            ("pss/allowPrivilegeEscalation", Severity::Medium, "set allowPrivilegeEscalation to false")
        }
        "capabilities_restricted" => ("pss/capabilities_restricted", Severity::Low, "drop ALL capabilities"),
        "seccompProfile_restricted" => {
            ("pss/seccompProfile_restricted", Severity::Low, "set seccompProfile to RuntimeDefault for the pod")
        }
        "restrictedVolumes" if opens(&["hostPath"]) => {
            ("pss/restrictedVolumes", Severity::High, "use a claim, an emptyDir or a CSI volume in place of hostPath")
        }
        "restrictedVolumes" => ("pss/restrictedVolumes", Severity::Medium, "reach the storage through a claim"),
        _ => ("pss/other", Severity::Medium, "compare the pod with the standard"),
    }
}

/// What hardens further, and seldom is urgent.
fn hygiene(look: &Look<'_>, found: &mut Vec<Finding>) {
    for c in look.containers().filter(|c| c.role != Role::Ephemeral) {
        let read_only = c.security_context.and_then(|s| s.read_only_root_filesystem);
        if read_only != Some(true) {
            let value = if read_only.is_some() { "false" } else { "unset" };
            found.push(
                look.find("security/writable-root", Severity::Low, "can write to its root filesystem")
                    .in_container(c.name)
                    .shown_by(c.path("securityContext.readOnlyRootFilesystem"), value)
                    .next("set readOnlyRootFilesystem, and mount an emptyDir where it must write"),
            );
        }
        if c.security_context.is_some_and(|s| s.run_as_group == Some(0)) {
            found.push(
                look.find("security/root-group", Severity::Low, "runs in group 0")
                    .in_container(c.name)
                    .shown_by(c.path("securityContext.runAsGroup"), 0)
                    .next("set runAsGroup to a group that is not 0"),
            );
        }
    }
    if look.spec.share_process_namespace == Some(true) {
        found.push(
            look.find(
                "security/shared-processes",
                Severity::Low,
                "its containers see and signal each other's processes",
            )
            .shown_by("spec.shareProcessNamespace", true)
            .next("drop shareProcessNamespace unless a container debugs another"),
        );
    }
    if look.spec.host_aliases.as_ref().is_some_and(|a| !a.is_empty()) {
        found.push(
            look.find("security/host-aliases", Severity::Info, "overrides names in /etc/hosts")
                .shown_by("spec.hostAliases", look.spec.host_aliases.as_ref().map_or(0, Vec::len))
                .next("leave names to DNS"),
        );
    }
    found.extend(token(look));
}

/// A token of the service account is mounted by default; few programs use it.
fn token(look: &Look<'_>) -> Option<Finding> {
    if look.spec.automount_service_account_token == Some(false) {
        return None;
    }
    let account = look.spec.service_account_name.as_deref().unwrap_or("default");
    // Admission adds the volume; a template does not have it yet.
    let mounted = look.spec.volumes.iter().flatten().any(|v| {
        let sources = v.projected.as_ref().and_then(|p| p.sources.as_deref()).unwrap_or_default();
        v.name.starts_with("kube-api-access") && sources.iter().any(|s| s.service_account_token.is_some())
    });
    if look.object.kind == "Pod" && !mounted {
        return None;
    }
    let severity = if account == "default" { Severity::Low } else { Severity::Info };
    Some(
        look.find("security/token-mounted", severity, "mounts a token of its service account")
            .shown_by("spec.serviceAccountName", account)
            .shown_by(
                "spec.automountServiceAccountToken",
                look.spec.automount_service_account_token.map_or("unset", |_| "true"),
            )
            .next("set automountServiceAccountToken to false unless it talks to the API server"),
    )
}

#[cfg(test)]
mod testing {
    use super::*;
    use serde_json::Value;

    pub(super) fn examine_spec(spec: Value) -> Vec<Finding> {
        let object = ObjectRef { kind: "Pod".into(), namespace: Some("shop".into()), name: "web".into() };
        let spec = serde_json::from_value(spec).unwrap();
        examine(&object, None, &spec, Level::Privileged, Version::Latest, true)
    }

    pub(super) fn with_id<'a>(found: &'a [Finding], id: &str) -> Vec<&'a Finding> {
        found.iter().filter(|f| f.id == id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn kw_15_controls_become_findings_with_their_places_and_worst_first() {
        let spec = serde_json::from_value(json!({
            "hostPID": true, "containers": [{"name": "a", "securityContext": {"privileged": true}}, {"name": "b"}],
        }))
        .unwrap();
        let object = ObjectRef { kind: "Deployment".into(), namespace: Some("shop".into()), name: "web".into() };
        let found = examine(&object, None, &spec, Level::Restricted, Version::Latest, false);
        assert_eq!(found[0].id, "pss/hostNamespaces");
        let privileged = with_id(&found, "pss/privileged")[0];
        assert_eq!(privileged.container.as_deref(), Some("a"));
        assert_eq!(privileged.evidence_of("spec.containers[a].securityContext.privileged"), Some("true"));
        assert_eq!(with_id(&found, "pss/runAsNonRoot")[0].evidence.len(), 2);
        assert!(with_id(&found, "pss/other").is_empty());
    }

    #[test]
    fn kw_15_every_control_has_a_weight_of_its_own() {
        let bad = json!({
            "hostNetwork": true, "volumes": [{"name": "v", "hostPath": {"path": "/data"}}],
            "securityContext": {"seLinuxOptions": {"user": "u"}, "sysctls": [{"name": "a", "value": "1"}], "runAsUser": 0,
                "seccompProfile": {"type": "Unconfined"}, "appArmorProfile": {"type": "Unconfined"}, "windowsOptions": {"hostProcess": true}},
            "containers": [{"name": "a", "ports": [{"containerPort": 1, "hostPort": 1}],
                "livenessProbe": {"tcpSocket": {"host": "h", "port": 1}},
                "securityContext": {"privileged": true, "procMount": "Unmasked", "capabilities": {"add": ["SYS_ADMIN"]}}}],
        });
        let object = ObjectRef { kind: "Pod".into(), namespace: None, name: "web".into() };
        let spec = serde_json::from_value(bad).unwrap();
        for level in [Level::Baseline, Level::Restricted] {
            let found = examine(&object, None, &spec, level, Version::Latest, false);
            assert!(with_id(&found, "pss/other").is_empty());
            let expected = if level == Level::Baseline { 12 } else { 15 };
            assert_eq!(found.iter().filter(|f| f.id.starts_with("pss/")).count(), expected);
        }
    }

    #[test]
    fn an_2_2_extended_writable_root_groups_processes_and_aliases() {
        let found = examine_spec(json!({
            "shareProcessNamespace": true, "hostAliases": [{"ip": "1.2.3.4"}],
            "containers": [
                {"name": "a", "image": "r/a@sha256:0", "securityContext": {"readOnlyRootFilesystem": true, "runAsGroup": 0}},
                {"name": "b", "image": "r/a@sha256:0"},
            ],
        }));
        let ids: Vec<_> = found.iter().map(|f| f.id).collect();
        assert_eq!(
            ids,
            ["security/root-group", "security/shared-processes", "security/writable-root", "security/host-aliases"]
        );
        assert_eq!(with_id(&found, "security/writable-root")[0].container.as_deref(), Some("b"));
    }

    #[test]
    fn an_2_2_extended_tokens_that_admission_mounted_are_told() {
        let volume = json!({"name": "kube-api-access-x", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}});
        let spec = |volumes, automount, account: &str| json!({"volumes": volumes, "automountServiceAccountToken": automount, "serviceAccountName": account, "containers": []});
        let severity = |spec| with_id(&examine_spec(spec), "security/token-mounted").first().map(|f| f.severity);
        assert_eq!(severity(spec(json!([volume]), json!(null), "default")), Some(Severity::Low));
        assert_eq!(severity(spec(json!([volume]), json!(true), "robot")), Some(Severity::Info));
        assert_eq!(severity(spec(json!([]), json!(null), "default")), None);
        assert_eq!(severity(spec(json!([volume]), json!(false), "default")), None);
    }
}
