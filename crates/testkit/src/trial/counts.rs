//! What goes on in the trial world, for those who share no memory with it.

use super::World;
use pintle_core::{Answer, Call, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

/// Counts the calls that run and the writes that were done.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Counts {}

#[derive(Serialize, JsonSchema)]
pub(super) struct Counted {
    counting: usize,
    hanging: usize,
    cancelled: usize,
    writes: usize,
}

impl Query for Counts {
    type Host = World;
    type Answer = Counted;
    const NAME: &str = "trial.counts";

    async fn run(self, world: &World, _: &Call) -> Result<Counted, Stop> {
        let counting = world.counting.load(Ordering::SeqCst);
        Ok(Counted { counting, hanging: world.hanging(), cancelled: world.cancelled(), writes: world.writes() })
    }
}

impl Answer for Counted {
    fn view(&self) -> View {
        View::text(format!("{} counting, {} hanging, {} cancelled", self.counting, self.hanging, self.cancelled))
    }
}
