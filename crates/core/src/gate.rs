//! What stands between `prepare` and `commit`.

use crate::{Attach, BoxFuture, Confirm, Digest, Effect, Failure, InputRequest, Lane, Permit, Scope};
use serde::Serialize;

/// What an operation is about to do, for policy and people to judge.
#[derive(Debug)]
pub struct Ask<'a> {
    /// What `prepare` found; within the operation's `WORST`.
    pub effect: Effect,
    /// Where.
    pub scopes: &'a [Scope],
    /// The change as a person reads it: a diff, a list.
    pub preview: &'a str,
    /// What the preview rests on; a repeated call must see the same.
    pub seen: &'a Digest,
    /// What this very call needs first, where that differs from what its tool needs; the policy file still wins. A tool
    /// of which some call needs a plan publishes [`Confirm::Plan`] as its own, so that its schema takes the token.
    pub confirm: Option<Confirm>,
    /// The lanes it is going to ask for: an exclusive one that is taken is told at once, before anybody is asked.
    pub lanes: &'a [Lane],
}

impl<'a> Ask<'a> {
    /// Leave to look: nothing changes, and it rests on nothing that could move.
    #[must_use]
    pub fn read(seen: &'a Digest) -> Self {
        Self { effect: Effect::READ, scopes: &[], preview: "", seen, confirm: None, lanes: &[] }
    }
}

/// The gate's yes.
#[derive(Debug)]
pub struct Admission {
    /// For whoever changes anything.
    pub permit: Permit,
    /// Whether a plan token or a person confirmed exactly this `seen`.
    pub confirmed: bool,
}

/// Decides whether a prepared change may be committed, and makes writers take turns.
pub trait Gate: Send + Sync {
    /// A permit, or why not (yet).
    fn admit<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Admission, Stop>>;

    /// Waits for the lanes; they are held until the guard is dropped. An exclusive lane is not waited for: where it is
    /// taken, the failure has code `busy` and names the job that holds it.
    fn hold<'a>(&'a self, lanes: &'a [Lane]) -> BoxFuture<'a, Result<Box<dyn std::any::Any + Send>, Failure>>;
}

/// What will happen, and how to say yes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Carried as `plan_token` by the second call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Id for `pintle approve`; the same call runs once it is approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Until when, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// The change as a person reads it.
    pub preview: String,
    /// Effects by name.
    pub effects: Vec<String>,
}

/// Why a call ends without an answer.
#[derive(Debug)]
pub enum Stop {
    /// It failed.
    Failed(Failure),
    /// It needs a yes first.
    Planned(Plan),
    /// It needs answers first; the client sends the whole call again with them.
    Asked(Vec<InputRequest>),
    /// Its yes is there, and it goes on as the job of that id. Whoever gets it from the gate passes it on as it is.
    Started(String),
    /// It needs a terminal: people get this program run, agents get the alternative.
    Attach(Attach),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
