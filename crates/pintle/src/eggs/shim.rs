//! The program under the name `eggs`: whatever is not `mcp` is for the real one, which takes the place of this process.
//!
//! The real one is the next `eggs` behind this one in `PATH`, else one where packages put it. Never this program again,
//! under whatever name: files are compared, not names. Two copies of this program that stand in front of each other are
//! told apart by a list of those that were passed already.

use super::start;
use pintle_core::{Code, Failure};
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::{fs::MetadataExt as _, fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

/// Files of this program that were passed already, as `DEVICE:INODE`.
const PASSED: &str = "PINTLE_EGGS_SHIMS";

/// Where packages put it.
const USUAL: [&str; 4] = ["/usr/bin/eggs", "/usr/local/bin/eggs", "/usr/bin/coa", "/usr/local/bin/coa"];

/// Becomes the real program; comes back only if that is not possible.
pub(crate) fn pass_through(words: &[OsString]) -> Failure {
    // Whoever asks who this is, to run it, must not be told who stands behind it.
    if std::env::var_os(pintle_pack::PROBED).is_some() {
        return Failure::new(Code::Unavailable, "this is pintle under the name `eggs`, and not eggs");
    }
    let own = match std::env::current_exe().and_then(fs::metadata) {
        Ok(own) => id(&own),
        Err(error) => return Failure::io("finding this program's own path", &error),
    };
    let mut passed: Vec<String> = match std::env::var(PASSED) {
        Ok(list) => list.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    };
    if !passed.contains(&own) {
        passed.push(own);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(real) = find(&path, &USUAL.map(Path::new), &passed) else { return none(&path) };
    let error = Command::new(&real).args(words).env(PASSED, passed.join(",")).exec();
    Failure::io(format!("running `{}`", real.display()), &error)
}

/// The real eggs that is run where this program has the name, if there is one.
pub(crate) fn real() -> Option<PathBuf> {
    let own = std::env::current_exe().and_then(fs::metadata).ok()?;
    find(&std::env::var_os("PATH").unwrap_or_default(), &USUAL.map(Path::new), &[id(&own)])
}

/// Whether there is an eggs to drive, as far as a look at files tells: a server asks that before its first answer, and
/// reads no pack for it.
pub(crate) fn seem_here() -> bool {
    let own: Vec<String> = std::env::current_exe().and_then(fs::metadata).iter().map(id).collect();
    let is_there = |path: &&str| is_real(Path::new(path), &own);
    std::env::var_os(start::PATH).is_some_and(|path| !path.is_empty()) || USUAL.iter().any(is_there)
}

fn find(path: &OsStr, usual: &[&Path], passed: &[String]) -> Option<PathBuf> {
    let named = std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join("eggs"));
    named.chain(usual.iter().map(|path| path.to_path_buf())).find(|candidate| is_real(candidate, passed))
}

fn is_real(candidate: &Path, passed: &[String]) -> bool {
    let Ok(metadata) = fs::metadata(candidate) else { return false };
    // A link to another copy of this program is told by what it leads to, as `pintle link` makes it.
    let ours = fs::canonicalize(candidate).is_ok_and(|real| real.file_name() == Some(OsStr::new("pintle")));
    metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 && !ours && !passed.contains(&id(&metadata))
}

fn id(metadata: &fs::Metadata) -> String {
    format!("{}:{}", metadata.dev(), metadata.ino())
}

fn none(path: &OsStr) -> Failure {
    let folders = std::env::split_paths(path).map(|folder| folder.display().to_string());
    let looked = folders.chain(USUAL[1..].iter().map(|path| (*path).to_owned())).collect::<Vec<_>>().join(", ");
    Failure::new(
        Code::Unavailable,
        "there is no eggs behind this name: `eggs` is pintle here, and passes all but `eggs mcp` on",
    )
    .hint(format!("install penguins-eggs; it was looked for in {looked}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn program(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn eg_015_the_places_are_those_of_the_pack() {
        let mut surroundings = pintle_pack::Surroundings::of_process(None);
        surroundings.system.clear();
        let host = pintle_pack::Host::new(surroundings);
        let program = &host.pack("eggs").unwrap().pack.program;
        assert_eq!(program.candidates, USUAL);
        assert_eq!(program.path_variable.as_deref(), Some(start::PATH));
    }

    #[test]
    fn the_next_one_that_is_not_ours_is_the_real_one() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        program(&at("opt/pintle"), "ours");
        program(&at("opt/copy/eggs"), "ours");
        for folder in ["a", "b", "c", "d", "e"] {
            fs::create_dir(at(folder)).unwrap();
        }
        symlink(at("opt/pintle"), at("a/eggs")).unwrap();
        fs::hard_link(at("opt/pintle"), at("b/eggs")).unwrap();
        fs::write(at("c/eggs"), "not executable").unwrap();
        fs::create_dir(at("d/eggs")).unwrap();
        let folders = |names: &[&str]| std::env::join_paths(names.iter().map(|name| at(name))).unwrap();
        let own = [id(&fs::metadata(at("opt/pintle")).unwrap())];
        let before = ["none", "a", "b", "c", "d"];
        assert_eq!(find(&folders(&before), &[], &own), None);
        program(&at("e/eggs"), "theirs");
        assert_eq!(find(&folders(&[&before[..], &["e"]].concat()), &[], &own), Some(at("e/eggs")));
        assert_eq!(find(&folders(&before), &[&at("e/eggs")], &own), Some(at("e/eggs")), "where packages put it");
        let copy = folders(&["a", "opt/copy", "e"]);
        assert_eq!(find(&copy, &[], &own), Some(at("opt/copy/eggs")), "a copy is not known by its name");
        let both = [&own[..], &[id(&fs::metadata(at("opt/copy/eggs")).unwrap())]].concat();
        assert_eq!(find(&copy, &[], &both), Some(at("e/eggs")), "but it passes on to nobody who was passed");
        assert_eq!(find(OsStr::new("relative:"), &[], &own), None);
    }
}
