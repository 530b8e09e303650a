//! Writers of one thing take turns, in this process and across processes of one user.

use crate::{jobs::Jobs, state::StateFolder};
use pintle_core::{Code, Digest, Failure, Lane};
use rustix::{
    fs::{FlockOperation, Mode, OFlags, flock, ftruncate, open},
    io::{Errno, pread, pwrite},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::HashMap,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Longest note of a holder that is read; what is longer is not ours.
const NOTE: usize = 1024;

/// All lanes of this process.
#[derive(Default)]
pub(crate) struct Lanes {
    here: Mutex<HashMap<String, Arc<Slot>>>,
    state: Option<StateFolder>,
    jobs: Option<Jobs>,
}

/// One lane in this process.
#[derive(Default)]
struct Slot {
    turn: Arc<Turn<()>>,
    holder: Mutex<Holder>,
}

/// Who holds a lane, as it is told to those who come second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// The process.
    pub(crate) pid: u32,
    /// The job, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) job: Option<String>,
}

/// The file of a lane. Unlocked when dropped and not only closed: a child that is being started has a copy of it until it
/// executes, and would hold the lane for that moment.
struct LockFile(OwnedFd);

impl AsFd for LockFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // What is not locked stays so; closing it is all that is left otherwise.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Lanes held; freed when dropped.
pub(crate) struct Held {
    _locks: Vec<LockFile>,
    _turns: Vec<OwnedMutexGuard<()>>,
}

impl Lanes {
    /// The lanes of this process; with a folder, also those of every process that uses the same one. `jobs` tells of a
    /// holder's job whether it still is one.
    pub(crate) fn new(state: Option<StateFolder>, jobs: Option<Jobs>) -> Self {
        Self { here: Mutex::default(), state, jobs }
    }

    /// Takes all lanes, in the order of their names so that two callers never wait for each other. A lane that is
    /// taken is waited for, an exclusive one fails at once.
    pub(crate) async fn hold(&self, lanes: &[Lane], job: Option<&str>) -> Result<Held, Failure> {
        let mut lanes = lanes.to_vec();
        // Exclusive first where a name comes twice: the stricter wins.
        lanes.sort_by(|a, b| (a.name(), !a.is_exclusive()).cmp(&(b.name(), !b.is_exclusive())));
        lanes.dedup_by(|later, first| later.name() == first.name());
        let holder = Holder { pid: std::process::id(), job: job.map(str::to_owned) };
        let mut turns = Vec::new();
        let mut locks = Vec::new();
        for lane in lanes {
            let slot = self.slot(&lane);
            let turn = match Arc::clone(&slot.turn).try_lock_owned() {
                Ok(turn) => turn,
                Err(_) if lane.is_exclusive() => {
                    return Err(busy(&lane, &slot.holder.lock().unwrap_or_else(PoisonError::into_inner)));
                }
                Err(_) => Arc::clone(&slot.turn).lock_owned().await,
            };
            if let Some(state) = &self.state {
                let file = file(state, &lane)?;
                lock(&file, &lane).await?;
                self.refuse_claimed(&file, &lane, job)?;
                note(&file, &holder);
                locks.push(file);
            }
            holder.clone_into(&mut slot.holder.lock().unwrap_or_else(PoisonError::into_inner));
            turns.push(turn);
        }
        Ok(Held { _locks: locks, _turns: turns })
    }

    /// Fails where an exclusive lane is taken now, and takes none: told before anybody is asked for a yes. Who is first
    /// is decided by [`hold`](Self::hold) alone.
    pub(crate) fn refuse_taken(&self, lanes: &[Lane], job: Option<&str>) -> Result<(), Failure> {
        self.look(lanes, job, false)
    }

    /// Claims the exclusive lanes for a job whose process is about to be started and takes them then: until it does, or
    /// is known not to, they are taken.
    pub(crate) fn claim(&self, lanes: &[Lane], job: &str) -> Result<(), Failure> {
        self.look(lanes, Some(job), true)
    }

    fn look(&self, lanes: &[Lane], job: Option<&str>, claims: bool) -> Result<(), Failure> {
        for lane in lanes.iter().filter(|lane| lane.is_exclusive()) {
            let slot = self.slot(lane);
            let Ok(_turn) = slot.turn.try_lock() else {
                return Err(busy(lane, &slot.holder.lock().unwrap_or_else(PoisonError::into_inner)));
            };
            let Some(state) = &self.state else { continue };
            let file = file(state, lane)?;
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
                return Err(busy(lane, &noted(&file)));
            }
            self.refuse_claimed(&file, lane, job)?;
            if claims {
                note(&file, &Holder { pid: std::process::id(), job: job.map(str::to_owned) });
            }
        }
        Ok(())
    }

    /// Fails where the lane, which nobody holds at this moment, is that of another job that has yet to begin.
    fn refuse_claimed(&self, file: &LockFile, lane: &Lane, job: Option<&str>) -> Result<(), Failure> {
        let holder = noted(file);
        let (Some(other), Some(jobs)) = (&holder.job, &self.jobs) else { return Ok(()) };
        match lane.is_exclusive() && job != Some(other) && jobs.is_open(other) {
            true => Err(busy(lane, &holder)),
            false => Ok(()),
        }
    }

    fn slot(&self, lane: &Lane) -> Arc<Slot> {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        // Lanes that nobody holds or waits for are forgotten, so that a long-lived server does not grow.
        here.retain(|_, slot| Arc::strong_count(slot) > 1 || Arc::strong_count(&slot.turn) > 1);
        Arc::clone(here.entry(lane.name().to_owned()).or_default())
    }
}

