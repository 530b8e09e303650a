//! What a Rust test program prints, read: one line a test, a summary at the end.

use crate::results::Outcome;

/// One line of a test program.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub name: String,
    pub outcome: Outcome,
    /// The text behind `ignored, `.
    pub reason: Option<String>,
}

/// The counts of a summary line; ignored tests are the skipped ones.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub struct Summary {
    pub passed: usize,
    pub failed: usize,
    pub ignored: usize,
}

impl Summary {
    fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
        }
    }
}

/// Everything a program printed about its tests.
#[derive(Debug, Default)]
pub struct Report {
    pub lines: Vec<Line>,
    /// The sum of all summaries (doc tests have one for the merged ones and one for the rest). None when the program ended before its summary.
    pub summary: Option<Summary>,
}

impl Report {
    /// Reads the output of one program.
    pub fn read(output: &str) -> Self {
        let mut report = Self::default();
        for line in output.lines() {
            if let Some(test) = line.strip_prefix("test ").and_then(test_line) {
                report.lines.push(test);
            } else if let Some(summary) = line.strip_prefix("test result: ").and_then(summary_line) {
                report.summary = Some(report.summary.unwrap_or_default().plus(summary));
            }
        }
        report
    }

    /// What is wrong with the report as a whole: no summary, or a summary that counts what was not named.
    pub fn complaint(&self) -> Option<String> {
        let Some(summary) = self.summary else {
            return Some("ended before its summary".into());
        };
        let count = |outcome| self.lines.iter().filter(|line| line.outcome == outcome).count();
        let named = Summary {
            passed: count(Outcome::Passed),
            failed: count(Outcome::Failed),
            ignored: count(Outcome::Skipped),
        };
        (named != summary).then(|| format!("names {named:?} but sums up {summary:?}"))
    }
}

/// `NAME ... ok`, `NAME - should panic ... FAILED`, `NAME ... ignored, why`.
fn test_line(rest: &str) -> Option<Line> {
    let (name, end) = rest.rsplit_once(" ... ")?;
    let (outcome, reason) = match end {
        "ok" => (Outcome::Passed, None),
        "FAILED" => (Outcome::Failed, None),
        "ignored" => (Outcome::Skipped, Some("ignored".to_owned())),
        _ => (Outcome::Skipped, Some(end.strip_prefix("ignored, ")?.to_owned())),
    };
    let name = name.strip_suffix(" - should panic").unwrap_or(name).to_owned();
    Some(Line { name, outcome, reason })
}

/// `ok. 3 passed; 0 failed; 1 ignored; 0 measured; …`.
fn summary_line(rest: &str) -> Option<Summary> {
    let (_, counts) = rest.split_once(". ")?;
    let mut summary = Summary::default();
    for part in counts.split("; ") {
        let (number, word) = part.split_once(' ')?;
        match word {
            "passed" => summary.passed = number.parse().ok()?,
            "failed" => summary.failed = number.parse().ok()?,
            "ignored" => {
                summary.ignored = number.parse().ok()?;
                return Some(summary);
            }
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 4 tests
test a::b ... ok
test c - should panic ... FAILED
noise from a child
test crates/core/src/lib.rs - call (line 12) ... ok
test d ... ignored, opt_in: needs a real eggs

failures:

---- c stdout ----
test result of something else

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
";

    #[test]
    fn every_line_of_a_program_is_read() {
        let report = Report::read(OUTPUT);
        let seen: Vec<_> = report.lines.iter().map(|line| (line.name.as_str(), line.outcome)).collect();
        assert_eq!(
            seen,
            [
                ("a::b", Outcome::Passed),
                ("c", Outcome::Failed),
                ("crates/core/src/lib.rs - call (line 12)", Outcome::Passed),
                ("d", Outcome::Skipped),
            ]
        );
        assert_eq!(report.lines[3].reason.as_deref(), Some("opt_in: needs a real eggs"));
        assert_eq!(report.complaint(), None);
    }

    #[test]
    fn a_summary_that_counts_unnamed_tests_is_a_complaint() {
        let lost = OUTPUT.replace("test a::b ... ok", "test a::b ... noise from a child ok");
        assert!(Report::read(&lost).complaint().is_some());
        assert!(Report::read("running 1 test\n").complaint().is_some());
    }
}
