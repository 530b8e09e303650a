//! A tool that needs a terminal.

use super::World;
use pintle_core::{Attach, Call, Exact, Query, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Opens a shell.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Terminal {}

impl Query for Terminal {
    type Host = World;
    type Answer = Exact;
    const NAME: &str = "trial.terminal";

    async fn run(self, _: &World, _: &Call) -> Result<Exact, Stop> {
        Err(Stop::Attach(Attach { argv: vec!["true".to_owned()], instead: "call `trial.echo`".to_owned() }))
    }
}
