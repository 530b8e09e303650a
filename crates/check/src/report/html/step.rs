//! One step of the page: a line that opens to what is known about it.

use super::Escaped;
use crate::outcome::{PlanOutcome, Status, StepOutcome};
use crate::report::diff::{Line, Side};
use crate::report::explain::{self, Broken, Excerpt};
use crate::report::shown;
use std::fmt::Write as _;

/// Lines of captured output that are shown.
const OUTPUT: usize = 400;

pub(super) fn step(out: &mut String, number: usize, plan: &PlanOutcome, step: &StepOutcome, slowest: u64) {
    let class = shown::status(step.status).0;
    let _ = writeln!(
        out,
        "<details class=\"step {class}\" id=\"step-{number}\" data-status=\"{class}\" data-ms=\"{}\"{}>",
        step.elapsed_ms,
        if matches!(step.status, Status::Failed | Status::Error) { " open" } else { "" },
    );
    summary(out, step, slowest);
    out.push_str("<div class=\"body\">\n");
    if let Some(excerpt) = explain::start(plan, step) {
        out.push_str("<div class=\"broken\">\n");
        place(out, &excerpt, "");
        source(out, &excerpt);
        out.push_str("</div>\n");
    }
    for broken in explain::broken(plan, step) {
        assertion(out, &broken);
    }
    if !step.warnings.is_empty() {
        out.push_str("<ul class=\"warnings\">\n");
        for warning in &step.warnings {
            let _ = writeln!(out, "<li>warning: {}</li>", Escaped(warning));
        }
        out.push_str("</ul>\n");
    }
    captured(out, "stdout", &step.stdout);
    captured(out, "stderr", &step.stderr);
    meta(out, number, step);
    out.push_str("</div>\n</details>\n");
}

fn summary(out: &mut String, step: &StepOutcome, slowest: u64) {
    let (word, mark) = shown::status(step.status);
    let _ = write!(
        out,
        "<summary><span class=\"status\"><span class=\"mark\" aria-hidden=\"true\">{mark}</span> {word}</span> \
         <span class=\"what\"><span class=\"keyword\">{}</span> {}",
        Escaped(&step.keyword),
        Escaped(&step.prose),
    );
    if !step.message.is_empty() {
        let _ = write!(out, " <span class=\"why\">{}</span>", Escaped(&step.message));
    }
    let _ = write!(out, "</span> <code class=\"id\">{}</code> <span class=\"time\">", Escaped(&step.id));
    if step.status == Status::Skipped {
        out.push_str("</span></summary>\n");
        return;
    }
    out.push_str("<span>");
    if step.attempts > 1 {
        let _ = write!(out, "<span class=\"tries\">{} attempts</span> ", step.attempts);
    }
    // A width by attribute: the policy allows no inline style.
    let _ = writeln!(
        out,
        "{}</span><svg class=\"bar\" viewBox=\"0 0 1000 6\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <rect class=\"{word}\" width=\"{}\" height=\"6\"/></svg></span></summary>",
        shown::duration(step.elapsed_ms),
        (step.elapsed_ms.saturating_mul(1_000) / slowest.max(1)).max(20),
    );
}

fn assertion(out: &mut String, broken: &Broken) {
    out.push_str("<div class=\"broken\">\n");
    place(out, &broken.excerpt, &broken.label);
    source(out, &broken.excerpt);
    if let Some(diff) = &broken.diff {
        difference(out, diff);
    } else {
        let actual = match &broken.actual {
            Some(actual) => format!("<code>{}</code>", Escaped(actual)),
            None => format!("<span class=\"nothing\">{}</span>", explain::NOTHING),
        };
        let _ = writeln!(
            out,
            "<dl class=\"sides\"><dt class=\"expected\">expected</dt><dd class=\"expected\"><code>{}</code></dd>\
             <dt class=\"actual\">actual</dt><dd class=\"actual\">{actual}</dd></dl>",
            Escaped(&broken.expected),
        );
    }
    out.push_str("</div>\n");
}

fn place(out: &mut String, excerpt: &Excerpt, label: &str) {
    let _ = write!(out, "<div class=\"place\">");
    if !label.is_empty() {
        let _ = write!(out, "<b>{}</b> · ", Escaped(label));
    }
    let _ = writeln!(out, "<code>{}</code></div>", Escaped(&excerpt.place));
}

fn source(out: &mut String, excerpt: &Excerpt) {
    let Some(source) = &excerpt.source else { return };
    let blank = " ".repeat(excerpt.line.to_string().len());
    let _ = writeln!(
        out,
        "<pre class=\"source\" tabindex=\"0\"><span class=\"number\">{} │</span> {}\n\
         <span class=\"number\">{blank} │</span> {}<span class=\"caret\">^</span></pre>",
        excerpt.line,
        Escaped(&source.text),
        Escaped(&source.indent),
    );
}

/// Expected and actual by element and by sign, so that neither colour nor sight is needed.
fn difference(out: &mut String, lines: &[Line]) {
    out.push_str(
        "<pre class=\"diff\" tabindex=\"0\" aria-label=\"difference\"><span class=\"rows\">\
         <span class=\"legend\">- expected  + actual</span>",
    );
    for line in lines {
        let (open, close) = match line.side {
            Side::Both => ("<span class=\"row\">", "</span>"),
            Side::Expected => ("<del>", "</del>"),
            Side::Actual => ("<ins>", "</ins>"),
            Side::Gap => ("<span class=\"row gap\">", "</span>"),
        };
        let _ = write!(out, "{open}{} {}{close}", line.side.sign(), Escaped(&line.text));
    }
    out.push_str("</span></pre>\n");
}

fn captured(out: &mut String, name: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let lines = shown::output(text, OUTPUT).join("\n");
    // A line feed right after the tag is not part of the text.
    let _ = writeln!(
        out,
        "<h3>{name}</h3>\n<pre class=\"output\" tabindex=\"0\" aria-label=\"{name}\">\n{}</pre>",
        Escaped(&lines)
    );
}

fn meta(out: &mut String, number: usize, step: &StepOutcome) {
    out.push_str("<dl class=\"meta\">\n");
    let mut fact = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "<div><dt>{name}</dt><dd><code>{}</code></dd></div>", Escaped(text));
        }
    };
    fact("verb", &shown::verb(step));
    fact("step", &step.name);
    fact("at", &format!("{}:{}", step.plan, step.line));
    fact("target", &step.target);
    fact("endpoint", step.endpoint.as_deref().unwrap_or_default());
    let _ = writeln!(out, "<div><a href=\"#step-{number}\">link to this step</a></div>\n</dl>");
}
