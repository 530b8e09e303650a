//! The clusters of this machine as one host.

use crate::{
    Cause, Cluster, FleetOptions, Kubeconfig, Selection, Targets, Unnamed,
    cluster::Bounds,
    connection::Connection,
    credential::make_known,
    exec::Plugins,
    profile::Profile,
    select::{select, unknown},
    source::Source,
};
use pintle_core::{Call, Code, Failure, Scope};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Every cluster that the kubeconfig names. Cheap to make; contacts a cluster when a call needs it, and keeps one warm
/// connection to each from then on.
pub struct Fleet {
    options: Arc<FleetOptions>,
    source: Arc<Source>,
    plugins: Arc<Plugins>,
    connections: Mutex<HashMap<String, Arc<Connection>>>,
}

impl Fleet {
    /// A fleet. Reads nothing and asks nobody yet.
    #[must_use]
    pub fn new(options: FleetOptions) -> Self {
        Self {
            plugins: Arc::new(Plugins::default()),
            options: Arc::new(options),
            source: Arc::default(),
            connections: Mutex::default(),
        }
    }

    /// What it was made of.
    #[must_use]
    pub fn options(&self) -> &FleetOptions {
        &self.options
    }

    /// The kubeconfig as its files are now; parsed again only when one of them has changed. Whoever holds it sees no
    /// change: a call looks at one kubeconfig from beginning to end.
    ///
    /// # Errors
    /// A file that cannot be read: code `invalid` with file, line and column of each problem, or `io`.
    pub async fn kubeconfig(&self) -> Result<Arc<Kubeconfig>, Failure> {
        let (source, options) = (Arc::clone(&self.source), Arc::clone(&self.options));
        tokio::task::spawn_blocking(move || source.load(&options))
            .await
            .map_err(|_| Failure::new(Code::Internal, "reading the kubeconfig broke down"))?
    }

    /// The clusters that the targets mean, as far as policy lets this call read them.
    ///
    /// Names are exact, whatever characters they have. `all` and globs leave out aliases of a cluster that is in
    /// already, the current context first, and what policy denies; both are told. A name that policy denies fails.
    ///
    /// # Errors
    /// Code `not_found` with did-you-mean, `denied`, `invalid_argument`, `unavailable` without any context, or what is
    /// wrong with the kubeconfig.
    pub async fn select(&self, targets: &Targets, unnamed: Unnamed, call: &Call) -> Result<Selection, Failure> {
        select(&self.kubeconfig().await?, targets, unnamed, call)
    }

    /// Every context by itself, aliases too, as an audit of the kubeconfig looks at them; what policy denies is left
    /// out and told.
    ///
    /// # Errors
    /// What is wrong with the kubeconfig.
    pub async fn every_context(&self, call: &Call) -> Result<Selection, Failure> {
        let kubeconfig = self.kubeconfig().await?;
        let (mut chosen, mut denied) = (Vec::new(), Vec::new());
        for name in kubeconfig.names() {
            match call.allows(&Scope::cluster(name)) {
                Ok(()) => chosen.push(name.to_owned()),
                Err(failure) => denied.push((name.to_owned(), failure.message)),
            }
        }
        Ok(Selection { chosen, denied, skipped: Vec::new(), kubeconfig })
    }

    /// One cluster by the name of its context, for this call.
    ///
    /// # Errors
    /// Code `not_found` with did-you-mean, `denied`, or what is wrong with the kubeconfig.
    pub async fn cluster(&self, name: &str, call: &Call) -> Result<Cluster, Failure> {
        let kubeconfig = self.kubeconfig().await?;
        if !kubeconfig.contexts.contains_key(name) {
            return Err(unknown(&kubeconfig, name));
        }
        call.allows(&Scope::cluster(name))?;
        self.connect(&kubeconfig, name, call)
            .map_err(|cause| crate::ClusterError { cluster: name.to_owned(), cause }.into())
    }

    /// A chosen cluster for this call.
    pub(crate) fn open(&self, selection: &Selection, name: &str, call: &Call) -> Result<Cluster, Cause> {
        self.connect(&selection.kubeconfig, name, call)
    }

    /// The kept connection while its entries say the same as before, else a new one. Contacts nobody.
    fn connect(&self, kubeconfig: &Kubeconfig, name: &str, call: &Call) -> Result<Cluster, Cause> {
        let profile = Profile::of(kubeconfig, name, &self.options)?;
        make_known(&profile, call);
        let namespace = kubeconfig.contexts.get(name).and_then(|context| context.namespace.clone());
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        // What is no longer in the kubeconfig is let go of with its connection.
        connections.retain(|name, _| kubeconfig.contexts.contains_key(name));
        let connection = match connections.get(name) {
            Some(kept) if *kept.profile() == profile => Arc::clone(kept),
            _ => {
                let new = Arc::new(Connection::new(profile, &self.options, &self.plugins));
                connections.insert(name.to_owned(), Arc::clone(&new));
                new
            }
        };
        drop(connections);
        Ok(Cluster::new(name, namespace, connection, Bounds::of(call, &self.options)))
    }
}
