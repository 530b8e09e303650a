//! `jobs.list`

use crate::{
    house::House,
    operations::jobs::{of, word},
};
use pintle_core::{Answer, Call, CutRows, Query, Row, Rows, Stop, View};
use pintle_dispatch::JobStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List jobs, the newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(extend("x-cli" = {"default": true}))]
pub(crate) struct ListJobs {
    /// Only those that have not ended
    #[serde(default)]
    open: bool,
}

/// The jobs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Listed(Rows<Listing>);

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
struct Listing(JobStatus);

impl Row for Listing {
    fn key(&self) -> String {
        // The newest first: every digit of its time is turned round.
        let turned = |c: char| c.to_digit(10).and_then(|digit| char::from_digit(9 - digit, 10)).unwrap_or(c);
        format!("{} {}", self.0.created.chars().map(turned).collect::<String>(), self.0.id)
    }
}

impl Answer for Listed {
    fn view(&self) -> View {
        if self.0.is_empty() {
            return View::text("there are no jobs");
        }
        let rows = self.0.iter().map(|Listing(job)| {
            let second = job.created.split('.').next().unwrap_or_default().trim_end_matches('Z').to_owned();
            vec![job.id.clone(), job.tool.clone(), word(job), second, job.message.clone().unwrap_or_default()]
        });
        View::table(["ID", "TOOL", "STATE", "STARTED", "SAYS"], rows.collect::<Vec<_>>())
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.0)
    }
}

impl Query for ListJobs {
    type Host = House;
    type Answer = Listed;
    const NAME: &'static str = "jobs.list";
    const PAGED: bool = true;

    async fn run(self, house: &House, call: &Call) -> Result<Listed, Stop> {
        let all = of(house)?.list(call.caller())?;
        let wanted = all.into_iter().filter(|job| !self.open || !job.state.is_final());
        Ok(Listed(Rows::new(wanted.map(Listing).collect())))
    }
}
