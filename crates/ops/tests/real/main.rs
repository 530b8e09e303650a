//! The tools and their rules beside real API servers, and beside kubectl where it has an answer of its own.

#![allow(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

mod alarms;
mod asked;
mod clusters;
mod denied;
mod kinds;
mod lists;
mod logs;
mod many;
mod namespaces;
mod pss;
mod replay;
mod ways;
mod well;
