//! Plans run against small servers: what users see when they check theirs.
#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

mod certificates;
mod endpoint;
mod fixture;
mod flow;
mod hostile;
mod methods;
mod provider;
mod seed;
mod structure;
mod support;
mod verbs;
