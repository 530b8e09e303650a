//! Reports in files and on standard output.

use crate::{
    fixture,
    home::{Home, done},
};
use serde_json::Value;
use std::fs;

const PLAN: &str =
    "a: {check: it answers, mcp: ping}\nb:\n  check: it says so\n  mcp: call\n  tool: trial.echo\n  stdout: bye\n";

#[test]
fn cw_51_several_reports_at_once_each_in_its_place() {
    let home = Home::new();
    home.write("work/plan.yml", PLAN);
    let stdio = fixture::stdio();
    let mut words = vec!["check", "run", "plan.yml", "--stdio", &stdio, "--report", "tap"];
    for report in ["json=out.json", "junit=out.xml", "markdown=out.md", "html=out.html", "text=out.txt"] {
        words.extend(["--report", report]);
    }
    let ran = home.run(words);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.out.starts_with("TAP version 14\n1..2\nok 1"), "{}", ran.out);
    let read = |name: &str| fs::read_to_string(home.work().join(name)).unwrap();
    let json: Value = serde_json::from_str(&read("out.json")).unwrap();
    assert_eq!(json["summary"], serde_json::json!({"total": 2, "passed": 1, "failed": 1, "skipped": 0}));
    let step = &json["steps"][1];
    assert_eq!((&step["id"], &step["plan"], &step["line"]), (&"b".into(), &"plan.yml".into(), &2.into()));
    assert_eq!((&step["verb"], &step["method"], &step["status"]), (&"mcp".into(), &"call".into(), &"failed".into()));
    assert!(read("out.xml").contains("<testcase name=\"b\" classname=\"plan.yml\""), "{}", read("out.xml"));
    assert!(read("out.xml").contains("<property name=\"endpoint\""), "{}", read("out.xml"));
    assert!(read("out.md").contains("it says so") && read("out.html").contains("it says so"));
    assert!(read("out.txt").contains("plan.yml:6:"), "{}", read("out.txt"));
    let mut names: Vec<_> = fs::read_dir(home.work()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["out.html", "out.json", "out.md", "out.txt", "out.xml", "plan.yml"], "and nothing else");
}

#[test]
fn cw_51_annotations_on_github_only_behind_text_on_standard_output() {
    let home = Home::new();
    home.write("work/plan.yml", PLAN);
    let stdio = fixture::stdio();
    let run = |extra: &[&str]| {
        let words = ["check", "run", "plan.yml", "--stdio", &stdio].into_iter().chain(extra.iter().copied());
        done(home.command(words).env("GITHUB_ACTIONS", "true")).out
    };
    assert!(run(&[]).contains("\n::error file=plan.yml,line=6,"), "{}", run(&[]));
    let json: Value = serde_json::from_str(&run(&["--report", "json"])).unwrap();
    assert_eq!(json["summary"]["failed"], 1);
    assert!(!home.run(["check", "run", "plan.yml", "--stdio", &stdio]).out.contains("::error"));
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_anything_runs() {
    let home = Home::new();
    home.write("work/plan.yml", "a: {check: x, command: touch ran}\n");
    let ran = home.run(["check", "run", "plan.yml", "--report", "json=none/out.json"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("none/out.json"), "{}", ran.err);
    assert!(!home.work().join("ran").exists());
}
