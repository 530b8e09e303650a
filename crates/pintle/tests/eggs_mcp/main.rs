//! `pintle eggs mcp …` and the name `eggs`, as people and clients use them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod machine;
mod plain;
mod record;
mod servers;
mod shim;
mod stage;
