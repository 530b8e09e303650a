//! One step from its start to its outcome: variables, attempts, limits.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pintle_core::{Redactor, Secret, nearest};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::options::{Event, Events, RunOptions};
use super::outcome;
use super::scope::Scope;
use super::sessions::Sessions;
use crate::model::duration::Shown;
use crate::model::template::expand_value;
use crate::model::{Dialect, Plan, PlanSet, Server, Skip, Step, copy};
use crate::outcome::StepOutcome;
use crate::registry::{Invocation, Snapshot, Verdict, VerdictStatus};

/// Limit of an attempt that names none.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Pause between attempts that name none.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a provider may go on beyond its limit, to close what it opened.
const GRACE: Duration = Duration::from_secs(10);

/// What all steps of a run share.
pub(super) struct Shared {
    pub(super) set: PlanSet,
    pub(super) options: RunOptions,
    pub(super) events: Events,
    pub(super) cancel: CancellationToken,
    pub(super) sessions: Option<Sessions>,
    pub(super) target_name: String,
    pub(super) distro: Vec<String>,
    pub(super) redactor: Mutex<Redactor>,
    pub(super) captures: Mutex<HashMap<String, Value>>,
}

/// When a step must have ended, and what sets that.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    /// `the run's 5s`, for messages.
    pub(super) of: String,
}

impl Shared {
    pub(super) fn redactor(&self) -> Redactor {
        self.redactor.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, secrets: Vec<Secret>) {
        if secrets.is_empty() {
            return;
        }
        let mut redactor = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        for secret in secrets {
            redactor.add(secret.name(), secret.expose());
        }
        redactor.prepare();
    }

    /// Carries a step out.
    pub(super) async fn carry_out(
        self: Arc<Self>,
        plan: usize,
        step: usize,
        deadline: Option<Deadline>,
    ) -> StepOutcome {
        let plan = &self.set.plans[plan];
        let step = &plan.steps[step];
        (self.events)(&Event::Started { id: step.id.clone() });
        let began = Instant::now();
        let (verdict, attempts) = match self.prepare(plan, step) {
            Ok((step, snapshot)) => self.attempts(&step, &snapshot, began, deadline.as_ref()).await,
            Err(verdict) => (*verdict, 0),
        };
        self.keep(&verdict.captures);
        let mut done = outcome::tried(plan, step, &self.target_name, verdict, attempts, began.elapsed());
        outcome::redact(&mut done, &self.redactor());
        done
    }

