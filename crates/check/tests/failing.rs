//! Plans that are wrong, and everything that is said about each: `failing/NAME.yml` and `failing/NAME.err`.
//!
//! `PINTLE_GOLDEN=write` writes the second from what is said now; read the difference before you keep it.
#![expect(clippy::unwrap_used, reason = "what cannot be set up is a failed test")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use pintle_check::{LoadError, Registry, load};

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new("tests/failing");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yml"));
    files.sort();
    files
}

fn told(file: &Path) -> String {
    let error = match load(&[file.to_owned()], &Registry::new()) {
        Err(error @ LoadError::Bad(_)) => error,
        other => panic!("{}: {other:?}", file.display()),
    };
    assert_eq!(error.exit().code(), 64, "{}", file.display());
    let mut text = String::new();
    for problem in error.problems() {
        assert_eq!(problem.file.as_deref(), file.to_str(), "{problem}");
        let place = format!("{}:{}", problem.line.unwrap(), problem.column.unwrap());
        writeln!(text, "{place}: {}", problem.message).unwrap();
        if let Some(hint) = &problem.hint {
            writeln!(text, "    {hint}").unwrap();
        }
    }
    text
}

#[test]
fn ch_074_ch_078_ch_093_ch_094_cw_38_every_problem_is_told_with_its_place() {
    let write = std::env::var_os("PINTLE_GOLDEN").is_some();
    let inputs = inputs();
    assert!(inputs.len() >= 60, "{} inputs", inputs.len());
    let mut wrong = Vec::new();
    for file in inputs {
        let golden = file.with_extension("err");
        let said = told(&file);
        assert!(!said.is_empty());
        if write {
            std::fs::write(&golden, &said).unwrap();
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != said {
            wrong.push(format!("{}:\n{said}", golden.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_plan_of_50_mb_is_refused_without_being_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.yml");
    std::fs::File::create(&file).unwrap().set_len(50 * 1024 * 1024).unwrap();
    let error = load(&[file], &Registry::new()).unwrap_err();
    assert_eq!(error.exit().code(), 64);
    assert_eq!(error.problems()[0].message, "the plan has 52428800 bytes, more than 4194304 are refused");
}

#[test]
fn what_cannot_be_read_is_no_bad_plan() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("none.yml"), folder.path().to_owned()] {
        let error = load(&[path], &Registry::new()).unwrap_err();
        assert_eq!(error.exit().code(), 1, "{error}");
    }
}

#[test]
fn problems_of_all_files_are_told_in_one_run() {
    let files = ["tests/failing/two_verbs.yml", "tests/failing/unknown_field.yml"].map(PathBuf::from);
    let error = load(&files, &Registry::new()).unwrap_err();
    let named: Vec<_> = error.problems().iter().map(|problem| problem.file.clone().unwrap()).collect();
    assert_eq!(named, ["tests/failing/two_verbs.yml", "tests/failing/unknown_field.yml"]);
}

#[test]
fn ids_are_unique_over_a_run() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one.yml", "two.yml"] {
        std::fs::write(folder.path().join(name), "a: {check: x, mcp: ping}\n").unwrap();
    }
    let error = load(&[folder.path().to_owned()], &Registry::new()).unwrap_err();
    let problem = &error.problems()[0];
    assert!(problem.file.as_ref().unwrap().ends_with("two.yml"));
    assert!(problem.message.starts_with("the id `a` is there twice, also at "), "{problem}");
}

#[test]
fn an_included_file_gives_servers_variables_and_steps() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("shared.yml", "servers: {s: {stdio: ./server}}\nvars: {A: shared, B: shared}\n");
    write("more.yml", "include: [shared.yml]\nfirst: {check: x, mcp: ping}\n");
    write("plan.yml", "include: [more.yml, shared.yml]\nvars: {A: own}\nlast: {check: x, mcp: ping, mcp_name: s}\n");
    // As arguments of a folder, files that others include need no assertion of their own.
    for argument in [folder.path().join("plan.yml"), folder.path().to_owned()] {
        let set = load(&[argument], &Registry::new()).unwrap();
        let ids: Vec<_> = set.steps().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["first", "last"]);
        let plan = set.plans.last().unwrap();
        let last = set.plans.iter().find(|plan| plan.file.ends_with("plan.yml")).unwrap_or(plan);
        assert_eq!(last.servers[0].name, "s");
        let vars: Vec<_> = last.vars.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(vars, ["A=own", "B=shared"]);
    }
}

#[test]
fn formatting_twice_changes_nothing_and_never_the_meaning() {
    use pintle_yaml::{Document, Limits};
    let mut formatted = 0;
    for file in inputs() {
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(before) = Document::parse(&text, Limits::default()) else {
            assert!(pintle_check::format(&text).is_err(), "{}", file.display());
            continue;
        };
        let once = pintle_check::format(&text).unwrap();
        assert_eq!(pintle_check::format(&once).unwrap(), once, "{}", file.display());
        assert_eq!(Document::parse(&once, Limits::default()).unwrap().to_json(), before.to_json());
        formatted += 1;
    }
    assert!(formatted >= 50, "{formatted}");
}
