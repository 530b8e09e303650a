//! The way to a server: its name, TCP, a proxy perhaps, TLS. Every step that fails says which it was.

use crate::{Cause, Stage, cluster::Bounds, tls};
use futures::{StreamExt, stream::FuturesUnordered};
use http::Uri;
use hyper_util::{
    client::{
        legacy::connect::proxy::{SocksV5, Tunnel},
        proxy::matcher::{Intercept, Matcher},
    },
    rt::TokioIo,
};
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use std::{
    error::Error,
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, lookup_host},
};
use tokio_rustls::TlsConnector;
use tower::Service;

/// The next address of a name is tried beside the one before it after this time (RFC 8305).
const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// A connection of whatever layers.
pub(crate) trait Io: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// A connection, and whether both sides agreed on HTTP/2.
pub(crate) struct Dialled {
    pub(crate) io: Box<dyn Io>,
    pub(crate) http2: bool,
}

/// The proxy on the way to `server`, by the kubeconfig's `proxy-url` or by the environment.
pub(crate) fn proxy(server: &Uri, own: Option<&str>, https: Option<&str>, no: Option<&str>) -> Option<Intercept> {
    if let Some(own) = own {
        return Matcher::builder().all(own).build().intercept(server);
    }
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_local = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if is_local {
        return None;
    }
    Matcher::builder().https(https?).no(no.unwrap_or_default()).build().intercept(server)
}

/// Makes the connection within the connect deadline.
pub(crate) async fn dial(
    server: &Uri,
    expected: Option<&str>,
    proxy: Option<&Intercept>,
    tls: Option<Arc<ClientConfig>>,
    bounds: &Bounds,
) -> Result<Dialled, Cause> {
    let (since, until) = (Instant::now(), bounds.connect_by());
    let step = Step { bounds, since, until };
    let (host, port) = endpoint(server);
    let io: Box<dyn Io> = match proxy {
        None => Box::new(step.tcp(&host, port).await?),
        Some(proxy) => step.through(proxy, server).await?,
    };
    let Some(tls) = tls else { return Ok(Dialled { io, http2: false }) };
    step.secure(io, expected.unwrap_or(&host), tls).await
}

/// Host without brackets, and port.
pub(crate) fn endpoint(uri: &Uri) -> (String, u16) {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let port = uri.port_u16().unwrap_or(match uri.scheme_str() {
        Some("http") => 80,
        Some("socks5" | "socks5h" | "socks4" | "socks4a") => 1080,
        _ => 443,
    });
    (host, port)
}

fn shown(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

struct Step<'a> {
    bounds: &'a Bounds,
    since: Instant,
    until: Instant,
}

