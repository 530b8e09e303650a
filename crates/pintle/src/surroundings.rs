//! What the process finds around itself: its user, the folder for state, the operator's policy.

use pintle_core::{Caller, Code, Door, Failure};
use pintle_dispatch::{Policy, Settings, StateFolder};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The operator's rules, where nothing else is said.
pub(crate) const POLICY: &str = "/etc/pintle/policy.toml";

/// For what all processes of root share until the next boot.
const LANES: &str = "/run/pintle";

/// The folder for this user's state.
pub(crate) fn state() -> Option<StateFolder> {
    // The file of users is only read where the environment says nothing.
    let variable = |name: &str| std::env::var(name).ok();
    let named = |name: &str| variable(name).is_some_and(|value| value.starts_with('/'));
    let home = if named("XDG_STATE_HOME") || named("HOME") { None } else { home_of_record() };
    StateFolder::of_user(|name| variable(name).filter(|value| value.starts_with('/')), home)
}

/// The folder for state, or what to do without one.
pub(crate) fn state_path() -> Result<PathBuf, Failure> {
    state().map(|folder| folder.path().to_owned()).ok_or_else(|| {
        Failure::new(
            Code::Unavailable,
            "no folder for state: HOME is not set, and this user has no entry in /etc/passwd",
        )
        .hint("set HOME or XDG_STATE_HOME")
    })
}

fn home_of_record() -> Option<PathBuf> {
    home_in(&fs::read_to_string("/etc/passwd").ok()?, rustix::process::getuid().as_raw())
}

fn home_in(passwd: &str, uid: u32) -> Option<PathBuf> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':').skip(2);
        let found = fields.next()?.parse::<u32>().ok()? == uid;
        let home = PathBuf::from(fields.nth(2)?);
        (found && home.is_absolute()).then_some(home)
    })
}

/// The text of an ordinary file: a pipe would hold the start until somebody writes to it.
fn read_plain(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    fs::read_to_string(path)
}

/// The person at this end of a command.
pub(crate) fn caller() -> Caller {
    Caller { door: Door::People, principal: format!("user:{}", rustix::process::getuid().as_raw()) }
}

/// The rules of that file; without one, of the operator's own, if it is there.
///
/// # Errors
/// Code `invalid_argument` with the place of a mistake, `io` when it cannot be read.
pub(crate) fn policy(file: Option<&Path>) -> Result<Policy, Failure> {
    let path = file.unwrap_or(Path::new(POLICY));
    let text = match read_plain(path) {
        Ok(text) => text,
        Err(error) if file.is_none() && error.kind() == io::ErrorKind::NotFound => return Ok(Policy::default()),
        Err(error) => {
            return Err(Failure::io(format!("reading the policy `{}`", path.display()), &error)
                .hint("nothing is served without the rules that were meant"));
        }
    };
    Policy::parse(&text, path).map_err(|error| {
        Failure::new(Code::InvalidArgument, format!("the policy does not hold: {error}"))
            .hint("nothing is served while a rule is not understood; correct that line")
    })
}

/// Settings for the people's door.
pub(crate) fn settings() -> Result<Settings, Failure> {
    Ok(Settings { policy: policy(None)?, state: state(), lanes: lanes(), ..Settings::default() })
}

/// Where root's lanes lie: root of this machine is one, wherever its home is said to be. Others have theirs in their
/// folder for state.
pub(crate) fn lanes() -> Option<StateFolder> {
    rustix::process::geteuid().is_root().then(|| StateFolder::at(LANES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_of_record_is_found_by_number() {
        let passwd =
            "root:x:0:0:root:/root:/bin/bash\n\nbroken\nweb:x:1000:1000:,,,:/home/web:/bin/sh\nno:x:7:7::home:/";
        assert_eq!(home_in(passwd, 1000), Some("/home/web".into()));
        assert_eq!(home_in(passwd, 0), Some("/root".into()));
        assert_eq!(home_in(passwd, 1), None);
        assert_eq!(home_in(passwd, 7), None, "a relative home is none");
    }
}
