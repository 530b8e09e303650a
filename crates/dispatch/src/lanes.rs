//! Writers of one thing take turns, in this process and across processes of one user.

use crate::state::StateFolder;
use pintle_core::{Code, Digest, Failure, Lane};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::{
    collections::HashMap,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// All lanes of this process.
#[derive(Default)]
pub(crate) struct Lanes {
    here: Mutex<HashMap<Lane, Arc<Turn<()>>>>,
    state: Option<StateFolder>,
}

/// Lanes held; freed in the reverse order when dropped.
pub(crate) struct Held {
    _locks: Vec<OwnedFd>,
    _turns: Vec<OwnedMutexGuard<()>>,
}

impl Lanes {
    pub(crate) fn new(state: Option<StateFolder>) -> Self {
        Self { here: Mutex::default(), state }
    }

    /// Waits for all lanes, in the order of their names so that two callers never wait for each other.
    pub(crate) async fn hold(&self, lanes: &[Lane]) -> Result<Held, Failure> {
        let mut lanes = lanes.to_vec();
        lanes.sort();
        lanes.dedup();
        let mut turns = Vec::new();
        let mut locks = Vec::new();
        for lane in lanes {
            turns.push(self.turn(&lane).lock_owned().await);
            if let Some(state) = &self.state {
                locks.push(lock(state, &lane).await?);
            }
        }
        Ok(Held { _locks: locks, _turns: turns })
    }

    fn turn(&self, lane: &Lane) -> Arc<Turn<()>> {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        // Lanes that nobody waits for are forgotten, so that a long-lived server does not grow.
        here.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(here.entry(lane.clone()).or_default())
    }
}

async fn lock(state: &StateFolder, lane: &Lane) -> Result<OwnedFd, Failure> {
    let path = state.folder("lanes")?.join(Digest::of(lane.name()).as_str());
    let failed = |error: rustix::io::Errno| Failure::io(format!("locking `{}`", lane.name()), &error.into());
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = open(&path, flags, Mode::from_raw_mode(0o600)).map_err(failed)?;
    let mut wait = Duration::from_millis(2);
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
                return Err(Failure::new(
                    Code::Io,
                    format!("locking `{}`: the state folder's file system has no locks", lane.name()),
                )
                .hint("point XDG_STATE_HOME to a local disk"));
            }
            Err(error) => return Err(failed(error)),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_writer_at_a_time_here_and_across_processes() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path());
        // Two `Lanes` stand for two processes: they share nothing but the state folder.
        let (one, two) = (Lanes::new(Some(state.clone())), Lanes::new(Some(state)));
        let lane = [Lane::new("project:/p")];
        let held = one.hold(&lane).await.unwrap();
        let soon = Duration::from_millis(60);
        assert!(tokio::time::timeout(soon, one.hold(&lane)).await.is_err());
        assert!(tokio::time::timeout(soon, two.hold(&lane)).await.is_err());
        assert!(two.hold(&[Lane::new("project:/q")]).await.is_ok(), "another lane is free");
        drop(held);
        assert!(two.hold(&lane).await.is_ok());
        assert_eq!(two.here.lock().unwrap().len(), 1, "lanes are forgotten");
    }
}
