//! TAP, version 14: a plan, a test point a step, a YAML block with what is known.

use super::{explain, shown};
use crate::outcome::{PlanOutcome, RunOutcome, Status, StepOutcome};
use serde_json::Value;
use std::fmt::Write as _;

/// Lines of captured output in a diagnostic.
const OUTPUT: usize = 60;

/// The run as TAP 14. A step that could not be judged is `not ok`; an interrupted run ends with `Bail out!`.
#[must_use]
pub fn tap(run: &RunOutcome) -> String {
    let total = run.steps().count();
    let mut out = format!("TAP version 14\n1..{total}{}\n", if total == 0 { " # SKIP no steps" } else { "" });
    let steps = run.plans.iter().flat_map(|plan| plan.steps.iter().map(move |step| (plan, step)));
    for (number, (plan, step)) in steps.enumerate() {
        point(&mut out, number + 1, plan, step);
    }
    if run.interrupted {
        out.push_str("Bail out! interrupted\n");
    }
    out
}

fn point(out: &mut String, number: usize, plan: &PlanOutcome, step: &StepOutcome) {
    let ok = matches!(step.status, Status::Passed | Status::Skipped);
    let _ = write!(out, "{} {number} - {}", if ok { "ok" } else { "not ok" }, escaped(&description(step)));
    if step.status == Status::Skipped {
        let _ = writeln!(out, " # SKIP {}", escaped(&shown::one_line(&step.message)));
        return;
    }
    out.push_str("\n  ---\n");
    diagnostics(out, plan, step);
    out.push_str("  ...\n");
}

fn description(step: &StepOutcome) -> String {
    [shown::one_line(&step.id), shown::one_line(&step.prose)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(": ")
}

/// In a description `#` begins a directive and `\` escapes it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}

fn diagnostics(out: &mut String, plan: &PlanOutcome, step: &StepOutcome) {
    if !step.message.is_empty() {
        text(out, "message", &step.message);
    }
    match step.status {
        Status::Failed => out.push_str("  severity: fail\n"),
        Status::Error => out.push_str("  severity: error\n"),
        Status::Passed | Status::Skipped => {}
    }
    let _ = writeln!(out, "  duration_ms: {}\n  attempts: {}", step.elapsed_ms, step.attempts);
    text(out, "verb", &shown::verb(step));
    text(out, "target", &step.target);
    if let Some(endpoint) = &step.endpoint {
        text(out, "endpoint", endpoint);
    }
    out.push_str("  at:\n  ");
    text(out, "file", &step.plan);
    let _ = writeln!(out, "    line: {}", step.line);
    for (number, warning) in step.warnings.iter().enumerate() {
        if number == 0 {
            out.push_str("  warnings:\n");
        }
        let _ = writeln!(out, "    - {}", quoted(warning));
    }
    if matches!(step.status, Status::Failed | Status::Error) {
        let lines: Vec<_> = explain::lines(plan, step).into_iter().map(|(_, line)| line).collect();
        block(out, "explanation", &lines);
        for (name, captured) in [("stdout", &step.stdout), ("stderr", &step.stderr)] {
            if !captured.is_empty() {
                block(out, name, &shown::output(captured, OUTPUT));
            }
        }
    }
}

fn text(out: &mut String, key: &str, text: &str) {
    let _ = writeln!(out, "  {key}: {}", quoted(text));
}

/// A JSON string is a YAML double-quoted scalar.
fn quoted(text: &str) -> String {
    Value::String(shown::visible(text).into_owned()).to_string()
}

/// A literal block. Its indentation is stated, since the first line may begin with blanks of its own.
fn block(out: &mut String, key: &str, lines: &[String]) {
    let _ = writeln!(out, "  {key}: |2-");
    for line in lines {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end_matches(' '));
    }
}
