//! Programs of others as tools: a pack describes one as data, and this crate runs what the pack allows.
//!
//! - **Typed arguments, no shell.** What a call gives is checked against the pack, becomes one argument vector, and is
//!   started as that.
//! - **Root's rights by the helper only.** A verb that needs them goes through `sudo` to a small program that reads the
//!   pack and checks the arguments again; a pack of a user never gets them.
//! - **Success is proved.** An exit code of 0 is not believed where the pack says what else must be true: no line that
//!   tells of an error, a file made, nothing left mounted.
//! - **What it says is data.** Lines lose what steers a terminal, secrets are masked, an answer is bounded, and the whole
//!   text is kept where it can be read on.

mod answer;
mod distribution;
mod files;
mod guard;
mod health;
mod host;
mod judge;
mod listing;
mod load;
mod mounts;
mod operations;
mod order;
mod places;
mod privilege;
mod program;
mod progress;
mod resources;
mod run;
pub mod sudoers;
mod surroundings;
mod tool;
mod transcript;

pub use health::{Health, health};
pub use host::Host;
pub use load::{Loaded, Origin, Packs, Refused};
pub use surroundings::{PROBED, Surroundings};

use pintle_core::{Confirm, Failure, Tool, Toolset, query};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// The tools and resources of one pack; with `extra`, also those that are there on request only.
///
/// # Errors
/// When there is no such pack, or its file does not hold together.
pub fn toolset(host: &Arc<Host>, name: &str, extra: bool) -> Result<Toolset, Failure> {
    let loaded = host.pack(name)?;
    let loaded = if extra {
        loaded.clone()
    } else {
        let pack = loaded.pack.as_ref().clone().essential();
        Loaded { pack: Arc::new(pack), origin: loaded.origin.clone() }
    };
    let pack = &loaded.pack;
    let tools = pack.tools.iter().map(|tool| Arc::new(tool::PackTool::new(host, &loaded, tool)) as Arc<dyn Tool>);
    Ok(Toolset {
        name: kept(&pack.name),
        server_name: kept(&pack.server_name),
        summary: kept(&pack.summary),
        instructions: kept(&pack.instructions),
        confirm: Confirm::Plan,
        tools: tools.collect(),
        resources: (!pack.resources.is_empty())
            .then(|| Arc::new(resources::PackResources { host: Arc::clone(host), loaded: loaded.clone() }) as _),
        prompts: Vec::new(),
        completions: None,
    })
}

/// The operations on packs themselves, for people.
#[must_use]
pub fn people(host: &Arc<Host>) -> Toolset {
    Toolset {
        name: "pack",
        server_name: "pintle",
        summary: "Check and show packs",
        instructions: "",
        confirm: Confirm::Nothing,
        tools: vec![query::<operations::check::CheckPacks>(host), query::<operations::show::ShowPack>(host)],
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}

/// A text of a pack for as long as the process lives: what a toolset is called does not change while it is served. Each
/// text is kept once.
fn kept(text: &str) -> &'static str {
    static KEPT: OnceLock<Mutex<HashMap<String, &'static str>>> = OnceLock::new();
    let mut all = KEPT.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    all.entry(text.to_owned()).or_insert_with(|| text.to_owned().leak())
}
