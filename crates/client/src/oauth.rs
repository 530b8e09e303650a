//! OAuth for servers that want it: discovery, registration, consent, token, more scope.
//!
//! The state machine is the SDK's; this gives it our connection rules (TLS, no redirects elsewhere, bounded
//! bodies), and fits it to [`Authorizer`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use http::HeaderValue;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationRequest, AuthorizationSession,
    ClientCredentialsConfig, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest, WWWAuthenticateParams,
};
use tokio::sync::Mutex;

use crate::auth::{Authorizer, Challenge};
use crate::endpoint::Tls;
use crate::error::Error;
use crate::wire::http::plain_client;

/// Bodies of authorization servers are read up to this many bytes.
const BODY: usize = 1024 * 1024;
/// Limit for one request to an authorization server that brings none.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Shows people the consent page.
pub trait Browser: Send + Sync + 'static {
    /// Lets somebody visit `url` and returns the URL that the authorization server sent them back to.
    ///
    /// # Errors
    /// Why nobody came back, as a text for people.
    fn visit(&self, url: &str) -> BoxFuture<'_, Result<String, String>>;
}

/// On whose behalf a token is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grant {
    /// A person's, who consents in a browser.
    #[default]
    Consent,
    /// Our own: [`OAuthSettings::client_id`] and [`OAuthSettings::client_secret`] are enough. For machines.
    ClientCredentials,
}

/// Who we are towards authorization servers.
#[derive(Clone, Default)]
pub struct OAuthSettings {
    /// On whose behalf.
    pub grant: Grant,
    /// Where consent leads back to; usually on the loopback.
    pub redirect_uri: String,
    /// Our name, for servers where we register.
    pub client_name: String,
    /// An ID given to us beforehand.
    pub client_id: Option<String>,
    /// The secret that belongs to it.
    pub client_secret: Option<String>,
    /// `https` URL of a document that describes us, for servers that take one as ID.
    pub client_metadata_url: Option<String>,
    /// How certificates of authorization servers are judged.
    pub tls: Tls,
}

impl fmt::Debug for OAuthSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OAuthSettings")
            .field("grant", &self.grant)
            .field("redirect_uri", &self.redirect_uri)
            .field("client_name", &self.client_name)
            .field("client_id", &self.client_id)
            .field("client_secret", &self.client_secret.as_ref().map(|_| "…"))
            .field("client_metadata_url", &self.client_metadata_url)
            .finish_non_exhaustive()
    }
}

/// Gets tokens by OAuth 2.1. Tokens are kept in memory only.
pub struct OAuth {
    settings: OAuthSettings,
    browser: Arc<dyn Browser>,
    http: Arc<Operations>,
    /// Locked while somebody consents, so that several refused requests lead to one question.
    manager: Mutex<Option<AuthorizationManager>>,
}

impl OAuth {
    /// An authorizer without token yet.
    ///
    /// # Errors
    /// Stage `connect`: TLS settings that cannot be used.
    pub fn new(settings: OAuthSettings, browser: Arc<dyn Browser>) -> Result<Self, Error> {
        let http = Arc::new(Operations { client: plain_client(&settings.tls)? });
        Ok(Self { settings, browser, http, manager: Mutex::new(None) })
    }

    /// From nothing: find the authorization server and get a token.
    async fn first(&self, challenge: &Challenge) -> Result<AuthorizationManager, AuthError> {
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(challenge.url.clone(), self.http.clone()).await?;
        let found = manager.resolve_metadata_from_challenge(challenge.header.as_deref()).await?;
        manager.set_metadata(found.metadata);
        match self.settings.grant {
            Grant::Consent => self.consented(manager).await,
            Grant::ClientCredentials => self.own(manager, challenge).await,
        }
    }

    /// A token of our own.
    async fn own(
        &self,
        mut manager: AuthorizationManager,
        challenge: &Challenge,
    ) -> Result<AuthorizationManager, AuthError> {
        let (Some(client_id), Some(client_secret)) =
            (self.settings.client_id.clone(), self.settings.client_secret.clone())
        else {
            return Err(AuthError::ClientCredentialsError("a client ID and its secret are needed".into()));
        };
        let config = ClientCredentialsConfig::ClientSecret {
            client_id,
            client_secret,
            scopes: manager.select_initial_scopes(&[]).await,
            resource: Some(challenge.url.to_string()),
        };
        manager.configure_client_credentials(&config)?;
        manager.exchange_client_credentials(&config).await?;
        Ok(manager)
    }

