//! One warm connection to one API server, and requests over it.

use crate::{
    Cause, FleetOptions, Stage,
    cluster::{Bounds, off_thread},
    credential::{Credential, Presented, impersonate},
    dial::{self, Dialled},
    discovery,
    errors::said,
    exec::Plugins,
    fate::{Fate, Watched},
    profile::Profile,
    tls,
};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Request, Response, StatusCode,
    header::{ACCEPT, CONTENT_LENGTH, ETAG, HOST, IF_NONE_MATCH, RETRY_AFTER, USER_AGENT},
};
use http_body_util::{BodyExt, Empty};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use pintle_core::Digest;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{Mutex, Semaphore, SemaphorePermit};

/// Window of one stream and of the connection, in bytes: what may wait here unread, and how far a server that is far
/// away may run ahead. A page of pods comes in few round trips.
const STREAM_WINDOW: u32 = 1024 * 1024;
const CONNECTION_WINDOW: u32 = 2 * 1024 * 1024;
/// Most bytes of an error's body.
const STATUS_LIMIT: usize = 64 * 1024;
/// Without a word of the server's how long to wait.
const BUSY_PAUSE: Duration = Duration::from_secs(1);
/// How often a busy server is asked again.
const BUSY_TRIES: u32 = 5;

/// A request.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) path: &'a str,
    pub(crate) accept: &'static str,
    /// The answer that is known already.
    pub(crate) etag: Option<&'a str>,
}

impl Ask<'_> {
    pub(crate) const JSON: &'static str = "application/json";
    pub(crate) const ANY: &'static str = "*/*";
    pub(crate) const TABLE: &'static str = "application/json;as=Table;v=v1;g=meta.k8s.io";
    pub(crate) const METADATA: &'static str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    pub(crate) const DISCOVERY: &'static str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
        application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
}

/// A good answer.
pub(crate) struct Answered {
    pub(crate) body: Vec<u8>,
    pub(crate) etag: Option<String>,
    /// 304: what is known already is still so.
    pub(crate) unchanged: bool,
}

/// The connection of one context, shared by all calls.
pub(crate) struct Connection {
    profile: Profile,
    options: Arc<FleetOptions>,
    credential: Credential,
    turns: Semaphore,
    warm: Mutex<Option<Warm>>,
    pub(crate) discovery: discovery::Kept,
}

/// A connection that is there.
struct Warm {
    /// With which certificate of a plug-in it was made.
    certificate: Option<Digest>,
    line: Line,
}

enum Line {
    Two(http2::SendRequest<Empty<Bytes>>),
    /// HTTP/1.1 carries one request at a time; those that are free wait here.
    One(Vec<http1::SendRequest<Empty<Bytes>>>),
}

/// What one request is sent through.
enum Sender {
    Two(http2::SendRequest<Empty<Bytes>>),
    One(http1::SendRequest<Empty<Bytes>>),
}

/// Since when a connection is there.
enum Age {
    /// It was kept from before: it may have died meanwhile.
    Kept,
    /// It is one more beside others.
    Another(Arc<Fate>),
    /// It is the first: nothing was heard of the server yet but what TLS says.
    First(Arc<Fate>),
}

/// Why a try ended without an answer.
enum Lost {
    /// A kept connection broke before the server said anything: another one may do.
    Stale,
    Cause(Cause),
}

impl From<Cause> for Lost {
    fn from(cause: Cause) -> Self {
        Self::Cause(cause)
    }
}

