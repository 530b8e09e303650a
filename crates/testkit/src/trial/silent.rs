//! A tool that has nothing to say.

use super::World;
use pintle_core::{Answer, Call, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Says nothing.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Silent {}

/// No words at all; an exact text that is empty would be an answer.
#[derive(Serialize, JsonSchema)]
pub(super) struct Nothing {}

impl Answer for Nothing {
    fn view(&self) -> View {
        View::default()
    }
}

impl Query for Silent {
    type Host = World;
    type Answer = Nothing;
    const NAME: &str = "trial.silent";

    async fn run(self, _: &World, _: &Call) -> Result<Nothing, Stop> {
        Ok(Nothing {})
    }
}
