//! Pod Security Standards, exactly and by version: what the API server's own admission would say of a pod.
//!
//! A control is what the standards call a check. It belongs to a level, came with a minor version of Kubernetes and
//! may have been changed by later ones; some controls of `restricted` replace their weaker form of `baseline`. The
//! names, reasons, versions and order are those of `kubernetes/pod-security-admission`, so that an answer can be
//! compared with the `Warning` header of a real server. Init, main and ephemeral containers are all looked at.

mod app_armor;
mod capabilities;
mod escalation;
mod host;
pub mod namespace;
mod proc_mount;
mod run_as;
mod se_linux;
mod seccomp;
mod sysctls;
mod volumes;
mod windows;

use super::containers::{self, View};
use k8s_openapi::api::core::v1::PodSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt, str::FromStr};

/// The newest minor version whose controls are known; newer ones are judged by it.
pub const NEWEST: u32 = 37;

/// How strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Everything goes.
    Privileged,
    /// Known ways to gain privilege are closed.
    Baseline,
    /// Hardened.
    Restricted,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        })
    }
}

impl FromStr for Level {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Self, NotAPolicy> {
        match text {
            "privileged" => Ok(Self::Privileged),
            "baseline" => Ok(Self::Baseline),
            "restricted" => Ok(Self::Restricted),
            _ => Err(NotAPolicy::Level(text.to_owned())),
        }
    }
}

/// Which version of the standards: `latest` or `v1.N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// The newest that is known.
    Latest,
    /// That of a minor version of Kubernetes 1.
    Minor(u32),
}

impl Version {
    fn minor(self) -> u32 {
        match self {
            Self::Latest => NEWEST,
            Self::Minor(minor) => minor.min(NEWEST),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Minor(minor) => write!(f, "v1.{minor}"),
        }
    }
}

impl FromStr for Version {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Self, NotAPolicy> {
        if text == "latest" {
            return Ok(Self::Latest);
        }
        let minor = text.strip_prefix("v1.").filter(|m| *m == "0" || !m.starts_with('0'));
        let digits = minor.filter(|m| m.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|m| m.parse().ok()).map(Self::Minor).ok_or_else(|| NotAPolicy::Version(text.to_owned()))
    }
}

/// Why a level or version cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotAPolicy {
    /// The level.
    Level(String),
    /// The version.
    Version(String),
}

impl fmt::Display for NotAPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clean = pintle_core::Foreign::one_line;
        match self {
            Self::Level(text) => write!(f, "`{}` is none of privileged, baseline, restricted", clean(text)),
            Self::Version(text) => write!(f, "`{}` is neither `latest` nor of the form `v1.N`", clean(text)),
        }
    }
}

impl std::error::Error for NotAPolicy {}

/// Where a pod breaks a control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// In which container; none for the pod's own fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Path of the field.
    pub field: String,
    /// What stands there, or `unset`.
    pub value: String,
}

impl Place {
    fn pod(field: impl Into<String>, value: impl Into<String>) -> Self {
        Self { container: None, field: field.into(), value: value.into() }
    }

    fn container(view: &View<'_>, field: &str, value: impl Into<String>) -> Self {
        Self { container: Some(view.name.to_owned()), field: view.path(field), value: value.into() }
    }
}

/// A control that a pod breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// The control's id.
    pub control: &'static str,
    /// The level it belongs to.
    pub level: Level,
    /// The reason, in the words of the API server's warning.
    pub reason: String,
    /// What the control wants, as a fragment.
    pub wants: &'static str,
    /// Where it is broken; never empty.
    pub places: Vec<Place>,
}

/// What a pod breaks at a level and version, in the order in which the API server warns.
#[must_use]
pub fn check(spec: &PodSpec, annotations: &BTreeMap<String, String>, level: Level, version: Version) -> Vec<Violation> {
    let minor = version.minor();
    let subject = Subject { spec, annotations };
    let replaced: Vec<&str> = CONTROLS
        .iter()
        .filter(|c| c.level == Level::Restricted && level == Level::Restricted)
        .filter(|c| c.at(minor).is_some())
        .filter_map(|c| c.replaces)
        .collect();
    CONTROLS
        .iter()
        .filter(|c| c.level <= level && !replaced.contains(&c.id))
        .filter_map(|control| {
            let breach = (control.at(minor)?)(&subject)?;
            Some(Violation {
                control: control.id,
                level: control.level,
                reason: breach.reason.into(),
                wants: control.wants,
                places: breach.places,
            })
        })
        .collect()
}