impl Connection {
    pub(crate) fn new(profile: Profile, options: &Arc<FleetOptions>, plugins: &Plugins) -> Self {
        Self {
            credential: Credential::new(&profile, options, plugins),
            turns: Semaphore::new(options.in_flight.max(1)),
            profile,
            options: Arc::clone(options),
            warm: Mutex::default(),
            discovery: discovery::Kept::default(),
        }
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    pub(crate) fn server(&self) -> &str {
        &self.profile.cluster.server
    }

    /// The whole body of a JSON answer.
    pub(crate) async fn get(&self, bounds: &Bounds, ask: Ask<'_>) -> Result<Answered, Cause> {
        let mut opened = self.open(bounds, ask, self.options.body_limit).await?;
        let etag = text_of(opened.sent.headers(), &ETAG);
        let unchanged = opened.sent.status() == StatusCode::NOT_MODIFIED;
        let mut body = Vec::with_capacity(opened.promised());
        opened.more(bounds, &mut body, usize::MAX).await?;
        opened.is_within()?;
        Ok(Answered { body, etag: etag.filter(|_| !unchanged), unchanged })
    }

    /// The first `limit` bytes of an answer, and whether there were more.
    pub(crate) async fn get_raw(&self, bounds: &Bounds, ask: Ask<'_>, limit: usize) -> Result<(Vec<u8>, bool), Cause> {
        let mut opened = self.open(bounds, ask, limit).await?;
        let mut body = Vec::with_capacity(opened.promised());
        opened.more(bounds, &mut body, usize::MAX).await?;
        Ok((body, opened.cut))
    }

    /// A JSON answer that is read piece by piece.
    pub(crate) async fn get_pieces(&self, bounds: &Bounds, ask: Ask<'_>) -> Result<Opened<'_>, Cause> {
        self.open(bounds, ask, self.options.body_limit).await
    }

    /// Asks until there is an answer: again with a renewed credential after 401, again when a busy server says so.
    async fn open(&self, bounds: &Bounds, ask: Ask<'_>, limit: usize) -> Result<Opened<'_>, Cause> {
        let mut presented = self.credential.present(&self.profile, bounds, None).await?;
        let (mut renewed, mut busy) = (false, 0);
        loop {
            let turn = bounds.stage(Stage::Turn, Instant::now(), bounds.deadline, self.turns.acquire()).await?;
            let sent = self.send(bounds, ask, &presented).await?;
            let status = sent.status();
            // No turn comes only when there are no more turns, which are there as long as the connection.
            let mut opened = Opened::new(sent, turn.ok(), ask.path, limit);
            if status.is_success() || (status == StatusCode::NOT_MODIFIED && ask.etag.is_some()) {
                return Ok(opened);
            }
            opened.left = STATUS_LIMIT;
            let mut body = Vec::new();
            // The status says enough if its body breaks off.
            if opened.more(bounds, &mut body, usize::MAX).await.is_err() {
                body.clear();
            }
            let headers = opened.sent.headers().clone();
            drop(opened);
            let words = words(&body);
            if status == StatusCode::UNAUTHORIZED && !renewed && self.credential.can_renew(&self.profile) {
                renewed = true;
                if self.profile.certificate_may_change() {
                    self.forget().await;
                }
                presented = self.credential.present(&self.profile, bounds, Some(&presented)).await?;
                continue;
            }
            if let Some(pause) = pause(status, &headers).filter(|_| busy < BUSY_TRIES) {
                busy += 1;
                if Instant::now() + pause < bounds.deadline {
                    let slept = tokio::time::sleep(pause);
                    bounds.stage(Stage::Answer, Instant::now(), bounds.deadline, slept).await?;
                    continue;
                }
            }
            return Err(refused(status, ask.path, words));
        }
    }

    /// One answer's head; a kept connection that turns out to be dead is replaced once.
    async fn send(&self, bounds: &Bounds, ask: Ask<'_>, presented: &Presented) -> Result<Sent<'_>, Cause> {
        let mut tries = 0;
        loop {
            let (sender, age) = self.sender(bounds, presented).await?;
            match self.send_over(bounds, ask, presented, sender, &age).await {
                Ok(sent) => return Ok(sent),
                Err(Lost::Cause(cause)) => return Err(cause),
                Err(Lost::Stale) if matches!(age, Age::Kept) && tries < 2 => {
                    tries += 1;
                    self.forget().await;
                }
                Err(Lost::Stale) => {
                    let told = match &age {
                        Age::First(fate) | Age::Another(fate) => fate.told().await,
                        Age::Kept => None,
                    };
                    return Err(told.unwrap_or_else(|| Cause::Unreachable {
                        address: self.server().to_owned(),
                        why: "the connection was closed before an answer came".to_owned(),
                    }));
                }
            }
        }
    }

    async fn send_over(
        &self,
        bounds: &Bounds,
        ask: Ask<'_>,
        presented: &Presented,
        sender: Sender,
        age: &Age,
    ) -> Result<Sent<'_>, Lost> {
        // Without TLS nothing was heard of the server yet: the first answer is the sign that there is one.
        let unheard = matches!(age, Age::First(_)) && self.profile.is_plain();
        let until = if unheard { bounds.connect_by() } else { bounds.deadline };
        let request = self.request(ask, presented, matches!(sender, Sender::Two(_)))?;
        let answer = async {
            match sender {
                Sender::Two(mut line) => {
                    line.ready().await?;
                    Ok((line.send_request(request).await?, None))
                }
                Sender::One(mut line) => {
                    line.ready().await?;
                    Ok((line.send_request(request).await?, Some(line)))
                }
            }
        };
        let answer: Result<_, hyper::Error> = match bounds.stage(Stage::Answer, Instant::now(), until, answer).await {
            Ok(answer) => answer,
            Err(cause) => {
                if self.profile.is_plain() && matches!(cause, Cause::TimedOut { .. }) {
                    self.forget().await;
                }
                return Err(cause.into());
            }
        };
        match answer {
            Ok((response, line)) => Ok(Sent { response, line, connection: self }),
            Err(error) => {
                // Nothing but reads is asked, so whatever became of a kept connection, another one may be tried.
                if matches!(age, Age::Kept) {
                    return Err(Lost::Stale);
                }
                let (host, _) = dial::endpoint(&self.profile.server);
                if let Some(cause) = tls::certificate_fault(&error, &host) {
                    return Err(cause.into());
                }
                if error.is_closed() || error.is_canceled() || error.is_incomplete_message() || breaks(&error) {
                    return Err(Lost::Stale);
                }
                Err(Cause::Unreachable { address: self.server().to_owned(), why: said(&dial::deepest(&error)) }.into())
            }
        }
    }

    fn request(&self, ask: Ask<'_>, presented: &Presented, http2: bool) -> Result<Request<Empty<Bytes>>, Cause> {
        let server = &self.profile.server;
        let base = server.path().trim_end_matches('/');
        let authority = server.authority().map(http::uri::Authority::as_str).unwrap_or_default();
        let path = format!("{base}{}", ask.path);
        let target =
            if http2 { format!("{}://{authority}{path}", server.scheme_str().unwrap_or("https")) } else { path };
        let bad = |what: &str| Cause::BadConfig { why: format!("{what} cannot be sent"), hint: None };
        let mut request = Request::new(Empty::new());
        *request.method_mut() = Method::GET;
        *request.uri_mut() = target.parse().map_err(|_| bad("the path"))?;
        let headers = request.headers_mut();
        if !http2 {
            headers.insert(HOST, HeaderValue::try_from(authority).map_err(|_| bad("the server's name"))?);
        }
        headers.insert(ACCEPT, HeaderValue::from_static(ask.accept));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("pintle/", env!("CARGO_PKG_VERSION"))));
        if let Some(etag) = ask.etag {
            headers.insert(IF_NONE_MATCH, HeaderValue::try_from(etag).map_err(|_| bad("the entity tag"))?);
        }
        presented.add_to(headers);
        impersonate(&self.profile, headers)?;
        Ok(request)
    }

    /// Something to send a request through, and since when it is there. The first call makes the connection
    /// while the others wait for it.
    async fn sender(&self, bounds: &Bounds, presented: &Presented) -> Result<(Sender, Age), Cause> {
        let certificate = presented.certificate().map(|(certificate, _)| Digest::of(certificate));
        let (since, until) = (Instant::now(), bounds.connect_by());
        let mut warm = bounds.stage(Stage::Connect, since, until, self.warm.lock()).await?;
        if let Some(kept) = warm.as_mut().filter(|kept| kept.certificate == certificate) {
            match &mut kept.line {
                Line::Two(line) if !line.is_closed() => return Ok((Sender::Two(line.clone()), Age::Kept)),
                Line::Two(_) => {}
                Line::One(free) => {
                    while let Some(line) = free.pop() {
                        if !line.is_closed() {
                            return Ok((Sender::One(line), Age::Kept));
                        }
                    }
                    // Known to speak HTTP/1.1: further connections are made beside each other.
                    drop(warm);
                    let (sender, fate) = self.connect(bounds, presented).await?;
                    return Ok((sender, Age::Another(fate)));
                }
            }
        }
        let (sender, fate) = self.connect(bounds, presented).await?;
        let line = match &sender {
            Sender::Two(line) => Line::Two(line.clone()),
            Sender::One(_) => Line::One(Vec::new()),
        };
        *warm = Some(Warm { certificate, line });
        Ok((sender, Age::First(fate)))
    }

    /// Lets the kept connection go; the next request makes another, with the certificates as they are then.
    async fn forget(&self) {
        *self.warm.lock().await = None;
    }

    async fn connect(&self, bounds: &Bounds, presented: &Presented) -> Result<(Sender, Arc<Fate>), Cause> {
        let profile = &self.profile;
        let tls = if profile.is_plain() {
            None
        } else {
            let (cluster, user) = (profile.cluster.clone(), profile.user.clone());
            let certificate = presented.certificate().cloned();
            Some(off_thread(move || tls::config(&cluster, &user, certificate.as_ref())).await??)
        };
        let variable = |names: [&str; 2]| names.iter().find_map(|name| self.options.variable(name)?.to_str());
        let proxy = dial::proxy(
            &profile.server,
            profile.cluster.proxy_url.as_ref().map(pintle_core::Secret::expose),
            variable(["HTTPS_PROXY", "https_proxy"]),
            variable(["NO_PROXY", "no_proxy"]),
        );
        let expected = profile.cluster.tls_server_name.as_deref();
        let Dialled { io, http2 } = dial::dial(&profile.server, expected, proxy.as_ref(), tls, bounds).await?;
        let (host, _) = dial::endpoint(&profile.server);
        let fate = Arc::new(Fate::default());
        let io = TokioIo::new(Watched::new(io, &fate, host.clone()));
        let (since, until) = (Instant::now(), bounds.connect_by());
        let lost = |error: hyper::Error| {
            tls::certificate_fault(&error, &host).unwrap_or_else(|| Cause::Unreachable {
                address: self.server().to_owned(),
                why: said(&dial::deepest(&error)),
            })
        };
        // The tasks end with the last sender, or when the server closes.
        if http2 {
            // A server that is there answers pings, however long it thinks about a request: one that does not is as
            // dead as one that cannot be reached, and found out as soon.
            let patience = self.options.connect_deadline / 2;
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder
                .timer(TokioTimer::new())
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .keep_alive_interval(patience)
                .keep_alive_timeout(patience);
            let (line, task) =
                bounds.stage(Stage::Handshake, since, until, builder.handshake(io)).await?.map_err(lost)?;
            tokio::spawn(task);
            Ok((Sender::Two(line), fate))
        } else {
            let (line, task) =
                bounds.stage(Stage::Handshake, since, until, http1::handshake(io)).await?.map_err(lost)?;
            tokio::spawn(task);
            Ok((Sender::One(line), fate))
        }
    }
}

/// An answer of which the head has come, and its body comes as it is asked for.
pub(crate) struct Opened<'a> {
    sent: Sent<'a>,
    /// Its turn among the requests in flight, until the body has come.
    turn: Option<SemaphorePermit<'a>>,
    path: Box<str>,
    since: Instant,
    limit: usize,
    /// Bytes that are still accepted.
    left: usize,
    whole: bool,
    cut: bool,
}

