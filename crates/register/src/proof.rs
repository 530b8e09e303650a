//! A handshake with what an entry starts, as its client would.

use pintle_client::{CallOptions, Endpoint, Options, Stdio, connect};
use pintle_core::{Code, Failure};
use pintle_process::Environment;
use std::{path::Path, time::Duration};

/// How long starting, shaking hands and listing tools may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Starts the words in that folder, and counts the tools that the server lists.
///
/// # Errors
/// Code `remote` with the stage at which it failed.
pub(crate) async fn handshake(words: &[String], environment: &[String], folder: &Path) -> Result<usize, Failure> {
    let names = environment.iter().fold(Environment::clean(), |environment, name| environment.inherit(name));
    let stdio =
        Stdio { argv: words.iter().map(Into::into).collect(), environment: names, directory: Some(folder.into()) };
    let options = Options { connect_timeout: PATIENCE, request_timeout: PATIENCE, ..Options::default() };
    let asked = async {
        let session = connect(&Endpoint::Stdio(stdio), options).await?;
        let tools = session.list_tools(&CallOptions::within(PATIENCE)).await;
        // A server that ends badly after it has answered is told by its client, not here.
        let _ = session.close().await;
        tools
    };
    let tools = asked.await.map_err(|error| {
        Failure::new(Code::Remote, format!("the server of the entry does not answer: {error}"))
            .hint(format!("run `{}` to see why; `--no-verify` writes the entry all the same", words.join(" ")))
    })?;
    if tools.is_empty() {
        return Err(Failure::new(Code::Remote, "the server of the entry answers, and lists no tools")
            .hint("`pintle doctor` tells which toolsets can work here"));
    }
    Ok(tools.len())
}
