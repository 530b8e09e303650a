//! What a run found, as plain data: reports read this and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Judged, and it holds.
    Passed,
    /// Judged, and it does not hold.
    Failed,
    /// Not run, for a reason that the plan or the run gives.
    Skipped,
    /// Could not be judged: a program is missing, the run was interrupted.
    Error,
}

/// One assertion that did not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// Line of the assertion in the plan, from 1.
    pub line: usize,
    /// Column of the assertion in the plan, from 1, in characters.
    pub column: usize,
    /// Where the actual value came from: `stdout`, `exit_status`, `/content/0/text`.
    pub subject: String,
    /// The operator: `equals`, `contains`, `matches`, …
    pub operator: String,
    /// What the plan expects.
    pub expected: Value,
    /// What was there; absent when nothing was there.
    pub actual: Option<Value>,
}

/// What became of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepOutcome {
    /// Unique over the run.
    pub id: String,
    /// The key of the node.
    pub name: String,
    /// The prose of `check:`, `run:` and their kin.
    pub prose: String,
    /// The keyword: `check`, `run`, …
    pub keyword: String,
    /// The plan's file, as given on the command line.
    pub plan: String,
    /// Line of the step in the plan, from 1.
    pub line: usize,
    /// The verb: `mcp`, `http`, …
    pub verb: String,
    /// The verb's method, where it has one: `list-tools`.
    pub method: Option<String>,
    /// How it ended.
    pub status: Status,
    /// Why, in one fragment; empty when passed.
    pub message: String,
    /// Every assertion that did not hold.
    pub mismatches: Vec<Mismatch>,
    /// What the step was given, cut; secrets masked.
    pub stdout: String,
    /// Its error text, cut; secrets masked.
    pub stderr: String,
    /// Things worth knowing that fail nothing.
    pub warnings: Vec<String>,
    /// How often it was tried.
    pub attempts: u32,
    /// Milliseconds over all attempts.
    pub elapsed_ms: u64,
    /// What it was run against.
    pub target: String,
    /// The one endpoint it talked to, where it talked to one.
    pub endpoint: Option<String>,
}

/// A plan file with its steps in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanOutcome {
    /// File, as given on the command line.
    pub file: String,
    /// Its text, so that reports can show the failing line.
    #[serde(skip)]
    pub source: String,
    /// The steps.
    pub steps: Vec<StepOutcome>,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// Version of pintle.
    pub version: String,
    /// What the run was against, for people.
    pub target: String,
    /// When it began, RFC 3339.
    pub began: String,
    /// Milliseconds from begin to end.
    pub elapsed_ms: u64,
    /// Whether it was interrupted; steps that did not run are `skipped` then.
    pub interrupted: bool,
    /// The plans in the order given.
    pub plans: Vec<PlanOutcome>,
}

/// Counts over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// All steps.
    pub total: usize,
    /// Passed.
    pub passed: usize,
    /// Failed, and those that could not be judged.
    pub failed: usize,
    /// Skipped.
    pub skipped: usize,
}

impl RunOutcome {
    /// Every step, in report order.
    pub fn steps(&self) -> impl Iterator<Item = &StepOutcome> {
        self.plans.iter().flat_map(|plan| &plan.steps)
    }

    /// The counts.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.steps().fold(Summary::default(), |mut sum, step| {
            sum.total += 1;
            match step.status {
                Status::Passed => sum.passed += 1,
                Status::Failed | Status::Error => sum.failed += 1,
                Status::Skipped => sum.skipped += 1,
            }
            sum
        })
    }
}
