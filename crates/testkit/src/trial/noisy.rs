//! A tool that prints where it must not, by itself and through a child.

use super::World;
use pintle_core::{Answer, Call, Code, Failure, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Prints to standard output, and lets a child print too.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Noisy {
    /// How many lines the tool itself prints.
    lines: usize,
    /// Whether a child prints too.
    child: bool,
}

impl Default for Noisy {
    fn default() -> Self {
        Self { lines: 3, child: true }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Noise {
    lines: usize,
}

impl Query for Noisy {
    type Host = World;
    type Answer = Noise;
    const NAME: &str = "trial.noisy";

    async fn run(self, _: &World, _: &Call) -> Result<Noise, Stop> {
        for number in 0..self.lines {
            shout(number);
        }
        if self.child {
            let failed = |error| Failure::new(Code::Unavailable, format!("running `echo`: {error}"));
            tokio::process::Command::new("echo")
                .arg("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":")
                .status()
                .await
                .map_err(failed)?;
        }
        Ok(Noise { lines: self.lines })
    }
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is what it is for")]
fn shout(number: usize) {
    println!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"result\":{{}}}}");
    eprintln!("noise {number}");
}

impl Answer for Noise {
    fn view(&self) -> View {
        View::text(format!("{} lines of noise", self.lines))
    }
}
