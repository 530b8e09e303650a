//! `box.new.candy`

use crate::{
    edit::{Draft, Edit, Edited, Ready, commit},
    host::{Host, Inside, PROJECT_FILE, off_thread},
    model::{
        self, EntityKind,
        layout::{finds, places},
        names,
    },
};
use pintle_core::{Call, Change, Code, Effect, Failure, Permit, Prepared, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Add a candy: a stub in candy/NAME/charly.yml.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct NewCandy {
    /// Candy
    #[schemars(extend("x-cli" = {"positional": 1}))]
    name: String,
    #[serde(flatten)]
    edit: Edit,
}

impl Change for NewCandy {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.new.candy";
    const WORST: Effect = Effect::WRITE;
    const ALIASES: &'static [&'static str] = &["image.new.candy", "image.new.layer", "box.new.layer"];

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}

fn prepare(host: &Host, new: NewCandy) -> Result<Prepared<Ready>, Failure> {
    let name = new.name;
    names::entity(&name).map_err(|message| Failure::invalid_argument("name", message))?;
    let draft = Draft::open(host, NewCandy::NAME, new.edit)?;
    let model = model::read(&draft.sources);
    if let Some(candy) = model.get(EntityKind::Candy, &name) {
        let place = format!("{}:{}", candy.file, candy.key.pos());
        return Err(Failure::new(
            Code::AlreadyExists,
            format!("argument `name`: the candy `{name}` is there already, at {place}"),
        )
        .hint("change it with `candy.set`"));
    }
    let folder = folder(&draft)?;
    let folder = format!("{folder}/{name}");
    if draft.project.folder().locate(&Inside::of(&folder))?.exists() {
        return Err(Failure::new(Code::AlreadyExists, format!("the folder `{folder}` is there already"))
            .hint("choose another name, or write its charly.yml with `box.write`"));
    }
    draft.finish(&Inside::of(format!("{folder}/{PROJECT_FILE}")), stub(&name).into_bytes(), None)
}

/// The folder in which the project looks for candies.
fn folder(draft: &Draft) -> Result<String, Failure> {
    let Some(Ok(tree)) = draft.sources.first().map(|source| source.tree.as_ref()) else {
        return Ok("candy".to_owned());
    };
    let places = places(tree.root());
    if finds(&places, "candy/x/charly.yml") {
        return Ok("candy".to_owned());
    }
    let other = places.iter().find(|place| place.path != "box" && !place.path.is_empty());
    other.map(|place| place.path.clone()).ok_or_else(|| {
        Failure::new(Code::Invalid, format!("`discover` in {PROJECT_FILE} names no folder for candies"))
            .hint("add `path: candy` to it")
    })
}

/// A candy that validates and says what is still to be filled in.
fn stub(name: &str) -> String {
    format!(
        "{name}:
  candy:
    version: {}
    # The first line is the summary.
    description: what {name} adds to a box
    rpm:
      packages:
# Replace this by what tells that {name} is there.
{name}-base:
  check: the base system is there
  file: /etc/os-release
  exists: true
",
        crate::version()
    )
}
