//! A whole pack.

use std::time::Duration;

use indexmap::IndexMap;

use crate::{Mask, Pattern, ResourceDef, ToolDef, Verb};

/// A program of somebody else, described as data.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    /// The word for it: `--toolset eggs`, `eggs.remaster`.
    pub name: String,
    /// What a server of this pack alone calls itself.
    pub server_name: String,
    /// One line for people.
    pub summary: String,
    /// What a model should know before the first call.
    pub instructions: String,
    /// The program.
    pub program: Program,
    /// Values that templates may name.
    pub values: IndexMap<String, ValueSource>,
    /// What is never shown.
    pub mask: Mask,
    /// Whether privileges are dropped where the program does not need them, although its manual asks for them.
    pub least_privilege: bool,
    /// The commands that may run.
    pub verbs: IndexMap<String, Verb>,
    /// How they are offered.
    pub tools: Vec<ToolDef>,
    /// What can be read.
    pub resources: Vec<ResourceDef>,
}

/// Where the program is and how it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Absolute paths, best first.
    pub candidates: Vec<String>,
    /// Environment variable with the operator's own path. A program found so is never elevated.
    pub path_variable: Option<String>,
    /// Environment variable with a folder that then stands before every file of the pack.
    pub root_variable: Option<String>,
    /// How the program is known to be the right one.
    pub probe: Option<Probe>,
    /// What to do when it is missing.
    pub hint: String,
    /// Paths that must be absent or owned by root before anything of the pack runs as root.
    pub guard: Vec<String>,
}

/// How a program is known to be the right one.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Its arguments. It must exit with 0.
    pub args: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// What its first line that is not empty must match.
    pub first_line: Option<Pattern>,
}

/// A value that is read from a configuration file of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueSource {
    /// Files in YAML, JSON or TOML, by their ending; the first that exists is read.
    pub files: Vec<String>,
    /// JSON pointer to the value.
    pub key: String,
    /// The value where no file has one that fits.
    pub default: String,
    /// What the value must match. A value that does not is an error, not the default.
    pub pattern: Option<Pattern>,
}

impl Pack {
    /// The pack without what is there only when extras are asked for.
    #[must_use]
    pub fn essential(mut self) -> Self {
        self.verbs.retain(|_, verb| !verb.extra);
        for verb in self.verbs.values_mut() {
            verb.options.retain(|_, option| !option.extra);
        }
        self.tools.retain(|tool| !tool.extra);
        for tool in &mut self.tools {
            tool.keep(&self.verbs);
        }
        self.resources.retain(|resource| !resource.extra);
        self
    }

    /// The pack with privileges dropped wherever the program does not need them.
    #[must_use]
    pub fn with_least_privilege(mut self) -> Self {
        self.least_privilege = true;
        self.verbs.values_mut().for_each(Verb::drop_privileges);
        self
    }

    /// The verb of that name.
    #[must_use]
    pub fn verb(&self, name: &str) -> Option<&Verb> {
        self.verbs.get(name)
    }

    /// The tool of that name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolDef> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The verbs that may run as root, in declared order: what an operator grants.
    pub fn elevated(&self) -> impl Iterator<Item = &Verb> {
        self.verbs.values().filter(|verb| verb.may_elevate())
    }
}
