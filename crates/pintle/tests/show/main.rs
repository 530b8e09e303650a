//! The show of eggs: an ordinary user's agent, started from the entry that `enable` wrote, with the rule of sudo that
//! `enable` wrote, the installed helper, and the stand-in at `/usr/bin/eggs`, where it belongs to root. Nothing else stands
//! in for anything. Each test has a machine of its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[allow(dead_code, reason = "shared with the tests of the pack")]
#[path = "../eggs/client.rs"]
mod client;
mod flights;
mod rule;
mod story;
mod system;
mod tools;
mod world;
