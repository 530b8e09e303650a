//! Connections, answers, and what faults make of them.

use super::{
    access::Access,
    cluster::{Inner, Mode},
    fault::Fault,
    record::Recorded,
    review, route,
};
use axum::{
    body::{Body, Bytes},
    http::{Request, Response},
};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use std::{convert::Infallible, io, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

pub(crate) type Pieces = BoxStream<'static, io::Result<Bytes>>;

enum Content {
    Whole(Bytes),
    Pieces(Pieces),
}

/// What is sent back.
pub(crate) struct Answer {
    code: u16,
    headers: Vec<(&'static str, String)>,
    content: Content,
}

impl Answer {
    pub(crate) fn new(code: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self { code, headers: vec![("content-type", content_type.to_owned())], content: Content::Whole(body.into()) }
    }

    pub(crate) fn json(code: u16, body: impl Into<Bytes>) -> Self {
        Self::new(code, "application/json", body)
    }

    pub(crate) fn text(code: u16, body: impl Into<String>) -> Self {
        Self::new(code, "text/plain; charset=utf-8", body.into())
    }

    /// An answer that goes on.
    pub(crate) fn pieces(content_type: &str, pieces: Pieces) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self { code: 200, headers, content: Content::Pieces(pieces) }
    }

    pub(crate) fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    fn stream(content: Content) -> Pieces {
        match content {
            Content::Whole(bytes) => stream::once(async { Ok(bytes) }).boxed(),
            Content::Pieces(pieces) => pieces,
        }
    }

    /// The answer after the fault had its way.
    async fn suffer(mut self, fault: Fault) -> Self {
        match fault {
            Fault::Slow(time) => tokio::time::sleep(time).await,
            Fault::Hang => std::future::pending().await,
            Fault::Drip(bytes, pause) => {
                let drops = Self::stream(self.content).flat_map(move |piece| dripping(piece, bytes.max(1), pause));
                self.content = Content::Pieces(drops.boxed());
            }
            Fault::Cut(bytes) => {
                let end = stream::once(async {
                    // What was written before is to arrive first.
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    Err(io::Error::other("cut off as planned"))
                });
                self.content = Content::Pieces(first(Self::stream(self.content), bytes).chain(end).boxed());
            }
            Fault::Stall(bytes) => {
                let beginning = first(Self::stream(self.content), bytes);
                self.content = Content::Pieces(beginning.chain(stream::pending()).boxed());
            }
            Fault::BrokenJson => {
                if let Content::Whole(whole) = &self.content {
                    let mut broken = whole[..whole.len() / 2].to_vec();
                    broken.extend_from_slice(b"}]\x01 nonsense");
                    self.content = Content::Whole(broken.into());
                }
            }
            // These are answers of their own.
            Fault::Status(..)
            | Fault::Unauthorized
            | Fault::Forbidden
            | Fault::TooManyRequests(_)
            | Fault::Gone
            | Fault::Body(..) => {}
        }
        self
    }

    fn response(self) -> Response<Body> {
        let mut response = Response::builder().status(self.code).header("audit-id", "fake");
        for (name, value) in &self.headers {
            response = response.header(*name, value);
        }
        let body = match self.content {
            Content::Whole(bytes) => Body::from(bytes),
            Content::Pieces(pieces) => Body::from_stream(pieces),
        };
        response.body(body).unwrap_or_default()
    }
}

fn dripping(piece: io::Result<Bytes>, size: usize, pause: Duration) -> Pieces {
    let drops: Vec<io::Result<Bytes>> = match piece {
        Ok(bytes) => (0..bytes.len()).step_by(size).map(|at| Ok(bytes.slice(at..bytes.len().min(at + size)))).collect(),
        Err(error) => vec![Err(error)],
    };
    let slowly = move |piece| async move {
        tokio::time::sleep(pause).await;
        piece
    };
    stream::iter(drops).then(slowly).boxed()
}

fn first(pieces: Pieces, bytes: usize) -> Pieces {
    stream::unfold((pieces, bytes), |(mut pieces, left)| async move {
        if left == 0 {
            return None;
        }
        match pieces.next().await? {
            Ok(piece) => {
                let piece = piece.slice(..piece.len().min(left));
                let left = left - piece.len();
                Some((Ok(piece), (pieces, left)))
            }
            error => Some((error, (pieces, 0))),
        }
    })
    .boxed()
}

/// Accepts until the cluster is gone.
pub(crate) async fn accept(inner: Arc<Inner>, listener: TcpListener, tls: Option<TlsAcceptor>) {
    let mut mode = inner.mode.subscribe();
    loop {
        let accepted = tokio::select! {
            _ = mode.wait_for(|mode| *mode == Mode::Gone) => return,
            accepted = listener.accept() => accepted,
        };
        if let Ok((stream, _)) = accepted {
            let number = inner.next_connection();
            tokio::spawn(connection(Arc::clone(&inner), stream, tls.clone(), number));
        }
    }
}

async fn connection(inner: Arc<Inner>, stream: TcpStream, tls: Option<TlsAcceptor>, number: u64) {
    let mut mode = inner.mode.subscribe();
    let now = *mode.borrow();
    let served = async {
        match now {
            Mode::Gone | Mode::Reset => {}
            Mode::BlackHole => std::future::pending().await,
            Mode::HalfClosed => half_closed(stream).await,
            Mode::Serve => {
                let _ = stream.set_nodelay(true);
                match tls {
                    // A client that does not like the certificate goes away; that is its answer.
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            speak(&inner, stream, number).await;
                        }
                    }
                    None => speak(&inner, stream, number).await,
                }
            }
        }
    };
    tokio::select! {
        () = served => {}
        _ = mode.wait_for(|mode| matches!(mode, Mode::Gone | Mode::Reset | Mode::HalfClosed) && *mode != now) => {}
    }
}

/// Hears the request, says that it will say nothing more, and keeps the connection.
async fn half_closed(mut stream: TcpStream) {
    let mut heard = [0; 4096];
    if stream.read(&mut heard).await.is_ok() && stream.shutdown().await.is_ok() {
        std::future::pending().await
    }
}

async fn speak(inner: &Arc<Inner>, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, number: u64) {
    let inner = Arc::clone(inner);
    let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
        let inner = Arc::clone(&inner);
        async move { Ok::<_, Infallible>(handle(inner, request, number).await.response()) }
    });
    // How a connection ends is the client's business, or a fault's.
    let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

async fn handle(inner: Arc<Inner>, request: Request<hyper::body::Incoming>, number: u64) -> Answer {
    let headers = request.headers().iter();
    let recorded = Recorded {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
        query: request.uri().query().unwrap_or_default().to_owned(),
        headers: headers
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
            .collect(),
        protocol: format!("{:?}", request.version()),
        connection: number,
    };
    inner.record(&recorded);
    if *inner.mode.borrow() == Mode::BlackHole {
        std::future::pending::<()>().await;
    }
    if let Some(answer) = inner.refuse(&recorded) {
        return answer;
    }
    let question = if review::is_one(&recorded) {
        Some(axum::body::to_bytes(Body::new(request.into_body()), review::MOST).await.unwrap_or_default())
    } else {
        None
    };
    let right = || match &question {
        Some(question) => review::answer(&inner, question),
        None => route::answer(&inner, &recorded),
    };
    let Some(fault) = inner.fault(&recorded) else { return right() };
    let access = Access::of(&recorded.method, &recorded.path, route::watches(&recorded), &inner.objects());
    match fault.instead(&access, &inner.user) {
        Some(answer) => answer,
        None => right().suffer(fault).await,
    }
}
