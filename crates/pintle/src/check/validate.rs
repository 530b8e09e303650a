//! `check validate`: everything that is wrong with plans, and nothing run.

use super::{plans, provider};
use crate::{Ended, document::parsed};
use clap::Command;
use pintle_cli::{Console, Options, show_failure};
use pintle_core::Exit;

pub(super) fn flags() -> Command {
    Command::new("validate")
        .about("Tell everything that is wrong with plans, and run nothing")
        .arg(plans::argument())
        .arg(provider::flag())
}

/// 0 when they hold, 64 when not.
pub(super) fn command(words: &[String]) -> Ended {
    let Some(matches) = parsed(flags(), "pintle check validate", words)? else { return Ok(Exit::Ok.code()) };
    let console = Console::of_process(&Options::default());
    let registry = provider::registry(&matches)?;
    match pintle_check::load(&plans::paths(&matches), &registry) {
        Ok(set) => {
            let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
            let steps = count(set.steps().count(), "step");
            console.out(&format!("valid: {steps} in {}\n", count(set.plans.len(), "plan")));
            console.failure().map_or(Ok(Exit::Ok.code()), Err)
        }
        Err(error) => {
            show_failure(&console, &plans::refused(&error));
            Ok(Exit::Usage.code())
        }
    }
}
