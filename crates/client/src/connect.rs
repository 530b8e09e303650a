//! Opening a session: start or reach the server, find out its era, shake hands.

use serde_json::{Map, Value, json};

use crate::auth::Challenge;
use crate::endpoint::{Endpoint, Http, Transport};
use crate::era::{self, Era, Known, LEGACY, MODERN};
use crate::error::{Error, Fault, Stage};
use crate::message::brief;
use crate::options::{CallOptions, EraChoice, Options};
use crate::router::Router;
use crate::session::{Deadline, Server, Session};
use crate::wire::Wire;
use crate::wire::http::{AUTHORIZATIONS, Connection};
use crate::wire::sse::LegacySse;
use crate::wire::stdio::StdioWire;
use crate::wire::streamable::Streamable;

/// Errors by which a server shows that it knows the era without `initialize`, but not this request.
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

/// Opens a session.
///
/// With [`EraChoice::Auto`] `server/discover` is tried first; any error but one that belongs to its era, and
/// silence beyond [`Options::probe_limit`], lead to `initialize`. What was found is remembered in this process
/// for the same command or URL, and found out anew when it fails.
///
/// # Errors
/// Stages `spawn`, `connect` and `handshake`. Nothing is left behind: a child is made to end.
pub async fn connect(endpoint: &Endpoint, options: Options) -> Result<Session, Error> {
    let mut opening = Opening {
        endpoint,
        deadline: Deadline::after(options.connect_timeout),
        patient: options.era != EraChoice::Auto,
        options,
    };
    let session = match opening.options.era {
        EraChoice::Bare => opening.open().await?,
        EraChoice::Modern => {
            let session = opening.open().await?;
            opening.discover(session).await.map_err(|(_, fault)| handshake(fault))?
        }
        EraChoice::Legacy(version) => {
            let session = opening.open().await?;
            opening.initialize(session, version.unwrap_or(LEGACY[0])).await?
        }
        EraChoice::Auto => opening.find_out().await?,
    };
    session.wire.authorize_in_requests(true);
    Ok(session)
}

/// The stage of a fault in the handshake: one that means "nobody there" belongs to connecting.
fn handshake(fault: Fault) -> Error {
    let stage = if fault.is_connect() { Stage::Connect } else { Stage::Handshake };
    Error::new(stage, fault)
}

struct Opening<'a> {
    endpoint: &'a Endpoint,
    deadline: Deadline,
    /// Whether `server/discover` may take as long as the whole handshake.
    patient: bool,
    options: Options,
}

