//! `version`

use crate::Host;
use pintle_core::{Answer, Call, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of this program.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Version {}

/// The version.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Versioned {
    /// Year, day of the year, hour and minute: `YYYY.DDD.HHMM`.
    version: &'static str,
    /// Commit it was built from.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
}

impl Answer for Versioned {
    fn view(&self) -> View {
        View::text(self.version)
    }
}

impl Query for Version {
    type Host = Host;
    type Answer = Versioned;
    const NAME: &'static str = "version";

    async fn run(self, _: &Host, _: &Call) -> Result<Versioned, Stop> {
        Ok(Versioned { version: crate::version(), commit: crate::commit() })
    }
}
