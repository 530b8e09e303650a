//! MCP over Streamable HTTP.

use crate::{
    HttpOptions, ServerOptions,
    hosts::Allowed,
    options::MESSAGE_LIMIT,
    server::Server,
    session::Session,
    sessions::BoundedSessions,
    signal::terminated,
    token::{Principal, Tokens},
};
use ::http::{HeaderValue, Method, StatusCode, header};
use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    serve::ListenerExt,
};
use http_body::{Frame, SizeHint};
use pintle_core::{Code, Failure};
use pintle_dispatch::Catalog;
use rmcp::{
    model::ErrorCode,
    transport::{StreamableHttpServerConfig, StreamableHttpService},
};
use serde_json::json;
use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::net::{TcpListener, lookup_host};
use tokio_util::{sync::CancellationToken, task::task_tracker::TaskTrackerToken};

/// How long connections may take to close once nothing runs any more.
const CLOSE: Duration = Duration::from_millis(500);

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Address and port of the socket.
    pub address: SocketAddr,
    /// `http://HOST:PORT/PATH`
    pub url: String,
}

/// Serves a catalogue over HTTP until a signal asks to stop; then what runs may end, for as long as the options say.
/// `bound` is called once the socket listens.
///
/// # Errors
/// When the address cannot be had, reaches beyond this machine without a token, or an option makes no sense.
pub async fn serve_http(
    catalog: Catalog,
    options: ServerOptions,
    http: HttpOptions,
    bound: impl FnOnce(&Bound),
) -> Result<(), Failure> {
    let stop = terminated()?;
    let tokens = http.token_file.as_deref().map(Tokens::read).transpose()?;
    if !is_plain_path(&http.path) {
        return Err(Failure::new(Code::InvalidArgument, format!("--path `{}`: is not a path", http.path))
            .hint("write it as `/mcp`"));
    }
    let listener = listen(&http, tokens.is_some()).await?;
    let address = listener.local_addr().map_err(|error| Failure::io("asking for the address", &error))?;
    let machine = rustix::system::uname();
    let machine = machine.nodename().to_string_lossy();
    let allowed = Allowed::new(address, &machine, &http.allowed_hosts, &http.allowed_origins)?;
    let server = Arc::new(Server::new(catalog, options, "http".to_owned(), tokens.is_some()));
    let ended = CancellationToken::new();
    let router = router(&server, &http, allowed, tokens, ended.clone());
    bound(&Bound { address, url: format!("http://{address}{}", http.path) });
    serve(listener, router, &server, stop, ended, http.drain).await
}

/// Whether the router takes it literally: it has no captures, in the words of today (`{x}`) or of yesterday (`:x`).
fn is_plain_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.contains(['{', '}', '*', '?', '#'])
        && !path.contains(|c: char| c.is_whitespace() || c.is_control())
        && !path.split('/').any(|segment| segment.starts_with(':'))
}

async fn listen(http: &HttpOptions, has_token: bool) -> Result<TcpListener, Failure> {
    let given = &http.listen;
    let wrong = |why: String| {
        Failure::new(Code::InvalidArgument, format!("--listen `{given}`: {why}"))
            .hint("write `HOST:PORT`, such as `127.0.0.1:18765`, or `:PORT` for every interface")
    };
    let addresses: Vec<SocketAddr> = match given.strip_prefix(':') {
        Some(port) => {
            let port: u16 = port.parse().map_err(|_| wrong("is not a port".to_owned()))?;
            // Where the machine has no IPv6, the second one is left.
            vec![SocketAddr::from(([0_u16; 8], port)), SocketAddr::from(([0_u8; 4], port))]
        }
        None => lookup_host(given.as_str()).await.map_err(|error| wrong(error.to_string()))?.collect(),
    };
    if !has_token && !http.insecure && addresses.iter().any(|address| !address.ip().is_loopback()) {
        return Err(Failure::new(
            Code::InvalidArgument,
            format!("--listen `{given}`: reaches beyond this machine, and nobody would have to show a token"),
        )
        .hint("give --token-file FILE, or listen on 127.0.0.1"));
    }
    let mut last = None;
    for address in &addresses {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                return Err(Failure::new(Code::Busy, format!("listening on {address}: address already in use"))
                    .hint("another server runs there; give another --listen, or port 0 for any free one"));
            }
            Err(error) => last = Some(Failure::io(format!("listening on {address}"), &error)),
        }
    }
    Err(last.unwrap_or_else(|| wrong("names no address".to_owned())))
}

