//! Which contexts mean one API server, told without asking it.

use crate::{ClusterEntry, Material};
use pintle_core::Digest;
use std::path::PathBuf;

/// What makes two contexts the same cluster: where the server is, and whom it must be signed by.
///
/// The name expected in the certificate and the proxy belong to it: behind one address several clusters may be told
/// apart by the name asked for, and one private address means another machine behind another proxy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    server: String,
    authority: Option<Trust>,
    tls_server_name: Option<String>,
    proxy: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Trust {
    Data(String),
    File(PathBuf),
    Nobody,
}

impl Identity {
    /// The identity of a cluster entry; `None` where it names no server.
    #[must_use]
    pub fn of(entry: &ClusterEntry) -> Option<Self> {
        if entry.server.is_empty() {
            return None;
        }
        let authority = match &entry.certificate_authority {
            _ if entry.insecure_skip_tls_verify => Some(Trust::Nobody),
            None => None,
            Some(Material::Data(bytes)) => Some(Trust::Data(Digest::of(trimmed(bytes)).as_str().to_owned())),
            Some(Material::File(path)) => Some(Trust::File(path.clone())),
        };
        Some(Self {
            server: normal(&entry.server),
            authority,
            tls_server_name: entry.tls_server_name.clone(),
            proxy: entry.proxy_url.as_ref().map(|url| Digest::of(url.expose()).as_str().to_owned()),
        })
    }
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

/// Scheme and host in lower case, the port said, no slash at the end.
fn normal(server: &str) -> String {
    let Ok(uri) = server.trim_end_matches('/').parse::<http::Uri>() else { return server.to_owned() };
    let Some(host) = uri.host() else { return server.to_owned() };
    let scheme = uri.scheme_str().unwrap_or("https").to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(if scheme == "http" { 80 } else { 443 });
    format!("{scheme}://{}:{port}{}", host.to_ascii_lowercase(), uri.path().trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(server: &str, ca: Option<&str>) -> ClusterEntry {
        ClusterEntry {
            server: server.to_owned(),
            certificate_authority: ca.map(|ca| Material::Data(ca.as_bytes().to_vec())),
            ..ClusterEntry::default()
        }
    }

    #[test]
    fn kw_25_one_server_is_one_cluster_however_it_is_written() {
        let same = |a: &ClusterEntry, b: &ClusterEntry| Identity::of(a) == Identity::of(b);
        let plain = entry("https://API.example", Some("ca"));
        assert!(same(&plain, &entry("https://api.example:443/", Some("ca\n"))));
        assert!(!same(&plain, &entry("https://api.example:6443", Some("ca"))));
        assert!(!same(&plain, &entry("https://api.example", Some("other"))), "another authority, another cluster");
        assert!(
            !same(&plain, &entry("https://api.example/k8s/clusters/c1", Some("ca"))),
            "a path tells clusters apart"
        );
        assert!(!same(&plain, &ClusterEntry { tls_server_name: Some("b".into()), ..plain.clone() }));
        let proxied = pintle_core::Secret::new("p", "http://bastion:3128");
        assert!(!same(&plain, &ClusterEntry { proxy_url: Some(proxied), ..plain.clone() }));
        assert_eq!(Identity::of(&entry("", None)), None);
    }
}
