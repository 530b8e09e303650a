//! The seam for authorizations of servers on the network.

use futures::future::BoxFuture;
use http::HeaderValue;
use url::Url;

/// A server's refusal for want of authorization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The MCP endpoint.
    pub url: Url,
    /// 401 (no or an outdated token) or 403 (a token with too little scope).
    pub status: u16,
    /// The `WWW-Authenticate` header.
    pub header: Option<String>,
    /// The `Authorization` header that was refused, if one was sent.
    pub refused: Option<HeaderValue>,
}

/// Gets authorizations. One lives as long as its session or longer.
pub trait Authorizer: Send + Sync + 'static {
    /// The `Authorization` header to send now, if there is one already.
    fn current(&self) -> BoxFuture<'_, Option<HeaderValue>>;

    /// Gets an authorization that answers `challenge`. After `Ok` the request is sent once more, with
    /// [`current`](Self::current); it is refused at last if that is refused, too.
    ///
    /// # Errors
    /// Why there is none, as a text for people.
    fn authorize(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>>;
}
