//! Running a verb to its end.

use crate::{
    judge::{Before, Judge},
    order::Order,
    privilege::Way,
    progress::Meter,
    transcript::{Said, Transcript},
};
use pintle_core::{Call, Code, Failure, Outcome};
use pintle_packfile::Elevate;
use pintle_process::{Environment, Ladder, Run, Spawn, Status, Stream};
use serde_json::json;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// What the helper needs on top of a verb's own grace: it climbs the same ladder behind us.
const BEHIND: Duration = Duration::from_secs(2);

/// A verb that has run.
pub(crate) struct Ran {
    /// What it said.
    pub(crate) said: Said,
    /// How it ended.
    pub(crate) status: Status,
    /// From start to end.
    pub(crate) took: Duration,
    /// The file it made, where it had to make one, with its bytes.
    pub(crate) made: Option<(String, u64)>,
    /// Where something is mounted that was not before.
    pub(crate) leftovers: Vec<String>,
    /// Ok, findings or failed.
    pub(crate) outcome: Outcome,
    /// Why it failed.
    pub(crate) failure: Option<Failure>,
}

/// Runs it. `told`: its lines and its progress go to the caller as they come.
///
/// # Errors
/// When it did not start, or what it is judged by cannot be looked at. A verb that fails is no error: see [`Ran`].
pub(crate) async fn run(order: &Order<'_>, call: &Call, told: bool) -> Result<Ran, Failure> {
    let places = order.places();
    let before = Before::look(order, &places)?;
    let judge = Arc::new(Mutex::new(Judge::new(&order.rules.success)));
    let transcript = Arc::new(Mutex::new(Some(listen(order, call, told, &judge))));
    let heard = Arc::clone(&transcript);
    let cancel = CancellationToken::new();
    let elevated = matches!(order.way, Way::Helper { .. });
    let run = Run {
        // The transcript keeps what is kept.
        limit: 0,
        input: input(order)?,
        hold_input: elevated,
        timeout: Some(order.rules.deadline),
        cancel: cancel.clone(),
        ladder: Ladder { grace: order.rules.grace + if elevated { BEHIND } else { Duration::ZERO } },
        spill: None,
        observer: Some(Box::new(move |stream, bytes| {
            if let Some(transcript) = heard.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                transcript.take(stream, bytes);
            }
        })),
    };
    let running = spawn(order).run(run);
    tokio::pin!(running);
    let captured = tokio::select! {
        ended = &mut running => ended,
        () = call.cancelled() => {
            cancel.cancel();
            running.await
        }
    };
    let captured = captured
        .map_err(|error| Failure::new(Code::Unavailable, format!("`{}` did not start: {error}", order.name())))?;
    let said = transcript.lock().unwrap_or_else(PoisonError::into_inner).take();
    let said = said.ok_or_else(|| Failure::new(Code::Internal, "the transcript was taken twice"))?.finish();
    let judge = judge.lock().unwrap_or_else(PoisonError::into_inner);
    judge.judge(order, &places, &before, &captured, said)
}

fn spawn(order: &Order<'_>) -> Spawn {
    let spawn = match &order.way {
        Way::Direct => Spawn::new(&order.found.path).args(order.verb.argv(order.arguments)),
        Way::Helper { elevator, arguments } => Spawn::new(elevator).args(arguments),
    };
    let spawn = spawn.environment(environment(order));
    match order.directory() {
        Some(directory) => spawn.directory(directory),
        None => spawn,
    }
}

/// What the program finds. Root's own runs, and those through the helper, get nothing that the caller chose.
fn environment(order: &Order<'_>) -> Environment {
    let surroundings = order.host.surroundings();
    let guarded = matches!(order.way, Way::Helper { .. })
        || (surroundings.is_root && order.rules.elevate == Elevate::Always && !order.found.by_operator);
    if guarded {
        let users = ["SUDO_USER", "DOAS_USER"];
        return users.iter().fold(Environment::fixed().plain_output(), |all, name| match surroundings.variable(name) {
            Some(user) if surroundings.is_root => all.set(name, user),
            _ => all,
        });
    }
    let ours = surroundings.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
    // Nobody is there to be asked: what would ask by a window or a terminal is told so.
    let clean = Environment::clean_from(ours).plain_output();
    let clean = clean.set("GIT_TERMINAL_PROMPT", "0").set("SSH_ASKPASS_REQUIRE", "never");
    order.verb.pass.iter().fold(clean, |all, name| match surroundings.variable(name) {
        Some(value) => all.set(name, value),
        None => all,
    })
}

/// What the helper reads: the arguments, which it checks again. A program itself has nothing to read.
fn input(order: &Order<'_>) -> Result<Vec<u8>, Failure> {
    if order.way == Way::Direct {
        return Ok(Vec::new());
    }
    let mut line = serde_json::to_vec(&json!({ "arguments": order.arguments }))
        .map_err(|error| Failure::new(Code::Internal, format!("telling the helper: {error}")))?;
    line.push(b'\n');
    Ok(line)
}

fn listen(order: &Order<'_>, call: &Call, told: bool, judge: &Arc<Mutex<Judge>>) -> Transcript {
    let mask = order.loaded.pack.mask.clone();
    let judge = Arc::clone(judge);
    let call = call.clone();
    let mut meter = order.rules.progress.clone().filter(|_| told).map(|signs| Meter::new(signs, call.clone()));
    let watch = move |_: Stream, line: &str, last: bool| {
        if last {
            judge.lock().unwrap_or_else(PoisonError::into_inner).read(line);
            if told {
                call.emit(&line);
            }
        }
        if let Some(meter) = &mut meter {
            meter.read(line);
        }
    };
    let state = order.host.surroundings().state.clone();
    Transcript::new(state, Box::new(move |line| mask.text(line).into_owned()), Box::new(watch))
}
