//! A read whose answer is one long text, and which lets a secret slip into it.

use super::World;
use pintle_core::{Call, Exact, Query, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Gives a long text; the secret of the trial world stands at its end, as it may in any log.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct LongText {
    /// How many bytes, about.
    #[schemars(range(max = 50_000_000))]
    bytes: usize,
}

impl Default for LongText {
    fn default() -> Self {
        Self { bytes: 1_000_000 }
    }
}

impl Query for LongText {
    type Host = World;
    type Answer = Exact;
    const NAME: &str = "trial.text";

    async fn run(self, _: &World, call: &Call) -> Result<Exact, Stop> {
        let secret = call.secret("trial", World::SECRET);
        let line = "a line of a log, {\"jsonrpc\":\"2.0\"}\n";
        let mut text = line.repeat(self.bytes / line.len());
        text.push_str(secret.expose());
        text.push('\n');
        Ok(Exact(text))
    }
}
