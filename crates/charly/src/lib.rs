//! The box toolset: operations that author, and later build and run, container boxes described in YAML.
//!
//! Every tool has its own file under `operations`, named as the tool. What they act on is the [`host`]; the rules about
//! project files are the pure functions of the [`model`].

mod edit;
pub mod host;
pub mod leaves;
pub mod model;
mod operations;
mod prompts;
mod resources;
mod version;

pub use edit::{Edit, Edited};
pub use host::Host;
pub use version::{CalVer, commit, version};

use pintle_core::{Confirm, Tool, Toolset, change, query};
use std::sync::Arc;

/// What an agent should know before it calls.
const INSTRUCTIONS: &str = "\
Boxes are container images described in charly.yml, candies are their layers in candy/NAME/charly.yml. Start with \
box.new.project, then box.new.box, box.new.candy, candy.add-rpm (or -deb, -pac, -aur) and box.add-candy; box.validate \
names every error with its place. Edits keep comments and layout and answer a diff; `dry_run` only shows it. An edit that \
adds an error is refused, unless `force` is given; so is one of a file whose sha256 is not `if_match`. `project` names the folder of a project; calls without it act on the \
server's folder, or on the project that was made.";

/// The tools that the seed has, with the resources, prompts and completions of projects.
#[must_use]
pub fn toolset(host: Arc<Host>) -> Toolset {
    use operations::*;
    let tools = [
        query::<version::Version>(&host),
        change::<box_new_project::NewProject>(&host),
        change::<box_new_box::NewBox>(&host),
        change::<box_new_candy::NewCandy>(&host),
        change::<box_set::SetInProject>(&host),
        change::<box_add_candy::AddCandy>(&host),
        change::<box_rm_candy::RemoveCandy>(&host),
        change::<box_write::WriteFile>(&host),
        query::<box_cat::Cat>(&host),
        query::<box_validate::Validate>(&host),
        query::<box_inspect::Inspect>(&host),
        query::<box_list_boxes::ListBoxes>(&host),
        change::<candy_set::SetInCandy>(&host),
        change::<candy_add_rpm::AddRpm>(&host),
        change::<candy_add_deb::AddDeb>(&host),
        change::<candy_add_pac::AddPac>(&host),
        change::<candy_add_aur::AddAur>(&host),
    ];
    Toolset {
        name: "charly",
        server_name: "charly",
        summary: "author, check and run container boxes",
        instructions: INSTRUCTIONS,
        confirm: Confirm::Nothing,
        tools: tools.into_iter().map(leaves::marked).collect(),
        resources: Some(Arc::new(resources::Files::new(Arc::clone(&host)))),
        prompts: prompts::all(),
        completions: Some(Arc::new(resources::Names::new(host))),
    }
}

/// Tools of ours that the seed has not.
#[must_use]
pub fn extra(host: Arc<Host>) -> Toolset {
    let tools: Vec<Arc<dyn Tool>> = vec![change::<operations::box_undo::Undo>(&host)];
    Toolset {
        name: "extra",
        server_name: "charly",
        summary: "what the seeds do not have",
        instructions: "",
        confirm: Confirm::Nothing,
        tools,
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}