impl<'a> Opened<'a> {
    fn new(sent: Sent<'a>, turn: Option<SemaphorePermit<'a>>, path: &str, limit: usize) -> Self {
        let since = Instant::now();
        Self { sent, turn, path: path.into(), since, limit, left: limit, whole: false, cut: false }
    }

    /// Whether everything has come that is to come.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole || self.cut
    }

    /// Refuses a body that is longer than is accepted.
    pub(crate) fn is_within(&self) -> Result<(), Cause> {
        if self.cut { Err(Cause::TooLarge { path: self.path.to_string(), limit: self.limit }) } else { Ok(()) }
    }

    /// Bytes that the head promises, as far as they are accepted.
    fn promised(&self) -> usize {
        let told = self.sent.headers().get(CONTENT_LENGTH);
        told.and_then(|value| value.to_str().ok()?.parse::<usize>().ok()).unwrap_or(0).min(self.left)
    }

    /// Reads on until `into` holds that many bytes, or until the end.
    pub(crate) async fn more(&mut self, bounds: &Bounds, into: &mut Vec<u8>, until: usize) -> Result<(), Cause> {
        let (response, left) = (&mut self.sent.response, &mut self.left);
        let reading = async {
            while into.len() < until {
                let Some(frame) = response.body_mut().frame().await else { return Ok((true, false)) };
                let Ok(data) = frame?.into_data() else { continue };
                let taken = data.len().min(*left);
                into.extend_from_slice(&data[..taken]);
                *left -= taken;
                if taken < data.len() {
                    return Ok((false, true));
                }
            }
            Ok((false, false))
        };
        let read: Result<_, hyper::Error> = bounds.stage(Stage::Body, self.since, bounds.deadline, reading).await?;
        match read {
            Ok((whole, cut)) => {
                (self.whole, self.cut) = (whole, cut);
                if whole {
                    self.sent.give_back().await;
                    self.turn = None;
                }
                Ok(())
            }
            Err(error) => Err(Cause::BadAnswer {
                path: self.path.to_string(),
                why: format!("it broke off after {} bytes: {}", self.limit - self.left, said(&dial::deepest(&error))),
            }),
        }
    }
}

