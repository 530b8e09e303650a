//! `cargo xtask test`: set-up, checks, every test, one line of counts at the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use testcluster::Set;

use crate::libtest::Report;
use crate::place::Place;
use crate::results::{Outcome, Results, Tested};
use crate::{End, Trouble, cluster, dist, docs, run, skips, tools};

/// A test program that is not done by then hangs: its group is killed and that is a failure.
const PROGRAM_LIMIT: Duration = Duration::from_secs(15 * 60);

/// The name under which checks of the workspace as a whole are counted.
const WORKSPACE: &str = "workspace";

pub fn command(place: &Place, filters: &[String]) -> Result<End, Trouble> {
    if let Some(flag) = filters.iter().find(|word| word.starts_with('-')) {
        return Err(Trouble::Usage(format!("`test` has no flag `{flag}`")));
    }
    let whole = filters.is_empty();
    let start = Instant::now();
    let cancelled = AtomicBool::new(false);
    let mut tests = std::thread::scope(|scope| {
        // whoever leaves early does not wait for the long build
        let _cancel = Cancel(&cancelled);
        // downloads mostly wait, compiling mostly computes
        let installing = scope.spawn(|| tools::install(place));
        let clusters = scope.spawn(|| cluster::for_tests(place, whole, &cancelled));
        let mut tests = Vec::new();
        if whole {
            tests.push(formatted(place)?);
            tests.push(linted(place)?);
        }
        let built = built(place)?;
        if whole && built.is_some() && std::env::var_os("CI").is_some() {
            // minutes of linking: for whoever lets a change land, not for everybody's every run
            tests.push(check("dist_is_static_and_small", dist::build(place)?.as_deref()));
        }
        installing.join().map_err(|_| Trouble::Other("installing the tools panicked".into()))??;
        match built {
            Some(programs) => {
                let clusters = match clusters.join().map_err(|_| Trouble::Other("starting clusters panicked".into()))? {
                    Ok(clusters) => clusters,
                    Err(why) => {
                        tests.push(check("test_clusters_start", Some(&why.to_string())));
                        None
                    }
                };
                let given = Given { tools: place.tools.clone(), skips: place.own().join("skips.tsv"), clusters };
                tests.extend(run_all(place, &programs, &given, filters)?);
                if let Some(clusters) = given.clusters {
                    let failure = clusters.stop().err().map(|why| why.to_string());
                    tests.push(check("test_clusters_stop_and_leave_nothing", failure.as_deref()));
                }
            }
            None => tests.push(check("cargo_build", Some("the workspace does not compile"))),
        }
        Ok::<_, Trouble>(tests)
    })?;
    if whole {
        tests.push(drift(place));
    }
    if std::env::var_os("CI").is_some() {
        skips::refuse(&mut tests);
    }
    keep(place, whole, &tests)?;
    tell(&tests, start.elapsed());
    Ok(if tests.iter().any(|test| test.outcome == Outcome::Failed) { End::Bad } else { End::Good })
}

/// Cancels when it goes.
struct Cancel<'a>(&'a AtomicBool);

impl Drop for Cancel<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What every test program is told of its surroundings.
struct Given {
    tools: PathBuf,
    /// Where tests tell that they skip.
    skips: PathBuf,
    /// The clusters that all tests share.
    clusters: Option<Set>,
}

impl Given {
    fn to(&self, command: &mut Command) {
        command.env("PINTLE_TOOLS", &self.tools).env("PINTLE_SKIPS", &self.skips);
        if let Some(clusters) = &self.clusters {
            command.env("PINTLE_TEST_CLUSTERS", clusters.kubeconfig());
        }
    }
}

/// A check of the workspace as a test; it failed when there is a reason.
fn check(name: &str, failure: Option<&str>) -> Tested {
    Tested {
        package: "xtask".into(),
        target: WORKSPACE.into(),
        name: name.into(),
        outcome: if failure.is_some() { Outcome::Failed } else { Outcome::Passed },
        reason: failure.map(str::to_owned),
    }
}

fn formatted(place: &Place) -> Result<Tested, Trouble> {
    let good = run::loud(run::cargo(&place.root).args(["fmt", "--all", "--check"]))?;
    Ok(check("cargo_fmt", (!good).then_some("`cargo fmt` changes files")))
}

