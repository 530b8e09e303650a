//! Files by a pattern in their last part, with what tells one state of them from another.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// One file as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Where.
    pub(crate) path: PathBuf,
    /// Its bytes.
    pub(crate) size: u64,
    /// Inode and time of the last change, for telling whether it is the same.
    state: (u64, i64, i64),
}

/// The regular files of a folder whose names match, by name. A folder that is not there has none.
///
/// # Errors
/// When the folder cannot be read.
pub(crate) fn matching(folder: &Path, glob: &str) -> io::Result<Vec<Listed>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if !fits(glob, &entry.file_name().to_string_lossy()) {
            continue;
        }
        // A file that goes while it is looked at is not there.
        let Ok(about) = entry.path().symlink_metadata() else { continue };
        if about.is_file() {
            let state = (about.ino(), about.mtime(), about.mtime_nsec());
            found.push(Listed { path: entry.path(), size: about.len(), state });
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The files of a path whose last part may be a pattern.
///
/// # Errors
/// As [`matching`].
pub(crate) fn of_path(path: &Path) -> io::Result<Vec<Listed>> {
    let glob = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    matching(path.parent().unwrap_or(Path::new("/")), &glob)
}

/// Whether a name matches a pattern: `*` is any text, `?` any character.
pub(crate) fn fits(glob: &str, name: &str) -> bool {
    let (glob, name): (Vec<char>, Vec<char>) = (glob.chars().collect(), name.chars().collect());
    let (mut g, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, n));
                g += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => {
                g += 1;
                n += 1;
            }
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                g = at + 1;
                n = taken + 1;
            }
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

/// `236.1 MiB`, `12 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = 0;
    while tenths >= 10240 && unit < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit - 1])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (glob, name, fit) in [
            ("*.iso", "egg-of-debian.iso", true),
            ("*.iso", "egg.iso.sha256", false),
            ("egg-*-amd64-*.iso", "egg-of-x-amd64-1-amd64-2.iso", true),
            ("?.log", "a.log", true),
            ("?.log", ".log", false),
            ("*", "", true),
            ("a*b", "ab", true),
            ("a*b", "abc", false),
        ] {
            assert_eq!(fits(glob, name), fit, "{glob} {name}");
        }
    }

    #[test]
    fn eg_028_files_are_listed_by_name_with_sizes_and_links_are_none() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("b.iso"), "12").unwrap();
        fs::write(temp.path().join("a.iso"), "").unwrap();
        fs::create_dir(temp.path().join("c.iso")).unwrap();
        std::os::unix::fs::symlink("/etc/shadow", temp.path().join("d.iso")).unwrap();
        let found = of_path(&temp.path().join("*.iso")).unwrap();
        let told: Vec<_> =
            found.iter().map(|file| (file.path.file_name().unwrap().to_str().unwrap(), file.size)).collect();
        assert_eq!(told, [("a.iso", 0), ("b.iso", 2)]);
        fs::write(temp.path().join("a.iso"), "1").unwrap();
        assert_ne!(of_path(&temp.path().join("a.iso")).unwrap()[0], found[0]);
        assert!(of_path(&temp.path().join("none/*.iso")).unwrap().is_empty());
        assert_eq!([0, 1023, 1024, 247_463_936].map(size), ["0 bytes", "1023 bytes", "1.0 KiB", "236.0 MiB"]);
    }
}
