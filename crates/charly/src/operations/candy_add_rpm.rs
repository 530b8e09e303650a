//! `candy.add-rpm`

use super::packages;
use crate::{
    edit::{Edit, Edited, Ready, commit},
    host::{Host, off_thread},
};
use pintle_core::{Call, Change, Effect, Permit, Prepared, Spellings, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Add rpm packages to a candy, those it has apart.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct AddRpm {
    /// Candy
    #[schemars(extend("x-cli" = {"positional": 1}))]
    name: String,
    /// Packages
    #[schemars(length(min = 1), extend("x-cli" = {"positional": 2}))]
    packages: Vec<String>,
    #[serde(flatten)]
    edit: Edit,
}

impl Change for AddRpm {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "candy.add-rpm";
    const WORST: Effect = Effect::WRITE.idempotent();
    const ALIASES: &'static [&'static str] = &["layer.add-rpm"];
    const SPELLINGS: Spellings = Spellings { singles: &["packages"], ..Spellings::NONE };

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        let work = move || packages::prepare(&host, Self::NAME, "rpm", &self.name, &self.packages, self.edit);
        Ok(off_thread(work).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}
