//! `box.inspect`

use super::{box_add_candy::OLD, box_list_boxes::readable};
use crate::{
    edit::find,
    host::{Host, off_thread},
    model::{self, EntityKind, resolve},
};
use pintle_core::{Answer, Call, Digest, Failure, Query, Spellings, Stop, View};
use pintle_yaml::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Show a box as it comes out: base, candies in order, packages and the rest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Inspect {
    /// Box
    #[serde(rename = "box")]
    #[schemars(extend("x-cli" = {"positional": 1}))]
    owner: String,
    /// Only this field, such as `base`
    format: Option<String>,
    /// Instance, for the container's name
    #[schemars(extend("x-cli" = {"short": "i"}))]
    instance: Option<String>,
    /// Project folder
    #[schemars(extend("x-cli" = {"common": true}))]
    project: Option<String>,
}

/// A box.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Inspected {
    /// Its name.
    name: String,
    /// What it is built on.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// Candies in the order of installation.
    candy: Vec<String>,
    /// Packages by format.
    packages: Map<String, Value>,
    /// Container that it runs as.
    container: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
    #[serde(skip)]
    #[schemars(skip)]
    format: Option<String>,
}

impl Inspected {
    fn value(&self) -> Value {
        // A struct of strings and JSON values always is a JSON value.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Answer for Inspected {
    fn view(&self) -> View {
        let value = self.value();
        let Some(field) = self.format.as_ref().and_then(|field| value.get(field)) else { return View::json(&value) };
        match field {
            Value::String(text) => View::text(text.clone()),
            other => View::text(other.to_string()),
        }
    }
}

impl Query for Inspect {
    type Host = Host;
    type Answer = Inspected;
    const NAME: &'static str = "box.inspect";
    const ALIASES: &'static [&'static str] = &["image.inspect"];
    const SPELLINGS: Spellings = OLD;

    async fn run(self, host: &Host, _: &Call) -> Result<Inspected, Stop> {
        let host = host.clone();
        Ok(off_thread(move || run(&host, self)).await?)
    }
}

fn run(host: &Host, inspect: Inspect) -> Result<Inspected, Failure> {
    let (_, sources) = readable(host, inspect.project.as_deref())?;
    let model = model::read(&sources);
    let owner = find(&sources, &model, EntityKind::Box, &inspect.owner, "box")?;
    let root = sources.first().and_then(|source| source.tree.as_ref().ok()).map(pintle_yaml::Document::root);
    let mut rest = resolve::inspect(&model, owner, root.and_then(|root| root.get("defaults")));
    let text = sources.iter().find(|source| source.file == owner.file).and_then(|source| source.tree.as_ref().ok());
    rest.extend(text.map(|tree| ("sha256".to_owned(), Digest::of(tree.text()).as_str().into())));
    for field in ["name", "base", "candy"] {
        rest.shift_remove(field);
    }
    let packages = match rest.shift_remove("packages") {
        Some(Value::Object(packages)) => packages,
        _ => Map::new(),
    };
    let instance = inspect.instance.filter(|instance| !instance.is_empty());
    let inspected = Inspected {
        name: owner.name.to_owned(),
        base: owner.field("base").and_then(Node::source_text).map(str::to_owned),
        candy: resolve::order(&model, owner).into_iter().map(str::to_owned).collect(),
        packages,
        container: match instance {
            Some(instance) => format!("charly-{}-{instance}", owner.name),
            None => format!("charly-{}", owner.name),
        },
        rest,
        format: inspect.format,
    };
    let value = inspected.value();
    match &inspected.format {
        Some(field) if value.get(field).is_none() => {
            let fields: Vec<&str> = value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
            Err(Failure::invalid_argument("format", format!("the box has no field `{}`", field.escape_debug()))
                .did_you_mean(field, fields.iter().copied())
                .hint(format!("it has {}", fields.join(", "))))
        }
        _ => Ok(inspected),
    }
}
