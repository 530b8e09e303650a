//! One self-contained page, for people in a browser.
//!
//! Style and script are inline, allowed by their hashes; nothing is loaded and nothing else may run. The page reads
//! without script, which adds search, filters and order. Everything from the run passes through [`Escaped`].

mod step;

use super::shown;
use crate::outcome::{PlanOutcome, RunOutcome, Status, StepOutcome, Summary};
use base64::Engine as _;
use sha2::{Digest as _, Sha256};
use std::fmt::{self, Write as _};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The run as one HTML page.
#[must_use]
pub fn html(run: &RunOutcome) -> String {
    let verdict = Verdict::of(run);
    let mut out = String::with_capacity(64 * 1024);
    head(&mut out, run, &verdict);
    header(&mut out, run, &verdict);
    tools(&mut out, run);
    out.push_str("<main id=\"steps\" tabindex=\"-1\">\n");
    let slowest = run.steps().map(|step| step.elapsed_ms).max().unwrap_or_default();
    let mut number = 0;
    for (index, plan) in run.plans.iter().enumerate() {
        open_plan(&mut out, index + 1, plan);
        for step in &plan.steps {
            number += 1;
            step::step(&mut out, number, plan, step, slowest);
        }
        out.push_str("</div>\n</section>\n");
    }
    out.push_str(
        "<p id=\"none\" class=\"none\" hidden>No step matches. <kbd>Esc</kbd> in the search field clears it.</p>\n",
    );
    if number == 0 {
        out.push_str("<p class=\"none\">The run has no steps.</p>\n");
    }
    let _ = write!(out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
    out
}

/// The outcome in a few words.
struct Verdict {
    class: &'static str,
    mark: &'static str,
    words: String,
}

impl Verdict {
    fn of(run: &RunOutcome) -> Self {
        let Summary { total, passed, failed, skipped } = run.summary();
        let (status, words) = match () {
            () if failed > 0 => (Status::Failed, format!("{failed} of {} failed", shown::count(total, "step"))),
            () if run.interrupted => {
                (Status::Error, format!("Interrupted: {passed} of {} passed", shown::count(total, "step")))
            }
            () if passed == 0 => {
                (Status::Skipped, format!("Nothing judged: {skipped} of {} skipped", shown::count(total, "step")))
            }
            () if skipped > 0 => (Status::Passed, format!("{passed} passed, {skipped} skipped")),
            () if passed == 1 => (Status::Passed, "1 step passed".to_owned()),
            () => (Status::Passed, format!("All {} passed", shown::count(total, "step"))),
        };
        let (class, mark) = shown::status(status);
        Self { class, mark, words }
    }
}

fn head(out: &mut String, run: &RunOutcome, verdict: &Verdict) {
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{} {}: {}</title>\n<style>{STYLE}</style>\n</head>\n",
        hash(STYLE),
        hash(SCRIPT),
        verdict.mark,
        verdict.words,
        Escaped(&run.target),
    );
}

/// A source of a content security policy.
pub(super) fn hash(text: &str) -> String {
    format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text)))
}

fn header(out: &mut String, run: &RunOutcome, verdict: &Verdict) {
    let _ = write!(
        out,
        "<body>\n<a class=\"jump\" href=\"#steps\">Skip to the steps</a>\n<header>\n\
         <p class=\"over\">pintle {} · check report</p>\n\
         <h1 class=\"verdict {}\"><span class=\"mark\" aria-hidden=\"true\">{}</span>{}</h1>\n",
        Escaped(&run.version),
        verdict.class,
        verdict.mark,
        verdict.words,
    );
    share(out, run);
    out.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, text: &str| {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", Escaped(text));
    };
    fact("Against", &run.target);
    fact("Began", &run.began);
    fact("Took", &shown::duration(run.elapsed_ms));
    let warnings: usize = run.steps().map(|step| step.warnings.len()).sum();
    if warnings > 0 {
        fact("Warnings", &warnings.to_string());
    }
    if run.interrupted {
        fact("Interrupted", "yes, steps that did not run are skipped");
    }
    out.push_str("</dl>\n</header>\n");
}