/// The strictest level at which a pod breaks nothing.
#[must_use]
pub fn strictest(spec: &PodSpec, annotations: &BTreeMap<String, String>, version: Version) -> Level {
    let all = check(spec, annotations, Level::Restricted, version);
    if all.is_empty() {
        Level::Restricted
    } else if check(spec, annotations, Level::Baseline, version).is_empty() {
        Level::Baseline
    } else {
        Level::Privileged
    }
}

/// What a control looks at.
struct Subject<'a> {
    spec: &'a PodSpec,
    annotations: &'a BTreeMap<String, String>,
}

impl<'a> Subject<'a> {
    fn containers(&self) -> impl Iterator<Item = View<'a>> + use<'a> {
        containers::all(self.spec)
    }

    /// Whether the pod declares to run on Windows, where several Linux controls have no meaning.
    fn is_windows(&self) -> bool {
        self.spec.os.as_ref().is_some_and(|os| os.name == "windows")
    }

    /// Whether it runs in a user namespace of its own, where root is not the node's root.
    fn has_user_namespace(&self) -> bool {
        self.spec.host_users == Some(false)
    }
}

/// A broken control before its name is put to it.
struct Breach {
    reason: Reason,
    places: Vec<Place>,
}

enum Reason {
    Fixed(&'static str),
    /// The API server counts the values.
    AppArmor {
        plural: bool,
    },
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Fixed(text) => text.into(),
            Reason::AppArmor { plural: false } => "forbidden AppArmor profile".into(),
            Reason::AppArmor { plural: true } => "forbidden AppArmor profiles".into(),
        }
    }
}

/// A breach when there is a place for it.
fn breach(reason: &'static str, places: Vec<Place>) -> Option<Breach> {
    (!places.is_empty()).then_some(Breach { reason: Reason::Fixed(reason), places })
}

