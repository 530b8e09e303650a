//! What a fleet is made of; nothing here is looked at before a call needs it.

use pintle_core::Secret;
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
    time::Duration,
};

/// Where clusters are found and how patient we are with them.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// The one file to read (`--kubeconfig`), instead of `KUBECONFIG` and `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// The environment: `KUBECONFIG`, `HOME`, `PATH`, proxies and what a pod is told of its cluster come from here.
    pub environment: BTreeMap<OsString, OsString>,
    /// Folder with `token`, `ca.crt` and `namespace` of a pod's service account.
    pub service_account: PathBuf,
    /// What was asked for on the command line; it applies to the current context only.
    pub overrides: Overrides,
    /// Whom to act as, by context; stronger than what the kubeconfig says.
    pub impersonate: BTreeMap<String, Impersonation>,
    /// For name resolution, TCP, proxy and TLS together, and for waiting for a credential plug-in.
    pub connect_deadline: Duration,
    /// For everything one call asks of one cluster.
    pub call_deadline: Duration,
    /// For one run of a credential plug-in.
    pub plugin_deadline: Duration,
    /// What of the environment a credential plug-in gets besides the clean minimum and its own entries: names, or
    /// beginnings of names that end with `*`.
    pub plugin_variables: Vec<String>,
    /// Most requests in flight to one cluster.
    pub in_flight: usize,
    /// Most bytes of one JSON body.
    pub body_limit: usize,
}

/// kubectl's inherited flags. They change the current context (or the one named by `context`) and no other, so that a
/// token meant for one cluster is never sent to another.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--context`: the current context.
    pub context: Option<String>,
    /// `--cluster`: name of the kubeconfig's cluster entry.
    pub cluster: Option<String>,
    /// `--user`: name of the kubeconfig's user entry.
    pub user: Option<String>,
    /// `--namespace`: the default namespace.
    pub namespace: Option<String>,
    /// `--server`: URL of the API server.
    pub server: Option<String>,
    /// `--token`, in place of every other credential.
    pub token: Option<Secret>,
    /// `--as`, `--as-group`, `--as-uid`.
    pub impersonate: Option<Impersonation>,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--certificate-authority`: a PEM file.
    pub certificate_authority: Option<PathBuf>,
    /// `--insecure-skip-tls-verify`.
    pub insecure_skip_tls_verify: bool,
}

/// Whom to act as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Impersonation {
    /// User name.
    pub user: String,
    /// Groups.
    pub groups: Vec<String>,
    /// User id.
    pub uid: Option<String>,
    /// Extra fields.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// What the clouds' own programs are steered by; without it they look for another account, or find none.
const PLUGIN_VARIABLES: [&str; 18] = [
    "AWS_*",
    "AZURE_*",
    "AAD_*",
    "CLOUDSDK_*",
    "GOOGLE_*",
    "OCI_*",
    "DIGITALOCEAN_*",
    "TSH_*",
    "TELEPORT_*",
    "XDG_*",
    "SSL_CERT_*",
    "KUBECONFIG",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
];

impl Default for FleetOptions {
    /// An empty environment: no file is found and no program. Tests add what they need.
    fn default() -> Self {
        Self {
            kubeconfig: None,
            environment: BTreeMap::new(),
            service_account: PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount"),
            overrides: Overrides::default(),
            impersonate: BTreeMap::new(),
            connect_deadline: Duration::from_secs(5),
            call_deadline: Duration::from_secs(30),
            plugin_deadline: Duration::from_secs(10),
            plugin_variables: PLUGIN_VARIABLES.map(str::to_owned).to_vec(),
            in_flight: 4,
            body_limit: 64 * 1024 * 1024,
        }
    }
}

impl FleetOptions {
    /// With the environment of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self { environment: std::env::vars_os().collect(), ..Self::default() }
    }

    /// With one file to read.
    #[must_use]
    pub fn with_kubeconfig(mut self, file: impl Into<PathBuf>) -> Self {
        self.kubeconfig = Some(file.into());
        self
    }

    /// With one more variable of the environment.
    #[must_use]
    pub fn with_variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// A variable that is there and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}
