//! Runs an operation with its deadline, its cancellation, and a net under it.

use crate::{gate::PathGate, port::Port};
use pintle_core::{Call, Code, Failure, Output, Stop, Tool};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::{task::JoinHandle, time::Instant};

/// How often, at most, it is looked whether the time is up.
const SHORTEST_LOOK: Duration = Duration::from_millis(5);

/// Runs the tool in a task of its own: a panic ends that task and nothing else.
pub(crate) async fn run(
    tool: Arc<dyn Tool>,
    arguments: Value,
    gate: Arc<PathGate>,
    call: Call,
    port: &Port,
    limit: Duration,
) -> Result<Output, Stop> {
    let spec = tool.spec();
    let (name, grace) = (spec.name.clone(), spec.grace);
    let task = tokio::spawn(async move { tool.call(arguments, &*gate, &call).await });
    let mut task = Abort(task);
    let begun = Instant::now();
    let late = loop {
        // Time in which a person was asked does not count; while one is asked, the end moves along.
        let until = begun + limit + port.asked_for();
        tokio::select! {
            done = &mut task.0 => return joined(&name, done),
            () = tokio::time::sleep_until(until.max(Instant::now() + SHORTEST_LOOK)) => {
                if begun + limit + port.asked_for() <= Instant::now() {
                    break Failure::new(
                        Code::TimedOut,
                        format!("{name} did not end within its limit of {}", shown(limit)),
                    )
                    .hint("a narrower call, or a longer limit, may end in time");
                }
            }
            () = port.cancel.cancelled() => {
                break Failure::new(Code::Cancelled, format!("{name} was cancelled by the caller"));
            }
        }
    };
    // The operation may have children to end: it is told, and given its grace.
    port.cancel.cancel();
    match tokio::time::timeout(grace, &mut task.0).await {
        // It ended by itself: what it has to say of its cancellation is worth more than what we know.
        Ok(Ok(Err(Stop::Failed(told)))) if late.code != Code::TimedOut => Err(told.into()),
        // It goes on elsewhere already: whoever ended the call must know which job to end.
        Ok(Ok(Err(Stop::Started(job)))) => Err(Stop::Started(job)),
        Ok(Ok(Ok(output))) if late.code != Code::TimedOut => Ok(output),
        _ => Err(late.into()),
    }
}

struct Abort(JoinHandle<Result<Output, Stop>>);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn joined(name: &str, done: Result<Result<Output, Stop>, tokio::task::JoinError>) -> Result<Output, Stop> {
    match done {
        Ok(result) => result,
        Err(error) => {
            let why = match error.try_into_panic() {
                // Only a message that was written as it is: one that was formatted may hold anything that the operation
                // had in its hands, and no redactor knows all of that.
                Ok(panic) => panic.downcast_ref::<&'static str>().copied().unwrap_or("its message is not shown"),
                Err(_) => "it was dropped",
            };
            Err(Failure::new(Code::Internal, format!("{name} broke down: {why}"))
                .hint("this is a fault of ours; the server goes on")
                .into())
        }
    }
}

/// `30 s`, `1 min 30 s`, `200 ms`.
fn shown(limit: Duration) -> String {
    match (limit.as_secs(), limit.subsec_millis()) {
        (0, millis) => format!("{millis} ms"),
        (secs, _) if secs < 60 => format!("{secs} s"),
        (secs, _) if secs % 60 == 0 => format!("{} min", secs / 60),
        (secs, _) => format!("{} min {} s", secs / 60, secs % 60),
    }
}
