//! `box.rm-candy`

use super::box_add_candy::{OLD, candies};
use crate::{
    edit::{Draft, Edit, Edited, Ready, commit},
    host::{Host, Inside, off_thread},
    model::{self, EntityKind, places},
};
use pintle_core::{Call, Change, Effect, Failure, Permit, Prepared, Spellings, Stop};
use pintle_yaml::Yaml;
use schemars::JsonSchema;
use serde::Deserialize;

/// Remove a candy from a box, if it has it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct RemoveCandy {
    /// Box
    #[serde(rename = "box")]
    #[schemars(extend("x-cli" = {"positional": 1}))]
    owner: String,
    /// Candy
    #[schemars(extend("x-cli" = {"positional": 2}))]
    candy: String,
    #[serde(flatten)]
    edit: Edit,
}

impl Change for RemoveCandy {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.rm-candy";
    const WORST: Effect = Effect::WRITE.idempotent();
    const ALIASES: &'static [&'static str] = &["image.rm-candy", "image.rm-layer", "box.rm-layer"];
    const SPELLINGS: Spellings = OLD;

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}

fn prepare(host: &Host, remove: RemoveCandy) -> Result<Prepared<Ready>, Failure> {
    let draft = Draft::open(host, RemoveCandy::NAME, remove.edit)?;
    let spot = {
        let model = model::read(&draft.sources);
        places::of_field(draft.find(&model, EntityKind::Box, &remove.owner, "box")?, &candies())?
    };
    let text = draft.yaml(&spot.file, |editor| editor.remove_item(&spot.path, &Yaml::text(&remove.candy)))?;
    draft.finish(&Inside::of(spot.file), text, None)
}
