//! From a verdict to what reports read: secrets masked, texts cut.

use std::time::Duration;

use pintle_core::{Foreign, Redactor};
use serde_json::Value;

use crate::model::{Plan, Step};
use crate::outcome::{Mismatch, Status, StepOutcome};
use crate::registry::{Verdict, VerdictStatus};

/// Bytes kept of each text of a step.
const KEPT: usize = 64 * 1024;

/// Everything about a step but what became of it.
pub(super) fn blank(plan: &Plan, step: &Step, target: &str) -> StepOutcome {
    StepOutcome {
        id: step.id.clone(),
        name: step.name.clone(),
        prose: step.prose.clone(),
        keyword: step.keyword.word().to_owned(),
        plan: plan.file.clone(),
        line: step.place.line,
        verb: step.verb.clone(),
        method: step.method.clone(),
        status: Status::Skipped,
        message: String::new(),
        mismatches: Vec::new(),
        stdout: String::new(),
        stderr: String::new(),
        warnings: Vec::new(),
        attempts: 0,
        elapsed_ms: 0,
        target: target.to_owned(),
        endpoint: None,
    }
}

/// A step that did not run.
pub(super) fn skipped(plan: &Plan, step: &Step, target: &str, why: &str) -> StepOutcome {
    StepOutcome { message: why.to_owned(), ..blank(plan, step, target) }
}

/// A step that was tried.
pub(super) fn tried(
    plan: &Plan,
    step: &Step,
    target: &str,
    verdict: Verdict,
    attempts: u32,
    elapsed: Duration,
) -> StepOutcome {
    let mask = |text: &str| step.modifiers.mask.iter().fold(text.to_owned(), |text, pattern| pattern.mask(&text));
    let mut mismatches = verdict.mismatches;
    for mismatch in &mut mismatches {
        bound(mismatch);
        if let Some(actual) = &mut mismatch.actual {
            each_text(actual, &mask);
        }
    }
    StepOutcome {
        status: match verdict.status {
            VerdictStatus::Pass => Status::Passed,
            VerdictStatus::Fail => Status::Failed,
            VerdictStatus::Skip => Status::Skipped,
            VerdictStatus::Error => Status::Error,
        },
        message: mask(&verdict.message),
        mismatches,
        stdout: mask(&cut(&verdict.stdout)),
        stderr: mask(&cut(&verdict.stderr)),
        warnings: verdict.warnings.iter().map(|warning| mask(warning)).collect(),
        attempts,
        elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        endpoint: verdict.endpoint,
        ..blank(plan, step, target)
    }
}

/// Masks what a redactor knows, everywhere.
pub(super) fn redact(outcome: &mut StepOutcome, redactor: &Redactor) {
    if redactor.is_empty() {
        return;
    }
    for text in [&mut outcome.message, &mut outcome.stdout, &mut outcome.stderr, &mut outcome.prose]
        .into_iter()
        .chain(outcome.warnings.iter_mut())
        .chain(outcome.endpoint.iter_mut())
    {
        *text = redactor.text(text).into_owned();
    }
    for mismatch in &mut outcome.mismatches {
        mismatch.subject = redactor.text(&mismatch.subject).into_owned();
        redactor.value(&mut mismatch.expected);
        if let Some(actual) = &mut mismatch.actual {
            redactor.value(actual);
        }
    }
}

/// Foreign text without control codes, cut at a character.
fn cut(text: &str) -> String {
    let clean = Foreign::new(text).text;
    if clean.len() <= KEPT {
        return clean;
    }
    let mut end = KEPT;
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n… {} bytes left out …\n", &clean[..end], clean.len() - end)
}

fn bound(mismatch: &mut Mismatch) {
    let Some(actual) = &mut mismatch.actual else { return };
    // A huge structure says no more than its start.
    let text = match &*actual {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if actual.is_string() || text.len() > KEPT {
        *actual = Value::String(cut(&text));
    }
}

fn each_text(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(members) => members.values_mut().for_each(|item| each_text(item, change)),
        _ => {}
    }
}
