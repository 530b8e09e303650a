//! The server of another package that these tests talk to.

use crate::{home::pintle, served::Listening, tools::clean};
use std::path::{Path, PathBuf};

/// A program of another package, built into the same folder.
pub fn program() -> PathBuf {
    let path = pintle().with_file_name("mcp-fixture");
    assert!(path.is_file(), "{} is not built", path.display());
    path
}

/// The words for `--stdio`.
pub fn stdio() -> String {
    format!("'{}' --stdio --trial", program().display())
}

/// The same on the network, until it is dropped.
pub fn listening(home: &Path) -> Listening {
    Listening::start(clean(&program(), home).args(["--listen", "127.0.0.1:0", "--trial"]))
}
