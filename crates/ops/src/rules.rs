//! What is wrong, and who owns it: pure functions over typed objects, without I/O and without a clock of their own.
//!
//! A rule takes an object as the API server gave it and the present moment, and answers findings. Nothing here asks
//! a cluster anything: what a rule wants to know beyond its object comes in through its arguments, and what is not
//! in hand is never guessed.

pub mod containers;
pub mod events;
pub mod finding;
pub mod namespaces;
pub mod network;
pub mod owners;
pub mod pods;
pub mod pss;
pub mod quantity;
pub mod resources;
pub mod roll_up;
pub mod security;
pub mod storage;
pub mod workloads;
