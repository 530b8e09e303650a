//! One cluster as one call sees it.

use crate::{
    Cause, ClusterError, Discovery, FleetOptions, ResourceType, Stage,
    connection::{Ask, Connection, Opened},
    discovery,
};
use k8s_openapi::{Resource, ResourceScope};
use pintle_core::{Call, Foreign};
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

/// Bodies larger than this are decoded on a blocking thread, so that other calls go on.
const INLINE: usize = 32 * 1024;
/// Left of a call's time for its answer to be told once its clusters are done.
const SPARE: Duration = Duration::from_millis(250);

/// One cluster for the time of one call. Cloning is cheap; dropping a future that asks it ends the request.
///
/// Every request is a read, waits for its turn (at most four in flight), shares one warm connection with every other
/// call, and ends with the call: when it is cancelled, when its time is up, or when the time for one cluster is up.
/// Secrets of the kubeconfig are made known to the call's redactor before they are used.
#[derive(Clone)]
pub struct Cluster {
    name: Arc<str>,
    namespace: Option<String>,
    connection: Arc<Connection>,
    bounds: Bounds,
}

/// Exact bytes of an answer, such as a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raw {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether the answer was longer and its end was left out.
    pub cut: bool,
}

impl Raw {
    /// The bytes as foreign text: without control codes, invalid UTF-8 flagged.
    #[must_use]
    pub fn foreign(&self) -> Foreign {
        // A character that the cut went through is nobody's fault.
        let end = match std::str::from_utf8(&self.bytes) {
            Err(error) if self.cut && error.error_len().is_none() => error.valid_up_to(),
            _ => self.bytes.len(),
        };
        Foreign::from_bytes(&self.bytes[..end])
    }
}

impl Cluster {
    pub(crate) fn new(name: &str, namespace: Option<String>, connection: Arc<Connection>, bounds: Bounds) -> Self {
        Self { name: name.into(), namespace, connection, bounds }
    }

    /// The context's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// URL of the API server.
    #[must_use]
    pub fn server(&self) -> &str {
        self.connection.server()
    }

    /// The context's default namespace.
    #[must_use]
    pub fn default_namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// One object of a type of k8s-openapi.
    ///
    /// # Errors
    /// `not_found` where there is none, and everything else that goes wrong with a cluster.
    pub async fn get<K>(&self, namespace: Option<&str>, name: &str) -> Result<K, ClusterError>
    where
        K: Resource + DeserializeOwned + Send + 'static,
        K::Scope: ResourceScope + 'static,
    {
        self.get_object(&ResourceType::of::<K>(), namespace, name).await
    }

