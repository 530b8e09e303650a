//! The agents' door and the one path behind it, tried with the trial operations: every story is told to a real server,
//! in this process or in one of its own.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what cannot be set up is a failed test")]

mod asking;
mod eras;
mod http;
mod lists;
mod path;
mod peer;
mod process;
mod running;
mod stdio;
