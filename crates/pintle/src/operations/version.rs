//! `version`

use crate::house::House;
use pintle_core::{Answer, Call, Doors, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tell the version of this program.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Version {}

/// The versions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Versions {
    /// Of the program.
    version: &'static str,
    /// Of the box toolset: year, day of the year, hour and minute.
    charly: &'static str,
}

impl Answer for Versions {
    fn view(&self) -> View {
        View::text(format!("pintle {} (charly {})", self.version, self.charly))
    }
}

impl Query for Version {
    type Host = House;
    type Answer = Versions;
    const NAME: &'static str = "version";
    const DOORS: Doors = Doors::People;

    async fn run(self, _: &House, _: &Call) -> Result<Versions, Stop> {
        Ok(Versions { version: env!("CARGO_PKG_VERSION"), charly: pintle_charly::version() })
    }
}
