//! Masks secrets in the data of a run.

use crate::outcome::{Mismatch, PlanOutcome, RunOutcome, StepOutcome};
use pintle_core::Redactor;

/// The run with every secret that the redactor knows masked, in every field.
///
/// Outcomes arrive masked; this is the second look, on the data, where a secret still has its own form and not that of
/// some markup.
#[must_use]
pub fn masked(run: &RunOutcome, redactor: &Redactor) -> RunOutcome {
    if redactor.is_empty() {
        return run.clone();
    }
    let mut redactor = redactor.clone();
    redactor.prepare();
    let text = |text: &str| redactor.text(text).into_owned();
    // Named one by one, so that a new field cannot be forgotten: it does not compile.
    let RunOutcome { version, target, began, elapsed_ms, interrupted, plans } = run;
    RunOutcome {
        version: text(version),
        target: text(target),
        began: text(began),
        elapsed_ms: *elapsed_ms,
        interrupted: *interrupted,
        plans: plans.iter().map(|plan| masked_plan(plan, &redactor)).collect(),
    }
}

fn masked_plan(plan: &PlanOutcome, redactor: &Redactor) -> PlanOutcome {
    let PlanOutcome { file, source, steps } = plan;
    PlanOutcome {
        file: redactor.text(file).into_owned(),
        source: redactor.text(source).into_owned(),
        steps: steps.iter().map(|step| masked_step(step, redactor)).collect(),
    }
}

fn masked_step(step: &StepOutcome, redactor: &Redactor) -> StepOutcome {
    let text = |text: &String| redactor.text(text).into_owned();
    let StepOutcome {
        id,
        name,
        prose,
        keyword,
        plan,
        line,
        verb,
        method,
        status,
        message,
        mismatches,
        stdout,
        stderr,
        warnings,
        attempts,
        elapsed_ms,
        target,
        endpoint,
    } = step;
    StepOutcome {
        id: text(id),
        name: text(name),
        prose: text(prose),
        keyword: text(keyword),
        plan: text(plan),
        line: *line,
        verb: text(verb),
        method: method.as_ref().map(text),
        status: *status,
        message: text(message),
        mismatches: mismatches.iter().map(|mismatch| masked_mismatch(mismatch, redactor)).collect(),
        stdout: text(stdout),
        stderr: text(stderr),
        warnings: warnings.iter().map(text).collect(),
        attempts: *attempts,
        elapsed_ms: *elapsed_ms,
        target: text(target),
        endpoint: endpoint.as_ref().map(text),
    }
}

fn masked_mismatch(mismatch: &Mismatch, redactor: &Redactor) -> Mismatch {
    let value = |value: &serde_json::Value| {
        let mut value = value.clone();
        redactor.value(&mut value);
        value
    };
    let Mismatch { line, column, subject, operator, expected, actual } = mismatch;
    Mismatch {
        line: *line,
        column: *column,
        subject: redactor.text(subject).into_owned(),
        operator: redactor.text(operator).into_owned(),
        expected: value(expected),
        actual: actual.as_ref().map(value),
    }
}
