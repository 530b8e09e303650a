//! What a running call tells and asks its client.

use crate::{
    input::{self, Round},
    levels,
    server::Server,
    sessions::StreamHandle,
};
use futures::stream::{FuturesUnordered, StreamExt};
use pintle_core::{BoxFuture, Code, Failure, InputRequest, InputResponse, LogLevel, Notice, Stop};
use pintle_dispatch::Events;
use rmcp::{
    RoleServer,
    model::{ClientCapabilities, CustomRequest, ProgressNotificationParam, ProgressToken, ServerRequest},
    service::Peer,
};
use serde_json::Value;
use std::{
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// How many notifications of one call may wait for a slow client; what comes on top is dropped.
const WAITING: usize = 256;
/// What a heartbeat adds to the progress, which must grow: too little to look like work.
const HEARTBEAT_STEP: f64 = 0.001;

/// How the client of a call can be asked.
pub(crate) enum Asking {
    /// By requests of ours, while the call waits.
    Legacy,
    /// By ending the call with the questions; the client sends it again with the answers.
    Rounds(Round),
}

/// The client of one call, as the dispatcher sees it.
pub(crate) struct CallEvents {
    server: Arc<Server>,
    outgoing: Mutex<Option<mpsc::Sender<Outgoing>>>,
    progress: Option<Mutex<Progress>>,
    /// Least severe level that the client wants to hear.
    level: Option<LogLevel>,
    asking: Asking,
    capabilities: ClientCapabilities,
    /// What the client would have had to declare.
    missing: Mutex<Option<Value>>,
    stream: Option<StreamHandle>,
    begun: Instant,
}

struct Progress {
    last: f64,
    total: Option<f64>,
    told: Instant,
}

/// Something on its way to the client.
enum Outgoing {
    Progress { done: f64, total: Option<f64>, message: String },
    Log { level: LogLevel, logger: String, data: Value },
    Ask { question: InputRequest, answer: oneshot::Sender<Result<Value, String>> },
}

/// What the transport and the request say about a call.
pub(crate) struct Client {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) token: Option<ProgressToken>,
    pub(crate) level: Option<LogLevel>,
    pub(crate) asking: Asking,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) stream: Option<StreamHandle>,
}

/// Runs in the request's own task, where the protocol library knows what a notification belongs to.
pub(crate) struct Pump {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    waiting: mpsc::Receiver<Outgoing>,
}

impl CallEvents {
    pub(crate) fn new(server: Arc<Server>, client: Client) -> (Arc<Self>, Pump) {
        let (outgoing, waiting) = mpsc::channel(WAITING);
        let begun = Instant::now();
        let pump = Pump { peer: client.peer, token: client.token.clone(), waiting };
        let events = Self {
            server,
            outgoing: Mutex::new(Some(outgoing)),
            progress: client.token.map(|_| Mutex::new(Progress { last: 0.0, total: None, told: begun })),
            level: client.level,
            asking: client.asking,
            capabilities: client.capabilities,
            missing: Mutex::default(),
            stream: client.stream,
            begun,
        };
        (Arc::new(events), pump)
    }

    /// Nothing more will be told.
    pub(crate) fn close(&self) {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// What the client would have had to declare, if the call failed for that.
    pub(crate) fn missing(&self) -> Option<Value> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The answers so far, where they travel with the call.
    pub(crate) fn round(&self) -> Option<&Round> {
        match &self.asking {
            Asking::Rounds(round) => Some(round),
            Asking::Legacy => None,
        }
    }

    /// Tells that the call is alive whenever it has been silent for `interval`; never ends.
    pub(crate) async fn heartbeat(&self, interval: Duration) -> Infallible {
        let Some(progress) = &self.progress else { return std::future::pending().await };
        loop {
            let told = progress.lock().unwrap_or_else(PoisonError::into_inner).told;
            tokio::time::sleep_until(told + interval).await;
            let silent = progress.lock().unwrap_or_else(PoisonError::into_inner).told == told;
            if silent {
                self.tell_progress(None, &format!("still running, {} s", self.begun.elapsed().as_secs()));
            }
        }
    }

    /// Progress with `done` of the operation's own counting; without, only a sign of life.
    fn tell_progress(&self, counted: Option<(f64, Option<f64>)>, message: &str) {
        let Some(progress) = &self.progress else { return };
        let (done, total) = {
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            let first = progress.last == 0.0 && progress.told == self.begun;
            let last = progress.last;
            progress.last = match counted {
                Some((done, _)) if done.is_finite() && (done > last || (first && done >= last)) => done,
                _ => last + HEARTBEAT_STEP,
            };
            if let Some((_, total)) = counted {
                progress.total = total.filter(|total| total.is_finite());
            }
            progress.told = Instant::now().max(self.begun + Duration::from_nanos(1));
            (progress.last, progress.total)
        };
        self.send(Outgoing::Progress { done, total, message: message.to_owned() });
    }

    fn send(&self, message: Outgoing) {
        let outgoing = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outgoing) = &*outgoing {
            // A client that cannot keep up misses signs of life, not the answer.
            let _ = outgoing.try_send(message);
        }
    }

