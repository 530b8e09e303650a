//! What packs act on.

use crate::{
    load::{Loaded, Packs},
    program::Finder,
    surroundings::Surroundings,
};
use pintle_core::{Code, Failure, nearest};
use pintle_packfile::BUILTIN;
use serde::Deserialize;
use std::{
    borrow::Cow,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The packs of this machine and user, and what they find around themselves.
#[derive(Debug)]
pub struct Host {
    surroundings: Surroundings,
    packs: OnceLock<Packs>,
    finder: Finder,
}

impl Host {
    /// Reads nothing yet, and starts nothing.
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Self {
        Self { surroundings, packs: OnceLock::new(), finder: Finder::default() }
    }

    /// The packs, read when they are first asked for.
    #[must_use]
    pub fn packs(&self) -> &Packs {
        self.packs.get_or_init(|| Packs::load(&self.surroundings))
    }

    /// What packs find around themselves.
    #[must_use]
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    pub(crate) fn finder(&self) -> &Finder {
        &self.finder
    }

    /// The pack of that name.
    ///
    /// # Errors
    /// Code `invalid` with what is wrong where its file does not hold together, `not_found` where there is none.
    pub fn pack(&self, name: &str) -> Result<&Loaded, Failure> {
        let packs = self.packs();
        if let Some(loaded) = packs.get(name) {
            return Ok(loaded);
        }
        let refused = packs.refused().iter().find(|refused| refused.path.file_stem().is_some_and(|stem| stem == name));
        if let Some(refused) = refused {
            let told = format!("the pack `{}` does not hold together", refused.path.display());
            return Err(Failure::new(Code::Invalid, told).problems(refused.problems.iter().cloned()));
        }
        let names = || packs.iter().map(|loaded| loaded.pack.name.as_str());
        let failure = Failure::new(Code::NotFound, format!("there is no pack `{name}`"));
        Err(match nearest(name, names()) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(format!("there are {}", names().collect::<Vec<_>>().join(", "))),
        })
    }

    /// Whether the program of a pack seems to be here; nothing is started to find out, and of the pack only that is read.
    #[must_use]
    pub fn seems_here(&self, name: &str) -> bool {
        let Some(text) = self.text_of(name) else { return false };
        let Ok(Text { program }) = toml::from_str(&text) else { return false };
        program.path_variable.is_some_and(|variable| self.surroundings.variable(&variable).is_some())
            || program.candidates.iter().any(|path| Path::new(path).is_file())
    }

    /// The text of a pack of the system.
    fn text_of(&self, name: &str) -> Option<Cow<'static, str>> {
        let place = |folder: &PathBuf| self.surroundings.trusted.place(folder).join(format!("{name}.toml"));
        let made = self.surroundings.system.iter().rev().find_map(|folder| fs::read_to_string(place(folder)).ok());
        let built_in = || BUILTIN.iter().find(|(known, _)| *known == name).map(|(_, text)| Cow::Borrowed(*text));
        made.map(Cow::Owned).or_else(built_in)
    }
}

/// The part of a pack that says where its program is.
#[derive(Deserialize)]
struct Text {
    program: Places,
}

#[derive(Deserialize)]
struct Places {
    #[serde(default)]
    candidates: Vec<String>,
    path_variable: Option<String>,
}
