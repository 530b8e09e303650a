//! Ended jobs do not stay for ever.

use super::{FOLDER, Jobs, record::Record, status};
use crate::seal::now;
use std::{
    fs,
    time::{Duration, SystemTime},
};

/// How long an ended job is kept.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
/// How many ended jobs are kept beyond the first day, in which a task that is a job can be asked for.
const COUNT: usize = 100;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// After which a folder that was never finished belongs to a process that is gone.
const STALE: Duration = Duration::from_secs(3600);

/// Removes the ended jobs that are too old or too many. One that works is never touched.
pub(super) fn old(jobs: &Jobs) {
    let Ok(ids) = jobs.ids() else { return };
    let mut ended: Vec<(u64, String)> = ids
        .into_iter()
        .filter_map(|id| {
            let folder = jobs.folder_of(&id);
            let record = Record::read(&folder)?;
            let status = status::of(&folder, &record)?;
            status.state.is_final().then_some((record.created_at, id))
        })
        .collect();
    ended.sort_unstable();
    let surplus = ended.len().saturating_sub(COUNT);
    for (at, (created, id)) in ended.iter().enumerate() {
        let age = now().saturating_sub(*created);
        if age > KEEP.as_secs() || (at < surplus && age > DAY.as_secs()) {
            // Another process may be tidying too.
            let _ = fs::remove_dir_all(jobs.folder_of(id));
        }
    }
    unfinished(jobs);
}

fn unfinished(jobs: &Jobs) {
    let Ok(entries) = fs::read_dir(jobs.state.path().join(FOLDER)) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(".new-")) {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        let age = changed.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age > STALE) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