    async fn ask_now(&self, question: InputRequest) -> Result<InputResponse, Stop> {
        let key = question.key.clone();
        let (answer, answered) = oneshot::channel();
        let outgoing = self.outgoing.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let unasked = |why: &str| {
            Stop::from(Failure::new(Code::NeedsInput, format!("the client did not answer a question: {why}")))
        };
        let outgoing = outgoing.ok_or_else(|| unasked("the call is over"))?;
        let sent = outgoing.send(Outgoing::Ask { question, answer }).await;
        // A sender that waits for the answer would keep the pump from ending.
        drop(outgoing);
        sent.map_err(|_| unasked("it is gone"))?;
        match tokio::time::timeout(input::VALID, answered).await {
            Ok(Ok(Ok(value))) => Ok(InputResponse { key, value }),
            Ok(Ok(Err(why))) => Err(unasked(&why)),
            Ok(Err(_)) => Err(unasked("it is gone")),
            Err(_) => Err(unasked(&format!("it took longer than {} min", input::VALID.as_secs() / 60))),
        }
    }
}

impl Events for CallEvents {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        self.tell_progress(Some((done, total)), message);
    }

    fn log(&self, level: LogLevel, logger: &str, data: Value) {
        if self.level.is_some_and(|least| level >= least) {
            self.send(Outgoing::Log { level, logger: logger.to_owned(), data });
        }
    }

    fn notice(&self, notice: Notice) {
        if notice != Notice::ReleaseStream {
            self.server.notices.publish(notice);
        } else if let Some(stream) = self.stream.clone() {
            tokio::spawn(async move { stream.release().await });
        }
    }

    fn ask(&self, requests: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
        Box::pin(async move {
            let (can, cannot): (Vec<_>, Vec<_>) =
                requests.into_iter().partition(|request| input::can_answer(&self.capabilities, &request.kind));
            // What the client cannot be asked is left out; only when nothing is left does the call fail.
            if can.is_empty() && !cannot.is_empty() {
                let needed = input::needed(cannot.iter().map(|request| &request.kind));
                *self.missing.lock().unwrap_or_else(PoisonError::into_inner) = Some(needed);
                return Err(Failure::new(Code::NeedsInput, "this client cannot be asked what the call needs to know")
                    .hint("use a client that declares elicitation, or give the missing arguments")
                    .into());
            }
            match &self.asking {
                Asking::Rounds(round) => {
                    let (mut known, mut open) = (Vec::new(), Vec::new());
                    for request in can {
                        match round.answer(&request.key) {
                            Some(value) => known.push(InputResponse { key: request.key, value: value.clone() }),
                            None => open.push(request),
                        }
                    }
                    if open.is_empty() { Ok(known) } else { Err(Stop::Asked(open)) }
                }
                Asking::Legacy => {
                    let mut answers = Vec::new();
                    for request in can {
                        answers.push(self.ask_now(request).await?);
                    }
                    Ok(answers)
                }
            }
        })
    }

    fn can_ask(&self) -> bool {
        input::can_ask(&self.capabilities)
    }
}

impl Pump {
    /// Sends what waits, until the events are closed and everything is told.
    pub(crate) async fn run(mut self) {
        let mut asked = FuturesUnordered::new();
        loop {
            tokio::select! {
                waiting = self.waiting.recv() => match waiting {
                    None => return,
                    Some(Outgoing::Ask { question, answer }) => {
                        let peer = self.peer.clone();
                        asked.push(async move {
                            // Whoever asked may have given up meanwhile.
                            let _ = answer.send(ask(&peer, &question).await);
                        });
                    }
                    Some(Outgoing::Progress { done, total, message }) => self.progress(done, total, message).await,
                    Some(Outgoing::Log { level, logger, data }) => levels::tell(&self.peer, level, logger, data).await,
                },
                Some(()) = asked.next(), if !asked.is_empty() => {}
            }
        }
    }

    async fn progress(&self, done: f64, total: Option<f64>, message: String) {
        let Some(token) = self.token.clone() else { return };
        let mut told = ProgressNotificationParam::new(token, done);
        told.total = total;
        told.message = Some(message).filter(|message| !message.is_empty());
        // A client that is gone gets no answer either.
        let _ = self.peer.notify_progress(told).await;
    }
}

async fn ask(peer: &Peer<RoleServer>, question: &InputRequest) -> Result<Value, String> {
    let (method, params) = input::legacy_wire(question);
    let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
    let answer = peer.send_request(request).await.map_err(|error| error.to_string())?;
    serde_json::to_value(answer).map_err(|error| error.to_string())
}
