//! Which clients are meant, and which file of each.

use crate::{
    clients::{ALL, Client, Format, ProjectFile, Shape},
    files::Located,
    owner::{Owner, joined},
};
use pintle_core::{Code, Failure};
use pintle_process::find_program;
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Whose configuration is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Scope {
    /// The user's own
    #[default]
    User,
    /// That of a project
    Project,
}

/// Where entries go.
#[derive(Clone, Debug)]
pub(crate) enum Range {
    /// Files of the user.
    User,
    /// Files of the project in this folder.
    Project(PathBuf),
}

impl Range {
    /// From the arguments; a project without `--scope` is meant as one.
    ///
    /// # Errors
    /// A project that is not there, or one with `--scope user`.
    pub(crate) fn of(scope: Option<Scope>, project: Option<&str>) -> Result<Self, Failure> {
        match (scope, project) {
            (None | Some(Scope::User), None) => Ok(Self::User),
            (Some(Scope::User), Some(_)) => {
                Err(Failure::invalid_argument("project", "goes with `--scope project`, not with `--scope user`"))
            }
            (_, project) => {
                let folder = project.unwrap_or(".");
                let real = fs::canonicalize(folder)
                    .map_err(|error| Failure::io(format!("opening the project `{folder}`"), &error))?;
                if real.is_dir() {
                    return Ok(Self::Project(real));
                }
                Err(Failure::invalid_argument("project", format!("`{folder}` is no folder")))
            }
        }
    }
}

/// A client with the file that is meant.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) client: &'static Client,
    pub(crate) path: PathBuf,
    /// The folder beneath which links may lead.
    pub(crate) fence: PathBuf,
    pub(crate) shape: Shape,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
}

impl Goal {
    pub(crate) fn format(&self) -> Format {
        self.client.format
    }

    pub(crate) fn located(&self) -> Result<Located, Failure> {
        Located::of(&self.path, &self.fence)
    }
}

/// Refuses what is no client, as `register` would.
///
/// # Errors
/// Names the first one, and the nearest that there is.
pub fn check_clients(ids: &[String]) -> Result<(), Failure> {
    named(ids).map(drop)
}

/// The clients of those ids, each once; unknown ones are refused.
pub(crate) fn named(ids: &[String]) -> Result<Vec<&'static Client>, Failure> {
    let mut clients: Vec<&'static Client> = Vec::new();
    for id in ids.iter().flat_map(|ids| ids.split(',')).map(str::trim) {
        let client = Client::of(id).ok_or_else(|| {
            Failure::invalid_argument("client", format!("there is no client `{id}`"))
                .did_you_mean(id, ALL.iter().map(|client| client.id))
                .hint("`pintle clients` lists them")
        })?;
        if !clients.iter().any(|known| known.id == client.id) {
            clients.push(client);
        }
    }
    Ok(clients)
}

/// Whether the client has left its folder, or one of its files, in that home.
pub(crate) fn has_folder(client: &Client, owner: &Owner) -> bool {
    if !client.marks.is_empty() {
        return client.marks.iter().any(|(base, path)| joined(&owner.base(*base), path).exists());
    }
    client.candidates.iter().any(|candidate| owner.candidate(candidate).0.is_dir())
}

/// Whether one of its programs can be found.
pub(crate) fn has_program(client: &Client, owner: &Owner) -> bool {
    client.programs.iter().any(|name| find_program(Path::new(name), owner.path(), Path::new("/")).is_ok())
}

/// The file of a client that is meant in the user's own configuration.
pub(crate) fn of_user(client: &'static Client, owner: &Owner) -> Goal {
    let candidates: Vec<(PathBuf, PathBuf)> = client.candidates.iter().map(|c| owner.candidate(c)).collect();
    let there: Vec<&PathBuf> = candidates.iter().map(|(_, file)| file).filter(|file| is_there(file)).collect();
    let path =
        there.first().copied().or_else(|| candidates.iter().find(|(folder, _)| folder.is_dir()).map(|(_, file)| file));
    let path = path.or(candidates.first().map(|(_, file)| file)).cloned().unwrap_or_default();
    let notes = there.iter().skip(1).map(|other| format!("`{}` is there as well, and was left alone", other.display()));
    let fence = owner.fence(&path);
    Goal { client, notes: notes.collect(), fence, shape: client.shape, path }
}

/// Every file of the user in which a client may have an entry.
pub(crate) fn all_of_user(client: &'static Client, owner: &Owner) -> Vec<Goal> {
    let files = client.candidates.iter().map(|candidate| owner.candidate(candidate).1).filter(|file| is_there(file));
    let goal = |path: PathBuf| Goal { client, fence: owner.fence(&path), shape: client.shape, notes: Vec::new(), path };
    files.map(goal).collect()
}

/// The file of a client in a project; none where it has none.
pub(crate) fn of_project(client: &'static Client, project: &Path) -> Option<Goal> {
    let ProjectFile { files, shape, trust } = client.project?;
    let path = files.iter().map(|file| project.join(file)).find(|file| is_there(file));
    let path = path.or_else(|| Some(project.join(files.first()?)))?;
    let notes = if trust.is_empty() { Vec::new() } else { vec![trust.to_owned()] };
    Some(Goal { client, path, fence: project.to_owned(), shape, notes })
}

