//! What the operator of a catalogue decides.

use crate::{NameStyle, Policy, StateFolder};
use globset::GlobSet;
use std::path::PathBuf;

/// Which tools are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadOnly {
    /// None.
    #[default]
    No,
    /// Those on their seed's list of mutating tools; where a toolset has no such list, all that are not pure reads.
    Listed,
    /// All that are not pure reads.
    Strict,
}

/// The settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Operator's rules.
    pub policy: Policy,
    /// Which tools are left out.
    pub read_only: ReadOnly,
    /// Only tools whose name matches, if given.
    pub tools: Option<GlobSet>,
    /// How names are shown to agents.
    pub name_style: NameStyle,
    /// Whether tools that let secrets leave may serve agents.
    pub allow_secrets: bool,
    /// Where state is kept; without one, plan tokens live as long as the process and nothing is spilled.
    pub state: Option<StateFolder>,
    /// Where the audit goes; without one, to `audit.jsonl` in the state folder.
    pub audit: Option<PathBuf>,
}
