//! A call that ends only when somebody gives up.

use super::World;
use pintle_core::{Call, Exact, Query, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{sync::atomic::Ordering, time::Duration};

/// Waits until it is cancelled.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Hang {}

impl Query for Hang {
    type Host = World;
    type Answer = Exact;
    const NAME: &str = "trial.hang";
    const DEADLINE: Duration = Duration::from_secs(3600);

    async fn run(self, world: &World, call: &Call) -> Result<Exact, Stop> {
        world.hanging.fetch_add(1, Ordering::SeqCst);
        call.cancelled().await;
        world.hanging.fetch_sub(1, Ordering::SeqCst);
        world.cancelled.fetch_add(1, Ordering::SeqCst);
        call.check()?;
        Ok(Exact("nobody gave up".to_owned()))
    }
}
