//! The operations of the house itself: for people; those on jobs for agents, too.

use crate::operations;
use pintle_core::{Confirm, Tool, Toolset, change, query};
use pintle_dispatch::StateFolder;
use std::sync::Arc;

/// What the program is for, in one line.
pub(crate) const SUMMARY: &str = "Operate machines through one set of definitions, by hand and by AI agents";

/// What the operations of the house act on.
pub(crate) struct House {
    /// Where this user's state is kept, if it can be.
    pub(crate) state: Option<StateFolder>,
}

/// The operations.
pub(crate) fn toolset(state: Option<StateFolder>) -> Toolset {
    let house = Arc::new(House { state });
    let mut tools = vec![
        query::<operations::approvals::ListApprovals>(&house),
        change::<operations::approve::Approve>(&house),
        change::<operations::deny::Deny>(&house),
        query::<operations::audit::VerifyAudit>(&house),
        query::<operations::doctor::Doctor>(&house),
    ];
    tools.extend(of_jobs(&house));
    tools.extend([
        change::<operations::link::LinkNames>(&house),
        query::<operations::tools::ListTools>(&house),
        query::<operations::version::Version>(&house),
    ]);
    named("pintle", tools)
}

/// The operations on jobs, for agents that have them on request.
pub(crate) fn jobs(state: Option<StateFolder>) -> Toolset {
    named("extra", of_jobs(&Arc::new(House { state })).into())
}

fn of_jobs(house: &Arc<House>) -> [Arc<dyn Tool>; 5] {
    [
        query::<operations::jobs::list::ListJobs>(house),
        query::<operations::jobs::show::ShowJob>(house),
        query::<operations::jobs::log::ReadLog>(house),
        query::<operations::jobs::wait::WaitForJob>(house),
        change::<operations::jobs::cancel::CancelJob>(house),
    ]
}

fn named(name: &'static str, tools: Vec<Arc<dyn Tool>>) -> Toolset {
    Toolset {
        name,
        server_name: "pintle",
        summary: SUMMARY,
        instructions: "",
        confirm: Confirm::Nothing,
        tools,
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}
