//! Types of resources, and where the API serves them.

use k8s_openapi::{ClusterResourceScope, NamespaceResourceScope, Resource, ResourceScope};
use serde::Serialize;
use std::{any::TypeId, borrow::Cow, fmt};

/// A type of resource as an API server serves it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ResourceType {
    /// API group; empty for the core group.
    pub group: Cow<'static, str>,
    /// Version within the group.
    pub version: Cow<'static, str>,
    /// Plural name, as in paths.
    pub plural: Cow<'static, str>,
    /// Kind.
    pub kind: Cow<'static, str>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

macro_rules! usual {
    ($($name:ident = $group:literal $version:literal $plural:literal $kind:literal $namespaced:literal;)*) => {
        impl ResourceType {
            $(#[doc = concat!("`", $plural, "`.")]
            pub const $name: Self = Self::fixed($group, $version, $plural, $kind, $namespaced);)*
        }
    };
}

usual! {
    PODS = "" "v1" "pods" "Pod" true;
    SERVICES = "" "v1" "services" "Service" true;
    ENDPOINTS = "" "v1" "endpoints" "Endpoints" true;
    CONFIG_MAPS = "" "v1" "configmaps" "ConfigMap" true;
    SECRETS = "" "v1" "secrets" "Secret" true;
    SERVICE_ACCOUNTS = "" "v1" "serviceaccounts" "ServiceAccount" true;
    PERSISTENT_VOLUME_CLAIMS = "" "v1" "persistentvolumeclaims" "PersistentVolumeClaim" true;
    REPLICATION_CONTROLLERS = "" "v1" "replicationcontrollers" "ReplicationController" true;
    RESOURCE_QUOTAS = "" "v1" "resourcequotas" "ResourceQuota" true;
    LIMIT_RANGES = "" "v1" "limitranges" "LimitRange" true;
    EVENTS = "" "v1" "events" "Event" true;
    NODES = "" "v1" "nodes" "Node" false;
    NAMESPACES = "" "v1" "namespaces" "Namespace" false;
    PERSISTENT_VOLUMES = "" "v1" "persistentvolumes" "PersistentVolume" false;
    DEPLOYMENTS = "apps" "v1" "deployments" "Deployment" true;
    REPLICA_SETS = "apps" "v1" "replicasets" "ReplicaSet" true;
    STATEFUL_SETS = "apps" "v1" "statefulsets" "StatefulSet" true;
    DAEMON_SETS = "apps" "v1" "daemonsets" "DaemonSet" true;
    JOBS = "batch" "v1" "jobs" "Job" true;
    CRON_JOBS = "batch" "v1" "cronjobs" "CronJob" true;
    HORIZONTAL_POD_AUTOSCALERS = "autoscaling" "v2" "horizontalpodautoscalers" "HorizontalPodAutoscaler" true;
    POD_DISRUPTION_BUDGETS = "policy" "v1" "poddisruptionbudgets" "PodDisruptionBudget" true;
    INGRESSES = "networking.k8s.io" "v1" "ingresses" "Ingress" true;
    NETWORK_POLICIES = "networking.k8s.io" "v1" "networkpolicies" "NetworkPolicy" true;
    ENDPOINT_SLICES = "discovery.k8s.io" "v1" "endpointslices" "EndpointSlice" true;
    STORAGE_CLASSES = "storage.k8s.io" "v1" "storageclasses" "StorageClass" false;
    LEASES = "coordination.k8s.io" "v1" "leases" "Lease" true;
}

impl ResourceType {
    const fn fixed(
        group: &'static str,
        version: &'static str,
        plural: &'static str,
        kind: &'static str,
        namespaced: bool,
    ) -> Self {
        Self {
            group: Cow::Borrowed(group),
            version: Cow::Borrowed(version),
            plural: Cow::Borrowed(plural),
            kind: Cow::Borrowed(kind),
            namespaced,
        }
    }

    /// The type behind a type of k8s-openapi.
    #[must_use]
    pub fn of<K: Resource>() -> Self
    where
        K::Scope: ResourceScope + 'static,
    {
        let scope = TypeId::of::<K::Scope>();
        debug_assert!(scope == TypeId::of::<NamespaceResourceScope>() || scope == TypeId::of::<ClusterResourceScope>());
        Self::fixed(K::GROUP, K::VERSION, K::URL_PATH_SEGMENT, K::KIND, scope == TypeId::of::<NamespaceResourceScope>())
    }

    /// `v1`, `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_string() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Path of the collection: in one namespace, or everywhere.
    #[must_use]
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{}", segment(&self.version))
        } else {
            format!("/apis/{}/{}", segment(&self.group), segment(&self.version))
        };
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("{root}/namespaces/{}/{}", segment(namespace), segment(&self.plural)),
            None => format!("{root}/{}", segment(&self.plural)),
        }
    }

    /// Path of one object.
    #[must_use]
    pub fn object_path(&self, namespace: Option<&str>, name: &str) -> String {
        format!("{}/{}", self.path(namespace), segment(name))
    }
}

impl fmt::Display for ResourceType {
    /// `pods`, `deployments.apps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plural)?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

const UNSAFE: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');

/// One segment of a path: nothing in a name can lead out of it.
pub(crate) fn segment(text: &str) -> String {
    match text {
        // Dots alone would be walked, not named.
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => percent_encoding::utf8_percent_encode(text, UNSAFE).to_string(),
    }
}

/// One value of a query.
pub(crate) fn query_value(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, UNSAFE).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        assert_eq!(ResourceType::PODS.path(None), "/api/v1/pods");
        assert_eq!(ResourceType::PODS.path(Some("web")), "/api/v1/namespaces/web/pods");
        assert_eq!(ResourceType::NODES.path(Some("web")), "/api/v1/nodes", "nodes live in no namespace");
        assert_eq!(ResourceType::DEPLOYMENTS.object_path(Some("a"), "b"), "/apis/apps/v1/namespaces/a/deployments/b");
        assert_eq!(ResourceType::DEPLOYMENTS.to_string(), "deployments.apps");
    }

    #[test]
    fn a_name_cannot_lead_out_of_its_segment() {
        assert_eq!(ResourceType::PODS.path(Some("../../x?y#z")), "/api/v1/namespaces/..%2F..%2Fx%3Fy%23z/pods");
        assert_eq!(ResourceType::NODES.object_path(None, ".."), "/api/v1/nodes/%2E%2E");
    }

    #[test]
    fn the_usual_types_are_those_of_the_typed_api() {
        use k8s_openapi::api;
        assert_eq!(ResourceType::of::<api::core::v1::Pod>(), ResourceType::PODS);
        assert_eq!(ResourceType::of::<api::core::v1::Node>(), ResourceType::NODES);
        assert_eq!(ResourceType::of::<api::core::v1::Event>(), ResourceType::EVENTS);
        assert_eq!(ResourceType::of::<api::apps::v1::Deployment>(), ResourceType::DEPLOYMENTS);
        assert_eq!(ResourceType::of::<api::batch::v1::CronJob>(), ResourceType::CRON_JOBS);
        assert_eq!(ResourceType::of::<api::storage::v1::StorageClass>(), ResourceType::STORAGE_CLASSES);
        assert_eq!(
            ResourceType::of::<api::autoscaling::v2::HorizontalPodAutoscaler>(),
            ResourceType::HORIZONTAL_POD_AUTOSCALERS
        );
    }
}
