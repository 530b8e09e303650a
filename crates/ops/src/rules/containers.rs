//! The three container lists of a pod as one, since most rules hold for all of them.

use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EnvVar, EphemeralContainer, Lifecycle, PodSpec, Probe, ResourceRequirements,
    SecurityContext, VolumeMount,
};

/// Which list a container stands in, and what that means for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `initContainers`: runs to its end before the others start.
    Init,
    /// `initContainers` with `restartPolicy: Always`: runs beside the others.
    Sidecar,
    /// `containers`.
    Main,
    /// `ephemeralContainers`: put in by hand for debugging, never restarted.
    Ephemeral,
}

impl Role {
    /// The list's name in the pod's spec.
    #[must_use]
    pub const fn list(self) -> &'static str {
        match self {
            Self::Init | Self::Sidecar => "initContainers",
            Self::Main => "containers",
            Self::Ephemeral => "ephemeralContainers",
        }
    }
}

/// What the rules look at in a container of any list.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Which list.
    pub role: Role,
    /// Its name.
    pub name: &'a str,
    /// Its image.
    pub image: Option<&'a str>,
    /// When the image is pulled.
    pub image_pull_policy: Option<&'a str>,
    /// Its security context.
    pub security_context: Option<&'a SecurityContext>,
    /// Requests and limits.
    pub resources: Option<&'a ResourceRequirements>,
    /// Ports.
    pub ports: &'a [ContainerPort],
    /// Environment.
    pub env: &'a [EnvVar],
    /// Mounts.
    pub volume_mounts: &'a [VolumeMount],
    /// Liveness, readiness and startup probe with their field names.
    pub probes: [(&'static str, Option<&'a Probe>); 3],
    /// Lifecycle handlers.
    pub lifecycle: Option<&'a Lifecycle>,
}

impl View<'_> {
    /// Path of a field in it, such as `spec.containers[app].securityContext.privileged`.
    #[must_use]
    pub fn path(&self, field: &str) -> String {
        format!("spec.{}[{}].{field}", self.role.list(), self.name)
    }
}

/// All containers of a pod: init, main, ephemeral, each list in its own order.
pub fn all(spec: &PodSpec) -> impl Iterator<Item = View<'_>> {
    let init = spec.init_containers.iter().flatten().map(|c| {
        let role = if c.restart_policy.as_deref() == Some("Always") { Role::Sidecar } else { Role::Init };
        of_container(c, role)
    });
    let main = spec.containers.iter().map(|c| of_container(c, Role::Main));
    init.chain(main).chain(spec.ephemeral_containers.iter().flatten().map(of_ephemeral))
}

fn of_container(c: &Container, role: Role) -> View<'_> {
    View {
        role,
        name: &c.name,
        image: c.image.as_deref(),
        image_pull_policy: c.image_pull_policy.as_deref(),
        security_context: c.security_context.as_ref(),
        resources: c.resources.as_ref(),
        ports: c.ports.as_deref().unwrap_or_default(),
        env: c.env.as_deref().unwrap_or_default(),
        volume_mounts: c.volume_mounts.as_deref().unwrap_or_default(),
        probes: [
            ("livenessProbe", c.liveness_probe.as_ref()),
            ("readinessProbe", c.readiness_probe.as_ref()),
            ("startupProbe", c.startup_probe.as_ref()),
        ],
        lifecycle: c.lifecycle.as_ref(),
    }
}

fn of_ephemeral(c: &EphemeralContainer) -> View<'_> {
    View {
        role: Role::Ephemeral,
        name: &c.name,
        image: c.image.as_deref(),
        image_pull_policy: c.image_pull_policy.as_deref(),
        security_context: c.security_context.as_ref(),
        resources: c.resources.as_ref(),
        ports: c.ports.as_deref().unwrap_or_default(),
        env: c.env.as_deref().unwrap_or_default(),
        volume_mounts: c.volume_mounts.as_deref().unwrap_or_default(),
        probes: [
            ("livenessProbe", c.liveness_probe.as_ref()),
            ("readinessProbe", c.readiness_probe.as_ref()),
            ("startupProbe", c.startup_probe.as_ref()),
        ],
        lifecycle: c.lifecycle.as_ref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_three_lists_are_seen_and_sidecars_told_from_init_containers() {
        let spec: PodSpec = serde_json::from_value(json!({
            "initContainers": [{"name": "i"}, {"name": "s", "restartPolicy": "Always"}],
            "containers": [{"name": "m"}], "ephemeralContainers": [{"name": "e"}],
        }))
        .unwrap();
        let seen: Vec<_> = all(&spec).map(|c| (c.name, c.role)).collect();
        assert_eq!(seen, [("i", Role::Init), ("s", Role::Sidecar), ("m", Role::Main), ("e", Role::Ephemeral)]);
        assert_eq!(all(&spec).nth(1).unwrap().path("image"), "spec.initContainers[s].image");
    }
}
