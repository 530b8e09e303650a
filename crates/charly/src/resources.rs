//! Files and boxes of the project as resources, and names for completion.
//!
//! `charly://project/PATH` is a YAML file of the project as it stands, `charly://candy/NAME` the file of a candy,
//! `charly://box/NAME` a box as it comes out, as JSON.

use crate::{
    host::{Host, Inside, off_thread},
    model::{self, Entity, EntityKind, Model, Source, resolve},
};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use pintle_core::{
    BoxFuture, Call, Code, Completions, Contents, Failure, Reference, Resource, ResourceTemplate, Resources,
};
use pintle_yaml::Node;
use serde_json::{Map, Value};
use std::sync::Arc;

const FILE: &str = "charly://project/";
const CANDY: &str = "charly://candy/";
const BOX: &str = "charly://box/";
const YAML: &str = "application/yaml";
const JSON: &str = "application/json";

/// What cannot stand in the path of a URI as it is.
const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`').add(b'{').add(b'}');

/// The resource of a file of the project.
pub(crate) fn uri_of_file(file: &str) -> String {
    format!("{FILE}{}", utf8_percent_encode(file, ESCAPED))
}

/// The project's files and boxes.
pub(crate) struct Files {
    host: Arc<Host>,
}

impl Files {
    pub(crate) fn new(host: Arc<Host>) -> Self {
        Self { host }
    }
}

impl Resources for Files {
    fn list<'a>(&'a self, _: &'a Call) -> BoxFuture<'a, Result<Vec<Resource>, Failure>> {
        let host = Host::clone(&self.host);
        Box::pin(off_thread(move || list(&host)))
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        let template = |template: String, name: &str, description: &str, mime: &str| ResourceTemplate {
            template,
            name: name.to_owned(),
            description: Some(description.to_owned()),
            mime: Some(mime.to_owned()),
        };
        vec![
            template(format!("{BOX}{{name}}"), "box", "a box as it comes out", JSON),
            template(format!("{CANDY}{{name}}"), "candy", "the file of a candy", YAML),
        ]
    }

    fn read<'a>(&'a self, uri: &'a str, _: &'a Call) -> BoxFuture<'a, Result<Option<Vec<Contents>>, Failure>> {
        let host = Host::clone(&self.host);
        let uri = uri.to_owned();
        Box::pin(off_thread(move || read(&host, &uri)))
    }
}

fn list(host: &Host) -> Result<Vec<Resource>, Failure> {
    // Without a project there is nothing to list, and that is no failure.
    let Ok(project) = host.project(None) else { return Ok(Vec::new()) };
    let sources = project.sources()?;
    let model = model::read(&sources);
    let files = sources.iter().map(|source| Resource {
        uri: uri_of_file(&source.file),
        name: source.file.clone(),
        description: summary(&model, source),
        mime: Some(YAML.to_owned()),
        size: source.tree.as_ref().ok().map(|tree| tree.text().len() as u64),
    });
    let boxes = model.of(EntityKind::Box).map(|owner| Resource {
        uri: format!("{BOX}{}", utf8_percent_encode(owner.name, ESCAPED)),
        name: owner.name.to_owned(),
        description: Some(format!("the box {} as it comes out", owner.name)),
        mime: Some(JSON.to_owned()),
        size: None,
    });
    Ok(files.chain(boxes).collect())
}

/// The first line of the description of what a file defines.
fn summary(model: &Model<'_>, source: &Source) -> Option<String> {
    let entity = model.entities.iter().find(|entity| entity.file == source.file)?;
    let text = entity.field("description")?.source_text()?;
    Some(pintle_core::Foreign::one_line(text.lines().next()?))
}

fn read(host: &Host, uri: &str) -> Result<Option<Vec<Contents>>, Failure> {
    let unknown = || Failure::new(Code::NotFound, format!("no resource `{}`", uri.escape_debug()));
    let of = |prefix: &str| {
        let rest = uri.strip_prefix(prefix)?;
        percent_decode_str(rest).decode_utf8().ok().map(|name| name.into_owned())
    };
    let (file, candy, owner) = (of(FILE), of(CANDY), of(BOX));
    if file.is_none() && candy.is_none() && owner.is_none() {
        return Ok(None);
    }
    let project = host.project(None)?;
    let sources = project.sources()?;
    let model = model::read(&sources);
    let file_text = |file: &str| -> Result<Option<Vec<Contents>>, Failure> {
        let stored = project.read(&Inside::of(file))?.ok_or_else(unknown)?;
        Ok(Some(vec![Contents::text(uri, YAML, String::from_utf8_lossy(&stored.bytes))]))
    };
    let get = |kind, name: &str| model.get(kind, name).ok_or_else(unknown);
    if let Some(file) = file {
        let known = sources.iter().any(|source| source.file == file);
        return if known { file_text(&file) } else { Err(unknown()) };
    }
    if let Some(name) = candy {
        return file_text(get(EntityKind::Candy, &name)?.file);
    }
    let owner = get(EntityKind::Box, &owner.unwrap_or_default())?;
    let root = sources.first().and_then(|source| source.tree.as_ref().ok()).map(pintle_yaml::Document::root);
    let value = Value::Object(resolve::inspect(&model, owner, root.and_then(|root: Node<'_>| root.get("defaults"))));
    Ok(Some(vec![Contents::text(uri, JSON, serde_json::to_string_pretty(&value).unwrap_or_default())]))
}

/// Names of boxes and candies, for whoever types one.
pub(crate) struct Names {
    host: Arc<Host>,
}

impl Names {
    pub(crate) fn new(host: Arc<Host>) -> Self {
        Self { host }
    }
}

impl Completions for Names {
    fn complete<'a>(
        &'a self,
        reference: &'a Reference,
        argument: &'a str,
        value: &'a str,
        others: &'a Map<String, Value>,
        _: &'a Call,
    ) -> BoxFuture<'a, Option<Vec<String>>> {
        let kind = kind_of(reference, argument);
        let host = Host::clone(&self.host);
        let (value, project) = (value.to_owned(), others.get("project").and_then(Value::as_str).map(str::to_owned));
        Box::pin(async move {
            let kind = kind?;
            Some(off_thread(move || names(&host, project.as_deref(), kind, &value)).await)
        })
    }
}

/// What an argument names, if it is one of ours.
fn kind_of(reference: &Reference, argument: &str) -> Option<EntityKind> {
    let by_argument = match argument {
        "box" | "boxes" => Some(EntityKind::Box),
        "candy" | "candies" => Some(EntityKind::Candy),
        _ => None,
    };
    match reference {
        Reference::Tool(tool) if tool.starts_with("candy") && argument == "name" => Some(EntityKind::Candy),
        Reference::Tool(tool) if tool.starts_with("box") => by_argument,
        Reference::Prompt(name) if name == "build-from-scratch" || name == "debug-failing-check" => by_argument,
        Reference::Resource(template) if template.starts_with(CANDY) => Some(EntityKind::Candy),
        Reference::Resource(template) if template.starts_with(BOX) => Some(EntityKind::Box),
        _ => None,
    }
}

fn names(host: &Host, project: Option<&str>, kind: EntityKind, begin: &str) -> Vec<String> {
    // Completion offers what there is; a project that cannot be read has nothing to offer.
    let Ok(sources) = host.project(project).and_then(|project| project.sources()) else { return Vec::new() };
    let model = model::read(&sources);
    let named = |entity: &Entity<'_>| entity.name.starts_with(begin).then(|| entity.name.to_owned());
    let mut names: Vec<_> = model.of(kind).filter_map(named).collect();
    names.sort();
    names
}
