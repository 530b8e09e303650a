//! One fake cluster: its state, and the handle that tests hold.

use super::{
    fault::{Fault, Plan, Planned},
    kubeconfig::{Entry, Kubeconfig},
    objects::{Key, Objects, Stored},
    record::Recorded,
    resource::Resource,
    serve::{self, Answer},
    status,
    tls::{Certificate, identity},
};
use serde::Serialize;
use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{net::TcpListener, sync::watch};

/// How a server meets connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It serves.
    #[default]
    Serve,
    /// It accepts and never says anything; requests on connections that are there hang.
    BlackHole,
    /// It hears the request, closes its own half and keeps the rest.
    HalfClosed,
    /// It accepts and closes at once.
    Reset,
    /// It does not listen, and its connections are closed. There is no way back.
    Gone,
}

/// One change, as watches tell it.
#[derive(Clone)]
pub(crate) struct Changed {
    pub kind: &'static str,
    pub revision: u64,
    pub resource: Arc<Resource>,
    pub key: Key,
    pub stored: Arc<Stored>,
}

/// How many older states are kept for the later pages of lists.
const HISTORY: usize = 32;

pub(crate) struct Inner {
    /// The newest last.
    states: RwLock<VecDeque<Arc<Objects>>>,
    changes: Mutex<Vec<Changed>>,
    pub revision: watch::Sender<u64>,
    plan: Mutex<Plan>,
    requests: Mutex<Vec<Recorded>>,
    recording: bool,
    pub mode: watch::Sender<Mode>,
    connections: AtomicU64,
    asked: AtomicU64,
    token: Option<String>,
    pub user: String,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    pub(crate) fn objects(&self) -> Arc<Objects> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        states.back().cloned().unwrap_or_default()
    }

    /// The state of that revision, unless it is forgotten.
    pub(crate) fn at(&self, revision: u64) -> Option<Arc<Objects>> {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        states.iter().find(|state| state.revision == revision).cloned()
    }

    /// The oldest revision from which a watch can start.
    pub(crate) fn oldest(&self) -> u64 {
        let states = self.states.read().unwrap_or_else(PoisonError::into_inner);
        states.front().map_or(0, |state| state.revision)
    }

    pub(crate) fn changes_after(&self, revision: u64) -> Vec<Changed> {
        held(&self.changes).iter().filter(|change| change.revision > revision).cloned().collect()
    }

    pub(crate) fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn record(&self, request: &Recorded) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.recording {
            held(&self.requests).push(request.clone());
        }
    }

    /// The answer to somebody who has no business here.
    pub(crate) fn refuse(&self, request: &Recorded) -> Option<Answer> {
        let token = self.token.as_ref()?;
        let shown = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        (shown != Some(token)).then(status::unauthorized)
    }

    pub(crate) fn fault(&self, request: &Recorded) -> Option<Fault> {
        held(&self.plan).pick(&request.path, &request.query)
    }

    pub(crate) fn forbids(&self, path: &str) -> bool {
        held(&self.plan).forbids(path)
    }

    fn change(&self, make: impl FnOnce(&mut Objects) -> Vec<Changed>) {
        let revision = {
            let mut states = self.states.write().unwrap_or_else(PoisonError::into_inner);
            let mut next = states.back().map(|state| (**state).clone()).unwrap_or_default();
            held(&self.changes).extend(make(&mut next));
            let revision = next.revision;
            states.push_back(Arc::new(next));
            if states.len() > HISTORY {
                states.pop_front();
            }
            revision
        };
        self.revision.send_replace(revision);
    }
}

/// How a cluster is set up.
#[derive(Debug)]
pub struct Setup {
    objects: Objects,
    certificate: Option<Certificate>,
    token: Option<String>,
    mode: Mode,
    recording: bool,
}

impl Setup {
    /// Over TLS, with that certificate.
    #[must_use]
    pub fn tls(mut self, certificate: Certificate) -> Self {
        self.certificate = Some(certificate);
        self
    }

    /// Only for those who show this bearer token; its kubeconfig has it.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// In that mode from the start.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Without remembering requests: for benches.
    #[must_use]
    pub fn unrecorded(mut self) -> Self {
        self.recording = false;
        self
    }

    /// Starts it on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be had, or no certificate made.
    pub async fn start(self) -> io::Result<FakeCluster> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let identity = self.certificate.map(identity).transpose()?;
        let scheme = if identity.is_some() { "https" } else { "http" };
        let entry = Entry {
            server: format!("{scheme}://{address}"),
            authority: identity.as_ref().map(|identity| identity.authority.clone()),
            token: self.token.clone(),
        };
        let inner = Arc::new(Inner {
            revision: watch::Sender::new(self.objects.revision),
            states: RwLock::new(VecDeque::from([Arc::new(self.objects)])),
            changes: Mutex::default(),
            plan: Mutex::default(),
            requests: Mutex::default(),
            recording: self.recording,
            mode: watch::Sender::new(self.mode),
            connections: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            token: self.token,
            user: "fake-user".to_owned(),
        });
        tokio::spawn(serve::accept(Arc::clone(&inner), listener, identity.map(|identity| identity.acceptor)));
        Ok(FakeCluster { inner, address, entry })
    }
}

