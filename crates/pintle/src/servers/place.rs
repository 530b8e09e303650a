//! Where servers write down that they run.

use crate::surroundings;
use rustix::process::geteuid;
use std::{
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Where those of the system itself lie.
const SYSTEM: &str = "/run/pintle";

/// The folders, the one to write to first. A client may start its servers without the variables that a shell has, so
/// all of them are looked into.
pub(crate) fn folders() -> Vec<PathBuf> {
    let user = geteuid();
    let state = surroundings::state().map(|state| state.path().to_owned());
    let known = of(|name| std::env::var_os(name), user.as_raw(), state);
    known.into_iter().map(|folder| folder.join("servers")).collect()
}

fn of(variable: impl Fn(&str) -> Option<OsString>, user: u32, state: Option<PathBuf>) -> Vec<PathBuf> {
    let runtime = variable("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| is_own(path, user));
    let system = (user == 0).then(|| PathBuf::from(SYSTEM));
    system.into_iter().chain(runtime.map(|path| path.join("pintle"))).chain(state).collect()
}

/// Whether nobody but that user can put anything there. With root's rights the variable may still be somebody else's.
fn is_own(path: &Path, user: u32) -> bool {
    let found = || fs::metadata(path).ok();
    path.is_absolute() && found().is_some_and(|at| at.is_dir() && at.uid() == user && at.mode() & 0o022 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_folder_for_running_things_comes_first_where_it_is_this_users() {
        let temp = tempfile::tempdir().unwrap();
        let user = fs::metadata(temp.path()).unwrap().uid();
        let path = temp.path().to_owned();
        let found = |user: u32| of(|_| Some(path.clone().into()), user, Some("/state".into()));
        let ours = if user == 0 { 1 } else { user };
        assert_eq!(found(ours + 1), [Path::new("/state")], "it is another user's");
        assert!(found(user).contains(&path.join("pintle")));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!found(user).contains(&path.join("pintle")), "everybody can write there");
        assert_eq!(of(|_| None, 0, None), [Path::new(SYSTEM)]);
        assert_eq!(of(|_| Some("relative".into()), 7, Some("/state".into())), [Path::new("/state")]);
    }
}
