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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        StateFolder,
        jobs::record::{ANSWER, Kept, PROCESS, REQUEST, write},
    };
    use pintle_core::{Caller, Digest, Door, OnEof, Reply};
    use pintle_process::Identity;
    use serde_json::Value;

    fn job(jobs: &Jobs, number: usize, created_at: u64) -> String {
        let id = format!("{number:0>16}");
        let folder = jobs.folder_of(&id);
        fs::create_dir_all(&folder).unwrap();
        let record = Record {
            id: id.clone(),
            tool: "t".to_owned(),
            arguments: Value::Null,
            matches: Digest::of(""),
            caller: Caller { door: Door::People, principal: "p".to_owned() },
            on_eof: OnEof::Detach,
            created: "2026-01-01T00:00:00Z".to_owned(),
            created_at,
            budget: None,
            deadline: None,
            grace: 0,
            setup: Value::Null,
            server: None,
        };
        write(&folder.join(REQUEST), &record).unwrap();
        id
    }

    #[test]
    fn what_has_ended_goes_when_it_is_old_or_too_much_and_what_works_stays() {
        let temp = tempfile::tempdir().unwrap();
        let jobs = Jobs::at(StateFolder::at(temp.path()));
        for number in 0..COUNT + 5 {
            let id = job(&jobs, number, now() - 2 * DAY.as_secs() + number as u64);
            write(&jobs.folder_of(&id).join(ANSWER), &Kept::of(Reply::default(), None)).unwrap();
        }
        let ancient = job(&jobs, 900, 1);
        write(&jobs.folder_of(&ancient).join(PROCESS), &Identity::own().unwrap()).unwrap();
        let lost = job(&jobs, 901, 1);
        let stale = temp.path().join(FOLDER).join(".new-x");
        fs::create_dir(&stale).unwrap();
        old(&jobs);
        let mut left = jobs.ids().unwrap();
        left.sort();
        assert_eq!(left.len(), COUNT + 1, "the newest ended ones, and the one that works");
        assert!(left.contains(&ancient), "it works");
        assert!(!left.contains(&lost), "it is too old");
        assert!(!left.contains(&format!("{:0>16}", 4)) && left.contains(&format!("{:0>16}", COUNT + 4)));
        assert!(stale.exists(), "somebody may be filling it");
    }
}
