//! The program as a person at a terminal meets it, from its first word to its exit code.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod clusters;
mod forms;
mod home;
mod house;
mod listening;
mod packs;
mod personalities;
mod quickstart;
mod serve;
