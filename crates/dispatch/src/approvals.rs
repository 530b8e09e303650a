//! Agents propose, people decide: proposals wait in the state folder until somebody says yes or no.

use crate::{
    seal::{now, random},
    state::{StateFolder, write_private},
};
use pintle_core::{Code, Digest, Failure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// How long a proposal waits, and how long a yes is good for, in seconds.
const WAITS: u64 = 24 * 3600;

/// What people said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Nothing yet.
    Pending,
    /// Yes.
    Approved,
    /// No.
    Denied,
}

/// One proposal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Approval {
    /// What `pintle approve` takes.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, secrets masked.
    pub arguments: Value,
    /// What would happen.
    pub preview: String,
    /// Effects by name.
    pub effects: Vec<String>,
    /// When it was proposed, RFC 3339.
    pub asked: String,
    /// Who proposes.
    pub principal: String,
    /// What people said.
    pub decision: Decision,
    matches: Digest,
    seen: Digest,
    expires: u64,
}

/// A proposal to be made.
pub(crate) struct Proposal<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
    /// Digest of tool and exact arguments.
    pub(crate) matches: Digest,
    pub(crate) seen: Digest,
    pub(crate) preview: &'a str,
    pub(crate) effects: Vec<String>,
    pub(crate) principal: &'a str,
}

/// What became of a proposal.
pub(crate) enum Answered {
    /// Waiting, under that id.
    Waiting { id: String, expires: u64 },
    /// Yes, and used up now.
    Approved,
    /// No, and forgotten now.
    Denied,
}

/// The proposals of one user.
#[derive(Clone, Debug)]
pub struct Approvals(StateFolder);

impl Approvals {
    /// Those in that state folder.
    #[must_use]
    pub fn new(state: StateFolder) -> Self {
        Self(state)
    }

    /// All that wait, oldest first.
    ///
    /// # Errors
    /// When the state folder cannot be read.
    pub fn waiting(&self) -> Result<Vec<Approval>, Failure> {
        let mut all: Vec<_> = self.all()?.into_iter().filter(|a| a.decision == Decision::Pending).collect();
        all.sort_by(|a, b| (&a.asked, &a.id).cmp(&(&b.asked, &b.id)));
        Ok(all)
    }

    /// Says yes or no.
    ///
    /// # Errors
    /// When there is no such proposal, or it was decided before.
    pub fn decide(&self, id: &str, decision: Decision) -> Result<Approval, Failure> {
        let unknown = || {
            let known: Vec<String> = self.all().unwrap_or_default().into_iter().map(|a| a.id).collect();
            Failure::new(Code::NotFound, format!("no proposal `{id}` is waiting"))
                .did_you_mean(id, known.iter().map(String::as_str))
                .hint("`pintle approvals` lists them")
        };
        if id.is_empty() || !id.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(unknown());
        }
        let path = self.folder()?.join(format!("{id}.json"));
        let mut approval = load(&path).ok_or_else(unknown)?;
        if approval.expires < now() {
            return Err(unknown());
        }
        if approval.decision != Decision::Pending {
            let said = if approval.decision == Decision::Approved { "approved" } else { "denied" };
            return Err(Failure::new(Code::AlreadyExists, format!("proposal `{id}` was {said} before")));
        }
        approval.decision = decision;
        approval.expires = now() + WAITS;
        store(&path, &approval)?;
        Ok(approval)
    }

    /// Makes a proposal, or finds what was said to the same one.
    pub(crate) fn propose(&self, proposal: Proposal<'_>) -> Result<Answered, Failure> {
        for known in self.all()?.into_iter().filter(|a| a.matches == proposal.matches) {
            let path = self.folder()?.join(format!("{}.json", known.id));
            if known.seen != proposal.seen {
                // What was approved is no longer what would happen.
                let _ = fs::remove_file(&path);
                continue;
            }
            match known.decision {
                Decision::Pending => return Ok(Answered::Waiting { id: known.id, expires: known.expires }),
                // Whoever removes the file has the yes: it is good for one call, in one process.
                Decision::Approved if fs::remove_file(&path).is_ok() => return Ok(Answered::Approved),
                Decision::Denied if fs::remove_file(&path).is_ok() => return Ok(Answered::Denied),
                Decision::Approved | Decision::Denied => {}
            }
        }
        let id = readable(&random());
        let expires = now() + WAITS;
        let approval = Approval {
            id: id.clone(),
            tool: proposal.tool.to_owned(),
            arguments: proposal.arguments,
            preview: proposal.preview.to_owned(),
            effects: proposal.effects,
            asked: stamp(now()),
            principal: proposal.principal.to_owned(),
            decision: Decision::Pending,
            matches: proposal.matches,
            seen: proposal.seen,
            expires,
        };
        store(&self.folder()?.join(format!("{id}.json")), &approval)?;
        Ok(Answered::Waiting { id, expires })
    }

    fn folder(&self) -> Result<PathBuf, Failure> {
        self.0.folder("approvals")
    }

    fn all(&self) -> Result<Vec<Approval>, Failure> {
        let folder = self.folder()?;
        let entries = fs::read_dir(&folder).map_err(|error| Failure::io("reading the proposals", &error))?;
        let mut all = Vec::new();
        for path in entries.flatten().map(|entry| entry.path()).filter(|p| p.extension().is_some_and(|e| e == "json")) {
            match load(&path) {
                Some(approval) if approval.expires >= now() => all.push(approval),
                Some(_) => drop(fs::remove_file(&path)),
                None => {}
            }
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }
}