    /// One object, as far as `T` looks at it.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn get_object<T>(
        &self,
        kind: &ResourceType,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<T, ClusterError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        self.get_json(&kind.object_path(namespace, name)).await
    }

    /// The JSON at a path, such as `/version`, as far as `T` looks at it. Whatever goes into the path must be escaped:
    /// [`ResourceType`] makes safe ones.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn get_json<T>(&self, path: &str) -> Result<T, ClusterError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let found = async {
            let body = self.body(path, Ask::JSON).await?;
            decode(path, body).await
        };
        self.named(found.await)
    }

    /// The exact bytes at a path, such as a log; at most `limit` of them.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn text(&self, path: &str, limit: usize) -> Result<Raw, ClusterError> {
        let ask = Ask { path, accept: Ask::ANY, etag: None };
        let found = self.connection.get_raw(&self.bounds, ask, limit).await;
        self.named(found.map(|(bytes, cut)| Raw { bytes, cut }))
    }

    /// Whether a namespace is there: a list in one that is not is empty, and says nothing of it.
    ///
    /// # Errors
    /// `forbidden` where we may not know, and everything else that goes wrong with a cluster.
    pub async fn has_namespace(&self, namespace: &str) -> Result<bool, ClusterError> {
        let path = ResourceType::NAMESPACES.object_path(None, namespace);
        match self.get_json::<serde::de::IgnoredAny>(&path).await {
            Ok(_) => Ok(true),
            Err(ClusterError { cause: Cause::NotFound { .. }, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What the server serves: two requests the first time, none for a while after, then two that are mostly answered
    /// with "unchanged".
    ///
    /// # Errors
    /// Everything that goes wrong with a cluster.
    pub async fn discovery(&self) -> Result<Arc<Discovery>, ClusterError> {
        self.named(discovery::known(self, false).await)
    }

    /// [`discovery`](Self::discovery), asked again: for a type that was not known, or is no longer.
    ///
    /// # Errors
    /// Everything that goes wrong with a cluster.
    pub async fn rediscover(&self) -> Result<Arc<Discovery>, ClusterError> {
        self.named(discovery::known(self, true).await)
    }

    /// When this cluster's part of the call must be done.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.bounds.deadline
    }

    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds.clone()
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) async fn body(&self, path: &str, accept: &'static str) -> Result<Vec<u8>, Cause> {
        self.connection.get(&self.bounds, Ask { path, accept, etag: None }).await.map(|answer| answer.body)
    }

    /// An answer whose body is read piece by piece.
    pub(crate) async fn pieces(&self, path: &str, accept: &'static str) -> Result<Opened<'_>, Cause> {
        self.connection.get_pieces(&self.bounds, Ask { path, accept, etag: None }).await
    }

    pub(crate) fn named<T>(&self, result: Result<T, Cause>) -> Result<T, ClusterError> {
        result.map_err(|cause| ClusterError { cluster: self.name.to_string(), cause })
    }
}

/// Decodes JSON; large bodies on a blocking thread. The body is gone when this returns.
pub(crate) async fn decode<T: DeserializeOwned + Send + 'static>(path: &str, body: Vec<u8>) -> Result<T, Cause> {
    let large = body.len() > INLINE;
    let parse = move || serde_json::from_slice::<T>(&body);
    let parsed = if large { off_thread(parse).await? } else { parse() };
    parsed.map_err(|error| bad_json(path, error.classify(), error.line(), error.column()))
}

/// What is wrong with JSON: kind and place, and nothing of its content.
pub(crate) fn bad_json(path: &str, what: Category, line: usize, column: usize) -> Cause {
    let why = match what {
        Category::Eof => "the JSON ends too early".to_owned(),
        Category::Data => format!("the JSON is not what the API promises, at line {line}, column {column}"),
        Category::Syntax | Category::Io => format!("it is no JSON, at line {line}, column {column}"),
    };
    Cause::BadAnswer { path: path.to_owned(), why }
}

/// The limits of one call with one cluster.
#[derive(Clone)]
pub(crate) struct Bounds {
    pub(crate) call: Call,
    pub(crate) deadline: Instant,
    begun: Instant,
    connect: Duration,
}

impl Bounds {
    pub(crate) fn of(call: &Call, options: &FleetOptions) -> Self {
        let begun = Instant::now();
        let own = begun + options.call_deadline;
        let deadline = match call.deadline() {
            Some(calls) => own.min(calls.checked_sub(SPARE).unwrap_or(calls)),
            None => own,
        };
        Self { call: call.clone(), deadline, begun, connect: options.connect_deadline }
    }

    /// When a connection that begins now must be made.
    pub(crate) fn connect_by(&self) -> Instant {
        self.deadline.min(Instant::now() + self.connect)
    }

    /// Runs to the end, or to the end of the call.
    pub(crate) async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, Cause> {
        self.stage(Stage::Answer, self.begun, self.deadline, work).await
    }

    /// Runs to the end, or until `until`, or until the caller gives up.
    pub(crate) async fn stage<T>(
        &self,
        stage: Stage,
        since: Instant,
        until: Instant,
        work: impl Future<Output = T>,
    ) -> Result<T, Cause> {
        tokio::select! {
            biased;
            () = self.call.cancelled() => Err(Cause::Cancelled),
            done = work => Ok(done),
            () = tokio::time::sleep_until(until.into()) => {
                Err(Cause::TimedOut { stage, after: until.saturating_duration_since(since) })
            }
        }
    }
}

/// Runs on a thread that may block.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Cause> {
    tokio::task::spawn_blocking(work)
        .await
        // What a thread said when it broke down may hold anything.
        .map_err(|_| Cause::BadAnswer { path: "a blocking thread".to_owned(), why: "it broke down".to_owned() })
}
