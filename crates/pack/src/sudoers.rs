//! The grant in sudoers: what one user may start with root's rights, and nothing beside it.
//!
//! Nothing is granted but the helper of the house with one exact argument list per verb. The text is judged by `visudo`
//! before it is written, put in place by a rename, and judged again with everything else that sudo reads; whatever fails
//! leaves the system as it was. doas has no folder for rules, so its lines are only shown ([`Rule::doas`]).
//!
//! Everything here is for people who are root; it answers with values and changes two files: the rule and the helper.

mod change;
mod helper;
mod inspect;
mod place;
mod rule;
mod syntax;
mod user;

pub use change::{Removed, Written, install, remove};
pub use helper::{install_helper, remove_helper};
pub use inspect::{Grant, HelperState, Installed, State, inspect};
pub use place::Place;
pub use rule::{HELPER, Rule, compat_rule};