impl Opening<'_> {
    /// Opens the wire.
    async fn open(&self) -> Result<Session, Error> {
        let router = Router::new(self.options.handler.clone());
        let wire = match self.endpoint {
            Endpoint::Stdio(stdio) => {
                let wire = StdioWire::spawn(stdio, &self.options, &router)
                    .await
                    .map_err(|fault| Error::new(Stage::Spawn, fault))?;
                Wire::Stdio(wire)
            }
            Endpoint::Url(http) if http.transport == Transport::Sse => return self.open_sse(http).await,
            Endpoint::Url(http) => {
                let connection = self.within(Connection::new(http, &self.options)).await?;
                Wire::Streamable(Streamable::new(connection, router.clone()))
            }
        };
        // Somebody may have to consent, which takes longer than a handshake may: see `authorize`.
        wire.authorize_in_requests(false);
        Ok(Session::new(wire, router, self.options.clone()))
    }

    async fn open_sse(&self, http: &Http) -> Result<Session, Error> {
        let router = Router::new(self.options.handler.clone());
        let connection = self.within(Connection::new(http, &self.options)).await?;
        let wire = self.within(LegacySse::open(connection, router.clone())).await?;
        Ok(Session::new(Wire::Sse(wire), router, self.options.clone()))
    }

    /// Keeps connecting within the deadline.
    async fn within<T>(&self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Error> {
        let limit = self.deadline.limit;
        tokio::time::timeout_at(self.deadline.at, work)
            .await
            .unwrap_or(Err(Fault::Timeout { limit, odd: None }))
            .map_err(|fault| Error::new(Stage::Connect, fault))
    }

    /// Answers a demand for authorization, and starts the deadline anew. Other faults are handed back.
    async fn authorize(&mut self, fault: Fault, attempts: &mut usize) -> Result<(), Fault> {
        let (Some(authorizer), Endpoint::Url(http)) = (&self.options.authorizer, self.endpoint) else {
            return Err(fault);
        };
        let Fault::Unauthorized { status, challenge } = fault else {
            return Err(fault);
        };
        if *attempts == AUTHORIZATIONS {
            return Err(Fault::Unauthorized { status, challenge });
        }
        *attempts += 1;
        let refused = authorizer.current().await;
        authorizer
            .authorize(Challenge { url: http.url.clone(), status, header: challenge, refused })
            .await
            .map_err(Fault::Authorization)?;
        self.deadline = Deadline::after(self.options.connect_timeout);
        Ok(())
    }

    async fn find_out(&mut self) -> Result<Session, Error> {
        let server = era::identity(self.endpoint);
        let known = era::known(server);
        let mut session = self.open().await?;
        // HTTP+SSE is older than the era without `initialize`.
        let only_legacy = matches!(session.wire, Wire::Sse(_));
        let mut probed = None;
        if !only_legacy && known != Some(Known::Legacy) {
            match self.probe(session).await? {
                Probe::Modern(session) => {
                    era::remember(server, Known::Modern);
                    return Ok(session);
                }
                Probe::Legacy(fresh, fault) => {
                    session = fresh;
                    probed = Some(fault);
                }
            }
        }
        match self.initialize(session, LEGACY[0]).await {
            Ok(session) => {
                era::remember(server, Known::Legacy);
                Ok(session)
            }
            Err(_) if known == Some(Known::Legacy) => {
                // It may have been replaced since: find out anew, once.
                era::forget(server);
                Box::pin(self.find_out()).await
            }
            Err(error) => match probed {
                // Slow, but not silent, and no old server: it gets the time it needs.
                Some(Fault::Timeout { .. }) if is_answer(&error.fault) => {
                    self.patient = true;
                    let session = self.open().await?;
                    let session = self.discover(session).await.map_err(|(_, fault)| handshake(fault))?;
                    era::remember(server, Known::Modern);
                    Ok(session)
                }
                // A server that named its versions said more than one that refused to initialize.
                Some(Fault::Rpc(refusal)) if refusal.code == UNSUPPORTED_VERSION => Err(handshake(Fault::Rpc(refusal))),
                _ => Err(error),
            },
        }
    }

    /// Sends `server/discover`, and again after an authorization or where the server asks for it.
    async fn discover(&mut self, mut session: Session) -> Result<Session, (Session, Fault)> {
        let mut attempts = 0;
        let mut repeated = false;
        loop {
            // Without a choice of era silence may mean an old server; with one it means nothing.
            let limit = if self.patient { self.deadline } else { self.deadline.sooner(self.options.probe_limit) };
            let fault = match session.discover(limit).await {
                Ok(()) => return Ok(session),
                Err(fault) => fault,
            };
            // "Unsupported version", but ours is among the supported ones.
            if supports_modern(&fault) && !repeated {
                repeated = true;
                continue;
            }
            if let Err(fault) = self.authorize(fault, &mut attempts).await {
                return Err((session, fault));
            }
        }
    }

    async fn probe(&mut self, session: Session) -> Result<Probe, Error> {
        let (mut session, fault) = match self.discover(session).await {
            Ok(session) => return Ok(Probe::Modern(session)),
            Err(refused) => refused,
        };
        match &fault {
            fault if fault.is_connect() => return Err(handshake(fault.clone())),
            Fault::Unauthorized { .. } | Fault::Authorization(_) => return Err(handshake(fault)),
            Fault::Rpc(error) if matches!(error.code, HEADER_MISMATCH | MISSING_CAPABILITY) => {
                return Err(handshake(fault));
            }
            _ => {}
        }
        // Some servers end at a first message they do not know: they get a second start.
        if matches!(session.wire, Wire::Stdio(_)) && session.router.closed().is_some() {
            drop(session);
            session = self.open().await?;
        }
        Ok(Probe::Legacy(session, fault))
    }

    async fn initialize(&mut self, mut session: Session, version: &str) -> Result<Session, Error> {
        let mut attempts = 0;
        let fault = loop {
            let fault = match session.initialize(version, self.deadline).await {
                Ok(()) => return Ok(session),
                Err(fault) => fault,
            };
            if let Err(fault) = self.authorize(fault, &mut attempts).await {
                break fault;
            }
        };
        let Endpoint::Url(http) = self.endpoint else {
            return Err(handshake(fault));
        };
        if http.transport != Transport::Auto || !may_be_sse(&fault) {
            return Err(handshake(fault));
        }
        drop(session);
        // Not Streamable HTTP; if it is not the older transport either, the first answer tells more.
        let Ok(mut session) = self.open_sse(http).await else {
            return Err(handshake(fault));
        };
        session.initialize(version, self.deadline).await.map_err(handshake)?;
        Ok(session)
    }
}