/// A fake cluster that serves on loopback until this is dropped.
pub struct FakeCluster {
    inner: Arc<Inner>,
    address: SocketAddr,
    entry: Entry,
}

impl std::fmt::Debug for FakeCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeCluster").field("server", &self.entry.server).finish_non_exhaustive()
    }
}

impl Drop for FakeCluster {
    fn drop(&mut self) {
        self.inner.mode.send_replace(Mode::Gone);
    }
}

impl FakeCluster {
    /// Starts one that serves these objects in the clear, over HTTP/1.1 and HTTP/2.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(objects: Objects) -> io::Result<Self> {
        Self::setup(objects).start().await
    }

    /// One that differs from the usual.
    #[must_use]
    pub fn setup(objects: Objects) -> Setup {
        Setup { objects, certificate: None, token: None, mode: Mode::Serve, recording: true }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.entry.server
    }

    /// The authority that its clients should trust, PEM; none without TLS.
    #[must_use]
    pub fn authority(&self) -> Option<&str> {
        self.entry.authority.as_deref()
    }

    /// A kubeconfig with these contexts, all leading here.
    #[must_use]
    pub fn kubeconfig<S: Into<String>>(&self, contexts: impl IntoIterator<Item = S>) -> Kubeconfig {
        Kubeconfig::of(contexts.into_iter().map(|name| (name.into(), self.entry.clone())).collect())
    }

    /// Plans a fault for the requests whose path fits the glob (`*` also crosses slashes). The first fault that was
    /// planned and fits counts.
    pub fn fault(&self, path: &str, fault: impl Into<Planned>) {
        held(&self.inner.plan).add(path, fault.into());
    }

    /// Nothing goes wrong any more.
    pub fn heal(&self) {
        held(&self.inner.plan).clear();
    }

    /// From now on it meets connections so.
    pub fn mode(&self, mode: Mode) {
        self.inner.mode.send_replace(mode);
    }

    /// All requests so far, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        held(&self.inner.requests).clone()
    }

    /// How many requests came, also where they are not remembered.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.inner.asked.load(Ordering::Relaxed)
    }

    /// The requests so far, which are then forgotten.
    pub fn take_requests(&self) -> Vec<Recorded> {
        std::mem::take(&mut held(&self.inner.requests))
    }

    /// Connections so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.inner.connections.load(Ordering::Relaxed)
    }

    /// Puts an object in, in place of one of the same name; watches hear of it.
    pub fn apply(&self, object: impl Serialize) {
        self.inner.change(|objects| {
            let before = objects.clone();
            let put = objects.put(&object).into_iter();
            put.map(|(resource, key, stored)| {
                let known = before.collection(&resource).is_some_and(|collection| collection.contains_key(&key));
                let kind = if known { "MODIFIED" } else { "ADDED" };
                Changed { kind, revision: stored.revision, resource, key, stored }
            })
            .collect()
        });
    }

    /// Takes an object away; watches hear of it. `plural` as in paths, `namespace` empty for the cluster's own.
    pub fn remove(&self, plural: &str, namespace: &str, name: &str) {
        self.inner.change(|objects| {
            let key = (namespace.to_owned(), name.to_owned());
            let resources: Vec<_> = objects.resources.iter().filter(|r| r.plural == plural).cloned().collect();
            let mut gone = Vec::new();
            for resource in resources {
                if let Some(stored) = objects.take(&resource, &key) {
                    let (kind, revision, key) = ("DELETED", objects.revision, key.clone());
                    gone.push(Changed { kind, revision, resource, key, stored });
                }
            }
            gone
        });
    }

    /// Changes what it holds in any way; watches do not hear of it.
    pub fn rebuild(&self, change: impl FnOnce(Objects) -> Objects) {
        self.inner.change(|objects| {
            *objects = change(std::mem::take(objects));
            Vec::new()
        });
    }

    /// Forgets older states, as the real one does from time to time: later pages and watches from then get 410.
    pub fn compact(&self) {
        self.inner.change(|objects| {
            objects.revision += 1;
            objects.pages = Arc::default();
            Vec::new()
        });
        let mut states = self.inner.states.write().unwrap_or_else(PoisonError::into_inner);
        let newest = states.len().saturating_sub(1);
        states.drain(..newest);
        held(&self.inner.changes).clear();
    }
}
