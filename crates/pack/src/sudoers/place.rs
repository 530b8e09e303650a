//! Where the system's files and programs lie.

use std::path::{Path, PathBuf};

use pintle_core::{Code, Failure};
use pintle_packfile::trust::{Root, Untrusted};

/// Where sudo reads its rules; the second is where a system keeps what its vendor wrote.
const SUDOERS: [&str; 2] = ["/etc/sudoers", "/usr/etc/sudoers"];
const SUDO: [&str; 1] = ["/usr/bin/sudo"];
const DOAS: [&str; 1] = ["/usr/bin/doas"];
const VISUDO: [&str; 3] = ["/usr/sbin/visudo", "/usr/bin/visudo", "/sbin/visudo"];
const GETENT: [&str; 1] = ["/usr/bin/getent"];

/// The folder of the rules that packages and people add.
pub(super) const FOLDER: &str = "/etc/sudoers.d";
/// The rules of doas.
pub(super) const DOAS_RULES: &str = "/etc/doas.conf";

/// The system whose files are written and whose programs judge them. Names in here are given from its root.
#[derive(Clone, Debug)]
pub struct Place {
    files: Root,
    programs: Root,
    whole: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self::system()
    }
}

impl Place {
    /// This machine.
    #[must_use]
    pub fn system() -> Self {
        Self { files: Root::system(), programs: Root::system(), whole: true }
    }

    /// A folder that stands for `/`: for the files, and for the programs `sudo`, `visudo` and `doas`.
    #[must_use]
    pub fn below(files: impl Into<PathBuf>, programs: impl Into<PathBuf>) -> Self {
        Self { files: Root::below(files), programs: Root::below(programs), whole: false }
    }

    /// Whether this is the machine itself.
    pub(super) fn is_system(&self) -> bool {
        self.whole
    }

    /// Where a file lies.
    pub(super) fn path(&self, file: impl AsRef<Path>) -> PathBuf {
        self.files.place(file)
    }

    pub(super) fn files(&self) -> &Root {
        &self.files
    }

    /// `/etc/sudoers`, or what stands for it.
    ///
    /// # Errors
    /// Code `unavailable` when there is none, `denied` when others can change it.
    pub(super) fn sudoers(&self) -> Result<PathBuf, Failure> {
        first(&self.files, &SUDOERS).map_err(|why| refused(&why, "sudo has no rules").hint("install and set up sudo"))
    }

    /// # Errors
    /// Code `unavailable` without sudo, `denied` when others can change it.
    pub(super) fn sudo(&self) -> Result<PathBuf, Failure> {
        first(&self.programs, &SUDO).map_err(|why| refused(&why, "no sudo that can be trusted"))
    }

    /// # Errors
    /// Code `unavailable` without doas, `denied` when others can change it.
    pub(super) fn doas(&self) -> Result<PathBuf, Failure> {
        first(&self.programs, &DOAS).map_err(|why| refused(&why, "no doas that can be trusted"))
    }

    /// # Errors
    /// Code `unavailable` without visudo, `denied` when others can change it.
    pub(super) fn visudo(&self) -> Result<PathBuf, Failure> {
        first(&self.programs, &VISUDO).map_err(|why| {
            refused(&why, "no visudo that can be trusted").hint("install sudo as your system packages it")
        })
    }

    /// # Errors
    /// Code `unavailable` without getent.
    pub(super) fn getent(&self) -> Result<PathBuf, Failure> {
        first(&self.programs, &GETENT).map_err(|why| refused(&why, "no getent that can be trusted"))
    }
}

/// The first that is there; it must be root's alone.
fn first(root: &Root, candidates: &[&str]) -> Result<PathBuf, Untrusted> {
    let mut missing = None;
    for candidate in candidates {
        match root.file(candidate) {
            Err(why) if why.is_missing() => {
                missing.get_or_insert(why);
            }
            found => return found,
        }
    }
    Err(missing.unwrap_or_else(|| Untrusted::Missing(PathBuf::new())))
}

/// A file or folder that is missing, or that others than root can change.
pub(super) fn refused(why: &Untrusted, what: &str) -> Failure {
    let code = match why {
        Untrusted::Missing(_) => Code::Unavailable,
        Untrusted::System { .. } => Code::Io,
        _ => Code::Denied,
    };
    Failure::new(code, format!("{what}: {why}"))
}
