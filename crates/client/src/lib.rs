//! An MCP client over a raw JSON-RPC layer.
//!
//! Speaks both protocol eras (2026-07-28 without `initialize`; 2024-11-05 to 2025-11-25 with it) over stdio,
//! Streamable HTTP and the older HTTP+SSE. Results are JSON values as they came: what a server sends can be
//! observed, and what typed clients cannot send can be sent ([`Session::raw`]).
//!
//! ```no_run
//! use pintle_client::{CallOptions, Endpoint, Options, Stdio, connect};
//!
//! # async fn example() -> Result<(), pintle_client::Error> {
//! let endpoint = Endpoint::Stdio(Stdio::new(["some-mcp-server", "--stdio"]));
//! let session = connect(&endpoint, Options::default()).await?;
//! for tool in session.list_tools(&CallOptions::default()).await? {
//!     let _name = &tool["name"];
//! }
//! session.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! What is promised:
//!
//! - Every failure names its [`Stage`]; a timeout states its limit.
//! - Every request has a deadline and can be cancelled, which the server is told.
//! - An answer beyond [`Options::answer_limit`] is cut while it is read.
//! - A session always ends, and its child is always gone, also when it is dropped.
//! - Nothing is redirected to another origin. Header values, tokens, arguments and environments of children are
//!   in no message and no `Debug` text.
//! - TLS is rustls with ring, given explicitly: no process-wide default needs to be installed.

mod auth;
mod close;
mod connect;
mod endpoint;
mod era;
mod error;
mod event_stream;
mod handler;
mod headers;
mod lines;
mod message;
mod methods;
mod oauth;
mod options;
mod raw;
mod router;
mod session;
mod trust;
mod wire;

pub use auth::{Authorizer, Challenge};
pub use close::{Closed, EndedBy};
pub use connect::connect;
pub use endpoint::{Endpoint, Headers, Http, Stdio, Tls, Transport};
pub use era::{Era, LEGACY, MODERN};
pub use error::{Error, Fault, RpcError, Stage};
pub use handler::{Handler, NoHandler, ServerRequest};
pub use methods::List;
pub use oauth::{Browser, Grant, OAuth, OAuthSettings};
pub use options::{CallOptions, EraChoice, Options, Progress, ProgressSink};
pub use raw::{Raw, RawExchange, Received};
pub use router::{Incoming, Noise, Notification, Oddity};
pub use session::{Server, Session};
