//! What the official conformance suite wants to find on a server.

mod content;
mod input;
mod prompts;
mod resources;
mod tasks;
mod tool;
mod traffic;

use pintle_core::{BoxFuture, Call, Completions, Confirm, Reference, Toolset};
use serde_json::{Map, Value};
use std::sync::Arc;

pub use tasks::ONLY_AS_TASKS;

/// The tools, resources, prompts and completions of the suite's server scenarios.
#[must_use]
pub fn fixture_toolset() -> Toolset {
    let mut tools = content::tools();
    tools.extend(traffic::tools());
    tools.extend(input::tools());
    tools.extend(tasks::tools());
    Toolset {
        name: "fixture",
        server_name: "pintle-fixture",
        summary: "what the conformance suite looks for",
        instructions: "A server for the conformance suite.",
        confirm: Confirm::Nothing,
        tools,
        resources: Some(Arc::new(resources::Fixed)),
        prompts: prompts::prompts(),
        completions: Some(Arc::new(Cities)),
    }
}

struct Cities;

impl Completions for Cities {
    fn complete<'a>(
        &'a self,
        reference: &'a Reference,
        argument: &'a str,
        value: &'a str,
        _: &'a Map<String, Value>,
        _: &'a Call,
    ) -> BoxFuture<'a, Option<Vec<String>>> {
        Box::pin(async move {
            let mine = matches!(reference, Reference::Prompt(name) if name == prompts::WITH_ARGUMENTS);
            let known = ["paris", "park", "party", "perth"].into_iter().filter(|word| word.starts_with(value));
            (mine && argument == "arg1").then(|| known.map(str::to_owned).collect())
        })
    }
}
