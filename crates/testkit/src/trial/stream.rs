//! A read that tells rows and progress ahead of its answer.

use super::World;
use pintle_core::{Call, LogLevel, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{sync::atomic::Ordering, time::Duration};

/// Counts, telling each number as it comes.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Stream {
    /// How far.
    #[schemars(range(min = 1, max = 1000))]
    to: u32,
    /// Milliseconds between two numbers.
    #[schemars(range(max = 600_000))]
    every: u32,
}

impl Default for Stream {
    fn default() -> Self {
        Self { to: 3, every: 1 }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Counted {
    counted: u32,
}

impl Query for Stream {
    type Host = World;
    type Answer = Counted;
    const NAME: &str = "trial.stream";
    const DEADLINE: Duration = Duration::from_secs(3600);

    async fn run(self, world: &World, call: &Call) -> Result<Counted, Stop> {
        world.counting.fetch_add(1, Ordering::SeqCst);
        let counted = self.count(call).await;
        world.counting.fetch_sub(1, Ordering::SeqCst);
        counted
    }
}

impl Stream {
    async fn count(self, call: &Call) -> Result<Counted, Stop> {
        for number in 1..=self.to {
            tokio::time::sleep(Duration::from_millis(self.every.into())).await;
            call.check()?;
            call.emit(&json!({ "number": number }));
            call.log(LogLevel::Info, "trial", json!({ "number": number }));
            call.progress(number.into(), Some(self.to.into()), &format!("{number} of {}", self.to));
        }
        Ok(Counted { counted: self.to })
    }
}

impl pintle_core::Answer for Counted {
    fn view(&self) -> View {
        View::text(format!("counted to {}", self.counted))
    }
}
