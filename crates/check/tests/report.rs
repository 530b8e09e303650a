//! Reports over one rich run: as people see them (snapshots), and as programs read them back.

#[path = "report/sample.rs"]
mod sample;
#[path = "report/tap_reader.rs"]
mod tap_reader;

use pintle_check::report::{
    Format, Options, Reports, annotations, html, json, junit, markdown, masked, render, tap, text,
};
use pintle_check::{RunOutcome, Status};
use pintle_core::Redactor;
use serde_json::{Value, json};
use std::fs;

const PLAIN: Options = Options { color: false, width: None };

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("report/snapshots");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Nothing that steers a terminal, and nothing that hides or reorders what is read.
fn assert_harmless(text: &str) {
    let bad =
        text.chars().find(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202e}' | '\u{ffff}'));
    assert_eq!(bad, None);
}

#[test]
fn text_shows_the_line_of_the_plan_with_a_caret() {
    let text = text(&sample::run(), PLAIN);
    assert_harmless(&text);
    snapshot("text", &text);
    let lines: Vec<_> = text.lines().collect();
    let at = lines.iter().position(|line| line.contains("--> plans/web.yml:8:47")).unwrap();
    let column = |needle: &str, line: &str| line.find(needle).map(|byte| line[..byte].chars().count());
    assert_eq!(column("count: 3", lines[at + 2]), column("^", lines[at + 3]));
}

#[test]
fn text_has_one_line_a_step_and_says_the_same_without_colour() {
    let run = sample::run();
    let plain = text(&run, PLAIN);
    let colored = text(&run, Options { color: true, width: None });
    assert!(colored.contains("\u{1b}[31m"));
    let mut stripped = colored;
    for code in ["0", "1", "2", "31", "32", "33", "36"] {
        stripped = stripped.replace(&format!("\u{1b}[{code}m"), "");
    }
    assert_eq!(stripped, plain);
    for step in run.steps() {
        let word = match step.status {
            Status::Passed => "✓ passed ",
            Status::Failed => "✗ failed ",
            Status::Skipped => "- skipped",
            Status::Error => "! error  ",
        };
        let id = format!("[{}]", step.id);
        let of_step: Vec<_> = plain.lines().filter(|line| line.starts_with(word) && line.contains(&id)).collect();
        assert_eq!(of_step.len(), 1, "{id}");
    }
    assert!(plain.ends_with("8 steps: 2 passed, 5 failed (1 could not be judged), 1 skipped in 1 min 15 s\n"));
}

#[test]
fn text_for_a_narrow_terminal_moves_messages_to_lines_of_their_own() {
    let narrow = text(&sample::run(), Options { color: false, width: Some(60) });
    assert!(narrow.contains("[later]\n    depends on echo, which failed\n"), "{narrow}");
    assert!(narrow.contains("\n    request tools/list: 1 of 2 assertions does not hold\n"), "{narrow}");
}

#[test]
fn json_has_exactly_the_agreed_members_first() {
    let run = sample::run();
    let text = json(&run).unwrap();
    snapshot("json", &text);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["version"], "0.1.0");
    assert_eq!(report["target"], "stdio ./web-server --quiet");
    assert_eq!(report["summary"], json!({"total": 8, "passed": 2, "failed": 5, "skipped": 1}));
    let agreed =
        ["id", "plan", "line", "verb", "method", "status", "message", "attempts", "elapsed_ms"].map(String::from);
    for step in report["steps"].as_array().unwrap() {
        let keys: Vec<_> = step.as_object().unwrap().keys().take(agreed.len()).cloned().collect();
        assert_eq!(keys, agreed);
    }
    assert_eq!(
        report["steps"][2].as_object().unwrap().iter().take(9).map(|(_, value)| value.clone()).collect::<Vec<_>>(),
        [
            json!("echo"),
            json!("plans/web.yml"),
            json!(9),
            json!("mcp"),
            json!("call"),
            json!("failed"),
            json!("request tools/call: 1 assertion does not hold"),
            json!(3),
            json!(3250)
        ]
    );
    assert_eq!(report["steps"][5]["method"], Value::Null);
    // For programs, foreign text is uncut and itself.
    assert_eq!(report["steps"][6]["stdout"], sample::EVIL);
}

