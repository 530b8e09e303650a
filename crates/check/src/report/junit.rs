//! JUnit XML, for CI systems: a suite a plan, a case a step.

use super::{RenderError, explain, shown};
use crate::outcome::{PlanOutcome, RunOutcome, Status, StepOutcome};
use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// The run as JUnit XML.
///
/// Case name = step name, classname = the step's plan file. `<failure>`: judged and wrong; `<error>`: not run or not
/// judged; `<skipped>`. Properties of a case: `target`, `endpoint`, `attempts`, `id`, `line`.
///
/// # Errors
/// When the XML cannot be serialised.
pub fn junit(run: &RunOutcome) -> Result<String, RenderError> {
    let mut report = Report::new("pintle check");
    report.time = Some(Duration::from_millis(run.elapsed_ms));
    report.timestamp = run.began.parse().ok();
    for plan in &run.plans {
        let mut suite = suite(run, plan);
        suite.timestamp = report.timestamp;
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?.replace(TAB, "\t"))
}

fn suite(run: &RunOutcome, plan: &PlanOutcome) -> TestSuite {
    let mut suite = TestSuite::new(seen(&plan.file));
    suite.set_time(Duration::from_millis(plan.steps.iter().map(|step| step.elapsed_ms).sum()));
    suite.add_property(Property::new("target", seen(&run.target)));
    suite.add_property(Property::new("version", seen(&run.version)));
    if run.interrupted {
        suite.add_property(Property::new("interrupted", "true"));
    }
    suite.add_test_cases(plan.steps.iter().map(|step| case(plan, step)));
    suite
}

fn case(plan: &PlanOutcome, step: &StepOutcome) -> TestCase {
    let mut case = TestCase::new(seen(&step.name), status(plan, step));
    case.set_classname(seen(&step.plan));
    case.set_time(Duration::from_millis(step.elapsed_ms));
    case.add_property(Property::new("target", seen(&step.target)));
    if let Some(endpoint) = &step.endpoint {
        case.add_property(Property::new("endpoint", seen(endpoint)));
    }
    case.add_property(Property::new("attempts", step.attempts.to_string()));
    case.add_property(Property::new("id", seen(&step.id)));
    case.add_property(Property::new("line", step.line.to_string()));
    for warning in &step.warnings {
        case.add_property(Property::new("warning", seen(warning)));
    }
    if !step.stdout.is_empty() {
        case.set_system_out(seen(&step.stdout));
    }
    if !step.stderr.is_empty() {
        case.set_system_err(seen(&step.stderr));
    }
    case
}

fn status(plan: &PlanOutcome, step: &StepOutcome) -> TestCaseStatus {
    let mut status = match step.status {
        Status::Passed => return TestCaseStatus::success(),
        Status::Skipped => TestCaseStatus::skipped(),
        Status::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    status.set_message(seen(&step.message));
    if step.status != Status::Skipped {
        status.set_type(seen(&shown::verb(step)));
        let lines: Vec<_> = explain::lines(plan, step).into_iter().map(|(_, line)| line).collect();
        status.set_description(seen(&lines.join("\n")));
    }
    status
}

/// Stands for a tab while the library has the text, since it drops tabs, which part the columns of listings.
/// A noncharacter: what is visible never holds it.
const TAB: char = '\u{fdd0}';

/// Visible before the library sees it: it would drop what XML cannot hold.
fn seen(text: &str) -> String {
    shown::visible(text).replace('\t', TAB.encode_utf8(&mut [0; 4]))
}
