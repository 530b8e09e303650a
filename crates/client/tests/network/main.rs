//! Servers on the network, behaving well and badly: fakes on the loopback.
#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

mod broken;
mod consent;
mod older;
mod refusals;
mod streamable;
mod support;
mod tls;
