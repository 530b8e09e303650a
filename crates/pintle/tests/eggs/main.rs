//! The pack of eggs as an agent meets it: the built program serves a scripted client over standard input and output, and
//! drives the stand-in for `eggs`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod absent;
mod argv;
mod client;
mod confirmed;
mod edges;
mod engine;
mod flights;
mod granted;
mod injection;
mod jobs;
mod noise;
mod refused;
mod resources;
mod secrets;
mod story;
mod users;
mod world;
