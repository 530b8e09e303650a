//! A server on the loopback whose answers a test decides, and which remembers what it was asked.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use axum::serve::Listener;
use pintle_client::{CallOptions, Endpoint, Http, Options, Transport};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub headers: HeaderMap,
    /// The body as JSON; `null` if it is none.
    pub body: Value,
}

impl Seen {
    pub fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A JSON answer to this request.
    pub fn ok(&self, result: Value) -> Response<Body> {
        answer(json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}))
    }

    /// An event stream that answers this request after other messages.
    pub fn stream(&self, before: &[Value], result: Value) -> Response<Body> {
        let last = json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result});
        let text: String = before.iter().chain([&last]).map(event).collect();
        events(text)
    }

    pub fn err(&self, status: u16, code: i64, message: &str) -> Response<Body> {
        let mut response =
            answer(json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": code, "message": message}}));
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        response
    }
}

pub fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

pub fn answer(message: Value) -> Response<Body> {
    Response::builder().header("content-type", "application/json").body(Body::from(message.to_string())).unwrap()
}

pub fn events(body: impl Into<Body>) -> Response<Body> {
    Response::builder().header("content-type", "text/event-stream").body(body.into()).unwrap()
}

pub fn status(code: u16) -> Response<Body> {
    Response::builder().status(code).body(Body::empty()).unwrap()
}

pub fn redirect(code: u16, to: &str) -> Response<Body> {
    Response::builder().status(code).header("location", to).body(Body::empty()).unwrap()
}

/// `initialize` as a server of that era answers it.
pub fn initialized(seen: &Seen) -> Response<Body> {
    seen.ok(json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "fake", "version": "1"}}))
}

/// `server/discover` as a server of 2026-07-28 answers it.
pub fn discovered(seen: &Seen) -> Response<Body> {
    seen.ok(json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                   "capabilities": {"tools": {}, "resources": {}}, "ttlMs": 0, "cacheScope": "private",
                   "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1"}}}))
}

type Answer = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// A running fake server.
#[derive(Clone)]
pub struct Fake {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    open: Arc<AtomicUsize>,
}

impl Fake {
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Connections that are open.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// Waits until a request was seen for which `which` holds.
    pub async fn until(&self, which: impl Fn(&Seen) -> bool) -> Seen {
        for _ in 0..1000 {
            if let Some(seen) = self.seen().into_iter().find(&which) {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("never seen; seen were {:?}", self.seen());
    }
}

/// Serves answers that are ready at once.
pub async fn serve(answer: impl Fn(&Seen) -> Response<Body> + Send + Sync + 'static) -> Fake {
    serve_later(move |seen| {
        let response = answer(&seen);
        Box::pin(async move { response })
    })
    .await
}

/// Serves answers that take their time.
pub async fn serve_later(answer: impl Fn(Seen) -> Answer + Send + Sync + 'static) -> Fake {
    serve_on(None, answer).await
}

/// Serves over TLS.
pub async fn serve_tls(
    acceptor: TlsAcceptor,
    answer: impl Fn(&Seen) -> Response<Body> + Send + Sync + 'static,
) -> Fake {
    serve_on(Some(acceptor), move |seen| {
        let response = answer(&seen);
        Box::pin(async move { response })
    })
    .await
}

async fn serve_on(tls: Option<TlsAcceptor>, answer: impl Fn(Seen) -> Answer + Send + Sync + 'static) -> Fake {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let fake = Fake { address: listener.local_addr().unwrap(), seen: Arc::default(), open: Arc::default() };
    let record = fake.seen.clone();
    let answer = Arc::new(answer);
    let router = Router::new().fallback(move |request: Request| {
        let (record, answer) = (record.clone(), answer.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body: Bytes = axum::body::to_bytes(body, 64 << 20).await.unwrap();
            let seen = Seen {
                method: parts.method.to_string(),
                path: parts.uri.path().to_owned(),
                headers: parts.headers,
                body: serde_json::from_slice(&body).unwrap_or(Value::Null),
            };
            record.lock().unwrap().push(seen.clone());
            answer(seen).await
        }
    });
    let listener = Counting { listener, tls, open: fake.open.clone() };
    tokio::spawn(async move { axum::serve(listener, router).await });
    fake
}

/// Accepts connections and knows how many are open.
struct Counting {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    open: Arc<AtomicUsize>,
}

impl Listener for Counting {
    type Io = Counted;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Counted, SocketAddr) {
        loop {
            let Ok((stream, peer)) = self.listener.accept().await else {
                continue;
            };
            let stream: Box<dyn Both> = match &self.tls {
                None => Box::new(stream),
                // A client that does not trust us ends the handshake.
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => Box::new(stream),
                    Err(_) => continue,
                },
            };
            self.open.fetch_add(1, Ordering::SeqCst);
            let open = self.open.clone();
            return (Counted { stream, open }, peer);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

trait Both: AsyncRead + AsyncWrite + Unpin + Send {}
impl Both for TcpStream {}
impl Both for tokio_rustls::server::TlsStream<TcpStream> {}

struct Counted {
    stream: Box<dyn Both>,
    open: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

pub fn options() -> Options {
    Options {
        probe_limit: Duration::from_secs(10),
        connect_timeout: Duration::from_secs(30),
        request_timeout: Duration::from_secs(30),
        close_grace: Duration::from_secs(1),
        ..Options::default()
    }
}

pub fn at(url: &str, transport: Transport) -> Endpoint {
    let mut http = Http::new(url).unwrap();
    http.transport = transport;
    Endpoint::Url(http)
}

pub fn http(fake: &Fake) -> Endpoint {
    at(&fake.url(), Transport::Http)
}

pub fn plain() -> CallOptions {
    CallOptions::default()
}

/// A server of 2026-07-28 that answers calls by `call`.
pub async fn modern(call: impl Fn(&Seen) -> axum::http::Response<Body> + Send + Sync + 'static) -> Fake {
    serve(move |seen| match seen.rpc() {
        "server/discover" => discovered(seen),
        _ => call(seen),
    })
    .await
}

/// A server with `initialize` and sessions that answers calls by `call`.
pub async fn legacy(call: impl Fn(&Seen) -> axum::http::Response<Body> + Send + Sync + 'static) -> Fake {
    serve(move |seen| match (seen.method.as_str(), seen.rpc()) {
        ("POST", "server/discover") => seen.err(400, -32600, "no session"),
        ("POST", "initialize") => {
            let mut response = initialized(seen);
            response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("s-1"));
            response
        }
        ("POST", "notifications/initialized") => status(202),
        ("GET", _) => status(405),
        ("DELETE", _) => status(204),
        _ => call(seen),
    })
    .await
}
