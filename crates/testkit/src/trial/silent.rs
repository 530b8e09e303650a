//! A tool that has nothing to say.

use super::World;
use pintle_core::{Call, Exact, Query, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Says nothing.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Silent {}

impl Query for Silent {
    type Host = World;
    type Answer = Exact;
    const NAME: &str = "trial.silent";

    async fn run(self, _: &World, _: &Call) -> Result<Exact, Stop> {
        Ok(Exact(String::new()))
    }
}
