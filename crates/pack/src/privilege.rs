//! Root's rights: whether a verb needs them, and by what way it gets them.
//!
//! They come from the small helper and from nowhere else: `sudo` grants the helper with one verb each, and the helper
//! reads the pack and checks the arguments again. This process never gives root a command of its own making.

use crate::{load::Loaded, program::Found, surroundings::Surroundings};
use pintle_core::{Code, Failure};
use pintle_packfile::{Elevate, Verb};
use std::path::{Path, PathBuf};

/// By what way a verb runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The program itself, as whoever we are.
    Direct,
    /// The helper, started by a program that gives it root's rights.
    Helper {
        /// The program that gives the rights.
        elevator: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

impl Way {
    /// As a plan tells it.
    pub(crate) fn told(&self, surroundings: &Surroundings) -> String {
        match self {
            Self::Helper { elevator, .. } => {
                let name = elevator.file_name().unwrap_or_default().to_string_lossy();
                format!("as root, through {name}")
            }
            Self::Direct if surroundings.is_root => "as root".to_owned(),
            Self::Direct => "as this user".to_owned(),
        }
    }
}

/// Whether a verb may run like this at all; asked before its program is looked for.
///
/// # Errors
/// Code `denied`.
pub(crate) fn check(
    surroundings: &Surroundings,
    loaded: &Loaded,
    verb: &Verb,
    elevate: Elevate,
) -> Result<(), Failure> {
    let called = called(loaded, verb);
    match elevate {
        Elevate::RefuseRoot if surroundings.is_root => {
            let told = format!("`{called}` must not run as root: it leaves files of root's in a user's folder");
            Err(Failure::new(Code::Denied, told).hint("call it as that user"))
        }
        Elevate::Always if !loaded.origin.may_elevate() => {
            let told = format!("`{called}` runs as root, and a pack of a user is never run as root");
            Err(Failure::new(Code::Denied, told).hint("root puts packs into /etc/pintle/packs"))
        }
        Elevate::Always | Elevate::Never | Elevate::RefuseRoot => Ok(()),
    }
}

/// The way for one call that may be made.
///
/// # Errors
/// Code `unavailable` where root's rights are needed and not set up.
pub(crate) fn way(
    surroundings: &Surroundings,
    loaded: &Loaded,
    verb: &Verb,
    elevate: Elevate,
    found: &Found,
) -> Result<Way, Failure> {
    if elevate != Elevate::Always || surroundings.is_root || found.by_operator {
        return Ok(Way::Direct);
    }
    helper(surroundings, loaded, verb, &called(loaded, verb))
}

fn called(loaded: &Loaded, verb: &Verb) -> String {
    format!("{} {}", loaded.pack.name, verb.words.join(" "))
}

fn helper(surroundings: &Surroundings, loaded: &Loaded, verb: &Verb, called: &str) -> Result<Way, Failure> {
    let missing = |why: String| {
        Failure::new(Code::Unavailable, format!("`{called}` needs root's rights: {why}")).hint(fix(&loaded.pack.name))
    };
    let trusted = &surroundings.trusted;
    trusted.file(&surroundings.helper).map_err(|why| missing(format!("the helper is not set up: {why}")))?;
    let mut tried = Vec::new();
    for elevator in &surroundings.elevators {
        match trusted.file(elevator) {
            Ok(_) => {
                let verb = format!("{}.{}", loaded.pack.name, verb.name);
                return Ok(through(&trusted.place(elevator), &trusted.place(&surroundings.helper), &verb));
            }
            Err(why) => tried.push(why.to_string()),
        }
    }
    Err(missing(format!("nothing gives them: {}", tried.join("; "))))
}

/// The vector that the rule of the operator grants; nothing in it comes from the call.
fn through(elevator: &Path, helper: &Path, verb: &str) -> Way {
    let mut arguments = vec!["-n".to_owned()];
    if elevator.ends_with("sudo") {
        arguments.push("--".to_owned());
    }
    arguments.extend([helper.display().to_string(), "run".to_owned(), verb.to_owned()]);
    Way::Helper { elevator: elevator.to_owned(), arguments }
}

/// What sets the rights up.
fn fix(pack: &str) -> String {
    format!("`sudo pintle {pack} mcp enable` sets this up for one user")
}

/// The failure of a run that never came to its program, if that is what it was.
pub(crate) fn refusal(pack: &str, code: Option<i32>, last: &[String]) -> Option<Failure> {
    let line = last.last()?;
    // The elevators speak in their own name; with the password that they would ask for, nobody can help here.
    if code == Some(1) && (line.starts_with("sudo: ") || line.starts_with("doas: ")) {
        return Some(Failure::new(Code::Unavailable, format!("root's rights were not given: {line}")).hint(fix(pack)));
    }
    let said = line.strip_prefix("pintle-helper: ").filter(|_| code == Some(125))?;
    if let Some(taken) = said.strip_prefix("busy: ") {
        return Some(Failure::new(Code::Busy, taken.to_owned()).hint("try again when it has ended").retryable());
    }
    Some(Failure::new(Code::Denied, format!("the helper refused: {said}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn eg_016_s_31_the_vector_is_absolute_asks_nobody_and_holds_nothing_of_the_call() {
        let helper = Path::new("/usr/lib/pintle/pintle-helper");
        let words = |elevator: &str| match through(Path::new(elevator), helper, "eggs.remaster") {
            Way::Helper { elevator, arguments } => format!("{} {}", elevator.display(), arguments.join(" ")),
            Way::Direct => panic!("direct"),
        };
        assert_eq!(words("/usr/bin/sudo"), "/usr/bin/sudo -n -- /usr/lib/pintle/pintle-helper run eggs.remaster");
        assert_eq!(words("/usr/bin/doas"), "/usr/bin/doas -n /usr/lib/pintle/pintle-helper run eggs.remaster");
    }

    #[test]
    fn eg_016_what_the_elevator_or_the_helper_says_is_told_with_the_fix() {
        let lines = |text: &str| vec![text.to_owned()];
        let failure = refusal("eggs", Some(1), &lines("sudo: a password is required")).unwrap();
        assert_eq!(failure.code, Code::Unavailable);
        assert!(failure.hints[0].contains("sudo pintle eggs mcp enable"), "{failure:?}");
        let failure = refusal("eggs", Some(125), &lines("pintle-helper: busy: the lane `flight` is taken")).unwrap();
        assert_eq!((failure.code, failure.message.as_str()), (Code::Busy, "the lane `flight` is taken"));
        let failure = refusal("eggs", Some(125), &lines("pintle-helper: /tmp/coa belongs to user 1000")).unwrap();
        assert_eq!(
            (failure.code, failure.message.as_str()),
            (Code::Denied, "the helper refused: /tmp/coa belongs to user 1000")
        );
        assert!(refusal("eggs", Some(1), &lines("[ERROR] no")).is_none());
        assert!(refusal("eggs", Some(0), &[]).is_none());
    }
}
