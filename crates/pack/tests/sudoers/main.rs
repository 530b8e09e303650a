//! The grant on a machine of its own, judged by the real sudo, visudo and cvtsudoers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helper;
mod inspect;
mod install;
mod stage;
