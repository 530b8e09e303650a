//! Annotations for GitHub's checks: workflow commands that mark the failing lines of the plans.

use super::{explain, shown};
use crate::outcome::{RunOutcome, Status};
use std::fmt::Write as _;

/// One `::error …::` command for each failed step, placed at its first broken assertion; for the output of a job.
#[must_use]
pub fn annotations(run: &RunOutcome) -> String {
    let mut out = String::new();
    for plan in &run.plans {
        for step in plan.steps.iter().filter(|step| matches!(step.status, Status::Failed | Status::Error)) {
            let (line, column) =
                step.mismatches.first().map_or((step.line, 1), |mismatch| (mismatch.line, mismatch.column));
            let mut message = vec![shown::visible(&step.message).into_owned()];
            message.extend(explain::lines(plan, step).into_iter().map(|(_, line)| line));
            let title = [step.id.as_str(), step.prose.as_str()].join(": ");
            let _ = writeln!(
                out,
                "::error file={},line={line},col={column},title={}::{}",
                property(&step.plan),
                property(&shown::one_line(&title)),
                data(&message.join("\n")),
            );
        }
    }
    out
}

/// In the message of a command these three are escaped, in a property two more.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
