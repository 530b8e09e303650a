//! What the operations act on.

use crate::{
    journal::Journal,
    owner::{Owner, User},
    writer::Writer,
};
use pintle_core::{Code, Failure};
use std::path::{Path, PathBuf};

/// A toolset of this build.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// Its word.
    pub name: &'static str,
    /// Whether it has operations in this build.
    pub works: bool,
    /// Whether a server has it when nobody says which.
    pub usual: bool,
}

/// This program, and the user whose clients it registers with.
#[derive(Debug)]
pub struct Host {
    /// This program as entries name it: absolute, links not resolved.
    pub program: PathBuf,
    /// What `--toolset` takes.
    pub toolsets: Vec<Offered>,
    /// The user at this end, by the environment.
    pub owner: Result<Owner, Failure>,
    /// The text of the file of users.
    pub passwd: String,
    /// The user's state folder, if there is one.
    pub state: Option<PathBuf>,
    /// Writes the files.
    pub writer: Writer,
}

impl Host {
    /// The user whose files are meant: the one at this end, or the one that was named, who must be the same.
    pub(crate) fn owner_of(&self, names: &[String]) -> Result<Owner, Failure> {
        let Some(name) = names.first() else { return self.owner.clone() };
        let ours = rustix::process::geteuid().as_raw();
        for name in names {
            let user = User::named(&self.passwd, name)?;
            if user.uid != ours {
                return Err(Failure::new(Code::Denied, format!("the files of `{name}` are not this user's to change"))
                    .hint(format!("run it as `{name}`, or as root, which acts as that user")));
            }
        }
        let user = User::named(&self.passwd, name)?;
        let path = self.owner.as_ref().ok().and_then(|owner| owner.path().map(ToOwned::to_owned));
        Ok(Owner::of_record(user.home, path))
    }

    pub(crate) fn journal(&self) -> Result<Journal, Failure> {
        let state = self.state.as_deref().ok_or_else(|| {
            Failure::new(Code::Unavailable, "there is no folder for state, and so none for backups")
                .hint("set HOME or XDG_STATE_HOME")
        })?;
        Ok(Journal::at(state))
    }

    /// Whether we are on record to have had such an entry in that file.
    pub(crate) fn touched(&self, path: &Path, name: &str) -> Result<bool, Failure> {
        let acts = self.journal()?.acts()?;
        Ok(acts.iter().flat_map(|act| &act.changes).any(|done| done.path == path && done.name == name))
    }

    /// The toolsets that were asked for, each once; without any, the usual ones.
    pub(crate) fn chosen(&self, lists: &[String]) -> Result<Vec<&'static str>, Failure> {
        let words: Vec<&str> = lists.iter().flat_map(|list| list.split(',')).map(str::trim).collect();
        if words.is_empty() {
            let usual = self.toolsets.iter().filter(|toolset| toolset.works && toolset.usual);
            return Ok(usual.map(|toolset| toolset.name).collect());
        }
        let mut chosen = Vec::new();
        for word in words {
            let names = || self.toolsets.iter().map(|toolset| toolset.name);
            let Some(toolset) = self.toolsets.iter().find(|toolset| toolset.name == word) else {
                return Err(Failure::invalid_argument("toolset", format!("there is no toolset `{word}`"))
                    .did_you_mean(word, names())
                    .hint(format!("there are {}", names().collect::<Vec<_>>().join(", "))));
            };
            if !toolset.works {
                return Err(Failure::new(
                    Code::Unavailable,
                    format!("toolset `{word}` has no operations in this build"),
                )
                .hint("`pintle doctor` tells which toolsets can work here"));
            }
            if !chosen.contains(&toolset.name) {
                chosen.push(toolset.name);
            }
        }
        Ok(chosen)
    }

    /// What a client starts.
    pub(crate) fn words(&self, toolsets: &[&str], strict_names: bool) -> Vec<String> {
        let mut words = vec![self.program.display().to_string()];
        if toolsets == ["eggs"] {
            words.extend(["eggs", "mcp", "start"].map(str::to_owned));
            return words;
        }
        words.extend(["mcp", "serve", "--stdio", "--toolset"].map(str::to_owned));
        words.push(toolsets.join(","));
        if strict_names {
            words.extend(["--name-style", "underscore"].map(str::to_owned));
        }
        words
    }

    /// Whether these words are ours: this program or one of its name, serving.
    pub(crate) fn is_ours(&self, words: &[String]) -> bool {
        let Some((program, rest)) = words.split_first() else { return false };
        let name = Path::new(program).file_name();
        let known = name.is_some_and(|name| name == "pintle") || name == self.program.file_name();
        let serves = |start: &[&str]| rest.len() >= start.len() && rest.iter().zip(start).all(|(a, b)| a == b);
        known && (serves(&["mcp", "serve"]) || serves(&["eggs", "mcp", "start"]))
    }
}

/// The key of our entry: as it was asked for, else the one of the toolsets.
///
/// # Errors
/// A name that some client could not have.
pub(crate) fn key(name: Option<&str>, toolsets: &[&str]) -> Result<String, Failure> {
    let usual = if toolsets == ["eggs"] { "penguins-eggs" } else { "pintle" };
    let name = name.unwrap_or(usual);
    let fits =
        !name.is_empty() && name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if fits {
        return Ok(name.to_owned());
    }
    Err(Failure::invalid_argument("name", format!("`{}` is no name for an entry", name.escape_debug()))
        .hint("up to 64 letters, digits, `-` and `_`"))
}
