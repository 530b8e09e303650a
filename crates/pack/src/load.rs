//! Packs: those that come with the program, those that root made, and the user's own.
//!
//! A pack of root's replaces one of the same name that comes with the program: so an operator narrows or mends it. A user
//! may add packs and replace none, and nothing of theirs ever gets root's rights.

use crate::surroundings::Surroundings;
use pintle_core::{Failure, Problem};
use pintle_packfile::{BUILTIN, Pack, parse};
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

/// Where a pack comes from, which is what it is trusted for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It comes with the program.
    BuiltIn,
    /// Root made it.
    System(PathBuf),
    /// The user made it: what it describes is never run as root.
    User(PathBuf),
}

impl Origin {
    /// Whether what it describes may get root's rights.
    #[must_use]
    pub fn may_elevate(&self) -> bool {
        !matches!(self, Self::User(_))
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::System(path) => write!(f, "{}", path.display()),
            Self::User(path) => write!(f, "{}, of this user: never run as root", path.display()),
        }
    }
}

/// A pack with where it comes from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The pack.
    pub pack: Arc<Pack>,
    /// Where it comes from.
    pub origin: Origin,
}

/// All packs of this machine and user.
#[derive(Clone, Debug, Default)]
pub struct Packs {
    loaded: Vec<Loaded>,
    refused: Vec<Refused>,
}

/// A file that was meant to be a pack and is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The file.
    pub path: PathBuf,
    /// What is wrong, with places.
    pub problems: Vec<Problem>,
}

impl Packs {
    /// Everything that is there. What does not hold together is left out and told by [`refused`](Self::refused).
    #[must_use]
    pub fn load(surroundings: &Surroundings) -> Self {
        let mut all = Self::default();
        for (name, parsed) in built_in() {
            match parsed {
                Ok(pack) => all.loaded.push(Loaded { pack: Arc::clone(pack), origin: Origin::BuiltIn }),
                Err(problems) => all.refuse(Path::new(name), places(&format!("{name}.toml"), problems), true),
            }
        }
        for folder in &surroundings.system {
            for path in files(&surroundings.trusted.place(folder)) {
                let name = path.file_name().unwrap_or_default();
                match surroundings.trusted.file(folder.join(name)) {
                    Ok(_) => all.add(&path, Origin::System(path.clone())),
                    Err(why) => all.refuse(&path, vec![whole(&path, &format!("is not root's alone: {why}"))], true),
                }
            }
        }
        for path in surroundings.user.iter().flat_map(|folder| files(folder)) {
            match of_user(&path) {
                Ok(()) => all.add(&path, Origin::User(path.clone())),
                Err(why) => all.refuse(&path, vec![whole(&path, &why)], false),
            }
        }
        all
    }

    /// The pack of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Loaded> {
        self.loaded.iter().find(|loaded| loaded.pack.name == name)
    }

    /// All of them; those that come with the program first.
    pub fn iter(&self) -> impl Iterator<Item = &Loaded> {
        self.loaded.iter()
    }

    /// Files that are none.
    #[must_use]
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// What root made and does not hold is not passed over for what it was to replace: that may allow more.
    fn refuse(&mut self, path: &Path, problems: Vec<Problem>, instead: bool) {
        if instead && let Some(name) = path.file_stem() {
            self.loaded.retain(|known| known.pack.name.as_str() != name);
        }
        self.refused.push(Refused { path: path.to_owned(), problems });
    }

    fn add(&mut self, path: &Path, origin: Origin) {
        let of_root = origin.may_elevate();
        let pack = match read(path) {
            Ok(pack) => pack,
            Err(problems) => return self.refuse(path, problems, of_root),
        };
        if path.file_stem().and_then(|stem| stem.to_str()) != Some(pack.name.as_str()) {
            let why = format!("holds the pack `{}`: its file must be called `{}.toml`", pack.name, pack.name);
            return self.refuse(path, vec![whole(path, &why)], of_root);
        }
        let loaded = Loaded { pack: Arc::new(pack), origin };
        match self.loaded.iter_mut().find(|known| known.pack.name == loaded.pack.name) {
            Some(known) if of_root => *known = loaded,
            Some(known) => {
                let why = format!("the name `{}` is taken by a pack of the system ({})", known.pack.name, known.origin);
                self.refuse(path, vec![whole(path, &why)], false);
            }
            None => self.loaded.push(loaded),
        }
    }
}

/// A pack that comes with the program: its name, and itself.
type BuiltIn = (&'static str, Result<Arc<Pack>, Vec<pintle_packfile::Problem>>);

/// The packs that come with the program, read once: their patterns take longer to compile than all else at the start.
fn built_in() -> &'static [BuiltIn] {
    static PARSED: OnceLock<Vec<BuiltIn>> = OnceLock::new();
    PARSED.get_or_init(|| BUILTIN.iter().map(|(name, text)| (*name, parse(text).map(Arc::new))).collect())
}