fn busy(lane: &Lane, holder: &Holder) -> Failure {
    let failure = Failure::new(Code::Busy, "").details(json!(holder));
    let (message, hint) = match &holder.job {
        Some(job) => (
            format!("`{}` is taken by job {job}", lane.name()),
            format!("`pintle jobs wait {job}` waits for it, `pintle jobs cancel {job}` ends it"),
        ),
        None => {
            (format!("`{}` is taken by process {}", lane.name(), holder.pid), "try again when it has ended".to_owned())
        }
    };
    Failure { message, ..failure }.hint(hint).retryable()
}

fn file(state: &StateFolder, lane: &Lane) -> Result<LockFile, Failure> {
    let path = state.folder("lanes")?.join(Digest::of(lane.name()).as_str());
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    open(&path, flags, Mode::from_raw_mode(0o600)).map(LockFile).map_err(|error| failed(lane, error))
}

fn failed(lane: &Lane, error: Errno) -> Failure {
    Failure::io(format!("locking `{}`", lane.name()), &error.into())
}

async fn lock(file: &LockFile, lane: &Lane) -> Result<(), Failure> {
    let mut wait = Duration::from_millis(2);
    // Who only looks whether an exclusive lane is taken holds it for a moment, too: that is no holder.
    let mut looks = 3;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK) if lane.is_exclusive() => {
                looks -= 1;
                if looks == 0 {
                    return Err(busy(lane, &noted(file)));
                }
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                return Err(Failure::new(
                    Code::Io,
                    format!("locking `{}`: the state folder's file system has no locks", lane.name()),
                )
                .hint("point XDG_STATE_HOME to a local disk"));
            }
            Err(error) => return Err(failed(lane, error)),
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_millis(50));
    }
}

/// Leaves word of the holder in the lane's file. On a full disk the lane is held all the same, only nobody is told by
/// whom.
fn note(file: &LockFile, holder: &Holder) {
    let text = json!(holder).to_string();
    let _ = ftruncate(file, 0);
    let _ = pwrite(file, text.as_bytes(), 0);
}

fn noted(file: &LockFile) -> Holder {
    let mut bytes = [0; NOTE];
    let read = pread(file, &mut bytes, 0).unwrap_or(0);
    serde_json::from_slice(&bytes[..read]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lane_is_free_at_once_although_a_child_that_starts_has_a_copy_of_its_file() {
        let temp = tempfile::tempdir().unwrap();
        let lanes = Lanes::new(Some(StateFolder::at(temp.path())), None);
        let lane = [Lane::exclusive("flight")];
        let held = lanes.hold(&lane, None).await.unwrap();
        let copy = held._locks[0].0.try_clone().unwrap();
        drop(held);
        assert!(lanes.hold(&lane, None).await.is_ok());
        drop(copy);
    }

    #[tokio::test]
    async fn one_writer_at_a_time_here_and_across_processes() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path());
        // Two `Lanes` stand for two processes: they share nothing but the state folder.
        let (one, two) = (Lanes::new(Some(state.clone()), None), Lanes::new(Some(state), None));
        let lane = [Lane::new("project:/p")];
        let held = one.hold(&lane, None).await.unwrap();
        let soon = Duration::from_millis(60);
        assert!(tokio::time::timeout(soon, one.hold(&lane, None)).await.is_err());
        assert!(tokio::time::timeout(soon, two.hold(&lane, None)).await.is_err());
        assert!(two.hold(&[Lane::new("project:/q")], None).await.is_ok(), "another lane is free");
        drop(held);
        assert!(two.hold(&lane, None).await.is_ok());
        assert_eq!(two.here.lock().unwrap().len(), 1, "lanes are forgotten");
    }

    #[tokio::test]
    async fn whoever_comes_second_to_an_exclusive_lane_is_told_who_has_it() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateFolder::at(temp.path());
        let (one, two) = (Lanes::new(Some(state.clone()), None), Lanes::new(Some(state), None));
        let lane = [Lane::exclusive("flight")];
        assert!(one.refuse_taken(&lane, None).is_ok() && two.refuse_taken(&lane, None).is_ok());
        let held = one.hold(&lane, Some("abc")).await.unwrap();
        for told in [
            one.hold(&lane, None).await.err(),
            two.hold(&lane, Some("xyz")).await.err(),
            one.refuse_taken(&lane, None).err(),
            two.refuse_taken(&lane, None).err(),
        ] {
            let failure = told.expect("it is taken");
            assert_eq!(failure.code, Code::Busy);
            assert_eq!(failure.details.as_ref().unwrap()["job"], "abc", "{failure:?}");
            assert!(failure.message.contains("job abc"), "{failure}");
        }
        drop(held);
        let held = two.hold(&[Lane::new("flight"), Lane::exclusive("flight")], None).await.unwrap();
        let failure = one.hold(&lane, None).await.err().expect("it is taken");
        assert!(failure.message.contains(&format!("process {}", std::process::id())), "{failure}");
        drop(held);
        assert!(one.hold(&lane, None).await.is_ok());
    }
}
