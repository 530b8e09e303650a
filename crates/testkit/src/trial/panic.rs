//! A tool that breaks down.

use super::World;
use pintle_core::{Call, Exact, Query, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Breaks down.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Panic {}

impl Query for Panic {
    type Host = World;
    type Answer = Exact;
    const NAME: &str = "trial.panic";

    async fn run(self, world: &World, _: &Call) -> Result<Exact, Stop> {
        assert!(world.value().is_empty(), "as it was asked to");
        Ok(Exact(String::new()))
    }
}
