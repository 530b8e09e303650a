//! `approve`

use crate::{house::House, operations::approvals};
use pintle_core::{Answer, Call, Change, Code, Digest, Doors, Effect, Failure, Permit, Prepared, Scope, Stop, View};
use pintle_dispatch::Decision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Say yes to a proposal: the same call, sent again by whoever proposed it, runs once.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Approve {
    /// Its id, as `pintle approvals` lists it
    #[schemars(extend("x-cli" = {"positional": 1}))]
    id: String,
}

/// What was decided.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Decided {
    /// Id of the proposal.
    id: String,
    /// The tool.
    tool: String,
    /// `approved` or `denied`.
    decision: &'static str,
}

impl Answer for Decided {
    fn view(&self) -> View {
        View::text(format!("{} {}: {}", self.decision, self.id, self.tool))
    }
}

/// A decision that is ready to be written down.
#[derive(Debug)]
pub(crate) struct Ready {
    id: String,
    decision: Decision,
}

/// Looks the proposal up, so that what is decided is what waits.
pub(crate) fn prepare(house: &House, id: String, decision: Decision) -> Result<Prepared<Ready>, Failure> {
    let waiting = approvals::of(house)?.waiting()?;
    let Some(found) = waiting.iter().find(|approval| approval.id == id) else {
        return Err(Failure::new(Code::NotFound, format!("no proposal `{id}` is waiting"))
            .did_you_mean(&id, waiting.iter().map(|approval| approval.id.as_str()))
            .hint("`pintle approvals` lists them"));
    };
    let word = said(decision);
    Ok(Prepared {
        effect: Effect::WRITE,
        scopes: vec![scope(house)],
        lanes: Vec::new(),
        preview: format!("{word}: {} {}\n{}", found.tool, found.arguments, found.preview),
        seen: Digest::of_parts([id.as_bytes(), found.preview.as_bytes()]),
        confirm: None,
        ready: Ready { id, decision },
    })
}

/// Writes the decision down.
pub(crate) fn commit(house: &House, ready: &Ready, permit: &Permit) -> Result<Decided, Failure> {
    permit.check(Effect::WRITE, &scope(house))?;
    let approval = approvals::of(house)?.decide(&ready.id, ready.decision)?;
    Ok(Decided { id: approval.id, tool: approval.tool, decision: said(ready.decision) })
}

fn scope(house: &House) -> Scope {
    Scope::path(house.state.as_ref().map(|state| state.path().display().to_string()).unwrap_or_default())
}

fn said(decision: Decision) -> &'static str {
    if decision == Decision::Approved { "approved" } else { "denied" }
}

impl Change for Approve {
    type Host = House;
    type Ready = Ready;
    type Answer = Decided;
    const NAME: &'static str = "approve";
    const WORST: Effect = Effect::WRITE;
    const DOORS: Doors = Doors::People;

    async fn prepare(self, house: &House, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(prepare(house, self.id, Decision::Approved)?)
    }

    async fn commit(house: &House, ready: Ready, permit: &Permit, _: &Call) -> Result<Decided, Stop> {
        Ok(commit(house, &ready, permit)?)
    }
}
