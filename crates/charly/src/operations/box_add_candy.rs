//! `box.add-candy`

use super::box_new_box::known_candy;
use crate::{
    edit::{Draft, Edit, Edited, Ready, commit},
    host::{Host, Inside, off_thread},
    model::{self, EntityKind, places, resolve},
};
use pintle_core::{Call, Change, Effect, Failure, Permit, Prepared, Spellings, Stop};
use pintle_yaml::{Segment, Yaml};
use schemars::JsonSchema;
use serde::Deserialize;

/// Add a candy to a box, unless it has it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct AddCandy {
    /// Box
    #[serde(rename = "box")]
    #[schemars(extend("x-cli" = {"positional": 1}))]
    owner: String,
    /// Candy, or `@host/owner/repo/path:ref`
    #[schemars(extend("x-cli" = {"positional": 2}))]
    candy: String,
    #[serde(flatten)]
    edit: Edit,
}

/// How older callers name box and candy.
pub(crate) const OLD: Spellings = Spellings { renames: &[("image", "box"), ("layer", "candy")], ..Spellings::NONE };

/// The field that holds a box's candies.
pub(crate) fn candies() -> Vec<Segment> {
    vec![Segment::Key("candy".to_owned())]
}

impl Change for AddCandy {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.add-candy";
    const WORST: Effect = Effect::WRITE.idempotent();
    const ALIASES: &'static [&'static str] = &["image.add-candy", "image.add-layer", "box.add-layer"];
    const SPELLINGS: Spellings = OLD;

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}

fn prepare(host: &Host, add: AddCandy) -> Result<Prepared<Ready>, Failure> {
    let draft = Draft::open(host, AddCandy::NAME, add.edit)?;
    let (spot, listed) = {
        let model = model::read(&draft.sources);
        let owner = draft.find(&model, EntityKind::Box, &add.owner, "box")?;
        let listed = resolve::listed(owner, "candy").iter().any(|(_, name)| *name == add.candy);
        (places::of_field(owner, &candies())?, listed)
    };
    if !listed {
        known_candy(&draft, "candy", &add.candy)?;
    }
    let text = draft.yaml(&spot.file, |editor| {
        if listed { Ok(false) } else { editor.append(&spot.path, &[Yaml::text(&add.candy)]) }
    })?;
    draft.finish(&Inside::of(spot.file), text, None)
}
