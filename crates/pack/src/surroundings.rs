//! What packs find around themselves. Read once, when the process starts; nothing else looks at the environment.

use crate::files::Root;
use pintle_dispatch::StateFolder;
use pintle_packfile::{Program, trust};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Set in the environment of a program that is asked who it is. Where that is ours after all, under another name, it neither
/// asks itself nor answers for another.
pub const PROBED: &str = "PINTLE_PROBED";

/// What packs find around themselves.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The environment of the process.
    pub variables: BTreeMap<OsString, OsString>,
    /// Whether this process is root.
    pub is_root: bool,
    /// Where state is kept; without it, long texts are not kept whole.
    pub state: Option<StateFolder>,
    /// The small program that runs verbs as root.
    pub helper: PathBuf,
    /// Programs that give root's rights to those who were granted them, best first.
    pub elevators: Vec<PathBuf>,
    /// Folders of packs that root made, the last wins.
    pub system: Vec<PathBuf>,
    /// The folder of the user's own packs.
    pub user: Option<PathBuf>,
    /// Device and inode of this program, which is never one that it runs.
    pub own: Option<(u64, u64)>,
    /// From where the paths of what root trusts are walked.
    pub trusted: trust::Root,
}

impl Surroundings {
    /// Those of this process, keeping state in that folder.
    #[must_use]
    pub fn of_process(state: Option<StateFolder>) -> Self {
        let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let folder = |name: &str| {
            variables.get(std::ffi::OsStr::new(name)).map(PathBuf::from).filter(|folder| folder.is_absolute())
        };
        let user = folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config")));
        Self {
            user: user.map(|folder| folder.join("pintle/packs")),
            own: std::env::current_exe().ok().and_then(|path| identity(&path)),
            is_root: rustix::process::geteuid().is_root(),
            state,
            helper: "/usr/lib/pintle/pintle-helper".into(),
            elevators: vec!["/usr/bin/sudo".into(), "/usr/bin/doas".into()],
            system: vec!["/usr/lib/pintle/packs".into(), "/etc/pintle/packs".into()],
            trusted: trust::Root::system(),
            variables,
        }
    }

    /// The value of a variable that is set to something.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(std::ffi::OsStr::new(name)).filter(|value| !value.is_empty())
    }

    /// The program that the operator named for a pack, and the variable that names it.
    pub(crate) fn operators_program(&self, program: &Program) -> Option<(PathBuf, String)> {
        let name = program.path_variable.as_ref()?;
        Some((PathBuf::from(self.variable(name)?), name.clone()))
    }

    /// The system that a pack is about: another than ours only with the operator's own program.
    pub(crate) fn root_of(&self, program: &Program) -> Root {
        let named = program.root_variable.as_ref().and_then(|name| self.variable(name)).map(PathBuf::from);
        match (self.operators_program(program), named) {
            (Some(_), Some(folder)) if folder.is_absolute() && folder != Path::new("/") => Root::at(folder),
            _ => Root::default(),
        }
    }

    /// The home of whoever runs this.
    pub(crate) fn home(&self) -> Option<String> {
        self.variable("HOME")?.to_str().filter(|home| home.starts_with('/')).map(str::to_owned)
    }
}

/// Device and inode of what a path leads to.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|about| (about.dev(), about.ino()))
}
