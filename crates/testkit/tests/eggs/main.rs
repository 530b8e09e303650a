//! The stand-in for `eggs`: as faithful as tests need it, and unable to do harm.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod faults;
mod flight;
mod real;
mod refusals;
mod rest;
mod stage;
mod sudo;
mod table;
mod tree;
