//! An API server of as many lines as a test needs.

use bytes::Bytes;
use futures::{StreamExt, future::BoxFuture};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use pintle_core::{
    BoxFuture as CallFuture, Call, CallPort, Caller, Door, InputRequest, InputResponse, LogLevel, Notice, Stop,
};
use pintle_fleet::{Fleet, FleetOptions};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use serde_json::Value;
use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

pub type Body = BoxBody<Bytes, std::io::Error>;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub version: http::Version,
    pub headers: HeaderMap,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn parameter(&self, name: &str) -> Option<String> {
        let query = self.target.split_once('?')?.1;
        let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        Some(percent_encoding::percent_decode_str(value).decode_utf8().unwrap().into_owned())
    }
}

type Handler = Arc<dyn Fn(Seen) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// A running server; gone when dropped.
pub struct Server {
    pub url: String,
    pub authority: Option<String>,
    issuer: Option<CertifiedIssuer<'static, KeyPair>>,
    pub seen: Arc<Mutex<Vec<Seen>>>,
    pub connections: Arc<AtomicUsize>,
    /// Requests whose answer was given up by the client.
    pub given_up: Arc<AtomicUsize>,
    stop: CancellationToken,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// What certificate a server shows.
#[derive(Clone, Copy, PartialEq)]
pub enum Shows {
    Good,
    Expired,
    Early,
    OtherName,
    OtherAuthority,
    /// Good, and wants one of ours, too.
    AsksForOurs,
}

impl Server {
    /// Without TLS.
    pub async fn plain<F, Fut>(handler: F) -> Self
    where
        F: Fn(Seen) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response<Body>> + Send + 'static,
    {
        Self::start(handler, None).await
    }

    /// With TLS and HTTP/2.
    pub async fn tls<F, Fut>(shows: Shows, handler: F) -> Self
    where
        F: Fn(Seen) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response<Body>> + Send + 'static,
    {
        Self::start(handler, Some(shows)).await
    }

    async fn start<F, Fut>(handler: F, shows: Option<Shows>) -> Self
    where
        F: Fn(Seen) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Response<Body>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |seen| Box::pin(handler(seen)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (acceptor, issuer) = shows.map(certified).unzip();
        let scheme = if acceptor.is_some() { "https" } else { "http" };
        let server = Self {
            url: format!("{scheme}://{address}"),
            authority: issuer.as_ref().map(|issuer| issuer.pem()),
            issuer,
            seen: Arc::default(),
            connections: Arc::default(),
            given_up: Arc::default(),
            stop: CancellationToken::new(),
        };
        let (seen, connections, given_up) =
            (Arc::clone(&server.seen), Arc::clone(&server.connections), Arc::clone(&server.given_up));
        let stop = server.stop.clone();
        let serve = async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                let (handler, seen, given_up) = (Arc::clone(&handler), Arc::clone(&seen), Arc::clone(&given_up));
                let acceptor = acceptor.clone();
                let connection = async move {
                    match acceptor {
                        Some(acceptor) => {
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            converse(TokioIo::new(stream), handler, seen, given_up).await;
                        }
                        None => converse(TokioIo::new(stream), handler, seen, given_up).await,
                    }
                };
                tokio::spawn(stop.clone().run_until_cancelled_owned(connection));
            }
        };
        tokio::spawn(server.stop.clone().run_until_cancelled_owned(serve));
        server
    }

    /// A client's certificate and key, PEM, that this server accepts.
    pub fn client(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["client".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, self.issuer.as_ref().unwrap()).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn targets(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.target).collect()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Counts an answer that was dropped before it was made.
struct Pending(Option<Arc<AtomicUsize>>);

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(count) = &self.0 {
            count.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn converse<I>(io: I, handler: Handler, seen: Arc<Mutex<Vec<Seen>>>, given_up: Arc<AtomicUsize>)
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let request = Seen {
            method: request.method().to_string(),
            target: request.uri().path_and_query().unwrap().to_string(),
            version: request.version(),
            headers: request.headers().clone(),
        };
        seen.lock().unwrap().push(request.clone());
        let answer = handler(request);
        let pending = Pending(Some(Arc::clone(&given_up)));
        async move {
            let mut pending = pending;
            let answer = answer.await;
            pending.0 = None;
            drop(pending);
            Ok::<_, Infallible>(answer)
        }
    });
    // A client that goes away is part of the trials.
    let _ = Builder::new(TokioExecutor::new()).serve_connection(io, service).await;
}

