//! How a session ended.

use pintle_process::{Exit, Text};

/// What it took to end a server's child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// It had ended before.
    Itself,
    /// It ended when its input ended.
    InputEnd,
    /// It needed TERM.
    Term,
    /// It needed KILL.
    Kill,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closed {
    /// A child: how it ended and what it wrote to its standard error.
    Child {
        /// Exit status and duration.
        exit: Exit,
        /// What it took.
        by: EndedBy,
        /// Standard error, bounded: foreign text.
        stderr: Text,
    },
    /// A server on the network; whether there was a session that it was told to end.
    Network {
        /// Whether DELETE was sent and accepted.
        session_deleted: bool,
    },
}
