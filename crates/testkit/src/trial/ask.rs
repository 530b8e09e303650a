//! A tool that asks the person behind the client, twice.

use super::World;
use pintle_core::{Call, Exact, InputKind, InputRequest, Query, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Asks for a name, then for a colour; in its questions it lets a secret slip.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AskName {}

impl Query for AskName {
    type Host = World;
    type Answer = Exact;
    const NAME: &str = "trial.ask";
    // Less than a person takes to answer.
    const DEADLINE: Duration = Duration::from_secs(2);

    async fn run(self, _: &World, call: &Call) -> Result<Exact, Stop> {
        let secret = call.secret("trial", World::SECRET);
        let mut told = Vec::new();
        for what in ["name", "colour"] {
            let schema = json!({"type": "object", "properties": {what: {"type": "string"}}, "required": [what]});
            let kind = InputKind::Form { message: format!("which {what}? ({})", secret.expose()), schema };
            for answer in call.ask(vec![InputRequest { key: what.to_owned(), kind }]).await? {
                told.push(answer.value["content"][what].as_str().unwrap_or("nothing").to_owned());
            }
        }
        Ok(Exact(told.join(" likes ")))
    }
}
