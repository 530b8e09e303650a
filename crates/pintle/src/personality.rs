//! Names under which the program is a toolset's own command.

use pintle_core::{Code, Failure};

/// A toolset as a command of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Personality {
    /// Boxes.
    Charly,
    /// Clusters, read and repaired.
    Ops,
    /// Clusters, deployed to.
    Deploy,
    /// System remasters.
    Eggs,
}

impl Personality {
    pub(crate) const ALL: [Self; 4] = [Self::Charly, Self::Ops, Self::Deploy, Self::Eggs];

    /// By the name of the program.
    pub(crate) fn of_program(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|personality| personality.program() == name)
    }

    /// By the first word behind `pintle`.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|personality| personality.toolset() == word || personality.program() == word)
    }

    /// The name of the program.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::Charly => "charly",
            Self::Ops => "kubestellar-ops",
            Self::Deploy => "kubestellar-deploy",
            Self::Eggs => "eggs",
        }
    }

    /// The name of the toolset.
    pub(crate) const fn toolset(self) -> &'static str {
        match self {
            Self::Charly => "charly",
            Self::Ops => "ops",
            Self::Deploy => "deploy",
            Self::Eggs => "eggs",
        }
    }

    /// What it is for, in one line.
    pub(crate) const fn summary(self) -> &'static str {
        match self {
            Self::Charly => "Author, check and run container boxes",
            Self::Ops => "Look into and repair Kubernetes fleets",
            Self::Deploy => "Deploy to Kubernetes fleets",
            Self::Eggs => "Remaster systems",
        }
    }

    /// Whether this build has operations for it.
    pub(crate) const fn works(self) -> bool {
        matches!(self, Self::Charly | Self::Ops | Self::Eggs)
    }

    /// Why it does nothing.
    pub(crate) fn not_yet(self, program: &str) -> Failure {
        Failure::new(Code::Unavailable, format!("`{program}` has no operations in this build"))
            .hint("`pintle doctor` tells which toolsets can work here")
    }
}
