//! Real MCP clients against the product: each in a home of its own, each asked in its own way whether it reached us,
//! and made to call `box.list.boxes` where it has a way to call without a model.

#![expect(clippy::expect_used, reason = "a broken set-up ends the test")]

mod claude;
mod clusters;
mod codex;
mod gemini;
mod inspector;
mod model;
mod opencode;
mod python;
mod registered;
mod served;
mod tools;