/// The head of an answer, with the connection it came over.
struct Sent<'a> {
    response: Response<Incoming>,
    line: Option<http1::SendRequest<Empty<Bytes>>>,
    connection: &'a Connection,
}

impl Sent<'_> {
    fn status(&self) -> StatusCode {
        self.response.status()
    }

    fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Lets another request use the HTTP/1.1 connection, once the answer was read to its end.
    async fn give_back(&mut self) {
        let Some(line) = self.line.take().filter(|line| !line.is_closed()) else { return };
        if let Some(Warm { line: Line::One(free), .. }) = self.connection.warm.lock().await.as_mut() {
            free.push(line);
        }
    }
}

/// Whether the connection itself broke, rather than the request.
fn breaks(error: &hyper::Error) -> bool {
    let mut next = std::error::Error::source(error);
    while let Some(error) = next {
        if error.downcast_ref::<std::io::Error>().is_some() {
            return true;
        }
        next = error.source();
    }
    false
}

fn text_of(headers: &HeaderMap, name: &http::HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// How long a busy server asks us to wait; `None` where it is not busy.
fn pause(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let told = text_of(headers, &RETRY_AFTER).and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
    match status {
        StatusCode::TOO_MANY_REQUESTS => Some(told.unwrap_or(BUSY_PAUSE)),
        StatusCode::SERVICE_UNAVAILABLE => told,
        _ => None,
    }
}

/// The words of a `Status` object, or of whatever answered instead.
fn words(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Status {
        #[serde(default)]
        message: String,
    }
    match serde_json::from_slice::<Status>(body) {
        Ok(status) => said(&status.message),
        Err(_) => {
            let text = String::from_utf8_lossy(body);
            // Of a health report only the checks that fail say something, and there are dozens that do not.
            let failing: Vec<&str> = text.lines().filter(|line| line.starts_with("[-]")).collect();
            if failing.is_empty() { said(&text) } else { said(&failing.join("\n")) }
        }
    }
}

fn refused(status: StatusCode, path: &str, words: String) -> Cause {
    let bare = path.split('?').next().unwrap_or(path);
    match status {
        StatusCode::UNAUTHORIZED => Cause::Unauthorized { said: words },
        StatusCode::FORBIDDEN => Cause::Forbidden { said: words },
        StatusCode::NOT_FOUND => Cause::NotFound { what: said(bare), said: words },
        StatusCode::GONE => Cause::Gone { said: words },
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            Cause::Busy { status: status.as_u16(), said: words }
        }
        _ => Cause::Rejected { status: status.as_u16(), said: words },
    }
}
