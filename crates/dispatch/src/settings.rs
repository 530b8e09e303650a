//! What the operator of a catalogue decides.

use crate::{JobStarter, NameStyle, Policy, StateFolder};
use globset::GlobSet;
use std::{path::PathBuf, sync::Arc};

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
    /// How jobs are started; without it, or without a state folder, tools that could be jobs run where they are asked.
    pub jobs: Option<Arc<dyn JobStarter>>,
    /// Where lanes lie, if not in the state folder: whoever uses the same folder takes turns.
    pub lanes: Option<StateFolder>,
}