fn certified(shows: Shows) -> (TlsAcceptor, CertifiedIssuer<'static, KeyPair>) {
    let authority = || {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let (told, other) = (authority(), authority());
    let name = if shows == Shows::OtherName { "api.example" } else { "127.0.0.1" };
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    match shows {
        Shows::Expired => {
            params.not_before = rcgen::date_time_ymd(2019, 1, 1);
            params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        }
        Shows::Early => params.not_before = rcgen::date_time_ymd(3000, 1, 1),
        _ => {}
    }
    let key = KeyPair::generate().unwrap();
    let signer = if shows == Shows::OtherAuthority { &other } else { &told };
    let certificate = params.signed_by(&key, signer).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if shows == Shows::AsksForOurs {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(told.der().clone()).unwrap();
        let verifier =
            rustls::server::WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let key = rustls_pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    (TlsAcceptor::from(Arc::new(config)), told)
}

pub fn answer(status: u16, body: impl Into<Bytes>) -> Response<Body> {
    let body = http_body_util::Full::new(body.into()).map_err(|never| match never {}).boxed();
    Response::builder().status(StatusCode::from_u16(status).unwrap()).body(body).unwrap()
}

pub fn json(value: &Value) -> Response<Body> {
    answer(200, value.to_string())
}

pub fn status(code: u16, message: &str) -> Response<Body> {
    answer(code, serde_json::json!({"kind": "Status", "code": code, "message": message}).to_string())
}

pub fn with(mut response: Response<Body>, header: &'static str, value: &str) -> Response<Body> {
    response.headers_mut().insert(header, value.parse().unwrap());
    response
}

/// Some bytes, and a moment later the connection breaks.
pub fn broken_off(bytes: &'static [u8]) -> Response<Body> {
    let frames = futures::stream::iter([Some(bytes), None]).then(|frame| async move {
        match frame {
            Some(bytes) => Ok(Frame::data(Bytes::from_static(bytes))),
            None => {
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::other("gone"))
            }
        }
    });
    Response::new(BoxBody::new(StreamBody::new(frames)))
}

/// A listener that never accepts: the kernel takes connections, and nobody ever says a word.
pub async fn black_hole() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    (listener, url)
}

/// An address where nothing listens.
pub async fn closed() -> String {
    let (listener, url) = black_hole().await;
    drop(listener);
    url
}

/// A kubeconfig and its fleet.
pub struct Home {
    pub folder: tempfile::TempDir,
    contexts: Vec<String>,
    clusters: Vec<String>,
    users: Vec<String>,
}

impl Home {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), contexts: Vec::new(), clusters: Vec::new(), users: Vec::new() }
    }

    /// A context of a server; `user` is the user's body in flow style, such as `{token: x}`.
    pub fn with(self, name: &str, server: &Server, user: &str) -> Self {
        let authority = server.authority.as_ref().map(|pem| {
            use base64::Engine as _;
            format!(", certificate-authority-data: {}", base64::engine::general_purpose::STANDARD.encode(pem))
        });
        self.with_cluster(name, &format!("{{server: '{}'{}}}", server.url, authority.unwrap_or_default()), user)
    }

    /// A context of a cluster whose body is given.
    pub fn with_cluster(mut self, name: &str, cluster: &str, user: &str) -> Self {
        let name = serde_json::to_string(name).unwrap();
        self.contexts.push(format!("- {{name: {name}, context: {{cluster: {name}, user: {name}}}}}"));
        self.clusters.push(format!("- {{name: {name}, cluster: {cluster}}}"));
        self.users.push(format!("- {{name: {name}, user: {user}}}"));
        self
    }

    pub fn write(&self) -> FleetOptions {
        let file = self.folder.path().join("config");
        let current = self.contexts[0].split("name: ").nth(1).unwrap().split(", context").next().unwrap();
        let text = format!(
            "current-context: {current}\ncontexts:\n{}\nclusters:\n{}\nusers:\n{}\n",
            self.contexts.join("\n"),
            self.clusters.join("\n"),
            self.users.join("\n")
        );
        std::fs::write(&file, text).unwrap();
        FleetOptions::default().with_kubeconfig(file).with_variable("PATH", "/usr/bin:/bin")
    }

    pub fn fleet(&self) -> Fleet {
        Fleet::new(self.write())
    }
}

/// A call that remembers what it was told, and that can be cancelled.
#[derive(Default)]
pub struct Told {
    pub progress: Mutex<Vec<(f64, Option<f64>, String)>>,
    pub secrets: Mutex<Vec<String>>,
    pub cancel: CancellationToken,
    pub deadline: Option<Instant>,
}

impl Told {
    pub fn call(self: &Arc<Self>) -> Call {
        let caller = Caller { door: Door::Agents, principal: "test".to_owned() };
        Call::new(Arc::clone(self) as _, caller, None, None)
    }
}

impl CallPort for Told {
    fn cancelled(&self) -> CallFuture<'_, ()> {
        Box::pin(self.cancel.cancelled())
    }
    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.progress.lock().unwrap().push((done, total, message.to_owned()));
    }
    fn emit(&self, _: Value) {}
    fn log(&self, _: LogLevel, _: &str, _: Value) {}
    fn register_secret(&self, _: &str, value: &str) {
        self.secrets.lock().unwrap().push(value.to_owned());
    }
    fn ask(&self, _: Vec<InputRequest>) -> CallFuture<'_, Result<Vec<InputResponse>, Stop>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn notify(&self, _: Notice) {}
}

/// A test that hangs fails; nothing is measured.
pub async fn patiently<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.unwrap_or_else(|_| panic!("it hangs"))
}

/// A stream that was accepted, for servers that speak by hand.
pub async fn accept(listener: &TcpListener) -> TcpStream {
    listener.accept().await.unwrap().0
}
