//! The manual: every example runs as the manual says, and every verb and matcher has one.

use crate::{
    home::{Home, pintle},
    served::Listening,
    tools::clean,
};
use std::path::Path;

fn manual() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checks.md")).unwrap()
}

/// The plans in the text, each with the line that it begins at.
fn examples(text: &str) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match &mut open {
            None if line == "```yaml" => open = Some((index + 2, String::new())),
            Some(_) if line == "```" => all.extend(open.take()),
            Some((_, plan)) => {
                plan.push_str(line);
                plan.push('\n');
            }
            None => {}
        }
    }
    all
}

/// A project with one box, where `pintle` is on the path.
fn place() -> (Home, String) {
    let home = Home::with_project();
    let path = format!("{}:/usr/bin:/bin", pintle().parent().unwrap().display());
    (home, path)
}

#[test]
fn every_example_of_the_manual_runs() {
    let (home, path) = place();
    let mut command = clean(pintle(), home.path());
    command.args(["mcp", "serve", "--listen", "127.0.0.1:0"]).current_dir(home.work());
    let server = Listening::start(&mut command);
    let port = server.url.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    let examples = examples(&manual());
    assert!(examples.len() > 10, "{}", examples.len());
    for (line, plan) in examples {
        home.write("work/plan.yml", &plan);
        let mut words = vec!["check", "run", "plan.yml", "--stdio", "pintle mcp serve --stdio --toolset charly"];
        let var = format!("PORT={port}");
        if plan.contains("PORT:") {
            words.extend(["--var", &var]);
        }
        if plan.contains("mcp: snapshot") {
            let first = words.iter().chain(&["--update-snapshots"]);
            crate::home::done(home.command(first).env("PATH", &path)).good();
        }
        let ran = crate::home::done(home.command(&words).env("PATH", &path));
        assert_eq!(ran.code, 0, "docs/checks.md:{line}: {}{}", ran.out, ran.err);
        let form = home.run(["check", "fmt", "--check", "plan.yml"]);
        assert_eq!(form.code, 0, "docs/checks.md:{line} is not in form");
    }
}

#[test]
fn every_verb_method_and_matcher_has_an_example() {
    let plans: String = examples(&manual()).into_iter().map(|(_, plan)| plan).collect();
    for verb in ["mcp", "http", "addr", "dns", "command", "file", "port", "process"] {
        assert!(plans.contains(&format!("\n  {verb}: ")), "no example of the verb {verb}");
    }
    for method in [
        "ping",
        "servers",
        "list-tools",
        "list-resources",
        "list-prompts",
        "list-templates",
        "call",
        "read",
        "get-prompt",
        "complete",
        "snapshot",
        "raw",
    ] {
        assert!(plans.contains(&format!("\n  mcp: {method}\n")), "no example of the method {method}");
    }
    for word in [
        "equals",
        "not_equals",
        "contains",
        "not_contains",
        "matches",
        "not_matches",
        "lt",
        "le",
        "gt",
        "ge",
        "type",
        "between",
        "count",
        "exists",
        "absent",
        "schema",
        "exit_status",
        "stderr",
        "tool_error",
        "error",
        "within",
        "stdout_pure",
        "capture",
        "depends_on",
        "eventually",
        "retry_interval",
        "timeout",
        "skip",
        "exclude_distro",
        "tag",
        "id",
        "mask",
        "mcp_name",
        "not_tools",
    ] {
        assert!(plans.contains(&format!("{word}: ")), "no example of {word}");
    }
}

#[test]
fn cw_48_a_snapshot_is_written_then_compared_and_its_difference_shown() {
    let (home, path) = place();
    home.write("work/plan.yml", "a: {check: the catalogue is as it was, mcp: snapshot, snapshot: catalogue.json}\n");
    let run = |server: &str, extra: &[&str]| {
        let words = ["check", "run", "plan.yml", "--stdio", server].into_iter().chain(extra.iter().copied());
        crate::home::done(home.command(words).env("PATH", &path))
    };
    let server = "pintle mcp serve --stdio --toolset charly";
    run(server, &["--update-snapshots"]).good();
    run(server, &[]).good();
    let fewer = run(&format!("{server} --strict-read-only"), &[]);
    assert_eq!(fewer.code, 2);
    assert!(fewer.out.contains("the server lists something else"), "{}", fewer.out);
    assert!(fewer.out.contains("--- catalogue.json") && fewer.out.contains("-        \"readOnlyHint\": false"));
    run(&format!("{server} --strict-read-only"), &["--update-snapshots"]).good();
    assert_eq!(run(server, &[]).code, 2, "and what is new is a difference, too");
}

#[test]
fn the_commands_of_the_manual_run_as_typed() {
    let (home, path) = place();
    let text = manual();
    let lines = text.lines().filter(|line| {
        line.starts_with("pintle mcp ") && line.contains("--stdio '") || line.starts_with("pintle check init ")
    });
    let mut count = 0;
    for line in lines {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", line]).current_dir(home.work()).env_clear().env("HOME", home.path()).env("PATH", &path);
        let ran = crate::home::done(&mut command);
        assert_eq!(ran.code, 0, "{line}: {}{}", ran.out, ran.err);
        count += 1;
    }
    assert!(count >= 4, "{count}");
}
