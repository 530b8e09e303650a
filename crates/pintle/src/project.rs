//! Which folder the box toolset acts on: `-C DIR`, `CHARLY_PROJECT_DIR`, `--project-root D`.

use clap::{Arg, ArgAction, ValueHint};
use pintle_charly::Host;
use pintle_core::{Code, Failure};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

const DIR: &str = "\u{1f}dir";
const ROOT: &str = "\u{1f}project-root";
const NO_REPO: &str = "\u{1f}no-default-repo";
const VARIABLE: &str = "CHARLY_PROJECT_DIR";

/// What was said about the project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Project {
    /// Folder named by a flag.
    pub(crate) dir: Option<PathBuf>,
    /// Where every project must lie.
    pub(crate) root: Option<PathBuf>,
    /// Whether a project must be there from the start.
    pub(crate) no_default_repo: bool,
}

/// The flags, for before and behind every command of the toolset.
pub(crate) fn flags() -> Vec<Arg> {
    let folder = |id: &'static str, long: &'static str| {
        Arg::new(id).long(long).value_name("DIR").value_hint(ValueHint::DirPath).action(ArgAction::Set)
    };
    let all = [
        folder(DIR, "dir").short('C').help(format!("The project, instead of this folder or {VARIABLE}")),
        folder(ROOT, "project-root").help("Refuse every project outside this folder"),
        Arg::new(NO_REPO)
            .long("no-default-repo")
            .action(ArgAction::SetTrue)
            .help("Never take a project from a repository; a server ends when there is none here"),
    ];
    all.into_iter().map(|arg| arg.help_heading("Project")).collect()
}

impl Project {
    /// From flags by their ids.
    pub(crate) fn of(said: &BTreeMap<String, Vec<String>>) -> Self {
        let path = |id: &str| said.get(id).and_then(|values| values.last()).map(PathBuf::from);
        Self { dir: path(DIR), root: path(ROOT), no_default_repo: said.contains_key(NO_REPO) }
    }

    /// From what clap found.
    pub(crate) fn matched(matches: &clap::ArgMatches) -> Self {
        let path = |id: &str| matches.get_one::<String>(id).map(PathBuf::from);
        Self { dir: path(DIR), root: path(ROOT), no_default_repo: matches.get_flag(NO_REPO) }
    }

    /// The host that acts there, keeping its state below `state`.
    ///
    /// # Errors
    /// When a folder that was named is not there.
    pub(crate) fn host(&self, state: &Path) -> Result<Arc<Host>, Failure> {
        let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let by_variable = self.dir.is_none() && variable.is_some();
        let directory = self.dir.clone().or(variable).unwrap_or_else(|| PathBuf::from("."));
        let host = Host::new(&directory, self.root.as_deref(), state)
            .map_err(|failure| if by_variable { failure.hint(format!("{VARIABLE} names it")) } else { failure })?;
        Ok(Arc::new(host))
    }

    /// Refuses a server without a project, where `--no-default-repo` asks for that.
    pub(crate) fn demand(&self, host: &Host) -> Result<(), Failure> {
        if !self.no_default_repo || host.has_project() {
            return Ok(());
        }
        let message = format!("`{}` has no charly.yml, and --no-default-repo was given", host.directory().display());
        Err(Failure::new(Code::NoProject, message)
            .hint("start it in a folder with a charly.yml")
            .hint(format!("or name one with `-C DIR` or {VARIABLE}"))
            .hint("or make one: `charly box new project DIR`")
            .hint("or leave out --no-default-repo: a client can then make one with `box.new.project`"))
    }
}