fn router(
    server: &Arc<Server>,
    http: &HttpOptions,
    allowed: Allowed,
    tokens: Option<Tokens>,
    ended: CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(allowed.hosts)
        .with_allowed_origins(allowed.origins)
        .with_json_response(true)
        .with_max_request_body_bytes(MESSAGE_LIMIT)
        .with_cancellation_token(ended);
    let sessions = Arc::new(BoundedSessions::new(http.sessions, http.session_idle));
    let factory = {
        let server = Arc::clone(server);
        move || Ok(Session::new(Arc::clone(&server)))
    };
    let service = StreamableHttpService::new(factory, sessions, config);
    Router::new()
        .route_service(&http.path, service)
        .layer(from_fn(explain))
        .layer(from_fn_with_state(Arc::clone(server), count))
        .layer(from_fn_with_state(Arc::new(tokens), authenticate))
        .fallback(|| async { (StatusCode::NOT_FOUND, "Not Found") })
}

/// Lets through who carries a token, where there are tokens, and notes who it is.
async fn authenticate(State(tokens): State<Arc<Option<Tokens>>>, mut request: Request, next: Next) -> Response {
    if let Some(tokens) = &*tokens {
        let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some(principal) = tokens.who(given) else {
            let mut refused = (StatusCode::UNAUTHORIZED, "Unauthorized: a bearer token is needed").into_response();
            refused.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return refused;
        };
        request.extensions_mut().insert::<Principal>(principal);
    }
    next.run(request).await
}

/// Says in the protocol's own words that a body is no message; the protocol library says it as plain text.
async fn explain(request: Request, next: Next) -> Response {
    let is_json = request
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let response = next.run(request).await;
    if !is_json || response.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return response;
    }
    let error = json!({"code": ErrorCode::PARSE_ERROR.0, "message": "the body is not a JSON-RPC message"});
    let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
    (StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
}

/// Keeps count of requests until the last byte of their answers has left.
async fn count(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    // What a client only listens to has no end of its own that anybody could wait for.
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let running = server.running();
    next.run(request).await.map(|body| Body::new(Counted { body, _running: running }))
}

/// The body of an answer that is not over yet.
struct Counted {
    body: Body,
    _running: TaskTrackerToken,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

async fn serve(
    listener: TcpListener,
    router: Router,
    server: &Server,
    stop: impl Future<Output = ()>,
    ended: CancellationToken,
    drain: Duration,
) -> Result<(), Failure> {
    // Without it a small answer waits for the client's delayed acknowledgement, 40 ms.
    let listener = listener.tap_io(|stream| {
        // A connection that is gone already needs no speed.
        let _ = stream.set_nodelay(true);
    });
    let closing = CancellationToken::new();
    let graceful = closing.clone();
    let serving = async move {
        axum::serve(listener, router).with_graceful_shutdown(async move { graceful.cancelled().await }).await
    };
    let mut serving = tokio::spawn(serving);
    tokio::select! {
        () = stop => {}
        ended = &mut serving => {
            let error = match ended {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(error)) => error,
                Err(error) => std::io::Error::other(error),
            };
            return Err(Failure::io("serving HTTP", &error));
        }
    }
    closing.cancel();
    // Subscriptions are told at once that they are over; calls may end by themselves, and idle streams are cut then.
    server.stop();
    let _ = tokio::time::timeout(drain, server.idle()).await;
    ended.cancel();
    if tokio::time::timeout(CLOSE, &mut serving).await.is_err() {
        serving.abort();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_plain_path;

    #[test]
    fn ch_101_a_path_that_the_router_would_take_for_a_pattern_is_none() {
        for path in ["/", "/mcp", "/a/b:c", "/api/mcp/"] {
            assert!(is_plain_path(path), "{path}");
        }
        for path in ["", "mcp", "/:x", "/a/:x", "/*x", "/{x}", "/a?b", "/a#b", "/a b", "/a\tb", "/a\0"] {
            assert!(!is_plain_path(path), "{path:?}");
        }
    }
}