/// Whether a project shows that the client is used in it: its file, or the folder of that file.
pub(crate) fn used_in(project: &Path, goal: &Goal) -> bool {
    let folder = goal.path.parent().is_some_and(|folder| folder != project && folder.is_dir());
    folder || is_there(&goal.path)
}

/// What is chosen, and why not what is not.
pub(crate) type Chosen = Result<Goal, (&'static Client, Failure)>;

/// The files that are meant: of the named clients, or of all that show that they are here.
pub(crate) fn choose(ids: &[String], range: &Range, owner: &Owner) -> Result<Vec<Chosen>, Failure> {
    let clients = named(ids)?;
    match range {
        Range::User if clients.is_empty() => {
            Ok(ALL.iter().filter(|client| has_folder(client, owner)).map(|client| Ok(of_user(client, owner))).collect())
        }
        Range::User => Ok(clients
            .into_iter()
            .map(|client| {
                if has_folder(client, owner) || has_program(client, owner) {
                    return Ok(of_user(client, owner));
                }
                let failure = Failure::new(Code::Unavailable, format!("{} is not installed here", client.name));
                Err((client, failure.hint("start it once, so that it makes its folder")))
            })
            .collect()),
        Range::Project(project) if clients.is_empty() => {
            let goals = ALL.iter().filter_map(|client| of_project(client, project));
            Ok(goals.filter(|goal| used_in(project, goal)).map(Ok).collect())
        }
        Range::Project(project) => clients
            .into_iter()
            .map(|client| match of_project(client, project) {
                Some(goal) => Ok(Ok(goal)),
                None => {
                    let message = format!("{} has no file for servers of a project", client.name);
                    Err(Failure::invalid_argument("client", message).hint("leave out `--scope project`"))
                }
            })
            .collect(),
    }
}

fn is_there(path: &Path) -> bool {
    // A link counts as there whatever it leads to: what is wrong with it is told when it is opened.
    fs::symlink_metadata(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(home: &Path) -> Owner {
        Owner::of_record(home.to_owned(), Some(home.join("bin").into()))
    }

    fn ids(chosen: &[Chosen]) -> Vec<&str> {
        chosen
            .iter()
            .map(|chosen| chosen.as_ref().map_or_else(|(client, _)| client.id, |goal| goal.client.id))
            .collect()
    }

    #[test]
    fn eg_062_clients_are_found_by_their_folder_and_named_ones_also_by_their_program() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let owner = owner(home);
        assert!(choose(&[], &Range::User, &owner).unwrap().is_empty());
        fs::create_dir_all(home.join(".cursor")).unwrap();
        fs::write(home.join(".claude.json"), "{}").unwrap();
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(home.join("bin/goose"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(home.join("bin/goose"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(ids(&choose(&[], &Range::User, &owner).unwrap()), ["claude-code", "cursor"]);
        let named = choose(&["goose,zed".to_owned()], &Range::User, &owner).unwrap();
        assert_eq!(named[0].as_ref().unwrap().path, home.join(".config/goose/config.yaml"));
        assert_eq!(named[1].as_ref().unwrap_err().1.code, Code::Unavailable);
        let failure = choose(&["curser".to_owned()], &Range::User, &owner).unwrap_err();
        assert!(failure.text().contains("did you mean `cursor`?"), "{}", failure.text());
        assert_eq!(failure.code, Code::InvalidArgument);
    }

    #[test]
    fn eg_051_the_file_that_is_there_is_taken_and_others_are_named() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let base = home.join(".vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline");
        let roo = || of_user(Client::of("roo").unwrap(), &owner(home));
        assert!(roo().path.starts_with(home.join(".config/Code")));
        fs::create_dir_all(base.join("settings")).unwrap();
        assert_eq!(roo().path, base.join("settings/mcp_settings.json"), "whose folder is there");
        fs::write(base.join("settings/cline_mcp_settings.json"), "{}").unwrap();
        assert_eq!(roo().path, base.join("settings/cline_mcp_settings.json"), "the file that is there");
        fs::write(base.join("settings/mcp_settings.json"), "{}").unwrap();
        assert_eq!(roo().path, base.join("settings/mcp_settings.json"));
        assert!(roo().notes[0].contains("cline_mcp_settings.json` is there as well"));
    }

    #[test]
    fn projects_have_files_of_their_own() {
        let temp = tempfile::tempdir().unwrap();
        let owner = owner(temp.path());
        let project = temp.path().join("p");
        fs::create_dir_all(project.join(".vscode")).unwrap();
        let range = Range::of(Some(Scope::Project), project.to_str()).unwrap();
        let found = choose(&[], &range, &owner).unwrap();
        assert_eq!(ids(&found), ["vscode", "vscode-insiders", "vscode-server"]);
        let failure = choose(&["windsurf".to_owned()], &range, &owner).unwrap_err();
        assert!(failure.message.contains("no file for servers of a project"));
        assert!(Range::of(Some(Scope::User), Some("/")).is_err());
        assert!(matches!(Range::of(None, None).unwrap(), Range::User));
    }
}
