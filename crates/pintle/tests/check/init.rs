//! `check init`: from a server to a plan that holds.

use crate::{fixture, home::Home};
use std::fs;

#[test]
fn what_is_written_is_valid_in_form_and_holds() {
    let home = Home::with_project();
    let own = format!("'{}' mcp serve --stdio --toolset charly", crate::home::pintle().display());
    for (name, server) in [("own.yml", own), ("fixture.yml", fixture::stdio())] {
        let told = home.run(["check", "init", "--stdio", &server, "-o", name]);
        assert_eq!(told.code, 0, "{}", told.err);
        assert!(told.err.contains(&format!("pintle check run {name}")) && told.out.is_empty());
        home.run(["check", "validate", name]).good();
        assert_eq!(home.run(["check", "fmt", "--check", name]).good(), "", "it is in form");
        let out = home.run(["check", "run", name, "--reuse-sessions"]).good();
        assert!(out.contains(" 0 failed, 0 skipped"), "{out}");
        let again = home.run(["check", "init", "--stdio", &server, "-o", name]);
        assert_eq!(again.code, 1);
        assert!(again.err.contains("is there already") && again.err.contains("--force"), "{}", again.err);
        let text = fs::read_to_string(home.work().join(name)).unwrap();
        assert_eq!(home.run(["check", "init", "--stdio", &server]).good(), text, "printed the same");
        fs::write(home.work().join(name), "old").unwrap();
        home.run(["check", "init", "--stdio", &server, "-o", name, "--force"]);
        assert_eq!(fs::read_to_string(home.work().join(name)).unwrap(), text);
    }
}

#[test]
fn over_the_network_too_and_no_tool_is_called() {
    let home = Home::new();
    let server = fixture::listening(home.path());
    let plan = home.run(["check", "init", "--url", &server.url]).good();
    assert!(plan.contains(&server.url) && !plan.contains("mcp: call"), "{plan}");
    home.write("work/plan.yml", &plan);
    home.run(["check", "run", "plan.yml"]).good();
}

#[test]
fn a_secret_stays_the_reference_that_was_given() {
    let home = Home::new();
    let server = fixture::listening(home.path());
    let header = "Authorization: Bearer ${env:MY_TOKEN}";
    let run = |words: &[&str]| crate::home::done(home.command(words).env("MY_TOKEN", "hush-hush-hush"));
    run(&[
        "check",
        "init",
        "--url",
        &server.url,
        "--header",
        header,
        "--header",
        "X-Plain: hush-too",
        "-o",
        "plan.yml",
    ])
    .good();
    let plan = fs::read_to_string(home.work().join("plan.yml")).unwrap();
    assert!(plan.contains("Authorization: \"Bearer ${env:MY_TOKEN}\""), "{plan}");
    assert!(!plan.contains("hush") && !plan.contains("AUTHORIZATION") && !plan.contains("X_PLAIN"), "{plan}");
    assert!(plan.contains("# headers: the value of X-Plain is not kept"), "{plan}");
    run(&["check", "fmt", "--check", "plan.yml"]).good();
    run(&["check", "run", "plan.yml"]).good();
    let without = home.run(["check", "run", "plan.yml"]);
    assert!(without.code != 0 && without.out.contains("MY_TOKEN"), "{}{}", without.out, without.err);
}

#[test]
fn a_server_that_fails_leaves_no_file() {
    let home = Home::new();
    for (server, code) in [("/no/such/program", 1), ("sh -c 'exit 3'", 2)] {
        let ran = home.run(["check", "init", "--stdio", server, "-o", "plan.yml"]);
        assert_eq!(ran.code, code, "{}", ran.err);
    }
    assert_eq!(home.run(["check", "init"]).code, 64);
    assert_eq!(home.run(["check", "init", "--force", "--stdio", "x"]).code, 64);
    assert!(home.files().is_empty());
}
