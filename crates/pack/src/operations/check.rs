//! `pack.check`

use crate::{host::Host, load};
use pintle_core::{Answer, Call, Code, Doors, Failure, Outcome, Problem, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Check files that describe packs
///
/// Says everything that is wrong with them, with file, line and column. Nothing is started.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CheckPacks {
    /// The files
    #[schemars(length(min = 1), extend("x-cli" = {"positional": 1, "value": "FILE"}))]
    files: Vec<String>,
}

/// What was found in the files.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckedPacks {
    /// Files that hold together.
    packs: Vec<CheckedPack>,
    #[serde(skip)]
    problems: Vec<Problem>,
}

/// A file that holds together.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckedPack {
    /// The file.
    file: String,
    /// Name of its pack.
    name: String,
    /// How many verbs it has.
    verbs: usize,
    /// How many tools.
    tools: usize,
    /// How many resources.
    resources: usize,
}

impl Query for CheckPacks {
    type Host = Host;
    type Answer = CheckedPacks;
    const NAME: &'static str = "pack.check";
    const DOORS: Doors = Doors::People;

    async fn run(self, _: &Host, call: &Call) -> Result<CheckedPacks, Stop> {
        if self.files.is_empty() {
            return Err(Failure::invalid_argument("files", "name at least one file").into());
        }
        let mut checked = CheckedPacks { packs: Vec::new(), problems: Vec::new() };
        for file in self.files {
            call.check()?;
            match load::read(&PathBuf::from(&file)) {
                Ok(pack) => checked.packs.push(CheckedPack {
                    file,
                    verbs: pack.verbs.len(),
                    tools: pack.tools.len(),
                    resources: pack.resources.len(),
                    name: pack.name,
                }),
                Err(problems) => checked.problems.extend(problems),
            }
        }
        Ok(checked)
    }
}

impl Answer for CheckedPacks {
    fn view(&self) -> View {
        let line = |pack: &CheckedPack| {
            format!(
                "{}: the pack `{}` holds together: {} verbs, {} tools, {} resources",
                pack.file, pack.name, pack.verbs, pack.tools, pack.resources
            )
        };
        View::text(self.packs.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    fn outcome(&self) -> Outcome {
        if self.problems.is_empty() { Outcome::Ok } else { Outcome::Failed }
    }

    fn failure(&self) -> Option<Failure> {
        let count = match self.problems.len() {
            0 => return None,
            1 => "1 problem".to_owned(),
            several => format!("{several} problems"),
        };
        Some(Failure::new(Code::Invalid, format!("{count} in packs")).problems(self.problems.iter().cloned()))
    }
}