    /// A token that somebody consents to.
    async fn consented(&self, manager: AuthorizationManager) -> Result<AuthorizationManager, AuthError> {
        let mut request = AuthorizationRequest::new(&self.settings.redirect_uri)
            .with_initial_scope_selection()
            .with_client_name(&self.settings.client_name);
        if let Some(id) = &self.settings.client_id {
            request = request.with_preregistered_client(id);
        }
        if let Some(secret) = &self.settings.client_secret {
            request = request.with_client_secret(secret);
        }
        if let Some(url) = &self.settings.client_metadata_url {
            request = request.with_client_metadata_url(url);
        }
        let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)?;
        let back = self.visit(&session.auth_url).await?;
        session.handle_callback_url(&back).await?;
        Ok(session.auth_manager)
    }

    /// With what we have: ask for consent to more.
    async fn more(&self, manager: &AuthorizationManager, scope: &str) -> Result<(), AuthError> {
        let url = manager.request_scope_upgrade(scope).await?;
        let back = AuthorizationCallback::from_redirect_url(&self.visit(&url).await?)?;
        manager
            .exchange_code_for_token_with_issuer(&back.code, &back.csrf_token, back.issuer.as_deref())
            .await
            .map(drop)
    }

    async fn visit(&self, url: &str) -> Result<String, AuthError> {
        self.browser.visit(url).await.map_err(AuthError::AuthorizationFailed)
    }
}

/// The header for the manager's token, refreshed if it is about to expire.
async fn token_of(manager: &AuthorizationManager) -> Option<HeaderValue> {
    let token = manager.get_access_token().await.ok()?;
    let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl Authorizer for OAuth {
    fn current(&self) -> BoxFuture<'_, Option<HeaderValue>> {
        Box::pin(async move { token_of(self.manager.lock().await.as_ref()?).await })
    }

    fn authorize(&self, challenge: Challenge) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let mut manager = self.manager.lock().await;
            if let Some(known) = &*manager {
                // Somebody else was faster.
                if token_of(known).await.is_some_and(|token| challenge.refused.as_ref() != Some(&token)) {
                    return Ok(());
                }
                let header = challenge.header.as_deref().unwrap_or_default();
                let demand = WWWAuthenticateParams::parse(header, &challenge.url);
                if challenge.status == 403 && self.settings.grant == Grant::Consent {
                    let scope = demand.scope.as_deref().filter(|_| demand.is_insufficient_scope());
                    let Some(scope) = scope else {
                        return Err("the server refuses the token and does not say what it wants".into());
                    };
                    return self.more(known, scope).await.map_err(|error| chain(&error));
                }
            }
            // Anew, even if there was a token: the resource may have moved to another authorization server.
            *manager = Some(self.first(&challenge).await.map_err(|error| chain(&error))?);
            Ok(())
        })
    }
}

/// An error with its causes.
fn chain(error: &AuthError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let part = cause.to_string();
        if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        source = cause.source();
    }
    text
}

/// The SDK's way to the network. Redirects are the SDK's own affair: none is followed here.
struct Operations {
    client: reqwest::Client,
}

impl OAuthHttpClient for Operations {
    fn execute(&self, operation: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let limit = operation.timeout.unwrap_or(TIMEOUT);
            let work = async {
                let request = reqwest::Request::try_from(operation.request)?;
                let response = self.client.execute(request).await?;
                let mut answer = http::Response::builder().status(response.status());
                for (name, value) in response.headers() {
                    answer = answer.header(name, value);
                }
                let url = response.url().clone();
                let body = crate::wire::http::read(response, BODY, &url).await.map_err(|fault| fault.to_string())?;
                Ok(answer.body(body)?)
            };
            match tokio::time::timeout(limit, work).await {
                Ok(outcome) => outcome,
                Err(_) => Err(format!("no answer within {}", crate::error::Span(limit)).into()),
            }
        })
    }
}
