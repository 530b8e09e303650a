//! The official conformance suite, in both directions: against `mcp-fixture`, whose tools go through the same
//! catalogue and the same door as the product's, and driving `mcp-conformance-client`, which is our client and nothing
//! else. Every scenario that a revision requires must pass; there is no list of expected failures. The suite speaks
//! HTTP only; the stdio profile has tests of its own.

#![expect(clippy::expect_used, reason = "a broken set-up ends the test")]

#[path = "clients/served.rs"]
#[expect(dead_code, reason = "the clients' tests use the rest")]
mod served;
#[path = "clients/tools.rs"]
#[expect(dead_code, reason = "the clients' tests use the rest")]
mod tools;

use std::path::{Path, PathBuf};

use served::Listening;
use tools::{Ran, clean, need, run};

/// A program of another package, built into the same folder as ours.
fn neighbour(program: &str) -> PathBuf {
    let path = served::pintle().with_file_name(program);
    assert!(path.is_file(), "{} is missing: `cargo build --workspace --bins` makes it", path.display());
    path
}

/// The scenarios of the tasks extension; the revisions themselves require none of them.
const TASKS: [&str; 10] = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
];

/// The required scenarios of one side, checked against the number that the revision was frozen with.
fn required(conformance: &Path, home: &Path, revision: &str, side: &str, count: usize) -> Vec<String> {
    let list = run(clean(conformance, home).args(["list", "--requirements", revision])).good();
    let names: Vec<String> = list
        .lines()
        .skip_while(|line| !line.starts_with(side))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  - "))
        .map(str::to_owned)
        .collect();
    assert_eq!(names.len(), count, "{names:?}");
    names
}

/// Exit 0 alone would also be the end of a suite that ran nothing.
fn judge(ran: &Ran, required: &[String]) {
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.stdout, ran.stderr);
    for scenario in required {
        let start = format!("✓ {scenario}: ");
        let passed = ran.stdout.lines().any(|line| line.starts_with(&start) && line.contains(" passed, 0 failed"));
        assert!(passed, "{scenario}: {}", ran.stdout);
    }
}

fn server(revision: &str, count: usize) {
    let Some(conformance) = need("conformance") else { return };
    let home = tempfile::tempdir().expect("a temporary folder");
    let server = Listening::start(clean(&neighbour("mcp-fixture"), home.path()).args(["--listen", "127.0.0.1:0"]));
    let required = required(&conformance, home.path(), revision, "Server scenarios", count);
    let mut command = clean(&conformance, home.path());
    command.args(["server", "--url", &server.url, "--requirements", revision, "-o", "out"]);
    judge(&run(&mut command), &required);
}

fn client(revision: &str, count: usize) {
    let Some(conformance) = need("conformance") else { return };
    let home = tempfile::tempdir().expect("a temporary folder");
    let required = required(&conformance, home.path(), revision, "Client scenarios", count);
    let client = neighbour("mcp-conformance-client").display().to_string();
    let mut command = clean(&conformance, home.path());
    command.args(["client", "--command", &client, "--requirements", revision, "-o", "out"]);
    // all scenarios run at once; on a busy machine the default of 30 s is not enough for the longest
    command.args(["--timeout", "120000"]);
    judge(&run(&mut command), &required);
}

#[test]
fn kw_49_conformance_2025_11_25_a_server_passes_all_required_scenarios() {
    server("2025-11-25", 30);
}

#[test]
fn kw_49_conformance_2026_07_28_a_server_passes_all_required_scenarios() {
    server("2026-07-28", 37);
}

#[test]
fn eg_017_conformance_the_tasks_extension_passes_all_its_scenarios() {
    let Some(conformance) = need("conformance") else { return };
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut fixture = clean(&neighbour("mcp-fixture"), home.path());
    let server = Listening::start(fixture.args(["--listen", "127.0.0.1:0", "--tasks"]));
    for scenario in TASKS {
        let mut command = clean(&conformance, home.path());
        command.args(["server", "--url", &server.url, "--scenario", scenario, "-o", "out", "--timeout", "120000"]);
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(0), "{scenario}: {}\n{}", ran.stdout, ran.stderr);
        // A check that could not be made counts as none.
        assert!(!ran.stdout.contains("SKIPPED") || scenario == "tasks-status-notifications", "{}", ran.stdout);
    }
}

#[test]
fn conformance_2025_11_25_a_client_passes_all_required_scenarios() {
    client("2025-11-25", 18);
}

#[test]
fn conformance_2026_07_28_a_client_passes_all_required_scenarios() {
    client("2026-07-28", 32);
}
