//! `candy.set`

use super::box_set::{NewValue, path};
use crate::{
    edit::{Draft, Edit, Edited, Ready, commit},
    host::{Host, off_thread},
    model::{self, EntityKind, places},
};
use pintle_core::{Call, Change, Effect, Failure, Permit, Prepared, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Set or delete a value of a candy; paths begin in its body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct SetInCandy {
    /// Candy
    #[schemars(extend("x-cli" = {"positional": 1}))]
    name: String,
    /// `rpm.repo`, `"a.b".c`, `x[2]`, `x[+]`, `x[name=y]`
    #[schemars(extend("x-cli" = {"positional": 2}))]
    path: String,
    /// YAML
    #[schemars(extend("x-cli" = {"positional": 3}))]
    value: Option<String>,
    /// Instead of a value
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    delete: bool,
    #[serde(flatten)]
    edit: Edit,
}

impl Change for SetInCandy {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "candy.set";
    const WORST: Effect = Effect::WRITE;
    const ALIASES: &'static [&'static str] = &["layer.set"];

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}

fn prepare(host: &Host, set: SetInCandy) -> Result<Prepared<Ready>, Failure> {
    let path = path(&set.path)?;
    let new = NewValue::of(set.value.as_deref(), set.delete)?;
    let draft = Draft::open(host, SetInCandy::NAME, set.edit)?;
    let spot = {
        let model = model::read(&draft.sources);
        places::of_field(draft.find(&model, EntityKind::Candy, &set.name, "name")?, path.segments())?
    };
    new.put(draft, spot)
}
