//! The plans that a command is about.

use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use pintle_check::LoadError;
use pintle_core::{Code, Failure};
use std::{collections::BTreeSet, path::PathBuf};

/// `PLAN…`
pub(super) fn argument() -> Arg {
    Arg::new("plans")
        .value_name("PLAN")
        .value_hint(ValueHint::AnyPath)
        .required(true)
        .num_args(1..)
        .action(ArgAction::Append)
        .help("Plan files, or folders with plans in .yml and .yaml files")
}

/// The paths that were given.
pub(super) fn paths(matches: &ArgMatches) -> Vec<PathBuf> {
    matches.get_many::<String>("plans").into_iter().flatten().map(PathBuf::from).collect()
}

/// Everything that is wrong with the plans.
pub(super) fn refused(error: &LoadError) -> Failure {
    let problems = error.problems();
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let files: BTreeSet<_> = problems.iter().filter_map(|problem| problem.file.as_deref()).collect();
    let (code, message) = match error {
        LoadError::Bad(_) => {
            let found = count(problems.len(), "problem");
            (Code::InvalidArgument, format!("{found} in {}; nothing was run", count(files.len(), "plan")))
        }
        LoadError::Unreadable(_) => (Code::NotFound, format!("{} cannot be read", count(problems.len(), "plan"))),
    };
    Failure::new(code, message).problems(problems.iter().cloned())
}