const ORDER: [Status; 4] = [Status::Failed, Status::Error, Status::Passed, Status::Skipped];

fn with(run: &RunOutcome, status: Status) -> usize {
    run.steps().filter(|step| step.status == status).count()
}

/// How the steps divide, as one bar.
fn share(out: &mut String, run: &RunOutcome) {
    let total = run.steps().count();
    if total == 0 {
        return;
    }
    let counts = ORDER.map(|status| (shown::status(status).0, with(run, status)));
    let words: Vec<_> =
        counts.iter().filter(|(_, number)| *number > 0).map(|(word, number)| format!("{number} {word}")).collect();
    let _ = write!(
        out,
        "<svg class=\"share\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {total} 1\" preserveAspectRatio=\"none\">",
        words.join(", ")
    );
    let mut at = 0;
    for (word, number) in counts {
        if number > 0 {
            let _ = write!(out, "<rect class=\"{word}\" x=\"{at}\" width=\"{number}\" height=\"1\"/>");
        }
        at += number;
    }
    out.push_str("</svg>\n");
}

/// What needs the script stays hidden until it runs.
fn tools(out: &mut String, run: &RunOutcome) {
    out.push_str(
        "<div class=\"tools\" role=\"search\" hidden>\n\
         <label class=\"off\" for=\"query\">Search steps</label>\n\
         <input type=\"search\" id=\"query\" placeholder=\"Search steps, ids, messages, output\" autocomplete=\"off\" \
         spellcheck=\"false\" aria-keyshortcuts=\"/\">\n\
         <div class=\"filters\" role=\"group\" aria-label=\"Show by status\">\n",
    );
    let mut button = |status: &str, label: &str, number: usize, pressed: bool| {
        let _ = writeln!(
            out,
            "<button type=\"button\" data-status=\"{status}\" aria-pressed=\"{pressed}\"{}>{label}\
             <span class=\"number\">{number}</span></button>",
            if number == 0 { " disabled" } else { "" },
        );
    };
    button("all", "All", run.steps().count(), true);
    for (status, label) in ORDER.into_iter().zip(["Failed", "Error", "Passed", "Skipped"]) {
        button(shown::status(status).0, label, with(run, status), false);
    }
    out.push_str(
        "</div>\n<label class=\"order\">Order <select id=\"order\"><option value=\"plan\">as in the plan</option>\
         <option value=\"slow\">slowest first</option></select></label>\n\
         <button type=\"button\" id=\"expand\">Expand all</button>\n\
         <p class=\"found\"><span id=\"count\" role=\"status\"></span>\
         <span class=\"keys\"><kbd>/</kbd> search <kbd>↑</kbd> <kbd>↓</kbd> step <kbd>Enter</kbd> open or close</span></p>\n\
         </div>\n",
    );
}

fn open_plan(out: &mut String, number: usize, plan: &PlanOutcome) {
    let failed = |step: &&StepOutcome| matches!(step.status, Status::Failed | Status::Error);
    let failed = plan.steps.iter().filter(failed).count();
    let total = plan.steps.iter().map(|step| step.elapsed_ms).sum();
    let _ = writeln!(
        out,
        "<section class=\"plan\" aria-labelledby=\"plan-{number}\">\n<h2 id=\"plan-{number}\">{}</h2>\n\
         <p class=\"sum\">{}{} · {}</p>\n<div class=\"steps\">",
        Escaped(&plan.file),
        shown::count(plan.steps.len(), "step"),
        if failed > 0 { format!(", {failed} failed") } else { String::new() },
        shown::duration(total),
    );
}

/// Text in HTML, between tags or between double quotes: everything visible, nothing that ends either.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in shown::visible(self.0).chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_ends_neither_tag_nor_quote() {
        assert_eq!(Escaped("<a b='\"'>&\u{0}").to_string(), "&lt;a b=&#39;&quot;&#39;&gt;&amp;␀");
    }

    /// Inline parts must not end the element that holds them.
    #[test]
    fn style_and_script_hold_no_end_tag() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }
}
