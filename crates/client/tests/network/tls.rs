//! Certificates, good and bad.
use std::path::PathBuf;
use std::sync::Arc;

use crate::support::{Fake, discovered, serve_tls};
use pintle_client::{Endpoint, Era, Error, Fault, Http, Options, Session, Stage, Tls, connect};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A server whose certificate for `name` is signed by an authority in a file.
struct Certified {
    fake: Fake,
    authority: PathBuf,
    _folder: tempfile::TempDir,
}

async fn certified(name: &str) -> Certified {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    Certified {
        fake: serve_tls(TlsAcceptor::from(Arc::new(config)), discovered).await,
        authority: file,
        _folder: folder,
    }
}

async fn reach(server: &Certified, tls: Tls) -> Result<Session, Error> {
    let port = server.fake.address.port();
    let mut http = Http::new(&format!("https://127.0.0.1:{port}/mcp")).unwrap();
    http.tls = tls;
    connect(&Endpoint::Url(http), Options::default()).await
}

#[tokio::test]
async fn an_unknown_authority_is_refused_at_connect() {
    let server = certified("127.0.0.1").await;
    let error = reach(&server, Tls::default()).await.unwrap_err();
    assert_eq!(error.stage, Stage::Connect);
    assert!(matches!(error.fault, Fault::Tls(_)), "{error}");
    assert!(error.to_string().starts_with("connect: TLS: invalid peer certificate"), "{error}");
    assert_eq!(server.fake.seen().len(), 0);
}

#[tokio::test]
async fn an_authority_in_a_file_is_trusted() {
    let server = certified("127.0.0.1").await;
    let tls = Tls { ca_file: Some(server.authority.clone()), ..Tls::default() };
    assert_eq!(reach(&server, tls).await.unwrap().era(), &Era::Modern);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_unless_that_name_is_given() {
    let server = certified("mcp.example.org").await;
    let tls = Tls { ca_file: Some(server.authority.clone()), ..Tls::default() };
    let error = reach(&server, tls.clone()).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Tls(_)), "{error}");
    let named = Tls { server_name: Some("mcp.example.org".into()), ..tls };
    let session = reach(&server, named).await.unwrap();
    assert_eq!(session.era(), &Era::Modern);
    let host = format!("127.0.0.1:{}", server.fake.address.port());
    assert_eq!(server.fake.seen()[0].header("host"), Some(host.as_str()));
}

#[tokio::test]
async fn insecure_takes_any_certificate() {
    let server = certified("mcp.example.org").await;
    let tls = Tls { insecure: true, ..Tls::default() };
    assert!(reach(&server, tls).await.is_ok());
}

#[tokio::test]
async fn a_ca_file_that_is_none_is_named() {
    let server = certified("127.0.0.1").await;
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing in here").unwrap();
    for (file, wanted) in [(empty, "no certificate in it"), (folder.path().join("missing.pem"), "No such file")] {
        let tls = Tls { ca_file: Some(file), ..Tls::default() };
        let error = reach(&server, tls).await.unwrap_err();
        assert_eq!(error.stage, Stage::Connect);
        assert!(error.to_string().contains(wanted), "{error}");
    }
}