#[test]
fn tap_is_read_back_point_by_point() {
    let run = sample::run();
    let text = tap(&run);
    assert_harmless(&text);
    snapshot("tap", &text);
    let points = tap_reader::read(&text).unwrap();
    assert_eq!(points.len(), run.steps().count());
    for (point, step) in points.iter().zip(run.steps()) {
        assert_eq!(point.ok, matches!(step.status, Status::Passed | Status::Skipped), "{}", step.id);
        assert!(point.description.starts_with(&step.id), "{}", point.description);
        assert_eq!(point.skip.is_some(), step.status == Status::Skipped);
        if let Some(yaml) = &point.yaml {
            assert_eq!(yaml["duration_ms"], json!(step.elapsed_ms));
            assert_eq!(yaml["at"]["line"], json!(step.line));
        }
    }
    assert_eq!(points[4].skip.as_deref(), Some("depends on echo, which failed"));
    // Hostile text stays inside its scalar, line by line.
    let yaml = points[6].yaml.as_ref().unwrap();
    assert!(yaml["stdout"].as_str().unwrap().contains("\n...\nok 99 - forged\n::error::forged\n"));
    assert!(yaml["stderr"].as_str().unwrap().starts_with("  indented first\n"));
    assert!(yaml["explanation"].as_str().unwrap().contains("| \t漢字: {stdout"));
}

#[test]
fn tap_of_an_interrupted_or_empty_run_cannot_be_taken_for_success() {
    let mut run = sample::good_run();
    run.interrupted = true;
    assert!(tap(&run).ends_with("\nBail out! interrupted\n"));
    run.plans.clear();
    run.interrupted = false;
    assert_eq!(tap(&run), "TAP version 14\n1..0 # SKIP no steps\n");
}

#[test]
fn cw_51_junit_has_properties_and_is_read_back() {
    let run = sample::run();
    let text = junit(&run).unwrap();
    assert_harmless(&text);
    snapshot("junit", &text);
    let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
    assert_eq!((report.tests, report.failures, report.errors, report.skipped), (8, 4, 1, 1));
    assert_eq!(report.test_suites.len(), 2);
    let web = &report.test_suites[0];
    assert_eq!(web.name.as_str(), "plans/web.yml");
    assert_eq!((web.tests, web.failures, web.errors, web.skipped), (6, 3, 0, 1));
    let property = |case: &quick_junit::TestCase, name: &str| {
        case.properties.iter().find(|p| p.name.as_str() == name).map(|p| p.value.as_str().to_owned())
    };
    for (case, step) in report.test_suites.iter().flat_map(|suite| &suite.test_cases).zip(run.steps()) {
        assert_eq!(case.name.as_str(), step.name);
        assert_eq!(case.classname.as_ref().map(quick_junit::XmlString::as_str), Some(step.plan.as_str()));
        assert_eq!(property(case, "attempts"), Some(step.attempts.to_string()));
        assert!(property(case, "target").is_some());
        assert_eq!(property(case, "endpoint").is_some(), step.endpoint.is_some());
    }
    assert_eq!(property(&web.test_cases[0], "endpoint").as_deref(), Some("http://127.0.0.1:8080/mcp"));
    assert_eq!(property(&web.test_cases[0], "target").as_deref(), Some("stdio ./web-server --quiet"));
    // Tabs part the columns of a listing.
    assert!(text.contains("<system-out>echo\tgives back\nadd\tadds\n</system-out>"), "{text}");
    let evil = &report.test_suites[1].test_cases[0];
    let out = evil.system_out.as_ref().unwrap().as_str();
    assert!(out.starts_with("</pre></script><script>") && out.contains("]]>&amp;&lt;␛[31m"), "{out}");
}

#[test]
fn markdown_holds_foreign_text_in_cells_and_fences() {
    let run = sample::run();
    let text = markdown(&run);
    assert_harmless(&text);
    snapshot("markdown", &text);
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| ✓") || line.starts_with("| ✗")).collect();
    for row in &rows {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 7, "{row}");
    }
    assert_eq!(rows.len(), 6);
    assert_eq!(text.matches("<details>").count(), 5);
    // Outside of fences no tag but our own.
    let mut fence = None;
    for line in text.lines() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            Some(_) => {}
            None => {
                let outside_code: String = line.split('`').step_by(2).collect();
                assert!(!outside_code.contains("<script") && !outside_code.contains("<img"), "{line}");
            }
        }
    }
    assert_eq!(fence, None);
}

#[test]
fn html_loads_nothing_and_holds_no_foreign_markup() {
    let page = html(&sample::run());
    assert_harmless(&page);
    snapshot("html", &page[page.find("</style>").unwrap()..page.find("<script>").unwrap()]);
    assert_eq!(page.matches("<script").count(), 1);
    for foreign in
        ["<img", "<b>", "onerror=\"", "http-equiv=\"refresh", "<link", "@import", "url(", " src=\"", " style=\""]
    {
        let own = if foreign == "<b>" { page.matches("<div class=\"place\"><b>").count() } else { 0 };
        assert_eq!(page.matches(foreign).count(), own, "{foreign}");
    }
}

#[test]
fn cw_51_annotations_are_one_command_a_failed_step() {
    let text = annotations(&sample::run());
    assert_harmless(&text);
    snapshot("annotations", &text);
    assert_eq!(text.lines().count(), 5);
    assert!(text.lines().all(|line| line.starts_with("::error file=plans/")));
    assert!(text.starts_with("::error file=plans/web.yml,line=8,col=47,title=tools%3A the tool list is complete::"));
}

