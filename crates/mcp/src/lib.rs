//! The agents' door: a catalogue of tools served over MCP.
//!
//! Both eras of the protocol (`2026-07-28`, and `initialize` back to `2024-11-05`) on both transports. On stdio a line
//! gate owns the process's input and output ([`serve_stdio`]); on Streamable HTTP ([`serve_http`]) hosts, origins,
//! tokens, sizes and sessions are bounded. Every call of a tool goes to [`Catalog::call`](pintle_dispatch::Catalog::call)
//! and nowhere else.

mod call;
mod content;
mod events;
mod frames;
mod gate;
mod hosts;
mod http;
mod input;
mod levels;
mod listing;
mod notices;
mod options;
mod pipe;
mod server;
mod session;
mod sessions;
mod signal;
mod stdio;
mod tasks;
mod token;

pub use http::{Bound, serve_http};
pub use options::{HttpOptions, Newcomers, ServerOptions};
pub use signal::until_terminated;
pub use stdio::{serve_stdio, serve_streams};
