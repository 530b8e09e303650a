//! `tools`

use crate::{house::House, people, shelf};
use pintle_core::{Answer, Call, Code, CutRows, Doors, Failure, Query, Row, Rows, Stop, View, nearest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// List the tools, with the commands that people type for them.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ListTools {
    /// Only these toolsets
    #[serde(default)]
    toolset: Vec<String>,
}

/// The tools.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent)]
pub(crate) struct Tools(Rows<OneTool>);

/// One tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OneTool {
    /// Its toolset.
    toolset: &'static str,
    /// Its name for agents and for `pintle call`.
    name: String,
    /// What people type.
    command: String,
    /// What it may do, by name.
    effects: Vec<&'static str>,
    /// What it is for.
    summary: String,
}

impl Row for OneTool {
    fn key(&self) -> String {
        format!("{} {}", self.toolset, self.name)
    }
}

impl Answer for Tools {
    fn view(&self) -> View {
        let rows = self.0.iter().map(|tool| {
            let toolset = match tool.command.split_whitespace().nth(1) {
                Some(word) if word != tool.toolset => format!("{word}, {}", tool.toolset),
                _ => tool.toolset.to_owned(),
            };
            vec![toolset, tool.name.clone(), tool.effects.join("+"), tool.summary.clone()]
        });
        let how = "`pintle TOOLSET TOOL` calls one, `--help` behind it tells what it takes: `pintle charly box.validate --help`";
        View::table(["TOOLSET", "TOOL", "EFFECTS", "WHAT IT DOES"], rows.collect::<Vec<_>>())
            .and_text("\n")
            .and_text(how)
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        Some(&mut self.0)
    }
}

impl Query for ListTools {
    type Host = House;
    type Answer = Tools;
    const NAME: &'static str = "tools";
    const DOORS: Doors = Doors::People;
    const PAGED: bool = true;

    async fn run(self, _: &House, _: &Call) -> Result<Tools, Stop> {
        for name in &self.toolset {
            check(name)?;
        }
        let mut rows = Vec::new();
        for toolset in people::listed()? {
            if !self.toolset.is_empty() && !self.toolset.iter().any(|name| name == toolset.name) {
                continue;
            }
            for tool in &toolset.tools {
                let spec = tool.spec();
                rows.push(OneTool {
                    toolset: toolset.name,
                    name: spec.name.clone(),
                    command: pintle_cli::usage_of(spec, &format!("pintle {}", shelf::word_of(&toolset))),
                    effects: spec.worst.names(),
                    summary: first_sentence(&spec.description),
                });
            }
        }
        Ok(Tools(Rows::new(rows)))
    }
}

fn check(name: &str) -> Result<(), Failure> {
    if shelf::NAMES.contains(&name) {
        return Ok(());
    }
    let failure = Failure::new(Code::InvalidArgument, format!("unknown toolset `{name}`"));
    Err(match nearest(name, shelf::NAMES) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("there are {}", shelf::NAMES.join(", "))),
    })
}

fn first_sentence(description: &str) -> String {
    let line = description.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..end]).trim_end_matches('.').to_owned()
}
