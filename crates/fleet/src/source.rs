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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn config(context: &str, server: &str) -> String {
        format!(
            "current-context: {context}\ncontexts: [{{name: {context}, context: {{cluster: {context}, user: {context}}}}}]\n\
             clusters: [{{name: {context}, cluster: {{server: {server}, certificate-authority: ca.crt}}}}]\n\
             users: [{{name: {context}, user: {{token: {context}-token}}}}]\n"
        )
    }

    fn load(options: &FleetOptions) -> Result<Arc<Kubeconfig>, Failure> {
        Source::default().load(options)
    }

    #[test]
    fn several_files_are_merged_and_the_first_wins() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::create_dir_all(one.join("deep")).unwrap();
        fs::create_dir_all(&two).unwrap();
        fs::write(one.join("deep/config"), config("a", "https://first").replace("current-context: a\n", "")).unwrap();
        fs::write(two.join("config"), config("b", "https://b") + "# more\n").unwrap();
        let three = two.join("third");
        fs::write(&three, config("a", "https://second")).unwrap();
        let list = std::env::join_paths([
            one.join("deep/config"),
            "".into(),
            folder.path().join("absent"),
            two.join("config"),
            three.clone(),
        ]);
        let options = FleetOptions::default().with_variable("KUBECONFIG", list.unwrap());
        let merged = load(&options).unwrap();
        assert_eq!(merged.current.as_deref(), Some("b"), "from the first file that sets it");
        assert_eq!(merged.names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(merged.clusters["a"].server, "https://first");
        let authority = |name: &str| match &merged.clusters[name].certificate_authority {
            Some(Material::File(path)) => path.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(authority("a"), one.join("deep/ca.crt"), "relative to its own file");
        assert_eq!(authority("b"), two.join("ca.crt"));
        assert_eq!(merged.notes.len(), 4, "{:?}", merged.notes);
        assert!(merged.notes[0].ends_with("absent in KUBECONFIG does not exist"));
        assert!(merged.notes[1].contains("context `a`") && merged.notes[1].ends_with("the first counts"));

        let one_file = FleetOptions { kubeconfig: Some(three), ..options };
        assert_eq!(load(&one_file).unwrap().clusters["a"].server, "https://second", "--kubeconfig is alone");
    }

    #[test]
    fn home_is_the_default_and_nothing_is_no_error() {
        let home = tempfile::tempdir().unwrap();
        let options = FleetOptions::default().with_variable("HOME", home.path());
        assert!(load(&options).unwrap().contexts.is_empty());
        fs::create_dir(home.path().join(".kube")).unwrap();
        fs::write(home.path().join(".kube/config"), config("a", "https://a")).unwrap();
        assert_eq!(load(&options).unwrap().current.as_deref(), Some("a"));
        let absent = FleetOptions::default().with_kubeconfig(home.path().join("absent"));
        assert_eq!(load(&absent).unwrap_err().code, Code::NotFound);
        let folder = FleetOptions::default().with_kubeconfig(home.path());
        assert_eq!(load(&folder).unwrap_err().code, Code::Io);
    }

    #[test]
    fn kw_60_a_file_is_parsed_again_only_when_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        fs::write(&file, config("a", "https://a")).unwrap();
        let options = FleetOptions::default().with_kubeconfig(&file);
        let source = Source::default();
        let first = source.load(&options).unwrap();
        assert!(Arc::ptr_eq(&first, &source.load(&options).unwrap()), "nothing changed, nothing parsed");
        // Same size, and perhaps within the same tick of the clock: another inode tells.
        let new = folder.path().join("new");
        fs::write(&new, config("b", "https://b")).unwrap();
        fs::rename(&new, &file).unwrap();
        assert_eq!(source.load(&options).unwrap().current.as_deref(), Some("b"));
        assert_eq!(first.current.as_deref(), Some("a"), "a call that looks at the old one sees no change");
        fs::write(&file, "contexts: [").unwrap();
        assert_eq!(source.load(&options).unwrap_err().code, Code::Invalid);
        fs::write(&file, config("c", "https://c")).unwrap();
        assert_eq!(source.load(&options).unwrap().current.as_deref(), Some("c"));
    }

    #[test]
    fn an_6_16_a_pod_finds_its_own_cluster_whatever_the_time_limits() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("token", "t0"), ("ca.crt", "pem"), ("namespace", "web\n")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let options = FleetOptions {
            service_account: folder.path().to_owned(),
            connect_deadline: Duration::from_secs(1),
            call_deadline: Duration::from_secs(2),
            ..FleetOptions::default()
        }
        .with_variable("KUBERNETES_SERVICE_HOST", "fd00::1")
        .with_variable("KUBERNETES_SERVICE_PORT", "443");
        let found = load(&options).unwrap();
        assert_eq!(found.current.as_deref(), Some(IN_CLUSTER));
        assert_eq!(found.cluster_of(IN_CLUSTER).unwrap().server, "https://[fd00::1]:443");
        assert_eq!(found.contexts[IN_CLUSTER].namespace.as_deref(), Some("web"));
        assert_eq!(found.user_of(IN_CLUSTER).unwrap().token_file, Some(folder.path().join("token")));
        let file = folder.path().join("config");
        fs::write(&file, config("a", "https://a")).unwrap();
        let both = options.with_variable("KUBECONFIG", &file);
        assert_eq!(load(&both).unwrap().names().collect::<Vec<_>>(), ["a"], "a kubeconfig is stronger");
    }

    #[test]
    fn kw_71_flags_change_the_current_context_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        fs::write(
            &file,
            "current-context: a\ncontexts:\n- {name: a, context: {cluster: c, user: u}}\n- {name: b, context: {cluster: c, user: u}}\n\
             clusters: [{name: c, cluster: {server: https://c}}]\nusers: [{name: u, user: {token: old, as: ann}}]\n",
        )
        .unwrap();
        let overrides = Overrides {
            context: Some("b".to_owned()),
            server: Some("https://other".to_owned()),
            namespace: Some("web".to_owned()),
            token: Some(pintle_core::Secret::new("--token", "new")),
            insecure_skip_tls_verify: true,
            ..Overrides::default()
        };
        let config = load(&FleetOptions { overrides, ..FleetOptions::default() }.with_kubeconfig(file)).unwrap();
        assert_eq!(config.current.as_deref(), Some("b"));
        let seen = |name: &str| {
            let (cluster, user) = (config.cluster_of(name).unwrap(), config.user_of(name).unwrap());
            let token = user.token.as_ref().unwrap().expose();
            (
                cluster.server.as_str(),
                cluster.insecure_skip_tls_verify,
                token,
                user.impersonate.as_ref().unwrap().user.as_str(),
            )
        };
        assert_eq!(seen("b"), ("https://other", true, "new", "ann"));
        assert_eq!(seen("a"), ("https://c", false, "old", "ann"), "a token for one cluster goes to no other");
        assert_eq!(config.contexts["b"].namespace.as_deref(), Some("web"));

        let overrides = Overrides { server: Some("https://only".to_owned()), ..Overrides::default() };
        let alone = load(&FleetOptions { overrides, ..FleetOptions::default() }).unwrap();
        assert_eq!(alone.cluster_of(COMMAND_LINE).unwrap().server, "https://only", "--server needs no kubeconfig");
    }
}