/// Reads and checks one file.
///
/// # Errors
/// Everything that is wrong with it, with places.
pub(crate) fn read(path: &Path) -> Result<Pack, Vec<Problem>> {
    let unread = |error| match error {
        crate::files::Unread::Io(error) => Failure::io("cannot be read", &error).message,
        other => format!("cannot be read: {other}"),
    };
    let bytes = crate::files::read(path).map_err(|error| vec![whole(path, &unread(error))])?;
    let text = String::from_utf8(bytes).map_err(|_| vec![whole(path, "is not UTF-8")])?;
    parse(&text).map_err(|problems| places(&path.display().to_string(), &problems))
}

fn whole(path: &Path, why: &str) -> Problem {
    Problem { file: Some(path.display().to_string()), ..Problem::new(why) }
}

fn places(file: &str, problems: &[pintle_packfile::Problem]) -> Vec<Problem> {
    let place = |problem: &pintle_packfile::Problem| {
        let told = Problem::new(&problem.message).at(file, problem.line, problem.column);
        match &problem.hint {
            Some(hint) => told.hint(hint),
            None => told,
        }
    };
    problems.iter().map(place).collect()
}

/// The files of a folder that are meant to be packs, by name. A folder that is not there has none.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter(|path| !path.file_name().unwrap_or_default().to_string_lossy().starts_with('.'))
        .collect();
    paths.sort();
    paths
}

/// Whether this user, root, or a group of theirs made the file and not just anybody can change it.
fn of_user(path: &Path) -> Result<(), String> {
    let about = fs::metadata(path).map_err(|error: io::Error| format!("cannot be looked at: {error}"))?;
    if about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw() {
        return Err(format!("belongs to user {}", about.uid()));
    }
    match about.mode() & 0o002 {
        0 => Ok(()),
        _ => Err("can be written by everybody".to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;
    use pintle_packfile::trust;
    use std::os::unix::fs::PermissionsExt;

    fn pack(name: &str, summary: &str) -> String {
        format!(
            "format = 1\nname = \"{name}\"\nsummary = \"{summary}\"\nprogram.candidates = [\"/usr/bin/true\"]\n\n\
             [verb.go]\nsummary = \"goes\"\neffects = []\nelevate = \"never\"\n\n[[tool]]\nname = \"{name}_go\"\nabout = \"goes\"\nverb = \"go\"\n"
        )
    }

    fn put(folder: &Path, file: &str, text: &str) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(file);
        fs::write(&path, text).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        path
    }

    fn surroundings(root: &Path) -> Surroundings {
        Surroundings {
            system: vec!["/lib".into(), "/etc".into()],
            user: Some(root.join("user")),
            trusted: trust::Root::below(root).owned_by(rustix::process::geteuid().as_raw()),
            ..Surroundings::of_process(None)
        }
    }

    #[test]
    fn the_systems_packs_replace_and_the_users_only_add() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        put(&root.join("lib"), "disk.toml", &pack("disk", "of the vendor"));
        put(&root.join("etc"), "disk.toml", &pack("disk", "of the operator"));
        put(&root.join("user"), "mine.toml", &pack("mine", "of the user"));
        let stolen = put(&root.join("user"), "eggs.toml", &pack("eggs", "of somebody"));
        let packs = Packs::load(&surroundings(&root));
        assert_eq!(packs.get("disk").unwrap().pack.summary, "of the operator");
        assert!(packs.get("disk").unwrap().origin.may_elevate());
        assert!(!packs.get("mine").unwrap().origin.may_elevate());
        assert_eq!(packs.get("eggs").unwrap().origin, Origin::BuiltIn);
        let [refused] = packs.refused() else { panic!("{:?}", packs.refused()) };
        assert_eq!(refused.path, stolen);
        assert!(refused.problems[0].message.contains("taken by a pack of the system"), "{refused:?}");
    }

    #[test]
    fn s_08_packs_that_others_can_write_and_packs_that_do_not_hold_are_left_out_and_told() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let open = put(&root.join("etc"), "disk.toml", &pack("disk", "x"));
        fs::set_permissions(&open, fs::Permissions::from_mode(0o666)).unwrap();
        put(&root.join("etc"), "other.toml", &pack("disk2", "x"));
        put(&root.join("etc"), "broken.toml", "format = 1\nnmae = \"x\"\n");
        put(&root.join("etc"), "notes.txt", "no pack");
        put(&root.join("etc"), "eggs.toml", "format = 2\n");
        let packs = Packs::load(&surroundings(&root));
        assert!(packs.get("disk").is_none() && packs.get("disk2").is_none());
        assert!(packs.get("eggs").is_none(), "what was to narrow it does not hold, so it does not hold either");
        let told: Vec<String> =
            packs.refused().iter().flat_map(|refused| &refused.problems).map(ToString::to_string).collect();
        assert!(told.iter().any(|text| text.contains("broken.toml:")), "{told:?}");
        assert!(told.iter().any(|text| text.contains("disk.toml: is not root's alone")), "{told:?}");
        assert!(told.iter().any(|text| text.contains("must be called `disk2.toml`")), "{told:?}");
    }
}
