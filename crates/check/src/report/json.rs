//! JSON, for programs: the data itself, unescaped by us and uncut.

use super::RenderError;
use crate::outcome::{Mismatch, RunOutcome, Status, StepOutcome, Summary};
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    version: &'a str,
    target: &'a str,
    summary: Summary,
    steps: Vec<Step<'a>>,
    began: &'a str,
    elapsed_ms: u64,
    interrupted: bool,
}

#[derive(Serialize)]
struct Step<'a> {
    id: &'a str,
    plan: &'a str,
    line: usize,
    verb: &'a str,
    method: Option<&'a str>,
    status: Status,
    message: &'a str,
    attempts: u32,
    elapsed_ms: u64,
    name: &'a str,
    keyword: &'a str,
    prose: &'a str,
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<&'a str>,
    mismatches: &'a [Mismatch],
    stdout: &'a str,
    stderr: &'a str,
    warnings: &'a [String],
}

/// The run as one JSON object: `version`, `target`, `summary`, `steps`, then `began`, `elapsed_ms`, `interrupted`.
/// Steps are in report order, over all plans.
///
/// # Errors
/// When a value cannot be serialised.
pub fn json(run: &RunOutcome) -> Result<String, RenderError> {
    let report = Report {
        version: &run.version,
        target: &run.target,
        summary: run.summary(),
        steps: run.steps().map(step).collect(),
        began: &run.began,
        elapsed_ms: run.elapsed_ms,
        interrupted: run.interrupted,
    };
    Ok(serde_json::to_string_pretty(&report)? + "\n")
}

fn step(step: &StepOutcome) -> Step<'_> {
    Step {
        id: &step.id,
        plan: &step.plan,
        line: step.line,
        verb: &step.verb,
        method: step.method.as_deref(),
        status: step.status,
        message: &step.message,
        attempts: step.attempts,
        elapsed_ms: step.elapsed_ms,
        name: &step.name,
        keyword: &step.keyword,
        prose: &step.prose,
        target: &step.target,
        endpoint: step.endpoint.as_deref(),
        mismatches: &step.mismatches,
        stdout: &step.stdout,
        stderr: &step.stderr,
        warnings: &step.warnings,
    }
}
