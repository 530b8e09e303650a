//! Where the kubeconfig comes from, read again when its files change.

use crate::{
    ClusterEntry, ContextEntry, FleetOptions, Kubeconfig, Material, Origin, Overrides, UserEntry, kubeconfig::read,
};
use pintle_core::{Code, Failure};
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// Name of the context that a pod's service account makes.
pub(crate) const IN_CLUSTER: &str = "in-cluster";
/// Name of the context that `--server` makes where there is none.
const COMMAND_LINE: &str = "command-line";

/// The kubeconfig as it was read last, with what its files looked like then.
#[derive(Debug, Default)]
pub(crate) struct Source {
    kept: Mutex<Option<Kept>>,
}

#[derive(Debug)]
struct Kept {
    stamps: Vec<Option<Stamp>>,
    config: Arc<Kubeconfig>,
}

/// What tells that a file has changed. Writers that replace a file change its inode, writers in place its time or size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Of a file that is there.
    pub(crate) fn of(file: &Path) -> io::Result<Self> {
        let data = fs::metadata(file)?;
        Ok(Self {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        })
    }
}

impl Source {
    /// The kubeconfig as its files are now. Blocks on the file system.
    ///
    /// # Errors
    /// A file that cannot be read, with its problems.
    pub(crate) fn load(&self, options: &FleetOptions) -> Result<Arc<Kubeconfig>, Failure> {
        let files = files(options);
        let stamps: Vec<_> = files.iter().map(|file| Stamp::of(file).ok()).collect();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.stamps == stamps) {
            return Ok(Arc::clone(&kept.config));
        }
        *kept = None;
        let mut config = merged(options, &files)?;
        // A pod's service account may come and go; it is looked for each time, which costs two small files.
        let from_files = !config.contexts.is_empty();
        if !from_files && options.kubeconfig.is_none() {
            add_service_account(&mut config, options);
        }
        apply(&mut config, &options.overrides);
        let config = Arc::new(config);
        if from_files {
            *kept = Some(Kept { stamps, config: Arc::clone(&config) });
        }
        Ok(config)
    }
}

/// The files to read, in order of precedence.
fn files(options: &FleetOptions) -> Vec<PathBuf> {
    if let Some(file) = &options.kubeconfig {
        return vec![file.clone()];
    }
    if let Some(list) = options.variable("KUBECONFIG") {
        let mut files: Vec<PathBuf> = Vec::new();
        for file in std::env::split_paths(list).filter(|file| !file.as_os_str().is_empty()) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        return files;
    }
    options.variable("HOME").map(|home| Path::new(home).join(".kube/config")).into_iter().collect()
}

fn merged(options: &FleetOptions, files: &[PathBuf]) -> Result<Kubeconfig, Failure> {
    let mut config = Kubeconfig::default();
    for file in files {
        match fs::read(file) {
            Ok(bytes) => config.merge(read(&bytes, &std::path::absolute(file).unwrap_or_else(|_| file.clone()))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if options.kubeconfig.is_some() {
                    return Err(Failure::new(Code::NotFound, format!("kubeconfig {} does not exist", file.display()))
                        .hint("check --kubeconfig"));
                }
                // As with kubectl: a list may name files that are not there yet.
                if options.variable("KUBECONFIG").is_some() {
                    config.notes.push(format!("{} in KUBECONFIG does not exist", file.display()));
                }
            }
            Err(error) => return Err(Failure::io(format!("reading kubeconfig {}", file.display()), &error)),
        }
    }
    Ok(config)
}

/// The cluster that we are a pod of, where we are.
fn add_service_account(config: &mut Kubeconfig, options: &FleetOptions) {
    let (Some(host), Some(port)) =
        (options.variable("KUBERNETES_SERVICE_HOST"), options.variable("KUBERNETES_SERVICE_PORT"))
    else {
        return;
    };
    let folder = &options.service_account;
    let (token, authority) = (folder.join("token"), folder.join("ca.crt"));
    if !token.is_file() {
        return;
    }
    let (host, port) = (host.to_string_lossy(), port.to_string_lossy());
    let host = if host.contains(':') { format!("[{host}]") } else { host.into_owned() };
    let origin = Origin { file: folder.clone(), line: 1, column: 1 };
    let namespace = fs::read_to_string(folder.join("namespace")).ok();
    let cluster = ClusterEntry {
        server: format!("https://{host}:{port}"),
        certificate_authority: authority.is_file().then_some(Material::File(authority)),
        origin: origin.clone(),
        ..ClusterEntry::default()
    };
    let user = UserEntry { token_file: Some(token), origin: origin.clone(), ..UserEntry::default() };
    let context = ContextEntry {
        cluster: IN_CLUSTER.to_owned(),
        user: IN_CLUSTER.to_owned(),
        namespace: namespace.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
        origin,
    };
    config.clusters.insert(IN_CLUSTER.to_owned(), cluster);
    config.users.insert(IN_CLUSTER.to_owned(), user);
    config.contexts.insert(IN_CLUSTER.to_owned(), context);
    config.current.get_or_insert_with(|| IN_CLUSTER.to_owned());
}

/// Puts in force what was asked for on the command line: for the current context, in entries of its own.
fn apply(config: &mut Kubeconfig, overrides: &Overrides) {
    if let Some(context) = &overrides.context {
        config.current = Some(context.clone());
    }
    if config.contexts.is_empty() && overrides.server.is_some() {
        config.contexts.insert(COMMAND_LINE.to_owned(), ContextEntry::default());
        config.current = Some(COMMAND_LINE.to_owned());
    }
    let Some(name) = config.current.clone() else { return };
    let Some(context) = config.contexts.get(&name) else { return };
    let mut context = context.clone();
    let own = |entry: &str| format!("{entry} (command line)");
    if let Some(cluster) = &overrides.cluster {
        context.cluster.clone_from(cluster);
    }
    if let Some(user) = &overrides.user {
        context.user.clone_from(user);
    }
    if let Some(namespace) = &overrides.namespace {
        context.namespace = Some(namespace.clone());
    }
    if changes_cluster(overrides) {
        let mut cluster = config.clusters.get(&context.cluster).cloned().unwrap_or_default();
        if let Some(server) = &overrides.server {
            cluster.server.clone_from(server);
        }
        if let Some(expected) = &overrides.tls_server_name {
            cluster.tls_server_name = Some(expected.clone());
        }
        if let Some(file) = &overrides.certificate_authority {
            cluster.certificate_authority = Some(Material::File(file.clone()));
        }
        if overrides.insecure_skip_tls_verify {
            cluster.insecure_skip_tls_verify = true;
            // kubectl drops the authority, too: both together would contradict each other.
            cluster.certificate_authority = None;
        }
        context.cluster = own(&context.cluster);
        config.clusters.insert(context.cluster.clone(), cluster);
    }
    if overrides.token.is_some() || overrides.impersonate.is_some() {
        let mut user = config.users.get(&context.user).cloned().unwrap_or_default();
        if let Some(token) = &overrides.token {
            user = UserEntry { token: Some(token.clone()), impersonate: user.impersonate, ..UserEntry::default() };
        }
        if let Some(whom) = &overrides.impersonate {
            user.impersonate = Some(whom.clone());
        }
        context.user = own(&context.user);
        config.users.insert(context.user.clone(), user);
    }
    config.contexts.insert(name, context);
}

fn changes_cluster(overrides: &Overrides) -> bool {
    overrides.server.is_some()
        || overrides.tls_server_name.is_some()
        || overrides.certificate_authority.is_some()
        || overrides.insecure_skip_tls_verify
}
