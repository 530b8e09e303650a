//! `deny`

use crate::{
    house::House,
    operations::approve::{Decided, Ready, commit, prepare},
};
use pintle_core::{Call, Change, Doors, Effect, Permit, Prepared, Stop};
use pintle_dispatch::Decision;
use schemars::JsonSchema;
use serde::Deserialize;

/// Say no to a proposal: the same call, sent again by whoever proposed it, is refused once.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Deny {
    /// Its id, as `pintle approvals` lists it
    #[schemars(extend("x-cli" = {"positional": 1}))]
    id: String,
}

impl Change for Deny {
    type Host = House;
    type Ready = Ready;
    type Answer = Decided;
    const NAME: &'static str = "deny";
    const WORST: Effect = Effect::WRITE;
    const DOORS: Doors = Doors::People;

    async fn prepare(self, house: &House, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(prepare(house, self.id, Decision::Denied)?)
    }

    async fn commit(house: &House, ready: Ready, permit: &Permit, _: &Call) -> Result<Decided, Stop> {
        Ok(commit(house, &ready, permit)?)
    }
}
