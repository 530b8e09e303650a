//! The operations of the house itself, for people only.

use crate::operations;
use pintle_core::{Confirm, Toolset, change, query};
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
    let tools = vec![
        query::<operations::approvals::ListApprovals>(&house),
        change::<operations::approve::Approve>(&house),
        change::<operations::deny::Deny>(&house),
        query::<operations::doctor::Doctor>(&house),
        change::<operations::link::LinkNames>(&house),
        query::<operations::tools::ListTools>(&house),
        query::<operations::version::Version>(&house),
    ];
    Toolset {
        name: "pintle",
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
