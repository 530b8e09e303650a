//! `jobs.wait`

use crate::{
    house::House,
    operations::jobs::{OneJob, of},
};
use pintle_core::{Answer, Call, Door, Failure, Outcome, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Wait until a job has ended.
///
/// Agents get how it stands after 45 seconds, people wait for its end. It ends as the job did.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct WaitForJob {
    /// Its id
    #[schemars(extend("x-cli" = {"positional": 1}))]
    id: String,
    /// Most seconds
    #[serde(default)]
    #[schemars(range(min = 1))]
    seconds: Option<u64>,
}

/// Clients give up after a minute: an answer comes before.
const AGENTS: u64 = 45;

/// The job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Waited(OneJob);

impl Answer for Waited {
    fn view(&self) -> View {
        self.0.shown()
    }

    fn outcome(&self) -> Outcome {
        self.0.reply.as_ref().map_or(Outcome::Ok, |reply| reply.outcome)
    }

    fn failure(&self) -> Option<Failure> {
        self.0.reply.as_ref()?.failure.clone()
    }
}

impl Query for WaitForJob {
    type Host = House;
    type Answer = Waited;
    const NAME: &'static str = "jobs.wait";
    const DEADLINE: Duration = Duration::from_secs(30 * 24 * 3600);

    async fn run(self, house: &House, call: &Call) -> Result<Waited, Stop> {
        let jobs = of(house)?;
        let usual = (call.caller().door == Door::Agents).then_some(AGENTS);
        let mut watch = jobs.watch(&self.id, call.caller())?;
        let ended = async {
            while let Some(status) = watch.next().await {
                if let Some(progress) = status.progress.filter(|_| !status.state.is_final()) {
                    call.progress(progress.done, progress.total, &progress.message);
                }
            }
        };
        tokio::select! {
            () = ended => {}
            () = up(self.seconds.or(usual)) => {}
            // The waiting ends, not the job.
            () = call.cancelled() => {}
        }
        Ok(Waited(OneJob::look(&jobs, &self.id, call)?))
    }
}

async fn up(seconds: Option<u64>) {
    match seconds {
        Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
        None => std::future::pending().await,
    }
}
