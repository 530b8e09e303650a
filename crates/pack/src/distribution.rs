//! Which system this is: six facts, looked up when they are asked for.

use crate::files::Root;
use pintle_core::Foreign;
use serde::Serialize;
use std::collections::BTreeMap;

/// Where a system says what it is, the first that is there.
const OS_RELEASE: [&str; 2] = ["/etc/os-release", "/usr/lib/os-release"];
/// Any of these folders is there only while the system runs from an image.
const LIVE: [&str; 5] =
    ["/run/live/medium", "/lib/live/mount/medium", "/run/archiso/bootmnt", "/run/miso/bootmnt", "/run/initramfs/live"];
/// Words in `ID` or `ID_LIKE` and the family they stand for; the first that fits wins, `ID` before `ID_LIKE`.
const FAMILIES: [(&str, &str); 10] = [
    ("debian", "debian"),
    ("ubuntu", "debian"),
    ("alpine", "alpine"),
    ("manjaro", "manjaro"),
    ("arch", "archlinux"),
    ("archlinux", "archlinux"),
    ("fedora", "fedora"),
    ("rhel", "fedora"),
    ("opensuse", "opensuse"),
    ("suse", "opensuse"),
];
const UNKNOWN: &str = "unknown";

/// The six facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Status {
    /// `ID` of the distribution.
    pub(crate) distribution: String,
    /// `ID_LIKE`, as it stands there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) like: String,
    /// The family whose ways it has; `generic` for none that is known.
    pub(crate) family: &'static str,
    /// `VERSION_ID`.
    pub(crate) release: String,
    /// `VERSION_CODENAME`.
    pub(crate) codename: String,
    /// Name, host, release, version and machine of the kernel.
    pub(crate) kernel: String,
    /// Whether it runs from an image.
    pub(crate) live: bool,
}

impl Status {
    /// As the system is now.
    pub(crate) fn look(root: &Root) -> Self {
        let text = OS_RELEASE.iter().find_map(|file| std::fs::read_to_string(root.real(file)).ok());
        let live = LIVE.iter().any(|folder| root.real(folder).is_dir());
        Self::of(text.as_deref().unwrap_or_default(), kernel(), live)
    }

    fn of(os_release: &str, kernel: String, live: bool) -> Self {
        let said = variables(os_release);
        let value = |name: &str| said.get(name).map(|value| Foreign::one_line(value)).filter(|v| !v.is_empty());
        let like = value("ID_LIKE").or_else(|| value("LIKE_ID")).unwrap_or_default();
        let id = value("ID");
        let words = id.iter().flat_map(|id| id.split_whitespace()).chain(like.split_whitespace());
        let family = words.map(str::to_lowercase).find_map(|word| family(&word)).unwrap_or("generic");
        let or_unknown = |value: Option<String>| value.unwrap_or_else(|| UNKNOWN.to_owned());
        Self {
            distribution: or_unknown(id),
            family,
            release: or_unknown(value("VERSION_ID")),
            codename: or_unknown(value("VERSION_CODENAME")),
            like,
            kernel,
            live,
        }
    }

    /// Six lines.
    pub(crate) fn text(&self) -> String {
        let like = if self.like.is_empty() { String::new() } else { format!(" (like {})", self.like) };
        format!(
            "Distribution: {}{like}\nFamily: {}\nRelease: {}\nCodename: {}\nKernel: {}\nLive: {}\n",
            self.distribution,
            self.family,
            self.release,
            self.codename,
            self.kernel,
            if self.live { "yes" } else { "no" }
        )
    }
}

fn family(word: &str) -> Option<&'static str> {
    // openSUSE writes `opensuse-leap`, `opensuse-tumbleweed`.
    let stem = word.split('-').next().unwrap_or(word);
    FAMILIES.iter().find(|(known, _)| *known == word || *known == stem).map(|(_, family)| *family)
}

fn kernel() -> String {
    let name = rustix::system::uname();
    let parts = [name.sysname(), name.nodename(), name.release(), name.version(), name.machine()];
    parts.map(|part| part.to_string_lossy().into_owned()).join(" ")
}

/// The variables of an os-release file: shell assignments with or without quotes (os-release(5)).
fn variables(text: &str) -> BTreeMap<&str, String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.trim(), unquoted(value.trim())))
        .collect()
}

fn unquoted(value: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
    let mut out = String::new();
    let mut chars = inner.unwrap_or(value).chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    fn facts(os_release: &str) -> (String, &'static str, String, String) {
        let status = Status::of(os_release, String::new(), false);
        (status.distribution, status.family, status.release, status.codename)
    }

    #[test]
    fn eg_041_every_family_its_derivatives_and_the_unknown_are_told() {
        for (text, distribution, family, release, codename) in [
            ("ID=debian\nVERSION_ID=\"13\"\nVERSION_CODENAME=trixie\n", "debian", "debian", "13", "trixie"),
            (
                "ID=ubuntu\nID_LIKE=debian\nVERSION_ID='24.04'\nVERSION_CODENAME=noble",
                "ubuntu",
                "debian",
                "24.04",
                "noble",
            ),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=22", "linuxmint", "debian", "22", "unknown"),
            ("ID=alpine\nVERSION_ID=3.22.1", "alpine", "alpine", "3.22.1", "unknown"),
            ("ID=manjaro\nID_LIKE=arch", "manjaro", "manjaro", "unknown", "unknown"),
            ("ID=arch", "arch", "archlinux", "unknown", "unknown"),
            ("ID=endeavouros\nLIKE_ID=arch", "endeavouros", "archlinux", "unknown", "unknown"),
            ("ID=fedora\nVERSION_ID=43", "fedora", "fedora", "43", "unknown"),
            ("ID=rocky\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=10.0", "rocky", "fedora", "10.0", "unknown"),
            (
                "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\nVERSION_ID=\"20261101\"",
                "opensuse-tumbleweed",
                "opensuse",
                "20261101",
                "unknown",
            ),
            ("ID=sled\nID_LIKE=suse", "sled", "opensuse", "unknown", "unknown"),
            ("# a comment\nID=nixos\nVERSION_ID=26.05", "nixos", "generic", "26.05", "unknown"),
            ("", "unknown", "generic", "unknown", "unknown"),
        ] {
            assert_eq!(
                facts(text),
                (distribution.to_owned(), family, release.to_owned(), codename.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn eg_041_six_lines_are_told_of_the_system_as_it_is_now() {
        let temp = tempfile::tempdir().unwrap();
        let root = Root::at(temp.path());
        let before = Status::look(&root);
        assert_eq!((before.distribution.as_str(), before.family, before.live), ("unknown", "generic", false));
        assert_eq!(before.text().lines().count(), 6, "{}", before.text());
        std::fs::create_dir_all(temp.path().join("usr/lib")).unwrap();
        std::fs::write(temp.path().join("usr/lib/os-release"), "ID=devuan\nID_LIKE=debian\nNAME=\"a\x1b[31mb\"")
            .unwrap();
        for folder in LIVE {
            let folder = temp.path().join(&folder[1..]);
            std::fs::create_dir_all(&folder).unwrap();
            assert!(Status::look(&root).live, "{}", folder.display());
            std::fs::remove_dir(&folder).unwrap();
        }
        let text = Status::look(&root).text();
        assert!(text.starts_with("Distribution: devuan (like debian)\nFamily: debian\n"), "{text}");
        assert!(text.contains("Kernel: Linux ") && text.ends_with("Live: no\n"), "{text}");
    }
}
