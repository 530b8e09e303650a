//! How a context is reached: its entries taken together.

use crate::{Cause, ClusterEntry, FleetOptions, Impersonation, Kubeconfig, UserEntry, errors::said};
use http::Uri;

/// All that decides how a context is reached; while it stays the same, so does the connection.
#[derive(Clone, PartialEq)]
pub(crate) struct Profile {
    pub(crate) server: Uri,
    pub(crate) cluster: ClusterEntry,
    pub(crate) user: UserEntry,
    pub(crate) impersonate: Option<Impersonation>,
}

impl Profile {
    /// That of a context.
    pub(crate) fn of(kubeconfig: &Kubeconfig, name: &str, options: &FleetOptions) -> Result<Self, Cause> {
        let bad = |why: String| Cause::BadConfig {
            why,
            hint: Some("`kubectl config view` shows what belongs together".to_owned()),
        };
        let context = kubeconfig.contexts.get(name).ok_or_else(|| bad(format!("context `{name}` is not there")))?;
        let mut cluster = match kubeconfig.clusters.get(&context.cluster) {
            Some(cluster) => cluster.clone(),
            None if context.cluster.is_empty() => return Err(bad("the context names no cluster".to_owned())),
            None => return Err(bad(format!("its cluster entry `{}` is not there", context.cluster))),
        };
        let mut user = match kubeconfig.users.get(&context.user) {
            Some(user) => user.clone(),
            None if context.user.is_empty() => UserEntry::default(),
            None => return Err(bad(format!("its user entry `{}` is not there", context.user))),
        };
        if cluster.insecure_skip_tls_verify && cluster.certificate_authority.is_some() {
            return Err(bad("`insecure-skip-tls-verify` and a certificate authority contradict each other".to_owned()));
        }
        if let Some(provider) = &user.auth_provider
            && user.exec.is_none()
            && user.token.is_none()
        {
            return Err(Cause::BadConfig {
                why: format!("auth-provider `{provider}` is not supported by Kubernetes any more"),
                hint: Some("renew the kubeconfig with the cloud's program; it writes an exec plug-in now".to_owned()),
            });
        }
        // Where an entry stands does not change what it says.
        (cluster.origin, user.origin) = Default::default();
        let server = server(&cluster.server).map_err(bad)?;
        let impersonate = options.impersonate.get(name).cloned().or_else(|| user.impersonate.clone());
        Ok(Self { server, cluster, user, impersonate })
    }

    /// Whether our certificate stands in a file, which may have been renewed since a connection was made.
    pub(crate) fn certificate_may_change(&self) -> bool {
        matches!(self.user.client_certificate, Some(crate::Material::File(_)))
    }

    /// Whether there is no TLS.
    pub(crate) fn is_plain(&self) -> bool {
        self.server.scheme_str() == Some("http")
    }
}

/// The server's URL; without a scheme it is HTTPS, as with kubectl.
fn server(text: &str) -> Result<Uri, String> {
    if text.is_empty() {
        return Err("its cluster entry has no `server`".to_owned());
    }
    let whole = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let uri: Uri = whole.parse().map_err(|_| format!("server `{}` is no URL", said(text)))?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err("`server` holds a user or password; they belong into the user entry".to_owned());
    }
    match (uri.scheme_str(), uri.host()) {
        (Some("https" | "http"), Some(host)) if !host.is_empty() => Ok(uri),
        (Some("https" | "http"), _) => Err(format!("server `{}` names no host", said(text))),
        _ => Err(format!("server `{}` is neither https nor http", said(text))),
    }
}