type Check = fn(&Subject<'_>) -> Option<Breach>;

/// A control with its forms; each holds from its minor version to the next form's.
struct Control {
    id: &'static str,
    level: Level,
    wants: &'static str,
    forms: &'static [(u32, Check)],
    /// The weaker control that is left out where this one is checked.
    replaces: Option<&'static str>,
}

impl Control {
    fn at(&self, minor: u32) -> Option<Check> {
        self.forms.iter().rev().find(|(since, _)| *since <= minor).map(|(_, check)| *check)
    }
}

const fn baseline(id: &'static str, wants: &'static str, forms: &'static [(u32, Check)]) -> Control {
    Control { id, level: Level::Baseline, wants, forms, replaces: None }
}

const fn restricted(id: &'static str, wants: &'static str, forms: &'static [(u32, Check)]) -> Control {
    Control { id, level: Level::Restricted, wants, forms, replaces: None }
}

const fn replacing(
    weaker: &'static str,
    id: &'static str,
    wants: &'static str,
    forms: &'static [(u32, Check)],
) -> Control {
    Control { id, level: Level::Restricted, wants, forms, replaces: Some(weaker) }
}

/// Baseline first, then restricted, each in the byte order of their ids: so the API server warns.
const CONTROLS: &[Control] = &[
    baseline("appArmorProfile", "AppArmor profiles are RuntimeDefault or Localhost", &[(0, app_armor::check)]),
    baseline("capabilities_baseline", "only capabilities of the default set are added", &[(0, capabilities::baseline)]),
    baseline("hostNamespaces", "the node's namespaces are not shared", &[(0, host::namespaces)]),
    baseline("hostPathVolumes", "no folder of the node is mounted", &[(0, host::paths)]),
    baseline("hostPorts", "no port of the node is taken", &[(0, host::ports)]),
    baseline("hostProbesAndHostLifecycle", "probes and hooks name no host", &[(34, host::probes)]),
    baseline("privileged", "containers are not privileged", &[(0, escalation::privileged)]),
    baseline("procMount", "/proc keeps its masks", &[(0, proc_mount::strict), (35, proc_mount::relaxed)]),
    baseline("seLinuxOptions", "SELinux options keep containers confined", &[(0, se_linux::v0), (31, se_linux::v31)]),
    baseline(
        "seccompProfile_baseline",
        "seccomp is not switched off",
        &[(0, seccomp::annotations), (19, seccomp::baseline)],
    ),
    baseline(
        "sysctls",
        "only sysctls that stay within the pod are set",
        &[(0, sysctls::v0), (27, sysctls::v27), (29, sysctls::v29), (32, sysctls::v32), (37, sysctls::v37)],
    ),
    baseline("windowsHostProcess", "no container is a process of the Windows host", &[(0, windows::host_process)]),
    restricted(
        "allowPrivilegeEscalation",
        "every container sets allowPrivilegeEscalation to false",
        &[(8, escalation::allowed), (25, escalation::allowed_but_on_windows)],
    ),
    replacing(
        "capabilities_baseline",
        "capabilities_restricted",
        "every container drops ALL capabilities and adds NET_BIND_SERVICE at most",
        &[(22, capabilities::restricted), (25, capabilities::restricted_but_on_windows)],
    ),
    replacing("procMount", "procMount_restricted", "/proc keeps its masks", &[(35, proc_mount::strict)]),
    replacing(
        "hostPathVolumes",
        "restrictedVolumes",
        "volumes are of the kinds that belong to the pod or are claimed",
        &[(0, volumes::restricted)],
    ),
    restricted(
        "runAsNonRoot",
        "runAsNonRoot is true for the pod or for every container",
        &[(0, run_as::non_root), (35, run_as::non_root_relaxed)],
    ),
    restricted("runAsUser", "no user id 0 is set", &[(23, run_as::user), (35, run_as::user_relaxed)]),
    replacing(
        "seccompProfile_baseline",
        "seccompProfile_restricted",
        "a seccomp profile is set for the pod or for every container",
        &[(19, seccomp::restricted), (25, seccomp::restricted_but_on_windows)],
    ),
];

#[cfg(test)]
mod testing {
    use super::*;
    use serde_json::{Value, json};

    /// Ids of the controls that a pod with this spec breaks.
    pub(super) fn broken(spec: &Value, level: Level, minor: u32) -> Vec<&'static str> {
        broken_with(spec, &json!({}), level, minor)
    }

    pub(super) fn broken_with(spec: &Value, annotations: &Value, level: Level, minor: u32) -> Vec<&'static str> {
        let mut spec = spec.clone();
        if spec.get("containers").is_none() {
            spec["containers"] = json!([{"name": "app"}]);
        }
        let spec = serde_json::from_value(spec).unwrap();
        let annotations = serde_json::from_value(annotations.clone()).unwrap();
        check(&spec, &annotations, level, Version::Minor(minor)).into_iter().map(|v| v.control).collect()
    }

    /// The same container body in each of the three lists, one spec each.
    pub(super) fn in_each_list(body: &Value) -> Vec<Value> {
        let mut container = body.clone();
        container["name"] = json!("bad");
        vec![
            json!({"containers": [container]}),
            json!({"containers": [], "initContainers": [container]}),
            json!({"containers": [], "ephemeralContainers": [container]}),
        ]
    }

    /// A container that satisfies `restricted` of every version.
    pub(super) fn hardened() -> Value {
        json!({"name": "app", "securityContext": {"allowPrivilegeEscalation": false, "runAsNonRoot": true,
            "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}}})
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;
    use serde_json::json;

    #[test]
    fn an_2_2_a_hardened_pod_breaks_nothing_at_any_version() {
        let spec = json!({"containers": [hardened()], "volumes": [{"name": "t", "emptyDir": {}}]});
        for minor in 0..=NEWEST + 3 {
            assert_eq!(broken(&spec, Level::Restricted, minor), [] as [&str; 0], "1.{minor}");
        }
    }

    #[test]
    fn an_2_2_privileged_level_allows_everything() {
        let spec = json!({"hostNetwork": true, "containers": [{"name": "a", "securityContext": {"privileged": true}}]});
        assert_eq!(broken(&spec, Level::Privileged, 37), [] as [&str; 0]);
        assert_eq!(broken(&spec, Level::Baseline, 37), ["hostNamespaces", "privileged"]);
    }

    #[test]
    fn an_2_2_a_plain_pod_breaks_what_each_version_asks_for() {
        let spec = json!({});
        assert_eq!(broken(&spec, Level::Baseline, 37), [] as [&str; 0]);
        assert_eq!(broken(&spec, Level::Restricted, 7), ["runAsNonRoot"]);
        assert_eq!(broken(&spec, Level::Restricted, 8), ["allowPrivilegeEscalation", "runAsNonRoot"]);
        assert_eq!(
            broken(&spec, Level::Restricted, 19),
            ["allowPrivilegeEscalation", "runAsNonRoot", "seccompProfile_restricted"]
        );
        assert_eq!(
            broken(&spec, Level::Restricted, 37),
            ["allowPrivilegeEscalation", "capabilities_restricted", "runAsNonRoot", "seccompProfile_restricted"]
        );
    }

    #[test]
    fn an_2_2_replaced_controls_are_told_once_and_in_the_order_of_the_server() {
        let spec = json!({
            "volumes": [{"name": "h", "hostPath": {"path": "/"}}],
            "securityContext": {"seccompProfile": {"type": "Unconfined"}},
            "containers": [{"name": "a", "securityContext": {"procMount": "Unmasked", "capabilities": {"add": ["SYS_ADMIN"]}}}],
        });
        assert_eq!(
            broken(&spec, Level::Baseline, 37),
            ["capabilities_baseline", "hostPathVolumes", "procMount", "seccompProfile_baseline"]
        );
        assert_eq!(
            broken(&spec, Level::Restricted, 37),
            [
                "allowPrivilegeEscalation",
                "capabilities_restricted",
                "procMount_restricted",
                "restrictedVolumes",
                "runAsNonRoot",
                "seccompProfile_restricted"
            ]
        );
        // Before 1.22 there was no stricter form for capabilities.
        assert!(broken(&spec, Level::Restricted, 21).contains(&"capabilities_baseline"));
    }

    #[test]
    fn an_2_2_versions_and_levels_are_read_strictly() {
        assert_eq!("v1.25".parse(), Ok(Version::Minor(25)));
        assert_eq!("latest".parse(), Ok(Version::Latest));
        for text in ["", "1.25", "v1", "v2.0", "v1.025", "v1.x", "v1.+5", "v1."] {
            assert!(text.parse::<Version>().is_err(), "{text}");
        }
        assert_eq!("baseline".parse(), Ok(Level::Baseline));
        assert!("Baseline".parse::<Level>().is_err());
        assert_eq!(Version::Minor(99).minor(), NEWEST);
    }

    #[test]
    fn kw_15_the_strictest_level_of_a_pod_is_named() {
        let of = |spec| strictest(&serde_json::from_value(spec).unwrap(), &BTreeMap::new(), Version::Latest);
        assert_eq!(of(json!({"containers": [hardened()]})), Level::Restricted);
        assert_eq!(of(json!({"containers": [{"name": "a"}]})), Level::Baseline);
        assert_eq!(of(json!({"hostPID": true, "containers": [hardened()]})), Level::Privileged);
    }

    #[test]
    fn an_2_2_the_controls_stand_in_the_order_of_the_server() {
        for level in [Level::Baseline, Level::Restricted] {
            let ids: Vec<_> = CONTROLS.iter().filter(|c| c.level == level).map(|c| c.id).collect();
            assert!(ids.is_sorted(), "{ids:?}");
        }
        assert_eq!(CONTROLS.len(), 19);
        for control in CONTROLS {
            assert!(control.forms.is_sorted_by_key(|(since, _)| since), "{}", control.id);
        }
    }
}
