//! What is on the machine, to be compared with what was.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Where something of the system or of its users could be written; the other folders of the machine are empty at first.
const PLACES: [&str; 6] = ["/etc", "/usr", "/var/lib", "/tmp", "/home", "/run/root"];
/// Below these every byte is kept; elsewhere the size and the time of the last change.
const KEPT: [&str; 3] = ["/etc", "/tmp/home", "/run/root"];

/// Owner, group, mode, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry(u32, u32, u32, Content);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Folder,
    Link(PathBuf),
    Bytes(Vec<u8>),
    /// Size, and seconds and nanoseconds of the last change.
    Changed(u64, i64, i64),
}

/// Everything that there is.
pub struct Snapshot(BTreeMap<PathBuf, Entry>);

impl Snapshot {
    pub fn take() -> Self {
        let mut all = BTreeMap::new();
        for place in PLACES {
            below(Path::new(place), &mut all);
        }
        Self(all)
    }

    /// What is new, gone or other than it was, but for what lies at or below these paths.
    pub fn differences(&self, before: &Self, but: &[PathBuf]) -> Vec<PathBuf> {
        let paths = self.0.keys().chain(before.0.keys());
        let mut differ: Vec<PathBuf> = paths
            .filter(|path| self.0.get(*path) != before.0.get(*path))
            .filter(|path| !but.iter().any(|known| path.starts_with(known)))
            .cloned()
            .collect();
        differ.sort();
        differ.dedup();
        differ
    }
}

fn below(folder: &Path, all: &mut BTreeMap<PathBuf, Entry>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        let content = if found.is_dir() {
            below(&path, all);
            Content::Folder
        } else if found.is_symlink() {
            Content::Link(fs::read_link(&path).unwrap())
        } else if found.is_file() && KEPT.iter().any(|kept| path.starts_with(kept)) {
            Content::Bytes(fs::read(&path).unwrap())
        } else {
            Content::Changed(found.len(), found.mtime(), found.mtime_nsec())
        };
        all.insert(path, Entry(found.uid(), found.gid(), found.mode(), content));
    }
}
