//! Opening a session for a step, and closing it whatever happens.

use std::path::Path;
use std::time::Duration;

use pintle_client::{
    CallOptions, Closed, EndedBy, Endpoint, EraChoice, Error, Fault, Headers, Http, Options, Session, Stage, Stdio,
};
use pintle_process::{Environment, SpawnError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Asks, Method, methods};
use crate::model::{Address, Server};
use crate::verbs::{Allowance, ErrorAnswer, Observation, Scene};

/// Where a server is, for the client. `directory` is where relative files of the plan start.
pub(crate) fn endpoint(server: &Server, directory: &Path) -> Result<Endpoint, Error> {
    match &server.address {
        Address::Stdio(argv) => {
            let mut stdio = Stdio::new(argv.iter().map(String::as_str));
            stdio.environment = server.env.iter().fold(Environment::clean(), |all, (name, value)| all.set(name, value));
            Ok(Endpoint::Stdio(stdio))
        }
        Address::Url(url) => {
            let mut http = Http::new(url)?;
            http.transport = match server.transport.as_str() {
                "" => pintle_client::Transport::Auto,
                word => word.parse()?,
            };
            let mut headers = Headers::default();
            for (name, value) in &server.headers {
                headers.add(name, value)?;
            }
            http.headers = headers;
            http.tls = pintle_client::Tls {
                ca_file: server.tls.ca_file.as_ref().map(|file| directory.join(file)),
                server_name: server.tls.sni.clone(),
                insecure: server.tls.insecure,
            };
            Ok(Endpoint::Url(http))
        }
    }
}

/// Opens a session within the time of a step.
pub(crate) async fn connect(
    server: &Server,
    directory: &Path,
    era: EraChoice,
    time: Allowance,
    cancel: &CancellationToken,
) -> Result<Session, Error> {
    let endpoint = endpoint(server, directory)?;
    let left = time.left();
    let options = Options {
        era,
        connect_timeout: left,
        request_timeout: left,
        // A server that is silent to the probe must still have time to shake hands.
        probe_limit: Duration::from_secs(2).min(left / 2),
        ..Options::default()
    };
    let stage = match server.address {
        Address::Stdio(_) => Stage::Handshake,
        Address::Url(_) => Stage::Connect,
    };
    tokio::select! {
        session = pintle_client::connect(&endpoint, options) => session,
        // Dropping a session that is being opened ends its child.
        () = cancel.cancelled() => Err(Error { stage, fault: Fault::Cancelled }),
    }
}

/// A session of a step's own, or one that it shares.
enum Lease {
    Own(Box<Session>),
    Shared(std::sync::Arc<Session>),
}

impl std::ops::Deref for Lease {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            Self::Own(session) => session,
            Self::Shared(session) => session,
        }
    }
}

/// Asks what a step asks, in a session of its own unless sessions are shared.
pub(super) async fn with_session(asks: &Asks, scene: &Scene<'_>, server: &Server) -> Observation {
    let bare = asks.method == Method::Raw && asks.raw.as_ref().is_some_and(|raw| !raw.handshake);
    let directory = &scene.snapshot.directory;
    let era = if bare { EraChoice::Bare } else { EraChoice::Auto };
    let opened = match scene.sessions.filter(|_| !bare && asks.method != Method::Raw) {
        Some(sessions) => sessions.lease(server, directory, scene.time, scene.cancel).await.map(Lease::Shared),
        None => {
            connect(server, directory, era, scene.time, scene.cancel).await.map(|session| Lease::Own(Box::new(session)))
        }
    };
    let session = match opened {
        Ok(session) => session,
        Err(error) => return failure(error, "", scene.time),
    };
    let noise_before = session.noise().lines;
    let odd_before = session.oddities().len();
    let began = Instant::now();
    let options =
        CallOptions { timeout: Some(scene.time.left()), cancel: Some(scene.cancel.clone()), ..CallOptions::default() };
    let mut seen = match methods::ask(asks, &session, &options, scene).await {
        Ok(seen) => seen,
        Err(error) => {
            if let (Some(sessions), Lease::Shared(shared)) = (scene.sessions, &session)
                && !matches!(error.fault, Fault::Rpc(_) | Fault::Capability(_))
            {
                sessions.discard(server, shared).await;
            }
            failure(error, &methods::about(asks), scene.time)
        }
    };
    seen.took = Some(began.elapsed());
    let noise = session.noise();
    if noise.lines > noise_before {
        seen.noise = Some((noise.lines - noise_before, noise.first.first().cloned().unwrap_or_default()));
    }
    seen.warnings.extend(session.oddities().iter().skip(odd_before).map(ToString::to_string));
    if let Lease::Own(session) = session {
        close(*session, &mut seen).await;
    }
    seen
}

/// Closes a session; what is odd about its end is a warning, unless the step is about to pass for no other reason.
async fn close(session: Session, seen: &mut Observation) {
    match session.close().await {
        Ok(Closed::Child { by: EndedBy::Kill, .. }) => {
            seen.warnings.push("close: the server ended neither with its input nor on TERM and was killed".into());
        }
        Ok(_) => {}
        Err(error) => seen.warnings.push(error.to_string()),
    }
}

/// What a failure of the client means to a step. `about` names what was asked for.
pub(super) fn failure(mut error: Error, about: &str, time: Allowance) -> Observation {
    if let Fault::Timeout { limit, .. } = &mut error.fault {
        // People know the limit they wrote, not what was left of it.
        *limit = time.limit;
    }
    let message =
        if about.is_empty() { error.to_string() } else { format!("{}: {about}: {}", error.stage, error.fault) };
    if let Fault::Spawn(cause) = &error.fault
        && !matches!(**cause, SpawnError::System { .. })
    {
        return Observation::unable(message);
    }
    let mut seen = Observation::failed(message);
    if let Some(rpc) = error.rpc() {
        seen.stderr = rpc.message.clone();
        seen.error = Some(ErrorAnswer { code: rpc.code, message: rpc.message.clone(), data: rpc.data.clone() });
    }
    seen
}
