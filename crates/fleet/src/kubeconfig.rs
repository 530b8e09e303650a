//! What the kubeconfig files say, merged as kubectl merges them: of several entries with one name the first wins whole.

mod parse;

pub(crate) use parse::read;

use pintle_core::Secret;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt,
    path::PathBuf,
};

/// The merged kubeconfig.
#[derive(Clone, Debug, Default)]
pub struct Kubeconfig {
    /// The files it was read from, in order of precedence. Empty inside a pod.
    pub files: Vec<PathBuf>,
    /// The current context, from the first file that sets one, or from the command line.
    pub current: Option<String>,
    /// Contexts by name.
    pub contexts: BTreeMap<String, ContextEntry>,
    /// Clusters by name.
    pub clusters: BTreeMap<String, ClusterEntry>,
    /// Users by name.
    pub users: BTreeMap<String, UserEntry>,
    /// What is odd but no error: entries that are there twice, files that are missing.
    pub notes: Vec<String>,
}

/// Where an entry stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The file; empty for what was not read from one.
    pub file: PathBuf,
    /// Line from 1.
    pub line: usize,
    /// Column from 1, in characters.
    pub column: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// A context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextEntry {
    /// Name of its cluster entry.
    pub cluster: String,
    /// Name of its user entry; empty for none.
    pub user: String,
    /// Default namespace.
    pub namespace: Option<String>,
    /// Where it stands.
    pub origin: Origin,
}

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterEntry {
    /// URL of the API server, without user and password.
    pub server: String,
    /// Name expected in the server's certificate, where it is not the host's.
    pub tls_server_name: Option<String>,
    /// Whether the server's certificate is not verified.
    pub insecure_skip_tls_verify: bool,
    /// Certificates of the authorities to trust, PEM.
    pub certificate_authority: Option<Material>,
    /// Proxy on the way there: `http`, `https` or `socks5`. It may hold a password.
    pub proxy_url: Option<Secret>,
    /// What the extension `client.authentication.k8s.io/exec` holds for plug-ins.
    pub exec_extension: Option<serde_json::Value>,
    /// Where it stands.
    pub origin: Origin,
}

/// A user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserEntry {
    /// A bearer token.
    pub token: Option<Secret>,
    /// A file with a bearer token that may change at any time; stronger than `token`.
    pub token_file: Option<PathBuf>,
    /// Name for basic authentication.
    pub username: Option<String>,
    /// Password for basic authentication.
    pub password: Option<Secret>,
    /// Our certificate, PEM.
    pub client_certificate: Option<Material>,
    /// Our key, PEM.
    pub client_key: Option<Material>,
    /// A program that gives the credential.
    pub exec: Option<Exec>,
    /// Whom to act as.
    pub impersonate: Option<crate::Impersonation>,
    /// Name of an `auth-provider`, which kubectl itself no longer has.
    pub auth_provider: Option<String>,
    /// Where it stands.
    pub origin: Origin,
}

/// Bytes that stand in the kubeconfig, or in a file that it names.
#[derive(Clone, PartialEq, Eq)]
pub enum Material {
    /// In the kubeconfig, base64 taken off. May be a key.
    Data(Vec<u8>),
    /// In a file; absolute.
    File(PathBuf),
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A credential plug-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exec {
    /// Program: a name for `PATH`, or a path; relative ones start at the kubeconfig's folder.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment; values may be secret.
    pub env: Vec<(String, Secret)>,
    /// `client.authentication.k8s.io/v1` or `…/v1beta1`.
    pub api_version: String,
    /// How to install it.
    pub install_hint: Option<String>,
    /// Whether it is told of the cluster in `KUBERNETES_EXEC_INFO`.
    pub provide_cluster_info: bool,
    /// Whether it needs a terminal.
    pub interactive_mode: InteractiveMode,
}

/// Whether a plug-in wants to talk to a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InteractiveMode {
    /// Never.
    Never,
    /// When there is a terminal; with us there is none.
    #[default]
    IfAvailable,
    /// Always: it is refused.
    Always,
}

impl Kubeconfig {
    /// Adds what a further file says; what is known already stays.
    pub(crate) fn merge(&mut self, later: Self) {
        self.files.extend(later.files);
        self.notes.extend(later.notes);
        if self.current.is_none() {
            self.current = later.current;
        }
        let notes = &mut self.notes;
        keep_first(&mut self.contexts, later.contexts, "context", |e| &e.origin, notes);
        keep_first(&mut self.clusters, later.clusters, "cluster", |e| &e.origin, notes);
        keep_first(&mut self.users, later.users, "user", |e| &e.origin, notes);
    }

    /// Names of all contexts, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.contexts.keys().map(String::as_str)
    }

    /// The cluster entry of a context.
    #[must_use]
    pub fn cluster_of(&self, context: &str) -> Option<&ClusterEntry> {
        self.clusters.get(&self.contexts.get(context)?.cluster)
    }

    /// The user entry of a context.
    #[must_use]
    pub fn user_of(&self, context: &str) -> Option<&UserEntry> {
        self.users.get(&self.contexts.get(context)?.user)
    }
}

/// Adds the entries whose names are new; the others are noted, unless they say the same.
fn keep_first<E: PartialEq>(
    known: &mut BTreeMap<String, E>,
    later: BTreeMap<String, E>,
    kind: &str,
    origin: impl Fn(&E) -> &Origin,
    notes: &mut Vec<String>,
) {
    for (name, entry) in later {
        match known.entry(name) {
            Entry::Vacant(free) => {
                free.insert(entry);
            }
            Entry::Occupied(first) => notes.push(twice(kind, first.key(), origin(first.get()), origin(&entry))),
        }
    }
}

fn twice(kind: &str, name: &str, first: &Origin, second: &Origin) -> String {
    format!("{kind} `{name}` is at {first} and again at {second}; the first counts")
}