fn linted(place: &Place) -> Result<Tested, Trouble> {
    let good = run::loud(run::cargo(&place.root).args([
        "clippy",
        "--release",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(check("cargo_clippy", (!good).then_some("clippy has complaints")))
}

fn drift(place: &Place) -> Tested {
    let complaint = match docs::drifted(place) {
        Ok(files) if files.is_empty() => None,
        Ok(files) => Some(format!("`cargo xtask docs` changes {}", files.join(", "))),
        Err(why) => Some(why.to_string()),
    };
    check("docs_check", complaint.as_deref())
}

/// One test program.
#[derive(Debug)]
struct Program {
    package: String,
    target: String,
    manifest_dir: PathBuf,
    executable: PathBuf,
}

/// Test programs, and the ordinary programs that tests start.
struct Programs {
    tests: Vec<Program>,
    /// By package: name and path, as cargo hands them to integration tests.
    bins: BTreeMap<String, Vec<(String, PathBuf)>>,
}

/// Builds everything; none when something does not compile (cargo has told what).
fn built(place: &Place) -> Result<Option<Programs>, Trouble> {
    let mut cargo = run::cargo(&place.root);
    cargo.args(["test", "--release", "--locked", "--workspace", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics");
    println!("$ {}", run::shown(&cargo));
    let output = cargo
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|source| Trouble::Start { program: "cargo".into(), source })?;
    if !output.status.success() {
        return Ok(None);
    }
    Ok(Some(programs(&String::from_utf8_lossy(&output.stdout))))
}

/// Reads cargo's messages, one JSON value a line.
fn programs(messages: &str) -> Programs {
    let mut found = Programs { tests: Vec::new(), bins: BTreeMap::new() };
    for message in messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str);
        let (Some("compiler-artifact"), Some(executable), Some(name), Some(kind)) =
            (text("/reason"), text("/executable"), text("/target/name"), text("/target/kind/0"))
        else {
            continue;
        };
        let package = package_name(text("/package_id").unwrap_or_default());
        let executable = PathBuf::from(executable);
        if message.pointer("/profile/test") == Some(&Value::Bool(true)) {
            let target = match kind {
                "lib" => "lib".to_owned(),
                "bin" => format!("bin {name}"),
                _ => name.to_owned(),
            };
            let manifest_dir =
                Path::new(text("/manifest_path").unwrap_or_default()).parent().unwrap_or(Path::new("/")).to_owned();
            found.tests.push(Program { package, target, manifest_dir, executable });
        } else if kind == "bin" {
            found.bins.entry(package).or_default().push((name.to_owned(), executable));
        }
    }
    found.tests.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    found
}

/// `path+file:///…/crates/core#pintle-core@0.1.0`, or `…/xtask#0.1.0` where the folder has the package's name.
fn package_name(id: &str) -> String {
    let (source, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    match fragment.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => source.rsplit('/').next().unwrap_or(source).to_owned(),
    }
}

fn run_all(place: &Place, programs: &Programs, given: &Given, filters: &[String]) -> Result<Vec<Tested>, Trouble> {
    let own = place.own();
    std::fs::create_dir_all(&own).map_err(Trouble::file("make", &own))?;
    // left over from a run that was broken off
    skips::take(&given.skips)?;
    let mut tests = Vec::new();
    for program in &programs.tests {
        tests.extend(run_one(place, programs, program, given, filters)?);
    }
    tests.extend(doc_tests(place, given, filters)?);
    Ok(tests)
}

fn run_one(
    place: &Place,
    programs: &Programs,
    program: &Program,
    given: &Given,
    filters: &[String],
) -> Result<Vec<Tested>, Trouble> {
    let mut command = Command::new(&program.executable);
    command
        .args(filters)
        .current_dir(&program.manifest_dir)
        .env("CARGO", std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .env("CARGO_MANIFEST_DIR", &program.manifest_dir)
        .env("CARGO_PKG_NAME", &program.package);
    given.to(&mut command);
    for (name, path) in programs.bins.get(&program.package).into_iter().flatten() {
        command.env(format!("CARGO_BIN_EXE_{name}"), path);
    }
    let start = Instant::now();
    let noise = place.own().join("stderr.txt");
    let file = std::fs::File::create(&noise).map_err(Trouble::file("write", &noise))?;
    let ended = run::bounded(&mut command, PROGRAM_LIMIT, Some(file))?;
    let output = String::from_utf8_lossy(&ended.output);
    let mut tests = judge(&output, &program.package, &program.target);
    match ended.status {
        None => tests.push(broken(program, &format!("killed: not done after {} min", PROGRAM_LIMIT.as_secs() / 60))),
        Some(status) if !status.success() && Results::counts(&tests).1 == 0 => {
            tests.push(broken(program, &format!("ended with {status} though no test failed")));
        }
        Some(_) => {}
    }
    skips::apply(&mut tests, skips::take(&given.skips)?, &program.package, &program.target);
    tell_program(&program.package, &program.target, &tests, start.elapsed());
    if Results::counts(&tests).1 > 0 {
        println!("{}", output.trim_end());
        let noise = std::fs::read(&noise).map_err(Trouble::file("read", &noise))?;
        println!("{}", String::from_utf8_lossy(&noise).trim_end());
    }
    Ok(tests)
}

fn broken(program: &Program, reason: &str) -> Tested {
    Tested {
        package: program.package.clone(),
        target: program.target.clone(),
        name: "the test program".into(),
        outcome: Outcome::Failed,
        reason: Some(reason.into()),
    }
}

/// The tests of one program's output; an output that does not add up is a failure of its own.
fn judge(output: &str, package: &str, target: &str) -> Vec<Tested> {
    let report = Report::read(output);
    let complaint = report.complaint();
    let tested = |name: String, outcome, reason| Tested {
        package: package.to_owned(),
        target: target.to_owned(),
        name,
        outcome,
        reason,
    };
    let mut tests: Vec<Tested> =
        report.lines.into_iter().map(|line| tested(line.name, line.outcome, line.reason)).collect();
    if let Some(complaint) = complaint {
        tests.push(tested("the test program".into(), Outcome::Failed, Some(complaint)));
    }
    tests
}

/// Runs the examples in doc comments; cargo prints one section a crate.
fn doc_tests(place: &Place, given: &Given, filters: &[String]) -> Result<Vec<Tested>, Trouble> {
    let mut cargo = run::cargo(&place.root);
    cargo
        .args(["test", "--release", "--locked", "--workspace", "--doc", "--no-fail-fast", "--"])
        .args(filters)
        .env("CARGO_TERM_COLOR", "never");
    given.to(&mut cargo);
    let start = Instant::now();
    println!("$ {}", run::shown(&cargo));
    let ended = run::bounded(&mut cargo, PROGRAM_LIMIT, None)?;
    let output = String::from_utf8_lossy(&ended.output);
    let mut tests: Vec<Tested> =
        doc_sections(&output).iter().flat_map(|(package, section)| judge(section, package, "doc")).collect();
    let good = ended.status.is_some_and(|status| status.success());
    if !good && Results::counts(&tests).1 == 0 {
        tests.push(check("cargo_test_doc", Some("`cargo test --doc` failed though no example did")));
    }
    skips::apply(&mut tests, skips::take(&given.skips)?, "xtask", "doc");
    tell_program("all crates", "doc", &tests, start.elapsed());
    if !good {
        println!("{}", output.trim_end());
    }
    Ok(tests)
}

/// Cuts cargo's output at its `Doc-tests CRATE` lines.
fn doc_sections(output: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in output.lines() {
        if let Some(name) = line.trim_start().strip_prefix("Doc-tests ") {
            sections.push((name.trim().replace('_', "-"), String::new()));
        } else if let Some((_, section)) = sections.last_mut() {
            section.push_str(line);
            section.push('\n');
        }
    }
    sections
}

fn keep(place: &Place, whole: bool, tests: &[Tested]) -> Result<(), Trouble> {
    let mut results = if whole { Results::default() } else { Results::read(place)? };
    results.merge(tests.to_vec());
    results.whole = whole;
    results.write(place)
}

fn tell_program(package: &str, target: &str, tests: &[Tested], took: Duration) {
    if tests.is_empty() {
        return;
    }
    let (passed, failed, skipped) = Results::counts(tests);
    let seconds = took.as_secs_f64();
    println!("{package} {target}: {passed} passed, {failed} failed, {skipped} skipped, {seconds:.1} s");
}

/// What did not pass, by name, and the counts alone on the last line.
fn tell(tests: &[Tested], took: Duration) {
    println!();
    for (outcome, word) in [(Outcome::Skipped, "skipped"), (Outcome::Failed, "failed")] {
        for test in tests.iter().filter(|test| test.outcome == outcome) {
            let reason = test.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            println!("{word} {} {} {}{reason}", test.package, test.target, test.name);
        }
    }
    println!("took {} s", took.as_secs());
    let (passed, failed, skipped) = Results::counts(tests);
    println!("{passed} passed, {failed} failed, {skipped} skipped");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_messages_give_test_programs_and_bins() {
        let messages = r#"{"reason":"compiler-artifact","package_id":"path+file:///w/crates/core#pintle-core@0.1.0","manifest_path":"/w/crates/core/Cargo.toml","target":{"kind":["lib"],"name":"pintle_core"},"profile":{"test":true},"executable":"/t/core-1"}
{"reason":"compiler-artifact","package_id":"path+file:///w/xtask#0.1.0","manifest_path":"/w/xtask/Cargo.toml","target":{"kind":["bin"],"name":"xtask"},"profile":{"test":false},"executable":"/t/xtask"}
{"reason":"compiler-artifact","package_id":"path+file:///w/crates/core#pintle-core@0.1.0","target":{"kind":["lib"],"name":"pintle_core"},"profile":{"test":false},"executable":null}
{"reason":"build-finished","success":true}
"#;
        let found = programs(messages);
        assert_eq!(found.tests.len(), 1);
        assert_eq!(found.tests[0].package, "pintle-core");
        assert_eq!(found.tests[0].manifest_dir, Path::new("/w/crates/core"));
        assert_eq!(found.bins["xtask"], [("xtask".to_owned(), PathBuf::from("/t/xtask"))]);
    }

    #[test]
    fn doc_tests_are_told_apart_by_crate() {
        let output = "   Doc-tests pintle_core\n\nrunning 1 test\ntest a.rs - x (line 1) ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n   Doc-tests pintle_mcp\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let sections = doc_sections(output);
        assert_eq!(sections.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["pintle-core", "pintle-mcp"]);
        let tests: Vec<_> = sections.iter().flat_map(|(name, text)| judge(text, name, "doc")).collect();
        assert_eq!(tests.len(), 1);
        assert_eq!(tests[0].outcome, Outcome::Passed);
    }

    #[test]
    fn a_program_without_summary_is_a_failure() {
        let tests = judge("running 2 tests\ntest a ... ok\n", "p", "lib");
        assert_eq!(Results::counts(&tests), (1, 1, 0));
    }
}
