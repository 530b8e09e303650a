//! A read over several targets, one of them dead.

use super::World;
use pintle_core::{Answer, Call, Code, Failure, Outcome, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Asks each target how it is; the target `dead` never answers.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct FanOut {
    /// Names of targets.
    targets: Vec<String>,
}

impl Default for FanOut {
    fn default() -> Self {
        Self { targets: ["one", "dead", "two"].map(str::to_owned).into() }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Fanned {
    targets: Vec<Target>,
}

#[derive(Serialize, JsonSchema)]
struct Target {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Query for FanOut {
    type Host = World;
    type Answer = Fanned;
    const NAME: &str = "trial.fan-out";

    async fn run(self, _: &World, call: &Call) -> Result<Fanned, Stop> {
        call.check()?;
        let ask = |name: String| match name.as_str() {
            "dead" => Target { name, state: None, error: Some("connection refused".to_owned()) },
            _ => Target { name, state: Some("well".to_owned()), error: None },
        };
        Ok(Fanned { targets: self.targets.into_iter().map(ask).collect() })
    }
}

impl Fanned {
    fn dead(&self) -> Vec<&str> {
        self.targets.iter().filter(|t| t.error.is_some()).map(|t| t.name.as_str()).collect()
    }
}

impl Answer for Fanned {
    fn view(&self) -> View {
        let row = |t: &Target| vec![t.name.clone(), t.state.clone().or_else(|| t.error.clone()).unwrap_or_default()];
        View::table(["TARGET", "STATE"], self.targets.iter().map(row))
    }

    fn outcome(&self) -> Outcome {
        match self.dead().len() {
            0 => Outcome::Ok,
            dead if dead == self.targets.len() => Outcome::Failed,
            _ => Outcome::Partial,
        }
    }

    fn failure(&self) -> Option<Failure> {
        let dead = self.dead();
        (!dead.is_empty()).then(|| Failure::new(Code::Unreachable, format!("no answer from {}", dead.join(", "))))
    }
}
