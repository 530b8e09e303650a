//! One question to a server outside of any plan: the addresses, secrets and texts of the `mcp` verb.

use std::path::Path;

use pintle_client::{Endpoint, Error};
use pintle_core::Secret;
use serde_json::Value;

use crate::model::Server;
use crate::{runner, verbs};

/// The server with `${env:NAME}` and `${file:PATH}` replaced, and what they stand for, to be masked.
///
/// # Errors
/// A variable or a file that is not there, as a fragment.
pub fn resolve(server: &Server) -> Result<(Server, Vec<Secret>), String> {
    runner::resolve(server)
}

/// Where a resolved server is, for the client. Relative files start at `directory`.
///
/// # Errors
/// An address, transport or header that cannot be used.
pub fn endpoint(server: &Server, directory: &Path) -> Result<Endpoint, Error> {
    verbs::mcp::endpoint(server, directory)
}

/// The result of a request (`tools/list`, `tools/call`, `resources/read`, `prompts/get`, …) as the verb prints it.
#[must_use]
pub fn printed(request: &str, result: &Value) -> String {
    verbs::mcp::printed(request, result)
}
