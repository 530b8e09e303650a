//! Certificates, good ones and bad ones.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType, date_time_ymd};
use std::{io, net::Ipv4Addr, sync::Arc};
use tokio_rustls::{TlsAcceptor, rustls};

/// What is wrong with the certificate of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certificate {
    /// Nothing.
    #[default]
    Good,
    /// It ended years ago.
    Expired,
    /// It is for another name (`elsewhere.example`, which `tls-server-name` can ask for).
    WrongHost,
    /// Its authority is not the one that the kubeconfig trusts.
    UnknownAuthority,
}

/// How a server proves itself, and what its kubeconfig trusts.
pub(crate) struct Identity {
    pub acceptor: TlsAcceptor,
    pub authority: String,
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::other(error)
}

fn authority(name: &str) -> io::Result<(String, Issuer<'static, KeyPair>)> {
    let key = KeyPair::generate().map_err(other)?;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).map_err(other)?;
    Ok((certificate.pem(), Issuer::new(params, key)))
}

/// Makes one.
pub(crate) fn identity(kind: Certificate) -> io::Result<Identity> {
    let (trusted, issuer) = authority("fake cluster")?;
    let issuer = if kind == Certificate::UnknownAuthority { authority("somebody else")?.1 } else { issuer };
    let key = KeyPair::generate().map_err(other)?;
    let mut params = CertificateParams::default();
    params.subject_alt_names = if kind == Certificate::WrongHost {
        vec![SanType::DnsName("elsewhere.example".try_into().map_err(other)?)]
    } else {
        vec![SanType::IpAddress(Ipv4Addr::LOCALHOST.into()), SanType::DnsName("localhost".try_into().map_err(other)?)]
    };
    if kind == Certificate::Expired {
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    }
    let certificate = params.signed_by(&key, &issuer).map_err(other)?;
    let key = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).map_err(io::Error::other)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(other)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .map_err(other)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Identity { acceptor: TlsAcceptor::from(Arc::new(config)), authority: trusted })
}
