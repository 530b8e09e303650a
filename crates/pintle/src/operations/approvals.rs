//! `approvals`

use crate::house::House;
use pintle_core::{Answer, Call, Code, Doors, Failure, Query, Stop, View};
use pintle_dispatch::{Approval, Approvals};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// List what agents propose and people have not decided yet, oldest first.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListApprovals {}

/// The proposals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Proposals(Vec<Proposal>);

/// One proposal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Proposal {
    /// What `pintle approve` and `pintle deny` take.
    id: String,
    /// The tool.
    tool: String,
    /// Its arguments, secrets masked.
    arguments: Value,
    /// When it was proposed, RFC 3339.
    asked: String,
    /// What it would do, by name.
    effects: Vec<String>,
    /// The change as a person reads it.
    preview: String,
}

impl From<Approval> for Proposal {
    fn from(approval: Approval) -> Self {
        let Approval { id, tool, arguments, asked, effects, preview, .. } = approval;
        Self { id, tool, arguments, asked, effects, preview }
    }
}

impl Answer for Proposals {
    fn view(&self) -> View {
        if self.0.is_empty() {
            return View::text("nothing waits for a yes");
        }
        let rows = self
            .0
            .iter()
            .map(|p| vec![p.id.clone(), p.tool.clone(), p.effects.join("+"), p.asked.clone(), p.arguments.to_string()]);
        let mut view = View::table(["ID", "TOOL", "EFFECTS", "ASKED", "ARGUMENTS"], rows.collect::<Vec<_>>());
        for proposal in self.0.iter().filter(|proposal| !proposal.preview.is_empty()) {
            view = view.and_text(format!("\n{}:\n{}", proposal.id, proposal.preview.trim_end()));
        }
        view.and_text("\n`pintle approve ID` or `pintle deny ID` decides")
    }
}

/// The proposals of this user.
///
/// # Errors
/// Code `unavailable` where no state can be kept.
pub(crate) fn of(house: &House) -> Result<Approvals, Failure> {
    let state = house.state.clone().ok_or_else(|| {
        Failure::new(Code::Unavailable, "there is no folder for state, so nothing can wait for a yes")
            .hint("set HOME or XDG_STATE_HOME")
    })?;
    Ok(Approvals::new(state))
}

impl Query for ListApprovals {
    type Host = House;
    type Answer = Proposals;
    const NAME: &'static str = "approvals";
    const DOORS: Doors = Doors::People;

    async fn run(self, house: &House, _: &Call) -> Result<Proposals, Stop> {
        Ok(Proposals(of(house)?.waiting()?.into_iter().map(Proposal::from).collect()))
    }
}
