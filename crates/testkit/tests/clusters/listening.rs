//! On which ports processes listen, as the kernel tells.

use std::collections::BTreeSet;
use std::fs;

use testcluster::Process;

/// The TCP ports of all these processes.
pub fn listening(processes: &[Process]) -> BTreeSet<u16> {
    let mut sockets = BTreeSet::new();
    for process in processes {
        // one that a test has ended has none
        for entry in fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten() {
            let Ok(target) = fs::read_link(entry.unwrap().path()) else { continue };
            if let Some(inode) = target.to_string_lossy().strip_prefix("socket:[") {
                sockets.insert(inode.trim_end_matches(']').to_owned());
            }
        }
    }
    let table =
        fs::read_to_string("/proc/net/tcp").unwrap() + &fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let ports = table.lines().filter_map(|line| {
        // number, local address, remote address, state, …, inode
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        (*state == "0A" && sockets.contains(*inode)).then(|| u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok())?
    });
    ports.collect()
}
