//! The kinds a server knows, as discovery names them.

/// One resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    /// API group; empty for core.
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub short: Vec<String>,
    pub namespaced: bool,
    pub categories: Vec<String>,
    /// Verbs it answers to.
    pub verbs: Vec<String>,
    pub subresources: Vec<String>,
    /// Columns of its table beside name and age: name and path; empty for what is built in.
    pub columns: Vec<(String, String)>,
    /// From a definition: its objects carry their type in lists, which those of built-in kinds do not.
    pub custom: bool,
}

/// Address of a resource type inside a server: group, version, plural.
pub(crate) type Address = (String, String, String);

impl Resource {
    pub(crate) fn address(&self) -> Address {
        (self.group.clone(), self.version.clone(), self.plural.clone())
    }

    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `pods`, `deployments.apps`: as messages name it.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    pub(crate) fn singular(&self) -> String {
        self.kind.to_lowercase()
    }

    /// A kind that somebody put in without defining it.
    pub(crate) fn guessed(group: &str, version: &str, kind: &str, namespaced: bool) -> Self {
        let lower = kind.to_lowercase();
        let plural = match lower.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if lower.ends_with('s') => format!("{lower}es"),
            None => format!("{lower}s"),
        };
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural,
            short: Vec::new(),
            namespaced,
            categories: Vec::new(),
            verbs: ALL.map(str::to_owned).to_vec(),
            subresources: Vec::new(),
            columns: Vec::new(),
            custom: true,
        }
    }
}

const ALL: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Group, version, kind, plural, short names, namespaced, categories, subresources.
type Line = (&'static str, &'static str, &'static str, &'static str, &'static str, bool, &'static str, &'static str);

const BUILT_IN: &[Line] = &[
    ("", "v1", "ConfigMap", "configmaps", "cm", true, "", ""),
    ("", "v1", "Endpoints", "endpoints", "ep", true, "", ""),
    ("", "v1", "Event", "events", "ev", true, "", ""),
    ("", "v1", "LimitRange", "limitranges", "limits", true, "", ""),
    ("", "v1", "Namespace", "namespaces", "ns", false, "", "finalize,status"),
    ("", "v1", "Node", "nodes", "no", false, "", "proxy,status"),
    ("", "v1", "PersistentVolume", "persistentvolumes", "pv", false, "", "status"),
    ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", true, "", "status"),
    ("", "v1", "Pod", "pods", "po", true, "all", "attach,eviction,exec,log,portforward,proxy,status"),
    ("", "v1", "ReplicationController", "replicationcontrollers", "rc", true, "all", "scale,status"),
    ("", "v1", "ResourceQuota", "resourcequotas", "quota", true, "", "status"),
    ("", "v1", "Secret", "secrets", "", true, "", ""),
    ("", "v1", "Service", "services", "svc", true, "all", "proxy,status"),
    ("", "v1", "ServiceAccount", "serviceaccounts", "sa", true, "", "token"),
    ("apiregistration.k8s.io", "v1", "APIService", "apiservices", "", false, "api-extensions", "status"),
    ("apps", "v1", "ControllerRevision", "controllerrevisions", "", true, "", ""),
    ("apps", "v1", "DaemonSet", "daemonsets", "ds", true, "all", "status"),
    ("apps", "v1", "Deployment", "deployments", "deploy", true, "all", "scale,status"),
    ("apps", "v1", "ReplicaSet", "replicasets", "rs", true, "all", "scale,status"),
    ("apps", "v1", "StatefulSet", "statefulsets", "sts", true, "all", "scale,status"),
    ("events.k8s.io", "v1", "Event", "events", "ev", true, "", ""),
    ("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", "", false, "", ""),
    ("authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "", false, "", ""),
    ("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", "hpa", true, "all", "status"),
    ("batch", "v1", "CronJob", "cronjobs", "cj", true, "all", "status"),
    ("batch", "v1", "Job", "jobs", "", true, "all", "status"),
    (
        "certificates.k8s.io",
        "v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        "csr",
        false,
        "",
        "status",
    ),
    ("networking.k8s.io", "v1", "Ingress", "ingresses", "ing", true, "", "status"),
    ("networking.k8s.io", "v1", "IngressClass", "ingressclasses", "", false, "", ""),
    ("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", "netpol", true, "", ""),
    ("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "pdb", true, "", "status"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", "", false, "", ""),
    ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", "", false, "", ""),
    ("rbac.authorization.k8s.io", "v1", "Role", "roles", "", true, "", ""),
    ("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", "", true, "", ""),
    ("storage.k8s.io", "v1", "CSIDriver", "csidrivers", "", false, "", ""),
    ("storage.k8s.io", "v1", "StorageClass", "storageclasses", "sc", false, "", ""),
    ("storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", "", false, "", "status"),
    (
        "admissionregistration.k8s.io",
        "v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        "",
        false,
        "api-extensions",
        "",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        "",
        false,
        "api-extensions",
        "",
    ),
    (
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        "crd,crds",
        false,
        "api-extensions",
        "status",
    ),
    ("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "pc", false, "", ""),
    ("coordination.k8s.io", "v1", "Lease", "leases", "", true, "", ""),
    ("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", "", false, "", ""),
    ("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", "", true, "", ""),
    ("resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", "", true, "", "status"),
];

/// What every server has, groups in the order in which a real one lists them.
pub(crate) fn built_in() -> Vec<Resource> {
    let words = |text: &str| -> Vec<String> { text.split(',').filter(|w| !w.is_empty()).map(str::to_owned).collect() };
    BUILT_IN
        .iter()
        .map(|(group, version, kind, plural, short, namespaced, categories, subresources)| {
            let review = plural.ends_with("reviews");
            Resource {
                group: (*group).to_owned(),
                version: (*version).to_owned(),
                kind: (*kind).to_owned(),
                plural: (*plural).to_owned(),
                short: words(short),
                namespaced: *namespaced,
                categories: words(categories),
                verbs: if review { vec!["create".to_owned()] } else { ALL.map(str::to_owned).to_vec() },
                subresources: words(subresources),
                columns: Vec::new(),
                custom: false,
            }
        })
        .collect()
}
