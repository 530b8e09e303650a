//! The official conformance suite against `mcp-fixture`, whose tools go through the same catalogue and the same door
//! as the product's. The suite speaks HTTP only; the stdio profile has tests of its own.

#[path = "clients/served.rs"]
#[expect(dead_code, reason = "the clients' tests use the rest")]
mod served;
#[path = "clients/tools.rs"]
#[expect(dead_code, reason = "the clients' tests use the rest")]
mod tools;

use served::Listening;
use tools::{clean, need, run};

/// Runs all scenarios that a revision requires of a server; there is no list of expected failures.
fn suite(revision: &str, scenarios: usize) {
    let Some(conformance) = need("conformance") else { return };
    let home = tempfile::tempdir().expect("a temporary folder");
    // the fixture is a program of another package, built into the same folder
    let fixture = served::pintle().with_file_name("mcp-fixture");
    assert!(fixture.is_file(), "{} is not built", fixture.display());
    let server = Listening::start(clean(&fixture, home.path()).args(["--listen", "127.0.0.1:0"]));

    let list = run(clean(&conformance, home.path()).args(["list", "--requirements", revision])).good();
    let required = server_scenarios(&list);
    assert_eq!(required.len(), scenarios, "{required:?}");

    let out = home.path().join("out");
    let mut command = clean(&conformance, home.path());
    command.args(["server", "--url", &server.url, "--requirements", revision, "-o"]).arg(&out);
    let ran = run(&mut command);
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    for scenario in required {
        let line = ran.stdout.lines().find(|line| line.starts_with(&format!("✓ {scenario}: ")));
        assert!(line.is_some_and(|line| line.ends_with(" 0 failed")), "{scenario}: {}", ran.stdout);
    }
}

/// The names below `Server scenarios`, up to the next blank line.
fn server_scenarios(list: &str) -> Vec<&str> {
    list.lines()
        .skip_while(|line| !line.starts_with("Server scenarios"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  - "))
        .collect()
}

#[test]
fn kw_49_conformance_2025_11_25_all_required_scenarios_pass() {
    suite("2025-11-25", 30);
}

#[test]
fn kw_49_conformance_2026_07_28_all_required_scenarios_pass() {
    suite("2026-07-28", 37);
}
