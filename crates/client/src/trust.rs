//! Whose certificates are believed. The provider is ring, given explicitly everywhere.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use rustls_platform_verifier::Verifier;

use crate::endpoint::Tls;
use crate::error::{Error, Fault, Stage};

fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    PROVIDER.get_or_init(|| Arc::new(rustls::crypto::ring::default_provider())).clone()
}

/// For `http`: TLS is never used, and nothing is loaded for it.
pub(crate) fn no_trust() -> Result<ClientConfig, Fault> {
    with_roots(RootCertStore::empty())
}

/// For `https`.
pub(crate) fn trust(tls: &Tls) -> Result<ClientConfig, Fault> {
    if tls.insecure {
        return with_judge(Judge::Anyone);
    }
    let Some(file) = &tls.ca_file else {
        return with_judge(Judge::System);
    };
    let unreadable = |why: String| Fault::Usage(format!("CA file {}: {why}", file.display()));
    let pem = std::fs::read(file).map_err(|error| unreadable(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
        roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(unreadable("no certificate in it".into()));
    }
    with_roots(roots)
}

impl Tls {
    /// What these settings mean to rustls, for other clients than MCP.
    ///
    /// # Errors
    /// Stage `connect`: a CA file that cannot be used.
    pub fn client_config(&self) -> Result<ClientConfig, Error> {
        trust(self).map_err(|fault| Error::new(Stage::Connect, fault))
    }
}

fn with_roots(roots: RootCertStore) -> Result<ClientConfig, Fault> {
    Ok(ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Tls(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn with_judge(judge: Judge) -> Result<ClientConfig, Fault> {
    Ok(ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Tls(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(judge))
        .with_no_client_auth())
}

/// Decides about certificates. Signatures are always checked, so that a peer at least holds the key it shows.
#[derive(Debug)]
enum Judge {
    /// Takes every certificate ([`Tls::insecure`]).
    Anyone,
    /// Takes what the system's authorities have signed. They are loaded once, with the first certificate to be
    /// judged: most sessions never need them, and some systems have none.
    System,
}

fn system() -> Result<&'static Verifier, rustls::Error> {
    static VERIFIER: OnceLock<Result<Verifier, rustls::Error>> = OnceLock::new();
    VERIFIER.get_or_init(|| Verifier::new(provider())).as_ref().map_err(Clone::clone)
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self {
            Self::Anyone => Ok(ServerCertVerified::assertion()),
            Self::System => system()?.verify_server_cert(certificate, intermediates, name, ocsp, now),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = provider().signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
