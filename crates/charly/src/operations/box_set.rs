//! `box.set`

use crate::{
    edit::{Draft, Edit, Edited, Ready, commit, unparsed},
    host::{Host, Inside, PROJECT_FILE, off_thread},
    model::{self, places, source::told},
};
use pintle_core::{Call, Change, Effect, Failure, Permit, Prepared, Stop};
use pintle_yaml::{Limits, Path, Yaml};
use schemars::JsonSchema;
use serde::Deserialize;

/// Set or delete a value in charly.yml. `boxes.NAME.…` means the body of that box.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct SetInProject {
    /// `web.box.base`, `"a.b".c`, `x[2]`, `x[+]`, `x[name=y]`
    #[schemars(extend("x-cli" = {"positional": 1}))]
    path: String,
    /// YAML
    #[schemars(extend("x-cli" = {"positional": 2}))]
    value: Option<String>,
    /// Instead of a value
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    delete: bool,
    #[serde(flatten)]
    edit: Edit,
}

impl Change for SetInProject {
    type Host = Host;
    type Ready = Ready;
    type Answer = Edited;
    const NAME: &'static str = "box.set";
    const WORST: Effect = Effect::WRITE;
    const ALIASES: &'static [&'static str] = &["image.set"];

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        let host = host.clone();
        Ok(off_thread(move || prepare(&host, self)).await?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Edited, Stop> {
        commit(host, ready, permit, call).await
    }
}

fn prepare(host: &Host, set: SetInProject) -> Result<Prepared<Ready>, Failure> {
    let path = path(&set.path)?;
    let new = NewValue::of(set.value.as_deref(), set.delete)?;
    let draft = Draft::open(host, SetInProject::NAME, set.edit)?;
    if let Some(Err(problems)) = draft.sources.first().map(|source| source.tree.as_ref()) {
        return Err(unparsed(PROJECT_FILE, problems));
    }
    let spot = {
        let model = model::read(&draft.sources);
        let root = draft.sources.first().and_then(|source| source.tree.as_ref().ok()).map(pintle_yaml::Document::root);
        let literal = ["boxes", "images"]
            .iter()
            .any(|word| set.path.starts_with(word) && root.is_some_and(|root| root.get(word).is_some()));
        places::of_box_path(&model, literal, &path)?
    };
    new.put(draft, spot)
}

/// A path from a caller.
pub(crate) fn path(text: &str) -> Result<Path, Failure> {
    Path::parse(text)
        .map_err(|error| Failure::invalid_argument("path", format!("column {}: {}", error.column, error.message)))
}

/// What a path is to hold from now on.
pub(crate) enum NewValue {
    /// A value.
    Set(Yaml),
    /// Nothing.
    Delete,
}

impl NewValue {
    pub(crate) fn of(value: Option<&str>, delete: bool) -> Result<Self, Failure> {
        match (value, delete) {
            (None, true) => Ok(Self::Delete),
            (None, false) => Err(Failure::invalid_argument("value", "is missing").hint("give a value, or `delete`")),
            (Some(_), true) => {
                Err(Failure::invalid_argument("value", "is given together with `delete`").hint("leave one of them out"))
            }
            (Some(text), false) => Yaml::parse(text, Limits::default())
                .map(Self::Set)
                .map_err(|problems| Failure::invalid_argument("value", "is no YAML").problems(told("value", problems))),
        }
    }

    pub(crate) fn put(&self, draft: Draft, spot: places::Spot) -> Result<Prepared<Ready>, Failure> {
        let text = draft.yaml(&spot.file, |editor| match self {
            Self::Set(value) => editor.set(&spot.path, value),
            Self::Delete => editor.delete(spot.whole.as_ref().unwrap_or(&spot.path)),
        })?;
        draft.finish(&Inside::of(spot.file), text, None)
    }
}
