//! The servers that run, by their records.

use super::{Record, host, place};
use pintle_core::Failure;
use pintle_process::{Now, boot_id};
use rustix::fs::{Mode, OFlags};
use std::{
    fs::{self, File},
    io::{self, Read as _},
    os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    path::Path,
};

/// More than any record has, in bytes.
const LIMIT: u64 = 64 * 1024;

/// A server that runs, held so that its number passes to nobody else.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) record: Record,
    pub(crate) process: OwnedFd,
}

/// Every server of this user, oldest first. Records of those that are gone are removed.
///
/// # Errors
/// When a folder that is there cannot be read: what is in it may run.
pub(crate) fn running() -> Result<Vec<Running>, Failure> {
    let user = rustix::process::geteuid().as_raw();
    let boot = boot_id().map_err(|error| Failure::io("reading which boot this is", &error))?;
    let mut all: Vec<Running> = Vec::new();
    for folder in place::folders() {
        let found = in_folder(&folder, user, &boot);
        let found = found.map_err(|error| {
            Failure::io(format!("reading `{}`, where servers are written down", folder.display()), &error)
        })?;
        for server in found {
            if !all.iter().any(|known| known.record.identity == server.record.identity) {
                all.push(server);
            }
        }
    }
    all.sort_by(|a, b| {
        let key = |server: &Running| (server.record.identity.start_time, server.record.identity.pid);
        key(a).cmp(&key(b))
    });
    Ok(all)
}

fn in_folder(folder: &Path, user: u32, boot: &str) -> io::Result<Vec<Running>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        // One that vanishes or that nobody of ours wrote is none.
        let Some(record) = read(&path, user) else { continue };
        match record.identity.now(user) {
            Now::Runs(process) => found.push(Running { record, process }),
            // On another machine with the same home it may well run.
            Now::Gone if record.identity.boot_id == boot || record.host == host() => {
                // Who else looks at the same time may have been faster.
                let _ = fs::remove_file(&path);
            }
            Now::Gone | Now::Hidden => {}
        }
    }
    Ok(found)
}

fn read(path: &Path, user: u32) -> Option<Record> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.uid() != user {
        return None;
    }
    let mut text = Vec::new();
    file.take(LIMIT).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::super::Transport;
    use super::*;
    use pintle_process::Identity;

    fn record(identity: Identity, host: &str) -> Record {
        let (toolsets, clients) = (vec!["eggs".to_owned()], vec!["t".to_owned()]);
        Record { identity, host: host.into(), toolsets, transport: Transport::Stdio, clients, started: "now".into() }
    }

    #[test]
    fn s_26_eg_060_what_runs_is_found_and_what_is_gone_is_tidied() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path();
        let user = fs::metadata(folder).unwrap().uid();
        let own = Identity::own().unwrap();
        let write = |name: &str, record: &Record| {
            fs::write(folder.join(name), serde_json::to_vec(record).unwrap()).unwrap();
        };
        write("1.json", &record(own.clone(), &host()));
        write("2.json", &record(Identity { start_time: 1, ..own.clone() }, &host()));
        write("3.json", &record(Identity { boot_id: "before".into(), ..own.clone() }, &host()));
        write("4.json", &record(Identity { boot_id: "there".into(), ..own.clone() }, "another machine"));
        fs::write(folder.join("5.json"), "{").unwrap();
        fs::write(folder.join("6.txt"), "{}").unwrap();
        std::os::unix::fs::symlink(folder.join("1.json"), folder.join("7.json")).unwrap();
        let found = in_folder(folder, user, &own.boot_id).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].record.identity, own);
        assert!(found[0].record.serves("eggs") && !found[0].record.serves("egg"));
        let left = |name: &str| folder.join(name).exists();
        assert!(left("1.json") && !left("2.json") && !left("3.json"));
        assert!(left("4.json"), "it may run on the other machine");
        assert!(left("5.json") && left("6.txt"), "nobody knows what that is");
        assert!(in_folder(&folder.join("none"), user, "").unwrap().is_empty());
    }

    #[test]
    fn s_27_records_of_others_do_not_count() {
        let temp = tempfile::tempdir().unwrap();
        let user = fs::metadata(temp.path()).unwrap().uid();
        let own = record(Identity::own().unwrap(), &host());
        fs::write(temp.path().join("1.json"), serde_json::to_vec(&own).unwrap()).unwrap();
        assert!(in_folder(temp.path(), user + 1, &own.identity.boot_id).unwrap().is_empty());
        assert!(temp.path().join("1.json").exists());
    }
}