fn load(path: &std::path::Path) -> Option<Approval> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn store(path: &std::path::Path, approval: &Approval) -> Result<(), Failure> {
    let bytes = serde_json::to_vec_pretty(approval).map_err(|e| Failure::new(Code::Internal, e.to_string()))?;
    write_private(path, &bytes)
        .map_err(|error| Failure::io(format!("keeping the proposal in `{}`", path.display()), &error))
}

/// Eight characters that are not mistaken for each other when read aloud.
fn readable(bytes: &[u8; 8]) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
    bytes.iter().map(|b| char::from(LETTERS[usize::from(b % 32)])).collect()
}

/// RFC 3339 in UTC.
pub(crate) fn stamp(seconds: u64) -> String {
    jiff::Timestamp::from_second(i64::try_from(seconds).unwrap_or(i64::MAX)).map(|t| t.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn proposal(seen: &str) -> Proposal<'static> {
        Proposal {
            tool: "eggs_destroy",
            arguments: json!({}),
            matches: Digest::of("eggs_destroy {}"),
            seen: Digest::of(seen),
            preview: "removes two files",
            effects: vec!["destroy".to_owned()],
            principal: "stdio",
        }
    }

    #[test]
    fn cw_64_a_yes_is_good_for_one_call_of_the_same_thing() {
        let temp = tempfile::tempdir().unwrap();
        let approvals = Approvals::new(StateFolder::at(temp.path()));
        let wait = |seen| match approvals.propose(proposal(seen)).unwrap() {
            Answered::Waiting { id, .. } => id,
            _ => panic!("must wait"),
        };
        let id = wait("a");
        assert_eq!(wait("a"), id, "the same proposal keeps its id");
        assert_eq!(approvals.waiting().unwrap()[0].id, id);
        approvals.decide(&id, Decision::Approved).unwrap();
        assert_eq!(approvals.decide(&id, Decision::Denied).unwrap_err().code, Code::AlreadyExists);
        assert!(matches!(approvals.propose(proposal("a")).unwrap(), Answered::Approved));
        let second = wait("a");
        approvals.decide(&second, Decision::Approved).unwrap();
        assert_ne!(wait("b"), second, "another state needs another yes");
        let third = wait("b");
        approvals.decide(&third, Decision::Denied).unwrap();
        assert!(matches!(approvals.propose(proposal("b")).unwrap(), Answered::Denied));
        assert_eq!(approvals.decide("../key", Decision::Approved).unwrap_err().code, Code::NotFound);
    }
}
