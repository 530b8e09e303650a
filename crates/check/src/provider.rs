//! Providers in processes of their own.
//!
//! The host writes one line of JSON to the child's standard input, [`Request`], and reads one line from its standard
//! output, a [`Verdict`]. A child that crashes, talks nonsense or is silent fails its step and nothing else. Our own
//! binary is such a provider for all of our verbs: [`serve`].

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use pintle_process::{Ended, Environment, Run, Spawn, SpawnError};
use pintle_yaml::Place;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::model::copy;
use crate::model::duration::Shown;
use crate::registry::{BuiltIn, Invocation, Provider, Registry, Snapshot, Verdict, VerdictStatus};
use crate::target::HostTarget;
use crate::text::cut;

/// Bytes of an answer that are read.
const ANSWER: usize = 16 * 1024 * 1024;
/// What a provider may take beyond the time of its step: starting, closing a session.
const GRACE: Duration = Duration::from_secs(6);

/// What a provider is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The step.
    pub step: WrittenStep,
    /// What was resolved for it.
    pub environment: Snapshot,
    /// Its limit as people know it, in milliseconds.
    pub limit_ms: u64,
    /// Milliseconds that are left of it.
    pub left_ms: u64,
}

/// A step as it was written, variables replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WrittenStep {
    /// Unique over the run.
    pub id: String,
    /// The key of its node.
    pub name: String,
    /// The keyword.
    pub keyword: String,
    /// The verb.
    pub verb: String,
    /// Every field.
    pub fields: Value,
    /// Line and column of every node of `fields` in the plan, depth first, keys before their values.
    #[serde(default)]
    pub places: Vec<(usize, usize)>,
}

/// A provider in a process of its own, started anew for each step.
#[derive(Clone, Debug)]
pub struct OutOfProcess {
    argv: Vec<OsString>,
    environment: Environment,
}

impl OutOfProcess {
    /// A program with arguments. Its environment is empty: it needs nothing of ours.
    pub fn new<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self { argv: argv.into_iter().map(Into::into).collect(), environment: Environment::empty().set("PATH", "") }
    }

    /// The same with an environment.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    async fn ask(&self, call: &Invocation<'_>) -> Verdict {
        let Some((program, arguments)) = self.argv.split_first() else {
            return Verdict::new(VerdictStatus::Error, "provider: no program is named");
        };
        let step = call.step;
        let request = Request {
            step: WrittenStep {
                id: step.id.clone(),
                name: step.name.clone(),
                keyword: step.keyword.word().to_owned(),
                verb: step.verb.clone(),
                fields: step.fields.clone(),
                places: step.places.iter().map(|place| (place.line, place.column)).collect(),
            },
            environment: call.snapshot.clone(),
            limit_ms: millis(call.limit),
            left_ms: millis(call.left),
        };
        let mut line = match serde_json::to_vec(&request) {
            Ok(line) => line,
            Err(error) => return Verdict::new(VerdictStatus::Error, format!("provider: {error}")),
        };
        line.push(b'\n');
        let run = Run {
            limit: ANSWER,
            input: line,
            timeout: Some(call.left + GRACE),
            cancel: call.cancel.clone(),
            ..Run::default()
        };
        let spawn = Spawn::new(program).args(arguments).environment(self.environment.clone());
        let done = match spawn.run(run).await {
            Ok(done) => done,
            Err(error @ SpawnError::System { .. }) => {
                return Verdict::new(VerdictStatus::Fail, format!("provider: {error}"));
            }
            Err(error) => return Verdict::new(VerdictStatus::Error, format!("provider: {error}")),
        };
        let stdout = done.stdout.text().text;
        let answer = stdout.lines().find_map(|line| serde_json::from_str::<Verdict>(line).ok());
        match (answer, done.ended) {
            (Some(mut verdict), _) => {
                if step.places.is_empty() {
                    // The plan was read for other providers: all that is known is where the step is.
                    for mismatch in &mut verdict.mismatches {
                        (mismatch.line, mismatch.column) = (step.place.line, step.place.column);
                    }
                }
                verdict
            }
            (None, Ended::TimedOut { .. }) => Verdict::new(
                VerdictStatus::Fail,
                format!("provider of `{}`: no verdict within {}", step.verb, Shown(call.limit)),
            ),
            (None, _) => {
                let said = cut(&done.stderr.text().text);
                let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                Verdict::new(
                    VerdictStatus::Fail,
                    format!("provider of `{}` ended without a verdict, {}{said}", step.verb, done.exit.status),
                )
            }
        }
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl Provider for OutOfProcess {
    fn invoke<'a>(&'a self, call: Invocation<'a>) -> BoxFuture<'a, Verdict> {
        async move { self.ask(&call).await }.boxed()
    }
}

/// Serves our verbs to a host: a line in, a line out, until the input ends.
///
/// # Errors
/// When reading or writing fails.
pub async fn serve(
    mut input: impl AsyncBufRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    cancel: CancellationToken,
) -> io::Result<()> {
    let target = HostTarget::new();
    let registry = Registry::new();
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let verdict = match serde_json::from_str::<Request>(&line) {
            Ok(request) => carry_out(request, &target, &registry, &cancel).await,
            Err(error) => Verdict::new(VerdictStatus::Error, format!("the request is none: {error}")),
        };
        let mut answer = serde_json::to_vec(&verdict)?;
        answer.push(b'\n');
        output.write_all(&answer).await?;
        output.flush().await?;
    }
}

async fn carry_out(request: Request, target: &HostTarget, registry: &Registry, cancel: &CancellationToken) -> Verdict {
    let WrittenStep { id, name, fields, places, .. } = request.step;
    let places: Vec<Place> = places.into_iter().map(|(line, column)| Place { line, column }).collect();
    let directory: &Path = &request.environment.directory;
    let mut step = match copy::read(&name, &fields, &places, request.environment.dialect, directory, registry) {
        Ok(step) => step,
        Err(why) => return Verdict::new(VerdictStatus::Fail, why),
    };
    step.id = id;
    let call = Invocation {
        step: &step,
        snapshot: &request.environment,
        target,
        cancel,
        limit: Duration::from_millis(request.limit_ms),
        left: Duration::from_millis(request.left_ms),
        sessions: None,
    };
    BuiltIn.invoke(call).await
}
