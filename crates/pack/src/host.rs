//! What packs act on.

use crate::{
    load::{Loaded, Packs},
    program::Finder,
    surroundings::Surroundings,
};
use pintle_core::{Code, Failure, nearest};

/// The packs of this machine and user, and what they find around themselves.
#[derive(Debug)]
pub struct Host {
    surroundings: Surroundings,
    packs: Packs,
    finder: Finder,
}

impl Host {
    /// Reads all packs; starts nothing.
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Self {
        let packs = Packs::load(&surroundings);
        Self { surroundings, packs, finder: Finder::default() }
    }

    /// The packs.
    #[must_use]
    pub fn packs(&self) -> &Packs {
        &self.packs
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
        if let Some(loaded) = self.packs.get(name) {
            return Ok(loaded);
        }
        let refused =
            self.packs.refused().iter().find(|refused| refused.path.file_stem().is_some_and(|stem| stem == name));
        if let Some(refused) = refused {
            let told = format!("the pack `{}` does not hold together", refused.path.display());
            return Err(Failure::new(Code::Invalid, told).problems(refused.problems.iter().cloned()));
        }
        let names = || self.packs.iter().map(|loaded| loaded.pack.name.as_str());
        let failure = Failure::new(Code::NotFound, format!("there is no pack `{name}`"));
        Err(match nearest(name, names()) {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(format!("there are {}", names().collect::<Vec<_>>().join(", "))),
        })
    }

    /// Whether the program of a pack seems to be here; nothing is started to find out.
    #[must_use]
    pub fn seems_here(&self, name: &str) -> bool {
        let Some(loaded) = self.packs.get(name) else { return false };
        let program = &loaded.pack.program;
        self.surroundings.operators_program(program).is_some()
            || program.candidates.iter().any(|path| std::path::Path::new(path).is_file())
    }
}
