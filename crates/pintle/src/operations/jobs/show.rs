//! `jobs.show`

use crate::{
    house::House,
    operations::jobs::{OneJob, of},
};
use pintle_core::{Answer, Call, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Show how a job stands, the end of its log, and its answer.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ShowJob {
    /// Its id
    #[schemars(extend("x-cli" = {"positional": 1}))]
    id: String,
}

/// The job.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Shown(OneJob);

impl Answer for Shown {
    fn view(&self) -> View {
        self.0.shown()
    }
}

impl Query for ShowJob {
    type Host = House;
    type Answer = Shown;
    const NAME: &'static str = "jobs.show";

    async fn run(self, house: &House, call: &Call) -> Result<Shown, Stop> {
        Ok(Shown(OneJob::look(&of(house)?, &self.id, call)?))
    }
}
