//! Compares what a probe saw with what the step asserts.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::placed;
use crate::matchers;
use crate::model::Step;
use crate::model::duration::Shown;
use crate::model::expect::{Expect, ProtocolError, ToolError};
use crate::outcome::Mismatch;
use crate::registry::{Verdict, VerdictStatus};
use crate::text;
use crate::verbs::Observation;

/// The verdict on one attempt.
pub(crate) fn judge(step: &Step, seen: Observation) -> Verdict {
    let mut seen = seen;
    let mut verdict = Verdict { endpoint: seen.endpoint.take(), ..Verdict::default() };
    if let Some(why) = seen.unable.take() {
        verdict.status = VerdictStatus::Error;
        verdict.message = why;
        verdict.stderr = seen.stderr;
        return verdict;
    }
    let expect = &step.expect;
    match outcome(expect, &seen) {
        // What is not as it should be at the root says nothing about its leaves.
        Err(Unexpected { mismatches, message }) => {
            verdict.mismatches = mismatches;
            verdict.mismatches.append(&mut seen.mismatches);
            verdict.message = message;
            verdict.status = VerdictStatus::Fail;
        }
        Ok(()) => {
            if let (Some(failure), None, None) = (&seen.failure, &seen.tool_error, &seen.error) {
                // Expected by its exit status; but a server that is gone is seldom what was meant.
                seen.warnings.push(failure.clone());
            }
            verdict.mismatches = leaves(expect, &mut seen);
            if !verdict.mismatches.is_empty() {
                verdict.status = VerdictStatus::Fail;
                verdict.message = summary(&verdict.mismatches);
                // A failure that was expected explains what is not.
                if let Some(failure) = seen.failure.as_ref().filter(|failure| !verdict.message.contains(*failure)) {
                    verdict.message = format!("{} ({failure})", verdict.message);
                }
            }
        }
    }
    if let Some((lines, first)) = &seen.noise
        && expect.stdout_pure.is_none()
    {
        let first = text::cut(first);
        seen.warnings.push(format!("{lines} lines on the server's standard output are no messages, first: {first}"));
    }
    if verdict.status == VerdictStatus::Pass {
        captures(step, &seen, &mut verdict);
    }
    verdict.stdout = seen.stdout;
    verdict.stderr = seen.stderr;
    verdict.warnings = seen.warnings;
    verdict
}

/// The first mismatch as a sentence, and how many more there are.
fn summary(mismatches: &[Mismatch]) -> String {
    let first = mismatches.first().map(text::sentence).unwrap_or_default();
    match mismatches.len() {
        0 | 1 => first,
        n => format!("{first} (and {} more)", n - 1),
    }
}

struct Unexpected {
    mismatches: Vec<Mismatch>,
    message: String,
}

/// Whether it succeeded or failed as it should: the exit status and the kind of error, first of all.
fn outcome(expect: &Expect, seen: &Observation) -> Result<(), Unexpected> {
    let status = seen.exit_status.to_string();
    let mut mismatches: Vec<_> = matchers::check_all(&expect.exit_status, "exit_status", &status).collect();
    mismatches.extend(expect.tool_error.as_ref().and_then(|wanted| tool_error(wanted, seen)));
    mismatches.extend(expect.error.as_ref().and_then(|wanted| protocol_error(wanted, seen)));
    let implied = !expect.says_outcome() && (seen.exit_status != 0 || seen.failure.is_some());
    if mismatches.is_empty() && !implied && !seen.fatal {
        return Ok(());
    }
    let message = match &seen.failure {
        Some(failure) => failure.clone(),
        None if mismatches.is_empty() => {
            let error = text::cut(&seen.stderr);
            if error.is_empty() { format!("exit status {status}") } else { format!("exit status {status}: {error}") }
        }
        None => summary(&mismatches),
    };
    Err(Unexpected { mismatches, message })
}

fn tool_error(wanted: &ToolError, seen: &Observation) -> Option<Mismatch> {
    match (&seen.tool_error, wanted.wanted) {
        (Some(text), false) => {
            Some(placed(wanted.place, "tool_error", "equals", Value::Bool(false), Some(Value::from(text.as_str()))))
        }
        (None, true) => Some(placed(wanted.place, "tool_error", "exists", Value::Bool(true), None)),
        _ => None,
    }
}

fn protocol_error(wanted: &ProtocolError, seen: &Observation) -> Option<Mismatch> {
    match (&seen.error, wanted.place) {
        (None, Some(place)) => Some(placed(place, "error", "exists", Value::Bool(true), None)),
        _ => None,
    }
}

/// Everything else that does not hold.
fn leaves(expect: &Expect, seen: &mut Observation) -> Vec<Mismatch> {
    let mut all = std::mem::take(&mut seen.mismatches);
    all.extend(matchers::check_all(&expect.stdout, "stdout", &seen.stdout));
    all.extend(matchers::check_all(&expect.stderr, "stderr", &seen.stderr));
    if let (Some(wanted), Some(text)) = (&expect.tool_error, &seen.tool_error) {
        all.extend(matchers::check_all(&wanted.text, "tool_error", text));
    }
    if let (Some(wanted), Some(error)) = (&expect.error, &seen.error) {
        all.extend(matchers::check_all(&wanted.code, "error code", &error.code.to_string()));
        all.extend(matchers::check_all(&wanted.message, "error message", &error.message));
        let data = error.data.as_ref().unwrap_or(&Value::Null);
        all.extend(wanted.data.iter().flat_map(|check| check.check(data)));
    }
    if !expect.json.is_empty() {
        match value(seen) {
            Some(value) => all.extend(expect.json.iter().flat_map(|check| check.check(&value))),
            None => all.extend(expect.json.iter().flat_map(|check| check.without_value(&seen.stdout))),
        }
    }
    if let (Some((limit, place)), Some(took)) = (expect.within, seen.took)
        && took > limit
    {
        let (limit, took) = (Shown(limit).to_string(), Shown(took).to_string());
        all.push(placed(place, "the answer", "within", Value::from(limit), Some(Value::from(took))));
    }
    if let (Some(place), Some((_, first))) = (expect.stdout_pure, &seen.noise) {
        all.push(placed(place, "stdout_pure", "equals", Value::Bool(true), Some(Value::from(first.as_str()))));
    }
    all
}

/// The structure: the result, else the output if it is JSON.
fn value(seen: &Observation) -> Option<Cow<'_, Value>> {
    match &seen.result {
        Some(result) => Some(Cow::Borrowed(result)),
        None => serde_json::from_str(&seen.stdout).ok().map(Cow::Owned),
    }
}

/// What later steps may use. A place where nothing is fails the step: later ones would only fail less clearly.
fn captures(step: &Step, seen: &Observation, verdict: &mut Verdict) {
    let structure = value(seen);
    for capture in step.captures() {
        let found = match &capture.from {
            None => {
                let text = seen.stdout.strip_suffix('\n').unwrap_or(&seen.stdout);
                Some(Value::from(text.strip_suffix('\r').unwrap_or(text)))
            }
            Some(at) => structure.as_deref().and_then(|value| at.find(value)).map(Cow::into_owned),
        };
        match (found, &capture.from) {
            (Some(value), _) => {
                verdict.captures.insert(capture.name.clone(), value);
            }
            (None, from) => {
                let at = from.as_ref().map(|at| at.source()).unwrap_or_default();
                verdict.status = VerdictStatus::Fail;
                verdict.message = format!("capture `{}`: there is nothing at {at}", capture.name);
                return;
            }
        }
    }
}
