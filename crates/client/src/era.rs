//! Protocol eras and what we remember about servers.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use crate::endpoint::Endpoint;

/// The revision without `initialize`.
pub const MODERN: &str = "2026-07-28";
/// Revisions with `initialize`, newest first.
pub const LEGACY: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The era of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Era {
    /// 2026-07-28: no handshake, every request speaks for itself.
    Modern,
    /// `initialize`, with the version the server chose.
    Legacy(String),
    /// No handshake was made ([`crate::EraChoice::Bare`]).
    Bare,
}

impl Era {
    /// The protocol version of the session, if a handshake was made.
    pub fn version(&self) -> Option<&str> {
        match self {
            Self::Modern => Some(MODERN),
            Self::Legacy(version) => Some(version),
            Self::Bare => None,
        }
    }
}

/// What a server was found to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Modern,
    Legacy,
}

/// Servers remembered in this process. Forgotten at random beyond this many.
const REMEMBERED: usize = 256;

static SERVERS: Mutex<Option<HashMap<u64, Known>>> = Mutex::new(None);

/// Identity of a server: its command, environment and folder, or its URL. Only a hash is kept, since
/// arguments and environments hold secrets.
pub(crate) fn identity(endpoint: &Endpoint) -> u64 {
    let mut hasher = DefaultHasher::new();
    match endpoint {
        Endpoint::Stdio(stdio) => {
            stdio.argv.hash(&mut hasher);
            stdio.directory.hash(&mut hasher);
            for variable in stdio.environment.iter() {
                variable.hash(&mut hasher);
            }
        }
        Endpoint::Url(http) => http.url.as_str().hash(&mut hasher),
    }
    hasher.finish()
}

pub(crate) fn known(server: u64) -> Option<Known> {
    let servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    servers.as_ref()?.get(&server).copied()
}

pub(crate) fn remember(server: u64, era: Known) {
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let servers = servers.get_or_insert_default();
    if servers.len() >= REMEMBERED
        && !servers.contains_key(&server)
        && let Some(one) = servers.keys().next().copied()
    {
        servers.remove(&one);
    }
    servers.insert(server, era);
}

pub(crate) fn forget(server: u64) {
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(servers) = servers.as_mut() {
        servers.remove(&server);
    }
}
