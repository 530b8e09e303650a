//! Our entry in the configuration of every MCP client, and nothing else of theirs touched.
//!
//! - **Clients are data**: where each keeps its servers and what an entry looks like, with source and date.
//! - **Edits are proved**: a few replacements of bytes; the result is parsed again, and outside our entry it must say what
//!   it said before. What does not parse is refused with its place.
//! - **Files are the user's**: no link is followed out of the home, mode, owner and access lists stay, a reader sees the
//!   old file or the new one. A backup and a journal in the state folder lead back to the exact bytes.
//! - **Entries are tried**: the server of a written entry must answer, else the file becomes what it was.

mod apply;
mod choose;
mod clients;
mod edit;
mod files;
mod health;
mod host;
mod journal;
mod operations;
mod owner;
mod plan;
mod proof;
mod report;
mod standing;
mod writer;

pub use choose::check_clients;
pub use health::{Health, health};
pub use host::{Host, Offered};
pub use owner::{Owner, User};
pub use pintle_files::{Fault, Step};
pub use standing::{Entry, Standing, standings};
pub use writer::Writer;

use pintle_core::{Confirm, Toolset, change, query};
use std::sync::Arc;

/// The operations, for people only. `confirm` is [`Confirm::Plan`] where a person can be asked.
#[must_use]
pub fn toolset(host: &Arc<Host>, confirm: Confirm) -> Toolset {
    let tools = vec![
        query::<operations::clients::ListClients>(host),
        change::<operations::register::Register>(host),
        change::<operations::register_undo::RegisterUndo>(host),
        change::<operations::unregister::Unregister>(host),
    ];
    Toolset {
        name: "register",
        server_name: "pintle",
        summary: "Register this program with MCP clients",
        instructions: "",
        confirm,
        tools,
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}
