//! Ending a job: by its process, of which number, start and boot are known, and by no other.

use super::{
    Jobs,
    record::{CANCELLED, PROCESS, Record, read},
    status,
};
use crate::state::write_private;
use pintle_core::Failure;
use pintle_process::Identity;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// How long, on top of the grace of its tool, a job may take to leave its answer.
const TIDY: Duration = Duration::from_secs(2);
/// How long a process that was just started may take to say who it is.
const BEGIN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(10);

/// Sends TERM; false when nobody is there yet to get it.
pub(super) fn tell(jobs: &Jobs, record: &Record) -> Result<bool, Failure> {
    let folder = jobs.folder_of(&record.id);
    if status::of(&folder, record).is_none_or(|status| status.state.is_final()) {
        return Ok(true);
    }
    // Only for a job that is killed before it could answer; on a full disk it is told as lost.
    let _ = write_private(&folder.join(CANCELLED), b"");
    if jobs.starter.as_ref().is_some_and(|starter| starter.cancel(&record.id)) {
        return Ok(true);
    }
    signal(jobs, record, Signal::TERM)
}

fn signal(jobs: &Jobs, record: &Record, signal: Signal) -> Result<bool, Failure> {
    let Some(process) = read::<Identity>(&jobs.folder_of(&record.id).join(PROCESS)) else { return Ok(false) };
    // Whatever runs jobs inside of its own process has no other one to be signalled.
    if Identity::own().is_ok_and(|own| own == process) {
        return Ok(false);
    }
    process
        .signal(rustix::process::geteuid().as_raw(), signal)
        .map_err(|error| Failure::io(format!("signalling the process {} of the job", process.pid), &error))?;
    Ok(true)
}

/// Ends it, and returns once it has ended.
pub(super) async fn end(jobs: &Jobs, record: &Record) -> Result<(), Failure> {
    let begun = Instant::now();
    while !tell(jobs, record)? && begun.elapsed() < BEGIN {
        tokio::time::sleep(LOOK).await;
    }
    if ended_within(jobs, record, Duration::from_millis(record.grace) + TIDY).await {
        return Ok(());
    }
    signal(jobs, record, Signal::KILL)?;
    ended_within(jobs, record, TIDY).await;
    Ok(())
}

async fn ended_within(jobs: &Jobs, record: &Record, limit: Duration) -> bool {
    let folder = jobs.folder_of(&record.id);
    let begun = Instant::now();
    loop {
        if status::of(&folder, record).is_none_or(|status| status.state.is_final()) {
            return true;
        }
        if begun.elapsed() >= limit {
            return false;
        }
        tokio::time::sleep(LOOK).await;
    }
}
