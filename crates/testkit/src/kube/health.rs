//! `/readyz`, `/livez`, `/healthz`, `/version`.

use super::{objects::Objects, serve::Answer};
use serde_json::json;

/// Checks in the order in which a real server tells them.
const CHECKS: [&str; 8] = [
    "ping",
    "log",
    "etcd",
    "etcd-readiness",
    "informer-sync",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/apiservice-discovery-controller",
    "shutdown",
];

/// The answer of `/readyz` and its kin, `None` for a check that does not exist.
pub(crate) fn health(endpoint: &str, check: Option<&str>, verbose: bool, objects: &Objects) -> Option<Answer> {
    let fails = |name: &str| objects.failing_checks.iter().any(|failing| failing == name);
    let mut checks: Vec<&str> = CHECKS.to_vec();
    checks.extend(objects.failing_checks.iter().map(String::as_str).filter(|name| !CHECKS.contains(name)));
    if let Some(check) = check {
        checks.retain(|name| *name == check);
        checks.first()?;
    }
    let failed = checks.iter().any(|name| fails(name));
    if !failed && !verbose {
        return Some(Answer::text(200, "ok"));
    }
    let line = |name: &&str| {
        if fails(name) { format!("[-]{name} failed: reason withheld\n") } else { format!("[+]{name} ok\n") }
    };
    let mut text: String = checks.iter().map(line).collect();
    text.push_str(&format!("{endpoint} check {}\n", if failed { "failed" } else { "passed" }));
    Some(Answer::text(if failed { 500 } else { 200 }, text))
}

pub(crate) fn version(objects: &Objects) -> Answer {
    let mut numbers = objects.git_version.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let told = json!({
        "major": major, "minor": minor, "emulationMajor": major, "emulationMinor": minor,
        "minCompatibilityMajor": major, "minCompatibilityMinor": minor,
        "gitVersion": objects.git_version, "gitCommit": "5ba1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3",
        "gitTreeState": "clean", "buildDate": "2026-01-01T00:00:00Z", "goVersion": "go1.26.8", "compiler": "gc",
        "platform": "linux/amd64"
    });
    Answer::json(200, told.to_string())
}
