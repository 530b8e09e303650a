//! `box.list.boxes`

use crate::{
    edit::{refuse_newer, unparsed},
    host::{Host, Project, off_thread},
    model::{self, EntityKind, Source, resolve},
};
use pintle_core::{Answer, Call, CutRows, Failure, Query, Row, Rows, Stop, View};
use pintle_yaml::Node;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List the boxes, each with the status of its worst candy.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct ListBoxes {
    /// Project folder
    #[schemars(extend("x-cli" = {"common": true}))]
    project: Option<String>,
}

/// The boxes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Boxes {
    /// The project's folder.
    project: String,
    /// The boxes, by name.
    boxes: Rows<Listed>,
}

/// A box.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Listed {
    /// Its name.
    name: String,
    /// `working`, `testing` or `broken`.
    status: &'static str,
    /// What it is built on.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// The file it stands in.
    file: String,
}

impl Row for Listed {
    fn key(&self) -> String {
        self.name.clone()
    }
}

impl Answer for Boxes {
    fn view(&self) -> View {
        if self.boxes.is_empty() {
            return View::text("no boxes yet; `box.new.box` makes one");
        }
        let lines: Vec<_> = self.boxes.iter().map(|listed| format!("{} [{}]", listed.name, listed.status)).collect();
        View::text(lines.join("\n"))
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.boxes)
    }
}

impl Query for ListBoxes {
    type Host = Host;
    type Answer = Boxes;
    const NAME: &'static str = "box.list.boxes";
    const ALIASES: &'static [&'static str] = &["image.list.boxes", "image.list.images", "box.list.images"];
    const PAGED: bool = true;

    async fn run(self, host: &Host, _: &Call) -> Result<Boxes, Stop> {
        let host = host.clone();
        Ok(off_thread(move || run(&host, &self)).await?)
    }
}

fn run(host: &Host, list: &ListBoxes) -> Result<Boxes, Failure> {
    let (project, sources) = readable(host, list.project.as_deref())?;
    let model = model::read(&sources);
    let boxes = model.of(EntityKind::Box).map(|owner| Listed {
        name: owner.name.to_owned(),
        status: resolve::status(&model, owner),
        base: owner.field("base").and_then(Node::source_text).map(str::to_owned),
        file: owner.file.to_owned(),
    });
    Ok(Boxes { project: project.shown(), boxes: Rows::new(boxes.collect()) })
}

/// A project of which every file can be read.
pub(crate) fn readable(host: &Host, project: Option<&str>) -> Result<(Project, Vec<Source>), Failure> {
    let project = host.project(project)?;
    let sources = project.sources()?;
    refuse_newer(&sources)?;
    if let Some((source, problems)) = sources.iter().find_map(|source| Some((source, source.tree.as_ref().err()?))) {
        return Err(unparsed(&source.file, problems));
    }
    Ok((project, sources))
}
