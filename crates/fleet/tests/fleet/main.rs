//! The fleet through its public face, against small servers on loopback.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answers;
mod credentials;
mod discovery;
mod many;
mod paging;
mod server;
mod trust;
mod ways;
