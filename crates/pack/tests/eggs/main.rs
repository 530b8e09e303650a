//! The pack `eggs` through the one path that both doors take, with a stand-in for the program.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod arguments;
mod changes;
mod elevation;
mod finding;
mod flights;
mod output;
mod resources;
mod stage;
