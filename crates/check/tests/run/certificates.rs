//! Bad certificates, met by a plan: each step fails in its time and says that connecting failed, and why.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::serve::Listener;
use pintle_check::{Server, Tls};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::server::TlsStream;

use crate::fixture::{Manner, router};
use crate::support::{fails, passes, with};

/// The fixture behind a certificate, and the authority that signed it in a file.
struct Certified {
    address: SocketAddr,
    authority: PathBuf,
    _folder: tempfile::TempDir,
}

impl Certified {
    /// With a certificate for this name, changed as the case needs.
    async fn start(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Self {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut certificate = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut certificate);
        let certificate = certificate.signed_by(&key, &authority).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, authority.pem()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let listener = Secured { listener, acceptor: TlsAcceptor::from(Arc::new(config)) };
        let router = router(Manner::default(), Arc::new(Mutex::new(Vec::new())));
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, authority: file, _folder: folder }
    }

    fn server(&self, tls: Tls) -> Server {
        let mut server = Server::url("secured", format!("https://{}/mcp", self.address));
        server.tls = tls;
        server
    }

    fn trusted(&self) -> Server {
        self.server(Tls { ca_file: Some(self.authority.clone()), ..Tls::default() })
    }
}

struct Secured {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl Listener for Secured {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.listener.accept().await.unwrap();
            // Who does not like the certificate hangs up; the next one may.
            if let Ok(stream) = self.acceptor.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

const PING: &str = "a: {check: x, mcp: ping, timeout: 10s}";

/// The one step fails before its time is over, at the stage of connecting, for this reason.
async fn refused(server: Server, why: &str) {
    let (text, limit) = (fails(PING, with(server)), Duration::from_secs(10));
    let message = tokio::time::timeout(limit, text).await.unwrap();
    assert!(message.starts_with("connect: TLS: "), "{message}");
    assert!(message.contains(why), "{message}");
}

#[tokio::test]
async fn a_good_certificate_passes() {
    let server = Certified::start("127.0.0.1", |_| ()).await;
    passes(PING, with(server.trusted())).await;
}

#[tokio::test]
async fn an_expired_certificate_fails_its_step_at_connect() {
    let server = Certified::start("127.0.0.1", |certificate| {
        certificate.not_before = rcgen::date_time_ymd(2019, 1, 1);
        certificate.not_after = rcgen::date_time_ymd(2020, 1, 1);
    })
    .await;
    refused(server.trusted(), "expired").await;
}

#[tokio::test]
async fn a_certificate_of_another_host_fails_its_step_at_connect() {
    let server = Certified::start("mcp.example.org", |_| ()).await;
    refused(server.trusted(), "mcp.example.org").await;
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_fails_its_step_at_connect() {
    let server = Certified::start("127.0.0.1", |_| ()).await;
    refused(server.server(Tls::default()), "UnknownIssuer").await;
}
