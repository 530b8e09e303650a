//! Markdown for the summary page of a CI job.

use super::{explain, shown};
use crate::outcome::{PlanOutcome, RunOutcome, Status, StepOutcome};
use std::fmt::Write as _;

/// Lines of captured output that are shown.
const OUTPUT: usize = 40;

/// The run as Markdown: a heading with the totals, a table a plan, and details below for what failed.
#[must_use]
pub fn markdown(run: &RunOutcome) -> String {
    let summary = run.summary();
    let (mark, verdict) = match (summary.failed, run.interrupted) {
        (0, false) => ("✓", format!("{} passed", summary.passed)),
        (0, true) => ("!", "interrupted".to_owned()),
        (failed, _) => ("✗", format!("{failed} of {} failed", shown::count(summary.total, "step"))),
    };
    let mut out = format!("## {mark} Checks: {verdict}\n\n");
    let _ = writeln!(
        out,
        "{} · {} passed · {} failed · {} skipped · {} · against {}{}\n",
        shown::count(summary.total, "step"),
        summary.passed,
        summary.failed,
        summary.skipped,
        shown::duration(run.elapsed_ms),
        code(&run.target),
        if run.interrupted { " · **interrupted**" } else { "" },
    );
    for plan in &run.plans {
        let _ = writeln!(out, "### {}\n", code(&plan.file));
        table(&mut out, plan);
        for step in plan.steps.iter().filter(|step| matches!(step.status, Status::Failed | Status::Error)) {
            details(&mut out, plan, step);
        }
    }
    out
}

fn table(out: &mut String, plan: &PlanOutcome) {
    out.push_str("| Status | Step | Id | Verb | Attempts | Time |\n|---|---|---|---|---:|---:|\n");
    for step in &plan.steps {
        let (word, mark) = shown::status(step.status);
        let mut what = escaped(&[step.keyword.as_str(), step.prose.as_str()].join(" "));
        if !step.message.is_empty() {
            let _ = write!(what, "<br>{}", escaped(&step.message));
        }
        for warning in &step.warnings {
            let _ = write!(what, "<br>warning: {}", escaped(warning));
        }
        let method = step.method.as_deref().map(|method| format!(" {}", escaped(method))).unwrap_or_default();
        let (attempts, time) = match step.status {
            Status::Skipped => ("–".to_owned(), "–".to_owned()),
            _ => (step.attempts.to_string(), shown::duration(step.elapsed_ms).replace(' ', "&nbsp;")),
        };
        // `-` alone in a cell would begin a list.
        let mark = mark.replace('-', "–");
        let _ = writeln!(
            out,
            "| {mark} {word} | {what} | {} | {}{method} | {attempts} | {time} |",
            code(&step.id).replace('|', "\\|"),
            escaped(&step.verb),
        );
    }
    out.push('\n');
}

fn details(out: &mut String, plan: &PlanOutcome, step: &StepOutcome) {
    let (word, mark) = shown::status(step.status);
    let _ = writeln!(
        out,
        "<details>\n<summary>{mark} {word}: {} <code>{}</code></summary>\n",
        html(&shown::one_line(&step.prose)),
        html(&shown::one_line(&step.id)),
    );
    if !step.message.is_empty() {
        let _ = writeln!(out, "{}\n", escaped(&step.message));
    }
    let lines: Vec<_> = explain::lines(plan, step).into_iter().map(|(_, line)| line).collect();
    fence(out, &lines);
    for (name, text) in [("stdout", &step.stdout), ("stderr", &step.stderr)] {
        if !text.is_empty() {
            let _ = writeln!(out, "{name}\n");
            fence(out, &shown::output(text, OUTPUT));
        }
    }
    out.push_str("</details>\n\n");
}

/// A fenced block; the fence is longer than any row of backticks inside.
fn fence(out: &mut String, lines: &[String]) {
    let text = lines.join("\n");
    let fence = "`".repeat(longest_row(&text).max(2) + 1);
    let _ = writeln!(out, "{fence}text\n{text}\n{fence}\n");
}

/// A code span, its fence again longer than any row of backticks inside.
fn code(text: &str) -> String {
    let text = shown::one_line(text);
    let fence = "`".repeat(longest_row(&text) + 1);
    match text.as_bytes() {
        [] => "–".to_owned(),
        // The reader takes off one blank at both ends, which parts the text from the fence.
        [b'`' | b' ', ..] | [.., b'`' | b' '] => format!("{fence} {text} {fence}"),
        _ => format!("{fence}{text}{fence}"),
    }
}

fn longest_row(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Text that means only itself: no markup, no link, no mention, on one line.
fn escaped(text: &str) -> String {
    let text = shown::one_line(text);
    let mut out = String::with_capacity(text.len() + 8);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '!' | '|' | '~' | '$' | '^' => {
                out.push('\\');
                out.push(c);
            }
            // Parts an address or a mention, so that no reader makes a link of it.
            '@' => out.push_str("@<!-- -->"),
            ':' if chars.peek().is_some_and(|next| !next.is_whitespace()) => out.push_str(":<!-- -->"),
            '.' if out.ends_with("www") => out.push_str("<!-- -->."),
            c => out.push(c),
        }
    }
    out
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_never_markup() {
        assert_eq!(escaped("<b> a|b *x* [y](z)"), "&lt;b&gt; a\\|b \\*x\\* \\[y\\]\\(z\\)");
        assert_eq!(escaped("see https://x @all: no"), "see https:<!-- -->//x @<!-- -->all: no");
        assert_eq!([code("a``b"), code("`a"), code("")], ["```a``b```", "`` `a ``", "–"]);
        let mut out = String::new();
        fence(&mut out, &["````".to_owned()]);
        assert_eq!(out, "`````text\n````\n`````\n\n");
    }
}
