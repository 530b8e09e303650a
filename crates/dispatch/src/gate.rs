//! Policy and confirmation, between `prepare` and `commit` of one call.

use crate::{
    approvals::{Answered, Proposal, stamp},
    authority,
    catalog::{Entry, Inner},
    jobs::{Jobs, NewJob, Running},
    policy::Verdict,
    port::Port,
    seal::now,
};
use pintle_core::{
    Admission, Ask, BoxFuture, CallPort, Caller, Code, Confirm, Digest, Door, Effect, Failure, Gate, InputKind,
    InputRequest, Lane, Plan, Scope, Stop,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// How long a plan may be carried out.
const PLAN_VALID: Duration = Duration::from_secs(10 * 60);
const PLAN_TOKEN: &str = "plan token";

/// What a plan token is bound to.
#[derive(Serialize, Deserialize, PartialEq)]
struct Bound {
    principal: String,
    matches: Digest,
    seen: Digest,
}

/// The gate of one call.
pub(crate) struct PathGate {
    pub(crate) inner: Arc<Inner>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) caller: Caller,
    pub(crate) port: Arc<Port>,
    pub(crate) matches: Digest,
    /// Arguments for people to judge, secrets masked.
    pub(crate) shown: Value,
    pub(crate) plan_token: Option<String>,
    /// The arguments as the tool got them, for a job that runs the same tool.
    pub(crate) arguments: Map<String, Value>,
    pub(crate) budget: Option<usize>,
    pub(crate) deadline: Option<Duration>,
    /// The job that this call is, with what was granted to it.
    pub(crate) job: Option<Arc<Running>>,
    /// What was admitted, for the audit.
    pub(crate) admitted: Mutex<Option<Admitted>>,
}

/// What was admitted.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    pub(crate) effect: Effect,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) confirmed: bool,
}

impl Admitted {
    fn of(ask: &Ask<'_>, confirmed: bool) -> Self {
        Self { effect: ask.effect, scopes: ask.scopes.to_vec(), confirmed }
    }
}

impl Gate for PathGate {
    fn admit<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Admission, Stop>> {
        Box::pin(self.decide(ask))
    }

    fn hold<'a>(&'a self, lanes: &'a [Lane]) -> BoxFuture<'a, Result<Box<dyn std::any::Any + Send>, Failure>> {
        Box::pin(async move {
            let job = self.job.as_ref().map(|job| job.id.as_str());
            let held = self.inner.lanes.hold(lanes, job).await?;
            Ok(Box::new(held) as Box<dyn std::any::Any + Send>)
        })
    }
}

