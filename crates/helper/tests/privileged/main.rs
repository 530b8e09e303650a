//! The helper as root, called by real sudo and doas, on a machine of its own.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod end;
mod grant;
mod log;
mod pack;
mod program;
mod request;
mod stage;
