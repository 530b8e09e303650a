//! `candy.add-aur`

use super::packages;
use crate::{
    edit::{Edit, Edited, Ready, commit},
    host::{Host, off_thread},
};
use pintle_core::{Call, Change, Effect, Permit, Prepared, Spellings, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Add AUR packages to a candy, those it has apart.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct AddAur {
    /// Candy
    #[schemars(extend("x-cli" = {"positional": 1}))]
    name: String,
    /// Packages
    #[schemars(length(min = 1), extend("x-cli" = {"positional": 2}))]
    packages: Vec<String>,
    #[serde(flatten)]
    edit: Edit,
}

impl Change for AddAur {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "candy.add-aur";
    const WORST: Effect = Effect::WRITE.idempotent();
    const ALIASES: &'static [&'static str] = &["layer.add-aur"];
    const SPELLINGS: Spellings = Spellings { singles: &["packages"], ..Spellings::NONE };

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        let work = move || packages::prepare(&host, Self::NAME, "aur", &self.name, &self.packages, self.edit);
        Ok(off_thread(work).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}