impl PathGate {
    async fn decide(&self, ask: Ask<'_>) -> Result<Admission, Stop> {
        // Whatever shows the preview (a plan, a proposal on disk, a question) shows it without secrets.
        let redactor = self.port.redactor();
        let preview = redactor.text(ask.preview);
        let ask = Ask { preview: &preview, ..ask };
        let spec = self.entry.tool.spec();
        if !ask.effect.within(spec.worst) {
            return Err(Failure::new(Code::Internal, format!("{} asks for more than it publishes", spec.name)).into());
        }
        let needs = ask.confirm.unwrap_or(self.entry.confirm);
        let default = if ask.effect.changes() { Verdict::Confirm(needs) } else { Verdict::Allow };
        let verdict = self.inner.settings.policy.on_scopes(&spec.name, ask.effect, ask.scopes, default);
        if verdict == Verdict::Deny {
            return Err(self.refused(&ask).into());
        }
        if ask.effect.has(Effect::DISCLOSE) && self.caller.door == Door::Agents && !self.inner.settings.allow_secrets {
            return Err(Failure::new(Code::Denied, format!("{} lets a secret leave", spec.name))
                .hint("start the server with --allow-secrets if its agents may see secrets")
                .into());
        }
        self.inner.lanes.refuse_taken(ask.lanes, self.job.as_ref().map(|job| job.id.as_str()))?;
        let confirmed = match verdict {
            Verdict::Allow | Verdict::Confirm(Confirm::Nothing) => false,
            // A job has its yes with it, and nobody to ask for another one.
            Verdict::Confirm(_) if let Some(job) = &self.job => {
                job.grant.covers(&ask, &self.matches)?;
                true
            }
            // Nothing would change: there is nothing to say yes to.
            Verdict::Confirm(_) if spec.worst.changes() && ask.effect.is_read() => false,
            Verdict::Confirm(_) if self.caller.door == Door::People => self.confirmed_by_person(&ask).await?,
            Verdict::Confirm(Confirm::Plan) if self.entry.takes_plan => self.confirmed_by_token(&ask)?,
            // A plan for a tool whose schema has no room for the token: a person can still say yes.
            Verdict::Confirm(Confirm::Plan | Confirm::Human) | Verdict::Deny => self.confirmed_by_human(&ask).await?,
        };
        if self.becomes_job(&ask) {
            *self.admitted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Admitted::of(&ask, confirmed));
            return Err(Stop::Started(self.start_job(&ask, confirmed).await?));
        }
        let permit = authority::permit(ask.effect, ask.scopes)?;
        *self.admitted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Admitted::of(&ask, confirmed));
        Ok(Admission { permit, confirmed })
    }

    fn becomes_job(&self, ask: &Ask<'_>) -> bool {
        let can = self.inner.jobs.as_ref().is_some_and(Jobs::starts);
        can && self.job.is_none() && self.entry.tool.spec().job.is_some() && ask.effect.changes()
    }

    async fn start_job(&self, ask: &Ask<'_>, confirmed: bool) -> Result<String, Failure> {
        let spec = self.entry.tool.spec();
        let (Some(jobs), Some(on_eof)) = (&self.inner.jobs, spec.job) else {
            return Err(Failure::new(Code::Internal, format!("{} is no job", spec.name)));
        };
        let new = NewJob {
            tool: &spec.name,
            arguments: self.arguments.clone(),
            answers: self.port.answered(),
            shown: self.shown.clone(),
            matches: self.matches.clone(),
            caller: self.caller.clone(),
            on_eof,
            budget: self.budget,
            deadline: self.deadline,
            grace: spec.grace,
            confirmed,
        };
        jobs.start(new, ask, &self.inner.sealer, |id| self.inner.lanes.claim(ask.lanes, id)).await
    }

    fn refused(&self, ask: &Ask<'_>) -> Failure {
        let scopes: Vec<String> = ask.scopes.iter().map(ToString::to_string).collect();
        let on = if scopes.is_empty() { String::new() } else { format!(" on {}", scopes.join(", ")) };
        let what = ask.effect.names().join("+");
        Failure::new(Code::Denied, format!("policy does not allow {} to {what}{on}", self.entry.tool.spec().name))
            .hint("the operator's policy file decides this")
    }

    fn plan(&self, ask: &Ask<'_>) -> Plan {
        Plan {
            preview: ask.preview.to_owned(),
            effects: ask.effect.names().into_iter().map(str::to_owned).collect(),
            ..Plan::default()
        }
    }

    async fn confirmed_by_person(&self, ask: &Ask<'_>) -> Result<bool, Stop> {
        let plan = self.plan(ask);
        match self.port.events.confirm(&plan).await {
            Some(true) => Ok(true),
            Some(false) => Err(Failure::new(Code::Denied, "not confirmed").into()),
            None => Err(Stop::Planned(plan)),
        }
    }

    fn confirmed_by_token(&self, ask: &Ask<'_>) -> Result<bool, Stop> {
        let bound =
            Bound { principal: self.caller.principal.clone(), matches: self.matches.clone(), seen: ask.seen.clone() };
        let Some(token) = &self.plan_token else {
            let token = self.inner.sealer.seal(PLAN_TOKEN, Some(PLAN_VALID), &bound);
            let expires = Some(stamp(now() + PLAN_VALID.as_secs()));
            return Err(Stop::Planned(Plan { token: Some(token), expires, ..self.plan(ask) }));
        };
        let again = "call again without `plan_token` for a new plan";
        let opened = self.inner.sealer.open::<Bound>(PLAN_TOKEN, token).map_err(|failure| failure.hint(again))?;
        if opened.body.principal != bound.principal || opened.body.matches != bound.matches {
            return Err(Failure::new(Code::BadToken, "this plan token is for another call").hint(again).into());
        }
        if opened.body.seen != bound.seen {
            return Err(Failure::new(Code::Moved, "what the plan rests on has changed since").hint(again).into());
        }
        self.inner.sealer.spend(PLAN_TOKEN, &opened).map_err(|failure| failure.hint(again))?;
        Ok(true)
    }

    async fn confirmed_by_human(&self, ask: &Ask<'_>) -> Result<bool, Stop> {
        if self.port.events.can_ask() {
            return self.ask_person(ask).await;
        }
        let Some(approvals) = &self.inner.approvals else {
            return Err(Failure::new(
                Code::NotConfirmed,
                "a person must confirm this, and there is no state folder to ask through",
            )
            .hint("set XDG_STATE_HOME or HOME")
            .into());
        };
        let proposal = Proposal {
            tool: &self.entry.tool.spec().name,
            arguments: self.shown.clone(),
            matches: self.matches.clone(),
            seen: ask.seen.clone(),
            preview: ask.preview,
            effects: ask.effect.names().into_iter().map(str::to_owned).collect(),
            principal: &self.caller.principal,
        };
        match approvals.propose(proposal)? {
            Answered::Approved => Ok(true),
            Answered::Denied => Err(Failure::new(Code::Denied, "a person said no to this").into()),
            Answered::Waiting { id, expires } => {
                Err(Stop::Planned(Plan { approval: Some(id), expires: Some(stamp(expires)), ..self.plan(ask) }))
            }
        }
    }

    async fn ask_person(&self, ask: &Ask<'_>) -> Result<bool, Stop> {
        let name = &self.entry.tool.spec().name;
        let effects = ask.effect.names().join(" and ");
        // The key holds what was seen: an answer given to another state of the world answers another question.
        let key = format!(
            "confirm-{}",
            &Digest::of_parts([self.matches.as_str().as_bytes(), ask.seen.as_str().as_bytes()]).as_str()[..16]
        );
        let kind = InputKind::Form {
            message: format!("{name} will {effects}:\n{}", ask.preview),
            schema: json!({"type": "object", "properties": {
                "confirm": {"type": "boolean", "title": "Do it", "description": "whether this may be done"}},
                "required": ["confirm"]}),
        };
        let answers = self.port.ask(vec![InputRequest { key: key.clone(), kind }]).await?;
        let answer = answers.into_iter().find(|a| a.key == key).map(|a| a.value).unwrap_or_default();
        if answer["action"] == "accept" && answer["content"]["confirm"] == true {
            return Ok(true);
        }
        Err(Failure::new(Code::Denied, "a person said no to this").into())
    }
}
