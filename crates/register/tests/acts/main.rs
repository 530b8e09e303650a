//! Registering with clients as a person does it, in a home of its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod entries;
mod faults;
mod undoing;
mod world;
