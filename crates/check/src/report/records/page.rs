//! The history as one page that loads nothing and runs nothing.

use super::Record;
use super::history::{Sign, Trend, trends};
use crate::outcome::Status;
use crate::report::html::{Escaped, hash};
use crate::report::shown;
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");

/// Runs that are shown, the last ones.
const SHOWN: usize = 50;
/// Width and height of one run in a strip.
const BAR: (usize, u64) = (7, 28);

/// `records` with the oldest first.
pub(super) fn page(records: &[Record], unreadable: usize) -> String {
    let records = &records[records.len().saturating_sub(SHOWN)..];
    let mut out = String::with_capacity(32 * 1024);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; base-uri 'none'; \
         form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>check history</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Check history</h1>\n",
        hash(STYLE),
    );
    let _ =
        writeln!(out, "<p class=\"soft\">The last {}, the newest on the right.", shown::count(records.len(), "run"));
    if unreadable > 0 {
        let _ = writeln!(out, "{} of the folder are no records.", shown::count(unreadable, "file"));
    }
    out.push_str("</p>\n");
    steps(&mut out, records);
    runs(&mut out, records);
    out.push_str("</body>\n</html>\n");
    out
}

fn steps(out: &mut String, records: &[Record]) {
    out.push_str(
        "<h2>Steps</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Steps over the runs\">\n<table>\n\
         <thead><tr><th scope=\"col\">Step</th><th scope=\"col\">Runs</th><th scope=\"col\">Passed</th>\
         <th scope=\"col\">Usual time</th><th scope=\"col\">Last time</th><th scope=\"col\">Signs</th></tr></thead>\n\
         <tbody>\n",
    );
    for trend in trends(records) {
        let (passed, judged) = trend.passed();
        let last = trend.last();
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}<span class=\"soft\">{} · {}{}</span></th><td>",
            Escaped(trend.id),
            Escaped(trend.plan),
            Escaped(trend.verb),
            trend.method.map(|method| format!(" {}", Escaped(method))).unwrap_or_default(),
        );
        strip(out, &trend, records);
        let time = |ms: Option<u64>| ms.map_or_else(|| "–".to_owned(), shown::duration);
        let _ = write!(
            out,
            "</td><td>{passed} of {judged}</td><td>{}</td><td>{}</td><td>",
            time(trend.usual()),
            time(last.map(|step| step.elapsed_ms)),
        );
        for sign in trend.signs() {
            let (class, words) = match sign {
                Sign::Flaky => ("flaky", "flaky".to_owned()),
                Sign::Broke => ("failed", "broke".to_owned()),
                Sign::Mended => ("passed", "mended".to_owned()),
                Sign::Retried(runs) => ("flaky", format!("retried in {}", shown::count(runs, "run"))),
                Sign::Slower => ("flaky", "slower".to_owned()),
                Sign::Gone => ("skipped", "not in the last run".to_owned()),
            };
            let _ = write!(out, "<span class=\"sign {class}\">{words}</span> ");
        }
        if let Some(step) = last.filter(|step| matches!(step.status, Status::Failed | Status::Error)) {
            let _ = write!(out, "<span class=\"why\">{}</span>", Escaped(&shown::one_line(&step.message)));
        }
        out.push_str("</td></tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

/// A bar for each run: its colour how the step ended, its height how long it took beside the longest.
fn strip(out: &mut String, trend: &Trend<'_>, records: &[Record]) {
    let (width, height) = BAR;
    let longest = trend.runs.iter().flatten().map(|step| step.elapsed_ms).max().unwrap_or(0).max(1);
    let words = trend.last().map_or("", |step| shown::status(step.status).0);
    let (passed, judged) = trend.passed();
    let _ = write!(
        out,
        "<svg role=\"img\" width=\"{}\" height=\"{height}\" aria-label=\"passed {passed} of {judged}, last {words}\">",
        trend.runs.len() * width,
    );
    for (number, (step, record)) in trend.runs.iter().zip(records).enumerate() {
        let x = number * width;
        let Some(step) = step else { continue };
        // A bar that cannot be seen would be a run that was not.
        let tall = (step.elapsed_ms.saturating_mul(height) / longest).max(4);
        let _ = write!(
            out,
            "<rect class=\"{}\" x=\"{x}\" y=\"{}\" width=\"{}\" height=\"{tall}\"><title>{}: {}, {}</title></rect>",
            shown::status(step.status).0,
            height - tall,
            width - 1,
            Escaped(&record.began),
            shown::status(step.status).0,
            shown::duration(step.elapsed_ms),
        );
    }
    out.push_str("</svg>");
}

fn runs(out: &mut String, records: &[Record]) {
    out.push_str(
        "<h2>Runs</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Runs\">\n<table>\n<thead><tr>\
         <th scope=\"col\">Began</th><th scope=\"col\">Against</th><th scope=\"col\">Passed</th>\
         <th scope=\"col\">Failed</th><th scope=\"col\">Skipped</th><th scope=\"col\">Took</th></tr></thead>\n<tbody>\n",
    );
    for record in records.iter().rev() {
        let counts = &record.summary;
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{}{}</th><td>{}</td><td>{}</td><td{}>{}</td><td>{}</td><td>{}</td></tr>",
            Escaped(&record.began),
            if record.interrupted { " <span class=\"sign skipped\">interrupted</span>" } else { "" },
            Escaped(&record.target),
            counts.passed,
            if counts.failed > 0 { " class=\"failed\"" } else { "" },
            counts.failed,
            counts.skipped,
            shown::duration(record.elapsed_ms),
        );
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

#[cfg(test)]
mod tests {
    use super::super::tests::{run, step};
    use super::*;

    fn balanced(page: &str) {
        for tag in ["table", "tr", "td", "th", "svg", "rect", "span", "div", "p"] {
            let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn cw_52_the_page_shows_history_flakiness_and_time_and_loads_nothing() {
        let mut records = Vec::new();
        for (number, status) in [Status::Passed, Status::Failed, Status::Passed].into_iter().enumerate() {
            let id = if number == 0 { "only \"once\"" } else { "second" };
            let steps = vec![step("first", status, 10), step(id, Status::Passed, 2_500)];
            records.push(Record::of(&run(u32::try_from(number).unwrap(), steps)));
        }
        let page = page(&records, 0);
        balanced(&page);
        for wanted in [
            "The last 3 runs",
            "aria-label=\"passed 2 of 3, last passed\"",
            ">flaky</span>",
            ">not in the last run</span>",
            "only &quot;once&quot;",
            "2.5 s",
            "<title>2026-11-30T17:00:01Z: failed, 10 ms</title>",
        ] {
            assert!(page.contains(wanted), "{wanted}\n{page}");
        }
        for strange in ["http:", "https:", "src=", "<script", "url(", "@import"] {
            assert!(!page.contains(strange), "{strange}");
        }
        assert!(page.find("first").unwrap() < page.find("only").unwrap());
    }

    #[test]
    fn only_the_last_runs_are_shown() {
        let records: Vec<Record> =
            (0..60).map(|number| Record::of(&run(number, vec![step("a", Status::Passed, 1)]))).collect();
        let page = page(&records, 0);
        assert_eq!(page.matches("<rect ").count(), SHOWN);
        assert!(!page.contains("17:00:09Z") && page.contains("17:00:10Z"));
    }
}
