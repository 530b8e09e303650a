//! Jobs: inside of one process, where everything can be meddled with, and as they are, in processes of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod bench;
mod ends;
mod grants;
mod lives;
mod processes;