#[test]
fn no_secret_is_left_in_any_format() {
    // With every character that some format escapes.
    let secret = "s3cr3t<&\"'|\\`#>\nsecond-line-of-the-secret";
    let mut run = sample::run();
    for plan in &mut run.plans {
        plan.source = plan.source.replace("grüße", secret);
        for step in &mut plan.steps {
            for field in [&mut step.prose, &mut step.message, &mut step.stdout, &mut step.stderr, &mut step.target] {
                *field = format!("before {secret} after");
            }
            step.id = format!("{} {secret}", step.id);
            step.warnings.push(secret.to_owned());
            step.endpoint = Some(format!("http://127.0.0.1/?t={secret}"));
            for mismatch in &mut step.mismatches {
                mismatch.subject = secret.to_owned();
                mismatch.expected = json!({"a": [secret], secret: 1});
                mismatch.actual = Some(json!({"a": [format!("x{secret}")]}));
            }
        }
    }
    let mut redactor = Redactor::new();
    redactor.add("TOKEN", secret);
    let masked = masked(&run, &redactor);
    for format in Format::ALL {
        let bare = render(format, &run, PLAIN).unwrap();
        assert!(bare.contains("second-line-of-the-secret"), "{format}: the sample holds no secret");
        let text = render(format, &masked, PLAIN).unwrap();
        assert!(text.contains("‹secret TOKEN›"), "{format}");
        assert!(!text.contains("s3cr3t") && !text.contains("second-line"), "{format}");
    }
    assert!(!annotations(&masked).contains("s3cr3t"));
}

#[test]
fn cw_51_cw_52_several_reports_at_once_each_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("kept.xml"), "old").unwrap();
    std::os::unix::fs::symlink("kept.xml", at("link.xml")).unwrap();
    let spec = |format: &str, name: &str| format!("{format}={}", at(name).display());
    let texts = [spec("junit", "link.xml"), spec("html", "run.html"), spec("markdown", "run.md"), "json".to_owned()];
    let reports = Reports::parse(texts.iter().map(String::as_str)).unwrap();
    reports.probe().unwrap();
    assert_eq!(fs::read_to_string(at("kept.xml")).unwrap(), "old");
    let run = sample::run();
    let mut stdout = Vec::new();
    reports.write(&run, &Redactor::new(), PLAIN, &mut stdout).unwrap();
    assert_eq!(String::from_utf8(stdout).unwrap(), json(&run).unwrap());
    assert_eq!(fs::read_to_string(at("kept.xml")).unwrap(), junit(&run).unwrap());
    assert!(fs::symlink_metadata(at("link.xml")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(at("run.html")).unwrap(), html(&run));
    assert_eq!(fs::read_to_string(at("run.md")).unwrap(), markdown(&run));
    // Nothing half-written is left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}

#[test]
fn a_report_that_cannot_be_written_is_told_and_keeps_no_other_back() {
    let folder = tempfile::tempdir().unwrap();
    let lost = folder.path().join("no/such/out.xml");
    let good = folder.path().join("good.json");
    let texts = [format!("junit={}", lost.display()), format!("json={}", good.display())];
    let reports = Reports::parse(texts.iter().map(String::as_str)).unwrap();
    assert_eq!(reports.probe().unwrap_err().troubles.len(), 1);
    let error = reports.write(&sample::run(), &Redactor::new(), PLAIN, &mut std::io::sink()).unwrap_err();
    let told = error.to_string();
    assert!(told.starts_with(&format!("write report {}: ", lost.display())), "{told}");
    assert!(good.exists());
    assert_eq!(pintle_core::Failure::from(error).code.exit().code(), 1);
    let onto_a_folder = format!("tap={}", folder.path().display());
    assert!(Reports::parse([onto_a_folder.as_str()]).unwrap().probe().is_err());
}

#[test]
fn an_empty_run_makes_a_report_in_every_format() {
    let run = RunOutcome { plans: Vec::new(), ..sample::run() };
    for format in Format::ALL {
        assert!(!render(format, &run, PLAIN).unwrap().is_empty());
    }
    assert_eq!(text(&run, PLAIN), "0 steps: 0 passed, 0 failed, 0 skipped in 1 min 15 s\n");
}

#[test]
fn why_a_server_cannot_be_reached_is_said_once() {
    let mut run = sample::run();
    let steps = run.plans.iter_mut().flat_map(|plan| &mut plan.steps);
    let count = steps
        .map(|step| {
            step.status = Status::Error;
            step.message = "spawn: program ./none not found".to_owned();
            step.stderr.clone_from(&step.message);
        })
        .count();
    let text = text(&run, PLAIN);
    assert_eq!(text.matches("program ./none not found").count(), 1, "{text}");
    assert_eq!(text.matches("for the reason of [").count(), count - 1, "{text}");
}
