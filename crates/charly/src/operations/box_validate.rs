//! `box.validate`

use crate::{
    host::{Host, off_thread},
    model::{self, EntityKind},
};
use pintle_core::{Answer, Call, Code, Failure, Outcome, Problem, Query, Stop, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Check the project: every error with its place.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Validate {
    /// Project folder
    #[schemars(extend("x-cli" = {"common": true}))]
    project: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Validated {
    /// The project's folder.
    project: String,
    /// Whether there are no errors.
    valid: bool,
    /// Files read.
    files: usize,
    /// Boxes in them.
    boxes: usize,
    /// Candies in them.
    candies: usize,
    /// What may not be meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip)]
    #[schemars(skip)]
    errors: Vec<Problem>,
}

impl Answer for Validated {
    fn view(&self) -> View {
        let count = |number: usize, one: &str, several: &str| match number {
            1 => format!("1 {one}"),
            number => format!("{number} {several}"),
        };
        // The errors are told as the failure, below this.
        let valid = self.valid.then(|| {
            let (boxes, candies) = (count(self.boxes, "box", "boxes"), count(self.candies, "candy", "candies"));
            format!("valid: {boxes} and {candies} in {}", count(self.files, "file", "files"))
        });
        let warnings = self.warnings.iter().map(|warning| format!("warning: {warning}"));
        let lines: Vec<_> = valid.into_iter().chain(warnings).collect();
        if lines.is_empty() { View::default() } else { View::text(lines.join("\n")) }
    }

    fn outcome(&self) -> Outcome {
        if self.valid { Outcome::Ok } else { Outcome::Failed }
    }

    fn failure(&self) -> Option<Failure> {
        let count = match self.errors.len() {
            0 => return None,
            1 => "an error".to_owned(),
            several => format!("{several} errors"),
        };
        let failure = Failure::new(Code::Invalid, format!("the project {} has {count}", self.project));
        Some(failure.problems(self.errors.iter().cloned()))
    }
}

impl Query for Validate {
    type Host = Host;
    type Answer = Validated;
    const NAME: &'static str = "box.validate";
    const ALIASES: &'static [&'static str] = &["image.validate"];

    async fn run(self, host: &Host, _: &Call) -> Result<Validated, Stop> {
        let host = host.clone();
        Ok(off_thread(move || run(&host, &self)).await?)
    }
}

fn run(host: &Host, validate: &Validate) -> Result<Validated, Failure> {
    let project = host.project(validate.project.as_deref())?;
    let sources = project.sources()?;
    let (model, report) = model::validate(&sources);
    let warnings = report.warnings.iter().map(|warning| match &warning.hint {
        Some(hint) => format!("{warning} ({hint})"),
        None => warning.to_string(),
    });
    Ok(Validated {
        project: project.shown(),
        valid: report.errors.is_empty(),
        files: sources.len(),
        boxes: model.of(EntityKind::Box).count(),
        candies: model.of(EntityKind::Candy).count(),
        warnings: warnings.collect(),
        errors: report.errors,
    })
}
