//! `box.new.box`

use crate::{
    edit::{Draft, Edit, Edited, Ready, commit, edit_text},
    host::{Host, Inside, PROJECT_FILE, off_thread},
    model::{
        self, EntityKind,
        layout::{finds, places},
        names, resolve,
    },
};
use pintle_core::{Call, Change, Code, Effect, Failure, Permit, Prepared, Spellings, Stop};
use pintle_yaml::{Path, Yaml};
use schemars::JsonSchema;
use serde::Deserialize;

/// Add a box to charly.yml.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct NewBox {
    /// Box
    #[schemars(extend("x-cli" = {"positional": 1}))]
    name: String,
    /// Image, other box, or `scratch`
    base: String,
    /// In order
    #[serde(default)]
    candies: Vec<String>,
    /// In box/NAME/charly.yml
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    split: bool,
    #[serde(flatten)]
    edit: Edit,
}

impl Change for NewBox {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.new.box";
    const WORST: Effect = Effect::WRITE;
    const ALIASES: &'static [&'static str] = &["image.new.box", "image.new.image", "box.new.image"];
    const SPELLINGS: Spellings =
        Spellings { renames: &[("layers", "candies")], singles: &["candies"], ..Spellings::NONE };

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}

fn prepare(host: &Host, new: NewBox) -> Result<Prepared<Ready>, Failure> {
    names::entity(&new.name).map_err(|message| Failure::invalid_argument("name", message))?;
    names::base(&new.base).map_err(|message| Failure::invalid_argument("base", message))?;
    let draft = Draft::open(host, NewBox::NAME, new.edit)?;
    check_free(&draft, &new.name)?;
    for candy in &new.candies {
        known_candy(&draft, "candies", candy)?;
    }
    let mut body = vec![("base".to_owned(), Yaml::text(&new.base))];
    if !new.candies.is_empty() {
        body.push(("candy".to_owned(), Yaml::list(new.candies.into_iter().map(Yaml::from)).in_flow()));
    }
    let node = Yaml::map([("box", Yaml::map(body))]);
    let path = Path::of_keys([new.name.as_str()]);
    if !new.split {
        let text = draft.yaml(PROJECT_FILE, |editor| editor.set(&path, &node))?;
        return draft.finish(&Inside::of(PROJECT_FILE), text, None);
    }
    let file = format!("box/{}/{PROJECT_FILE}", new.name);
    let found = draft.sources.iter().filter_map(|source| source.tree.as_ref().ok()).next();
    if !found.is_none_or(|tree| finds(&places(tree.root()), &file)) {
        return Err(Failure::new(Code::Invalid, format!("`discover` in {PROJECT_FILE} does not find `{file}`"))
            .hint("add `path: box` to it, or leave `split` out"));
    }
    let inside = Inside::of(&file);
    if draft.project.folder().locate(&inside)?.exists() {
        return Err(Failure::new(Code::AlreadyExists, format!("`{file}` is there already")));
    }
    let text = edit_text(&file, "", |editor| editor.set(&path, &node))?;
    draft.finish(&inside, text, None)
}

/// Refuses a name that something at the top of charly.yml, or another box, has.
fn check_free(draft: &Draft, name: &str) -> Result<(), Failure> {
    let model = model::read(&draft.sources);
    let taken = |what: &str, place: String| {
        Failure::new(Code::AlreadyExists, format!("argument `name`: {what} `{name}` is there already, at {place}"))
            .hint("choose another name, or change it with `box.set`")
    };
    if let Some(entity) = model.get(EntityKind::Box, name) {
        return Err(taken("the box", format!("{}:{}", entity.file, entity.key.pos())));
    }
    let main = draft.sources.first().and_then(|source| source.tree.as_ref().ok());
    match main.and_then(|tree| tree.root().entry(name)) {
        Some((key, _)) => Err(taken("a node", format!("{PROJECT_FILE}:{}", key.pos()))),
        None => Ok(()),
    }
}

/// Refuses a candy that the project does not have, unless it is one of another repository.
pub(crate) fn known_candy(draft: &Draft, argument: &str, name: &str) -> Result<(), Failure> {
    if names::is_remote(name) {
        return Ok(());
    }
    let model = model::read(&draft.sources);
    if resolve::is_known(&model, name) {
        return Ok(());
    }
    let known: Vec<_> = model.of(EntityKind::Candy).map(|candy| candy.name).collect();
    let shown = name.escape_debug();
    Err(Failure::new(Code::NotFound, format!("argument `{argument}`: no candy `{shown}` in the project"))
        .did_you_mean(name, known)
        .hint("`box.new.candy` makes one; a candy of another repository is `@host/owner/repo/path:ref`"))
}
