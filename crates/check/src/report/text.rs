//! Text for people: one line a step, below a failure why, at the end the totals.

use super::explain::{self, Kind};
use super::{Options, shown};
use crate::outcome::{PlanOutcome, RunOutcome, Status, StepOutcome};
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// Lines of captured output that are shown.
const OUTPUT: usize = 20;

const GREEN: &str = "32";
const RED: &str = "31";
const YELLOW: &str = "33";
const CYAN: &str = "36";
const BOLD: &str = "1";
const DIM: &str = "2";

/// The run for people.
///
/// One line a step: mark, status, keyword, prose, `[id]`, attempts and time, message. Colour is never the only sign.
#[must_use]
pub fn text(run: &RunOutcome, options: Options) -> String {
    let mut page = Page { out: String::new(), options, keyword: widest_keyword(run), unreached: BTreeMap::new() };
    for plan in &run.plans {
        if run.plans.len() > 1 {
            page.line(&page.paint(BOLD, &shown::one_line(&plan.file)));
        }
        for step in &plan.steps {
            page.step(plan, step);
        }
        if run.plans.len() > 1 {
            page.line("");
        }
    }
    page.line(&page.totals(run));
    page.out
}

fn widest_keyword(run: &RunOutcome) -> usize {
    run.steps().map(|step| shown::one_line(&step.keyword).width()).max().unwrap_or_default()
}

struct Page {
    out: String,
    options: Options,
    keyword: usize,
    /// Why servers could not be reached, with the step that told it.
    unreached: BTreeMap<String, String>,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.options.color && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    fn step(&mut self, plan: &PlanOutcome, step: &StepOutcome) {
        let told = self.told_before(step);
        self.head(step, told.as_ref().map_or(&step.message, |id| id));
        if told.is_none() && matches!(step.status, Status::Failed | Status::Error) {
            for (kind, line) in explain::lines(plan, step) {
                let code = match kind {
                    Kind::Place => CYAN,
                    Kind::Caret | Kind::Actual => RED,
                    Kind::Expected => GREEN,
                    Kind::Source | Kind::Plain => "",
                };
                let line = if code.is_empty() { line } else { self.paint(code, &line) };
                self.line(&format!("    {line}"));
            }
            self.captured("stdout", &step.stdout);
            if step.stderr.trim() != step.message.trim() {
                self.captured("stderr", &step.stderr);
            }
        }
        for warning in &step.warnings {
            let word = self.paint(YELLOW, "warning:");
            self.line(&format!("    {word} {}", shown::one_line(warning)));
        }
    }

    /// That an earlier step told already why the server cannot be reached: it is said once, however many steps ask it.
    fn told_before(&mut self, step: &StepOutcome) -> Option<String> {
        let failed = matches!(step.status, Status::Failed | Status::Error);
        if !failed || !["spawn: ", "connect: "].iter().any(|stage| step.message.starts_with(stage)) {
            return None;
        }
        if let Some(first) = self.unreached.get(&step.message) {
            return Some(format!("for the reason of [{}]", shown::one_line(first)));
        }
        self.unreached.insert(step.message.clone(), step.id.clone());
        None
    }

    fn head(&mut self, step: &StepOutcome, message: &str) {
        let (word, mark) = shown::status(step.status);
        let code = match step.status {
            Status::Passed => GREEN,
            Status::Failed | Status::Error => RED,
            Status::Skipped => YELLOW,
        };
        let keyword = shown::one_line(&step.keyword);
        let pad = " ".repeat(self.keyword - keyword.width());
        let prose = shown::one_line(&step.prose);
        let id = format!("[{}]", shown::one_line(&step.id));
        let effort = match step.status {
            Status::Skipped => String::new(),
            _ => shown::effort(step.attempts, step.elapsed_ms),
        };
        let message = shown::one_line(message);

        let plain: Vec<_> = [prose.as_str(), &id, &effort].into_iter().filter(|part| !part.is_empty()).collect();
        let width = mark.width() + 1 + 7 + 1 + self.keyword + 1 + plain.join(" ").width();
        let prose = if step.status == Status::Failed { self.paint(BOLD, &prose) } else { prose };
        let parts = [prose, self.paint(DIM, &id), self.paint(DIM, &effort)];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let status = self.paint(code, &format!("{mark} {word:<7}"));
        let head = format!("{status} {keyword}{pad} {}", parts.join(" "));
        match self.options.width {
            _ if message.is_empty() => self.line(&head),
            Some(limit) if width + 2 + message.width() > limit => {
                self.line(&head);
                for line in wrap(&message, limit.saturating_sub(4)) {
                    self.line(&format!("    {line}"));
                }
            }
            _ => self.line(&format!("{head}: {message}")),
        }
    }

    fn captured(&mut self, name: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.line(&format!("    {}", self.paint(DIM, name)));
        for line in shown::output(text, OUTPUT) {
            self.line(&format!("      {line}"));
        }
    }

    fn totals(&self, run: &RunOutcome) -> String {
        let summary = run.summary();
        let unjudged = run.steps().filter(|step| step.status == Status::Error).count();
        let mut failed = format!("{} failed", summary.failed);
        if unjudged > 0 {
            failed = format!("{failed} ({unjudged} could not be judged)");
        }
        let paint = |code: &str, number: usize, text: &str| {
            if number > 0 { self.paint(code, text) } else { text.to_owned() }
        };
        format!(
            "{}: {}, {}, {} in {}{}",
            shown::count(summary.total, "step"),
            paint(GREEN, summary.passed, &format!("{} passed", summary.passed)),
            paint(RED, summary.failed, &failed),
            paint(YELLOW, summary.skipped, &format!("{} skipped", summary.skipped)),
            shown::duration(run.elapsed_ms),
            if run.interrupted { self.paint(YELLOW, ", interrupted") } else { String::new() },
        )
    }
}

/// Lines of at most `width` columns, broken at blanks where there are any.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_break_at_blanks() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("aaaaaaaaa b", 5), ["aaaaaaaaa", "b"]);
    }
}
