//! `jobs.cancel`

use crate::{
    house::House,
    operations::jobs::{line, of},
};
use pintle_core::{Answer, Call, Change, Digest, Effect, Permit, Prepared, Scope, Stop, View};
use pintle_dispatch::JobStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// End a job; what it has done so far stays.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CancelJob {
    /// Its id
    #[schemars(extend("x-cli" = {"positional": 1}))]
    id: String,
}

/// How it ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Ended(JobStatus);

impl Answer for Ended {
    fn view(&self) -> View {
        View::text(line(&self.0))
    }
}

impl Change for CancelJob {
    type Host = House;
    type Ready = JobStatus;
    type Answer = Ended;
    const NAME: &'static str = "jobs.cancel";
    const WORST: Effect = Effect::WRITE.idempotent();

    async fn prepare(self, house: &House, call: &Call) -> Result<Prepared<JobStatus>, Stop> {
        let status = of(house)?.status(&self.id, call.caller())?;
        let over = status.state.is_final();
        Ok(Prepared {
            effect: if over { Effect::READ } else { Effect::WRITE.idempotent() },
            scopes: if over { Vec::new() } else { vec![scope(house, &status.id)] },
            lanes: Vec::new(),
            preview: format!("ends {}", line(&status)),
            seen: Digest::of(&status.id),
            confirm: None,
            ready: status,
        })
    }

    async fn commit(house: &House, status: JobStatus, permit: &Permit, call: &Call) -> Result<Ended, Stop> {
        if status.state.is_final() {
            return Ok(Ended(status));
        }
        permit.check(Effect::WRITE, &scope(house, &status.id))?;
        Ok(Ended(of(house)?.cancel(&status.id, call.caller()).await?))
    }
}

fn scope(house: &House, id: &str) -> Scope {
    let state = house.state.as_ref().map(|state| state.path().display().to_string()).unwrap_or_default();
    Scope::path(format!("{state}/jobs/{id}"))
}
