//! `check run --record`: what is kept of runs, and the page of their history.

use crate::home::Home;
use std::fs;
use std::path::PathBuf;

fn records(home: &Home, folder: &str) -> Vec<PathBuf> {
    let runs = fs::read_dir(home.work().join(folder).join("runs")).unwrap();
    let mut paths: Vec<_> = runs.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn cw_52_each_run_leaves_a_record_and_the_page_tells_what_is_flaky() {
    let home = Home::new();
    home.write("work/plan.yml", "a: {check: a file is there, file: it, exists: true}\n");
    for (there, code) in [(true, 0), (false, 2), (true, 0)] {
        if there {
            home.write("work/it", "");
        } else {
            fs::remove_file(home.work().join("it")).unwrap();
        }
        let ran = home.run(["check", "run", "plan.yml", "--record"]);
        assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
        assert!(ran.err.contains(".check/index.html"), "{}", ran.err);
    }
    let kept = records(&home, ".check");
    assert_eq!(kept.len(), 3);
    let text = fs::read_to_string(&kept[1]).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["summary"]["failed"], 1, "{record}");
    assert_eq!(record["steps"][0]["status"], "failed", "{record}");
    let page = fs::read_to_string(home.work().join(".check/index.html")).unwrap();
    assert!(page.contains(">flaky</span>") && page.contains("passed 2 of 3"), "{page}");
    // The folder is no plan, though it lies among plans.
    fs::remove_file(home.work().join("it")).unwrap();
    assert_eq!(home.run(["check", "run", "."]).code, 2);
    assert_eq!(records(&home, ".check").len(), 3, "nothing is kept unless it is asked for");
}

#[test]
fn cw_52_another_folder_and_one_that_cannot_be() {
    let home = Home::new();
    home.write("work/plan.yml", "a: {check: x, command: 'true'}\n");
    home.run(["check", "run", "plan.yml", "--record=kept/here", "--quiet"]).good();
    assert_eq!(records(&home, "kept/here").len(), 1);
    let ran = home.run(["check", "run", "plan.yml", "--record=plan.yml"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("plan.yml/runs") && !ran.out.contains("passed"),
        "nothing was run: {}{}",
        ran.out,
        ran.err
    );
}
