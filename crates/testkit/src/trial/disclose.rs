//! A read that lets a secret leave, and one place where it would slip out unasked.

use super::World;
use pintle_core::{Answer, Call, Effect, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shows the secret of the trial world to whoever may see it.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Disclose {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Disclosed {
    secret: String,
}

impl Query for Disclose {
    type Host = World;
    type Answer = Disclosed;
    const NAME: &str = "trial.disclose";
    const EFFECT: Effect = Effect::DISCLOSE;

    async fn run(self, _: &World, _: &Call) -> Result<Disclosed, Stop> {
        Ok(Disclosed { secret: World::SECRET.to_owned() })
    }
}

impl Answer for Disclosed {
    fn view(&self) -> View {
        View::text(format!("the secret is {}", self.secret))
    }
}
