//! What eggs may do as root: the rule and the helper, as the pack's crate writes them.

use pintle_core::{Code, Failure};
use pintle_pack::{
    Surroundings,
    sudoers::{HELPER, Place, Rule},
};
use std::path::PathBuf;

/// The pack that is granted.
const PACK: &str = "eggs";
/// The file of its rule.
const FILE: &str = "penguins-eggs-mcp";
/// The helper, beside this program.
const NAME: &str = "pintle-helper";

/// The rule for these users.
///
/// # Errors
/// A name that is none of one user, a pack that does not hold together.
pub(crate) fn rule(users: &[String]) -> Result<Rule, Failure> {
    let host = pintle_pack::Host::new(Surroundings::of_process(None));
    Rule::of(&host.pack(PACK)?.pack, users)
}

/// The file of the rule; it is found, and removed, also where the pack does not hold together.
pub(crate) fn file() -> String {
    rule(&[]).map_or_else(|_| FILE.to_owned(), |rule| rule.file().to_owned())
}

/// The machine.
pub(crate) fn place() -> Place {
    Place::system()
}

/// Where the helper comes from: beside this program; none where a package has put it in its place already.
///
/// # Errors
/// Code `unavailable` when it is in neither place.
pub(crate) fn helper() -> Result<Option<PathBuf>, Failure> {
    let own = std::env::current_exe().map_err(|error| Failure::io("finding this program's own path", &error))?;
    let beside = own.with_file_name(NAME);
    if beside.is_file() {
        return Ok((beside != std::path::Path::new(HELPER)).then_some(beside));
    }
    if std::path::Path::new(HELPER).is_file() {
        return Ok(None);
    }
    Err(Failure::new(
        Code::Unavailable,
        format!("there is no `{NAME}` beside `{}`, and none at {HELPER}", own.display()),
    )
    .hint("install both programs of pintle into one folder"))
}
