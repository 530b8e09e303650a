//! The reading tools as their callers see them: through the one path, on fake clusters.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budgets;
mod canary;
mod clusters;
mod completions;
mod described;
mod kinds;
mod lists;
mod logs;
mod nodes;
mod read_only;
mod world;
