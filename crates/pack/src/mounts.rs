//! What is mounted, as the kernel tells it.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};

/// Where the kernel tells it, from the root of the system that is looked at.
const TABLE: &str = "proc/self/mountinfo";

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mount {
    /// Number of the mount; a new mount over an old one has another.
    pub(crate) id: u64,
    /// Where it is.
    pub(crate) point: PathBuf,
    /// Kind of file system.
    pub(crate) kind: String,
    /// What is mounted there.
    pub(crate) source: String,
}

/// The mounts that this process sees, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Those of the running system, or what the table of another root says.
    ///
    /// # Errors
    /// When the table cannot be read. A root without a table has no mounts.
    pub(crate) fn read(root: Option<&Path>) -> io::Result<Self> {
        let table = root.unwrap_or(Path::new("/")).join(TABLE);
        match fs::read_to_string(table) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if root.is_some() && error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// From the text of the table (proc(5)): number, parent, device, root, mount point, options, optional fields up to a
    /// lone dash, kind, source, more options. A line that is none is passed over.
    fn parse(text: &str) -> Self {
        let mount = |line: &str| {
            let (before, after) = line.split_once(" - ")?;
            let mut before = before.split(' ');
            let id = before.next()?.parse().ok()?;
            let point = PathBuf::from(unescaped(before.nth(3)?));
            let mut after = after.split(' ');
            Some(Mount { id, point, kind: after.next()?.to_owned(), source: unescaped(after.next()?) })
        };
        Self(text.lines().filter_map(mount).collect())
    }

    /// Those at one of these folders or below.
    pub(crate) fn below(&self, folders: &[PathBuf]) -> Self {
        let inside = |mount: &&Mount| folders.iter().any(|folder| mount.point.starts_with(folder));
        Self(self.0.iter().filter(inside).cloned().collect())
    }

    /// Those that were not there before.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let known: HashSet<(u64, &Path)> = before.0.iter().map(|mount| (mount.id, mount.point.as_path())).collect();
        Self(self.0.iter().filter(|mount| !known.contains(&(mount.id, mount.point.as_path()))).cloned().collect())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// Where they are, each as often as something is mounted there.
    pub(crate) fn points(&self) -> Vec<String> {
        self.0.iter().map(|mount| mount.point.display().to_string()).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Blanks and the like stand as three octal digits behind a backslash.
fn unescaped(field: &str) -> String {
    let bytes = field.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes.get(at + 1..at + 4).filter(|_| bytes[at] == b'\\');
        let code = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        out.push(code.unwrap_or(bytes[at]));
        at += if code.is_some() { 4 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 21 0:25 / /home/eggs/mnt/my\\040root rw shared:2 master:1 - overlay overlay rw,lowerdir=/
31 21 8:1 /root /home/eggs/mnt/root rw - ext4 /dev/sda1 rw
32 21 8:1 /root /home/eggs2 rw - ext4 /dev/sda1 rw
no line of a table
";

    #[test]
    fn s_35_mounts_below_a_folder_are_told_with_blanks_and_neighbours_apart() {
        let mounts = Mounts::parse(TABLE);
        assert_eq!(mounts.iter().count(), 4);
        let below = mounts.below(&[PathBuf::from("/home/eggs")]);
        assert_eq!(below.points(), ["/home/eggs/mnt/my root", "/home/eggs/mnt/root"]);
        assert_eq!(below.0[0].kind, "overlay");
        assert_eq!(below.0[1].source, "/dev/sda1");
    }

    #[test]
    fn s_35_only_what_was_not_there_before_was_left_behind() {
        let after = Mounts::parse(TABLE);
        let before = Mounts(after.0[..2].to_vec());
        assert_eq!(after.since(&before).points(), ["/home/eggs/mnt/root", "/home/eggs2"]);
        // The same place mounted anew is another mount.
        let again = Mounts::parse(&TABLE.replace("30 21", "40 21"));
        assert_eq!(again.since(&after).points(), ["/home/eggs/mnt/my root"]);
        assert!(after.since(&after).is_empty());
    }

    #[test]
    fn the_table_of_another_root_is_read_and_one_without_has_none() {
        let root = tempfile::tempdir().unwrap();
        assert!(Mounts::read(Some(root.path())).unwrap().is_empty());
        fs::create_dir_all(root.path().join("proc/self")).unwrap();
        fs::write(root.path().join("proc/self/mountinfo"), TABLE).unwrap();
        assert_eq!(Mounts::read(Some(root.path())).unwrap().iter().count(), 4);
        assert!(!Mounts::read(None).unwrap().is_empty(), "this system has a root");
    }
}