impl Step<'_> {
    async fn wait<T>(&self, stage: Stage, work: impl Future<Output = T>) -> Result<T, Cause> {
        self.bounds.stage(stage, self.since, self.until, work).await
    }

    async fn tcp(&self, host: &str, port: u16) -> Result<TcpStream, Cause> {
        let found = self.wait(Stage::Resolve, lookup_host((host, port))).await?;
        let dns = |why: String| Cause::Dns { host: host.to_owned(), why };
        let addresses: Vec<SocketAddr> = found.map_err(|error| dns(plain(&error)))?.collect();
        if addresses.is_empty() {
            return Err(dns("it has no address".to_owned()));
        }
        let connected = self.wait(Stage::Connect, first_of(&addresses)).await?;
        let stream = connected.map_err(|error| {
            let address = shown(host, port);
            match error.kind() {
                io::ErrorKind::ConnectionRefused => Cause::Refused { address },
                _ => Cause::Unreachable { address, why: plain(&error) },
            }
        })?;
        // Requests are small and wait for an answer: nothing is gained by holding them back.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    async fn through(&self, proxy: &Intercept, server: &Uri) -> Result<Box<dyn Io>, Cause> {
        let (host, port) = endpoint(proxy.uri());
        let address = shown(&host, port);
        let lost = |error: &(dyn Error + 'static)| Cause::Unreachable {
            address: format!("proxy {address}"),
            why: crate::errors::said(&deepest(error)),
        };
        let stream: Box<dyn Io> = Box::new(self.tcp(&host, port).await.map_err(|cause| match cause {
            Cause::Refused { address } => Cause::Refused { address: format!("proxy {address}") },
            Cause::Unreachable { address, why } => Cause::Unreachable { address: format!("proxy {address}"), why },
            other => other,
        })?);
        let scheme = proxy.uri().scheme_str().unwrap_or("http");
        let stream = if scheme == "https" {
            let config = crate::cluster::off_thread(tls::for_proxy).await??;
            self.secure(stream, &host, config).await?.io
        } else {
            stream
        };
        let mut stream = Some(TokioIo::new(stream));
        let made = tower::service_fn(move |_: Uri| {
            let made = stream.take().ok_or_else(|| io::Error::other("the proxy was asked twice"));
            std::future::ready(made)
        });
        let destination = destination(server)?;
        match scheme {
            "http" | "https" => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), made);
                if let Some(auth) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(auth.clone());
                }
                let made = self.wait(Stage::Proxy, tunnel.call(destination)).await?;
                Ok(Box::new(made.map_err(|error| lost(&error))?.into_inner()))
            }
            "socks5" | "socks5h" => {
                let mut socks = SocksV5::new(proxy.uri().clone(), made).local_dns(false);
                if let Some((user, password)) = proxy.raw_auth() {
                    socks = socks.with_auth(user.to_owned(), password.to_owned());
                }
                let made = self.wait(Stage::Proxy, socks.call(destination)).await?;
                Ok(Box::new(made.map_err(|error| lost(&error))?.into_inner()))
            }
            other => Err(Cause::BadConfig {
                why: format!("`proxy-url` has the scheme `{other}`"),
                hint: Some("http, https and socks5 proxies are supported".to_owned()),
            }),
        }
    }

    async fn secure(&self, io: Box<dyn Io>, host: &str, config: Arc<ClientConfig>) -> Result<Dialled, Cause> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| Cause::BadConfig {
            why: format!("`{}` is no name that a certificate can be for", crate::errors::said(host)),
            hint: None,
        })?;
        let handshake = self.wait(Stage::Handshake, TlsConnector::from(config).connect(name, io)).await?;
        let stream = handshake.map_err(|error| {
            tls::certificate_fault(&error, host).unwrap_or_else(|| Cause::Unreachable {
                address: host.to_owned(),
                why: format!("the TLS handshake failed: {}", crate::errors::said(&plain(&error))),
            })
        })?;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Dialled { io: Box::new(stream), http2 })
    }
}

/// The server as a proxy is told of it: with its port.
fn destination(server: &Uri) -> Result<Uri, Cause> {
    let (host, port) = endpoint(server);
    format!("https://{}", shown(&host, port))
        .parse()
        .map_err(|_| Cause::BadConfig { why: "the server's URL cannot be told to a proxy".to_owned(), hint: None })
}

/// The first connection that is made. Each address begins when the one before it has failed, or is slow.
async fn first_of(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut waiting = FuturesUnordered::new();
    let mut rest = addresses.iter();
    let mut failed = io::Error::other("it has no address");
    loop {
        if let Some(address) = rest.next() {
            waiting.push(TcpStream::connect(*address));
        }
        let next = async {
            if rest.len() == 0 { std::future::pending().await } else { tokio::time::sleep(NEXT_ADDRESS).await }
        };
        tokio::select! {
            done = waiting.next() => match done {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => failed = error,
                None if rest.len() == 0 => return Err(failed),
                None => {}
            },
            () = next => {}
        }
    }
}

/// The system's words without their number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if chars.clone().next().is_some_and(char::is_lowercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// The words of the innermost reason.
pub(crate) fn deepest(error: &(dyn Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    match inner.downcast_ref::<io::Error>() {
        Some(io) => plain(io),
        None => inner.to_string(),
    }
}
