//! `jobs.log`

use crate::{house::House, operations::jobs::of};
use pintle_core::{Answer, Call, Door, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Read the log of a job.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ReadLog {
    /// Its id
    #[schemars(extend("x-cli" = {"positional": 1}))]
    id: String,
    /// Where to go on: `next` of the part before
    #[serde(default)]
    offset: u64,
    /// Bytes, about
    #[serde(default)]
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// Bytes for an agent that says nothing else: they fit into an answer.
const AGENTS: usize = 10_000;

/// A part of the log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogPart {
    /// Lines with their times.
    text: String,
    /// Where the next part begins.
    next: u64,
}

impl Answer for LogPart {
    fn view(&self) -> View {
        View::exact(self.text.clone())
    }
}

impl Query for ReadLog {
    type Host = House;
    type Answer = LogPart;
    const NAME: &'static str = "jobs.log";

    async fn run(self, house: &House, call: &Call) -> Result<LogPart, Stop> {
        let usual = if call.caller().door == Door::Agents { AGENTS } else { usize::MAX };
        let log = of(house)?.log(&self.id, call.caller(), self.offset, self.limit.unwrap_or(usual))?;
        Ok(LogPart { text: log.text, next: log.next })
    }
}