/// Whether a server that refused the version says that it supports it.
fn supports_modern(fault: &Fault) -> bool {
    let Fault::Rpc(error) = fault else { return false };
    let supported = error.data.as_ref().and_then(|data| data.get("supported")).and_then(Value::as_array);
    error.code == UNSUPPORTED_VERSION
        && supported.is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

enum Probe {
    Modern(Session),
    /// A session to initialize, and how the probe ended.
    Legacy(Session, Fault),
}

/// Whether a server is there and answers, though not as we wish.
fn is_answer(fault: &Fault) -> bool {
    matches!(fault, Fault::Rpc(_) | Fault::Http { .. } | Fault::BadAnswer(_))
}

/// Whether a refused POST may come from a server of the older HTTP+SSE.
fn may_be_sse(fault: &Fault) -> bool {
    match fault {
        Fault::Http { status, .. } => matches!(status, 400 | 404 | 405),
        Fault::Rpc(error) => matches!(error.http_status, Some(400 | 404 | 405)),
        _ => false,
    }
}

impl Session {
    /// `server/discover`: finds out whether the server speaks without `initialize`.
    async fn discover(&mut self, deadline: Deadline) -> Result<(), Fault> {
        if matches!(self.wire, Wire::Sse(_)) {
            return Err(Fault::Usage(format!("{MODERN} does not exist over HTTP+SSE")));
        }
        self.era = Era::Modern;
        let outcome =
            self.ask("server/discover", Map::new(), &CallOptions::default(), deadline).await.and_then(|answer| {
                let versions = answer.result.get("supportedVersions");
                if versions
                    .and_then(Value::as_array)
                    .is_some_and(|versions| versions.iter().any(|version| version == MODERN))
                {
                    Ok(answer.result)
                } else {
                    Err(Fault::BadAnswer(format!(
                        "the server does not support {MODERN}, only {}",
                        brief(versions.unwrap_or(&Value::Null))
                    )))
                }
            });
        match outcome {
            Ok(result) => {
                self.server = Server::of(&result);
                Ok(())
            }
            Err(fault) => {
                self.era = Era::Bare;
                Err(fault)
            }
        }
    }

    /// `initialize` and what follows.
    async fn initialize(&mut self, version: &str, deadline: Deadline) -> Result<(), Fault> {
        let mut params = Map::new();
        params.insert("protocolVersion".into(), json!(version));
        params.insert("capabilities".into(), self.router.handler().capabilities());
        params.insert("clientInfo".into(), self.client_info());
        let answer = self.ask("initialize", params, &CallOptions::default(), deadline).await?;
        let chosen = answer.result.get("protocolVersion").and_then(Value::as_str).ok_or_else(|| {
            Fault::BadAnswer(format!("initialize was answered without protocolVersion: {}", brief(&answer.result)))
        })?;
        if !LEGACY.contains(&chosen) {
            return Err(Fault::BadAnswer(format!(
                "the server chose protocol version {chosen:?}, which is not one of {}",
                LEGACY.join(", ")
            )));
        }
        self.era = Era::Legacy(chosen.to_owned());
        self.server = Server::of(&answer.result);
        self.wire.settled(chosen);
        let ready = crate::message::notification("notifications/initialized", Map::new());
        let limit = deadline.limit;
        tokio::time::timeout_at(deadline.at, self.wire.notify(&ready, Vec::new()))
            .await
            .unwrap_or(Err(Fault::Timeout { limit, odd: None }))?;
        self.wire.listen().await;
        Ok(())
    }
}
