//! The plans of this repository against servers that nobody here wrote.

use crate::{
    home::pintle,
    tools::{clean, need, run},
};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

const OWN: &[&str] = &["--jobs", "2"];
const SHARED: &[&str] = &["--reuse-sessions"];

/// Runs a plan with the installed program, each time with these flags for its sessions.
fn holds(program: &str, plan: &str, extra: &[&str], runs: &[&[&str]]) {
    if need(program).is_none() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    for sessions in runs {
        let mut command = clean(pintle(), home.path());
        command.args(["check", "run", plan, "--report", "json"]).args(extra).args(*sessions).current_dir(root());
        let ran = run(&mut command);
        assert_eq!(ran.code, Some(0), "{plan} {sessions:?}: {}{}", ran.stdout, ran.stderr);
        let report = ran.json();
        assert_eq!(report["summary"]["total"], report["summary"]["passed"], "{report}");
    }
}

#[test]
fn the_reference_server_everything() {
    holds("mcp-server-everything", "checks/everything.yml", &[], &[OWN, SHARED]);
}

#[test]
fn the_filesystem_server() {
    holds("mcp-server-filesystem", "checks/filesystem.yml", &[], &[OWN, SHARED]);
}

#[test]
fn the_memory_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("MEMORY={}", folder.path().join("memory.jsonl").display());
    holds("mcp-server-memory", "checks/memory.yml", &["--var", &file], &[OWN, SHARED]);
}

#[test]
fn a_server_made_with_fastmcp() {
    // Python takes seconds to start it.
    holds("python", "checks/fastmcp.yml", &[], &[SHARED]);
}

#[test]
fn the_kubernetes_server_without_a_cluster() {
    holds("kubernetes-mcp-server", "checks/kubernetes.yml", &[], &[OWN, SHARED]);
}

#[test]
fn every_plan_of_the_repository_is_valid_and_in_form() {
    let home = tempfile::tempdir().unwrap();
    for words in [&["check", "validate", "checks"][..], &["check", "fmt", "--check", "checks"]] {
        run(clean(pintle(), home.path()).args(words).current_dir(root())).good();
    }
}