    fn keep(&self, found: &BTreeMap<String, Value>) {
        let mut captures = self.captures.lock().unwrap_or_else(PoisonError::into_inner);
        captures.extend(found.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// Why a step is left out on its own account.
    pub(super) fn left_out(&self, step: &Step) -> Option<String> {
        match &step.modifiers.skip {
            Some(Skip::Plain) => return Some("the plan skips it".into()),
            Some(Skip::Because(why)) => return Some(why.clone()),
            None => {}
        }
        let here = step.modifiers.exclude_distro.iter().find(|word| self.distro.contains(word))?;
        Some(format!("excluded on {here}"))
    }

    /// The step with its variables replaced, and what it needs to know.
    fn prepare(&self, plan: &Plan, step: &Arc<Step>) -> Result<(Arc<Step>, Snapshot), Box<Verdict>> {
        let captures = self.captures.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let scope = Scope::new(plan, &self.options, &captures);
        let mut secrets = Vec::new();
        let unable = |why: String| Box::new(Verdict::new(VerdictStatus::Error, why));
        let ready = if step.is_dynamic {
            let mut fields = step.fields.clone();
            let expanded = expand_fields(&mut fields, &scope, &mut secrets);
            secrets.append(&mut scope.met.borrow_mut());
            self.learn(std::mem::take(&mut secrets));
            expanded.map_err(unable)?;
            let copied =
                copy::read(&step.name, &fields, &step.places, plan.dialect, &plan.directory, &self.options.registry);
            let mut copied = copied.map_err(|why| Box::new(Verdict::new(VerdictStatus::Fail, why)))?;
            copied.id.clone_from(&step.id);
            Arc::new(copied)
        } else {
            step.clone()
        };
        let snapshot = self.snapshot(plan, &ready, &scope, &mut secrets);
        secrets.append(&mut scope.met.borrow_mut());
        self.learn(secrets);
        Ok((ready, snapshot.map_err(unable)?))
    }

    fn snapshot(
        &self,
        plan: &Plan,
        step: &Step,
        scope: &Scope<'_>,
        secrets: &mut Vec<Secret>,
    ) -> Result<Snapshot, String> {
        let mut snapshot = Snapshot {
            target: self.target_name.clone(),
            dialect: plan.dialect,
            directory: plan.directory.clone(),
            servers: Vec::new(),
            endpoint: None,
            endpoint_problem: None,
            update: self.options.update_snapshots,
        };
        if step.verb != "mcp" {
            return Ok(snapshot);
        }
        let given = self.options.server.as_ref();
        let declared: Vec<&Server> = given.into_iter().chain(&plan.servers).collect();
        match pick(&declared, given, step, plan.dialect) {
            Ok(Some(server)) => snapshot.endpoint = Some(server.expanded(scope, secrets)?),
            Ok(None) => {}
            Err(why) => snapshot.endpoint_problem = Some(why),
        }
        for server in declared {
            // The list is for reading: a server whose secret is missing is still declared.
            snapshot.servers.push(server.expanded(scope, secrets).unwrap_or_else(|_| server.clone()));
        }
        Ok(snapshot)
    }

    /// Tries until it holds, or the time is over.
    async fn attempts(
        &self,
        step: &Step,
        snapshot: &Snapshot,
        began: Instant,
        deadline: Option<&Deadline>,
    ) -> (Verdict, u32) {
        let provider = self.options.registry.resolve(&step.verb);
        let until = step.modifiers.eventually.map(|span| began + span);
        let pause = step.modifiers.retry_interval.unwrap_or(PAUSE);
        let mut attempts = 0;
        loop {
            attempts += 1;
            let now = Instant::now();
            let limit =
                step.modifiers.timeout.unwrap_or(TIMEOUT).min(step.modifiers.eventually.unwrap_or(Duration::MAX));
            let ends = [until, deadline.map(|deadline| deadline.at)];
            let end = ends.into_iter().flatten().fold(now + limit, Instant::min);
            let left = end.saturating_duration_since(now);
            let invocation = Invocation {
                step,
                snapshot,
                target: self.options.target.as_ref(),
                cancel: &self.cancel,
                limit,
                left,
                sessions: self.sessions.as_ref(),
            };
            let mut verdict = match tokio::time::timeout(left + GRACE, provider.invoke(invocation)).await {
                Ok(verdict) => verdict,
                Err(_) => Verdict::new(VerdictStatus::Fail, format!("{}: no end within {}", step.verb, Shown(limit))),
            };
            if verdict.status != VerdictStatus::Fail || self.cancel.is_cancelled() {
                return (verdict, attempts);
            }
            if let Some(deadline) = deadline
                && Instant::now() >= deadline.at
            {
                verdict.message = format!("{}; {} are over", verdict.message, deadline.of);
                return (verdict, attempts);
            }
            match until {
                Some(until) if Instant::now() + pause < until => {}
                Some(_) => {
                    let tries = if attempts == 1 { "attempt" } else { "attempts" };
                    let spent =
                        Shown(Duration::from_millis(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)));
                    verdict.message = format!("{} ({attempts} {tries} in {spent})", verdict.message);
                    return (verdict, attempts);
                }
                None => return (verdict, attempts),
            }
            (self.events)(&Event::Retried { id: step.id.clone(), attempts });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.cancel.cancelled() => return (verdict, attempts),
            }
        }
    }
}

/// Replaces variables. `input` as JSON text is expanded inside its JSON, so that a quote in a value stays a quote.
fn expand_fields(fields: &mut Value, scope: &Scope<'_>, secrets: &mut Vec<Secret>) -> Result<(), String> {
    if let Some(Value::String(text)) = fields.get_mut("input")
        && let Ok(mut input @ Value::Object(_)) = serde_json::from_str::<Value>(text)
    {
        expand_value(&mut input, scope, secrets)?;
        // What was expanded once is not looked at again: values may hold anything.
        *text = input.to_string().replace("${", "$${");
    }
    expand_value(fields, scope, secrets)
}

/// The server a step is about. None when there is none at all.
fn pick<'s>(
    declared: &[&'s Server],
    given: Option<&'s Server>,
    step: &Step,
    dialect: Dialect,
) -> Result<Option<&'s Server>, String> {
    let names = || declared.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(", ");
    let owner = match dialect {
        Dialect::Plan => "plan",
        Dialect::Candy => "image",
    };
    if let Some(name) = step.fields.get("mcp_name").and_then(Value::as_str) {
        if let Some(server) = declared.iter().find(|server| server.name == name) {
            return Ok(Some(server));
        }
        let hint = match nearest(name, declared.iter().map(|server| server.name.as_str())) {
            Some(near) => format!(", did you mean {near}?"),
            None => String::new(),
        };
        return Err(format!("{owner} provides no mcp server \"{name}\" (available: {}{hint})", names()));
    }
    match (given, declared) {
        (Some(server), _) => Ok(Some(server)),
        (None, []) if dialect == Dialect::Candy => Err("box declares no mcp_provide entries".to_owned()),
        (None, []) => Ok(None),
        (None, [only]) => Ok(Some(only)),
        (None, _) => Err(format!("{owner} provides multiple mcp servers; use mcp_name (available: {})", names())),
    }
}
