//! Whom we trust and who we are, as TLS wants to know it.

use crate::{Cause, CertificateFault, ClusterEntry, Material, UserEntry};
use pintle_core::Secret;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject};
use std::{error::Error, fs, sync::Arc};

/// The TLS side of a connection. Blocks: it may read certificates from files.
///
/// # Errors
/// `bad_config` with the field and the file.
pub(crate) fn config(
    cluster: &ClusterEntry,
    user: &UserEntry,
    granted: Option<&(Vec<u8>, Secret)>,
) -> Result<Arc<ClientConfig>, Cause> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| bad(format!("TLS: {error}")))?;
    let builder = if cluster.insecure_skip_tls_verify {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(TrustAnybody(provider)))
    } else if let Some(authority) = &cluster.certificate_authority {
        builder.with_root_certificates(roots("certificate-authority", authority)?)
    } else {
        let verifier = rustls_platform_verifier::Verifier::new(provider)
            .map_err(|error| bad(format!("the system's certificate authorities cannot be loaded: {error}")))?;
        builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
    };
    let mut config = match identity(user, granted)? {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .map_err(|error| bad(format!("client certificate and key do not go together: {error}")))?,
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// TLS to a proxy: trusts whom the system trusts.
pub(crate) fn for_proxy() -> Result<Arc<ClientConfig>, Cause> {
    let mut config = (*config(&ClusterEntry::default(), &UserEntry::default(), None)?).clone();
    config.alpn_protocols.clear();
    Ok(Arc::new(config))
}

fn roots(field: &str, material: &Material) -> Result<RootCertStore, Cause> {
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(certificates(field, &load(field, material)?)?);
    if added == 0 { Err(bad(format!("`{field}` holds no certificate that can be used"))) } else { Ok(store) }
}

type Chain = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(user: &UserEntry, granted: Option<&(Vec<u8>, Secret)>) -> Result<Option<Chain>, Cause> {
    if let Some((certificate, key)) = granted {
        let chain = certificates("clientCertificateData", certificate)?;
        return Ok(Some((chain, private_key("clientKeyData", key.expose().as_bytes())?)));
    }
    match (&user.client_certificate, &user.client_key) {
        (None, _) => Ok(None),
        (Some(_), None) => Err(bad("`client-certificate` has no `client-key`".to_owned())),
        (Some(certificate), Some(key)) => {
            let chain = certificates("client-certificate", &load("client-certificate", certificate)?)?;
            Ok(Some((chain, private_key("client-key", &load("client-key", key)?)?)))
        }
    }
}

fn load(field: &str, material: &Material) -> Result<Vec<u8>, Cause> {
    match material {
        Material::Data(bytes) => Ok(bytes.clone()),
        Material::File(path) => {
            fs::read(path).map_err(|error| bad(format!("`{field}` {} cannot be read: {error}", path.display())))
        }
    }
}

fn certificates(field: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Cause> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(bad(format!("`{field}` holds no certificate in PEM"))),
    }
}

fn private_key(field: &str, pem: &[u8]) -> Result<PrivateKeyDer<'static>, Cause> {
    // The reason is not repeated: it could quote the key.
    PrivateKeyDer::from_pem_slice(pem).map_err(|_| bad(format!("`{field}` holds no private key in PEM")))
}

fn bad(why: String) -> Cause {
    Cause::BadConfig { why, hint: Some("check this context's cluster and user in the kubeconfig".to_owned()) }
}

/// What a TLS error says of a certificate, wherever in a chain of errors it stands; `None` for everything else.
pub(crate) fn certificate_fault(error: &(dyn Error + 'static), host: &str) -> Option<Cause> {
    let cause = |fault, why: String| Some(Cause::BadCertificate { fault, host: host.to_owned(), why });
    match find(error)? {
        rustls::Error::InvalidCertificate(invalid) => match invalid {
            CertificateError::Expired => cause(CertificateFault::Expired, String::new()),
            CertificateError::ExpiredContext { not_after, .. } => {
                cause(CertificateFault::Expired, format!("valid until {}", day(*not_after)))
            }
            CertificateError::NotValidYet => cause(CertificateFault::NotYetValid, String::new()),
            CertificateError::NotValidYetContext { not_before, .. } => {
                cause(CertificateFault::NotYetValid, format!("valid from {}", day(*not_before)))
            }
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                cause(CertificateFault::UnknownCa, String::new())
            }
            CertificateError::NotValidForName => cause(CertificateFault::WrongHost, String::new()),
            CertificateError::NotValidForNameContext { presented, .. } => {
                cause(CertificateFault::WrongHost, format!("it is for {}", names(presented)))
            }
            CertificateError::Revoked => cause(CertificateFault::Revoked, String::new()),
            other => cause(CertificateFault::Other, crate::errors::said(&other.to_string())),
        },
        rustls::Error::AlertReceived(alert) => match alert {
            AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::UnknownCA => cause(CertificateFault::OursRefused, format!("{alert:?}")),
            _ => None,
        },
        rustls::Error::NoCertificatesPresented => cause(CertificateFault::Other, "it shows none".to_owned()),
        _ => None,
    }
}

/// Most names of a certificate that a message lists.
const NAMES: usize = 5;

/// `a, b and 3 more`; webpki wraps each name in words of its own.
fn names(presented: &[String]) -> String {
    let name = |text: &String| {
        let inner = text.split_once('(').map_or(text.as_str(), |(_, rest)| rest.trim_end_matches(')'));
        crate::errors::said(inner.trim_matches('"'))
    };
    let shown: Vec<String> = presented.iter().take(NAMES).map(name).collect();
    match presented.len().saturating_sub(NAMES) {
        _ if shown.is_empty() => "no name at all".to_owned(),
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn day(time: UnixTime) -> String {
    let second = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_second(second).map_or_else(|_| "a time far away".to_owned(), |time| time.to_string())
}

fn find<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(found);
        }
        // An I/O error holds another error that is not its source.
        if let Some(found) = error.downcast_ref::<std::io::Error>().and_then(|io| io.get_ref())
            && let Some(found) = find(found)
        {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// For `insecure-skip-tls-verify`: whoever answers is believed.
#[derive(Debug)]
struct TrustAnybody(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
