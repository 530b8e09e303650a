//! Skips that tests tell at run time: a test whose tool is missing appends `NAME<TAB>REASON` to the file that
//! `PINTLE_SKIPS` names and returns. The runner calls that passed; we do not.

use std::path::Path;

use crate::{
    Trouble,
    results::{Outcome, Tested},
};

/// A reason that begins so is of the class that may be skipped in CI too (a real `eggs`, a paid endpoint).
pub const OPT_IN: &str = "opt_in:";

/// One told skip.
#[derive(Debug, PartialEq, Eq)]
pub struct Skip {
    pub name: String,
    pub reason: String,
}

/// Reads the file and empties it; no file is no skip.
pub fn take(path: &Path) -> Result<Vec<Skip>, Trouble> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(Trouble::file("read", path)(why)),
    };
    std::fs::remove_file(path).map_err(Trouble::file("remove", path))?;
    Ok(parse(&text))
}

fn parse(text: &str) -> Vec<Skip> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (name, reason) = line.split_once('\t').unwrap_or((line, "no reason given"));
            Skip { name: name.trim().into(), reason: reason.trim().into() }
        })
        .collect()
}

/// Marks the tests of one program that told a skip. A told name is the whole path or its end from a `::` on.
/// A skip that fits no passed test stays visible as a failure: else a typo would hide it.
pub fn apply(tests: &mut Vec<Tested>, skips: Vec<Skip>, package: &str, target: &str) {
    for skip in skips {
        let fits = |test: &&mut Tested| {
            test.outcome == Outcome::Passed
                && (test.name == skip.name || test.name.ends_with(&format!("::{}", skip.name)))
        };
        let told_otherwise = tests.iter().any(|test| test.name == skip.name && test.outcome != Outcome::Passed);
        match tests.iter_mut().find(fits) {
            Some(test) => {
                test.outcome = Outcome::Skipped;
                test.reason = Some(skip.reason);
            }
            None if told_otherwise => {}
            None => tests.push(Tested {
                package: package.into(),
                target: target.into(),
                name: skip.name,
                outcome: Outcome::Failed,
                reason: Some(format!("told a skip ({}) under a name that no passed test has", skip.reason)),
            }),
        }
    }
}

/// In CI a skip is a failure, except the opt-in class.
pub fn refuse(tests: &mut [Tested]) {
    for test in tests.iter_mut().filter(|test| test.outcome == Outcome::Skipped) {
        let reason = test.reason.clone().unwrap_or_default();
        if !reason.starts_with(OPT_IN) {
            test.outcome = Outcome::Failed;
            test.reason = Some(format!("skipped in CI: {reason}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(name: &str) -> Tested {
        Tested { package: "p".into(), target: "t".into(), name: name.into(), outcome: Outcome::Passed, reason: None }
    }

    #[test]
    fn a_told_skip_is_not_a_pass() {
        let mut tests = vec![passed("m::a"), passed("b")];
        apply(&mut tests, parse("a\tno node here\n\n"), "p", "t");
        assert_eq!(tests[0].outcome, Outcome::Skipped);
        assert_eq!(tests[0].reason.as_deref(), Some("no node here"));
        assert_eq!(tests[1].outcome, Outcome::Passed);
    }

    #[test]
    fn a_skip_under_an_unknown_name_is_a_failure() {
        let mut tests = vec![passed("a")];
        apply(&mut tests, parse("elsewhere\tno node\n"), "p", "t");
        assert_eq!(tests[1].outcome, Outcome::Failed);
    }

    #[test]
    fn in_ci_only_the_opt_in_class_may_be_skipped() {
        let mut tests = vec![passed("a"), passed("b")];
        apply(&mut tests, parse("a\tno node\nb\topt_in: needs a paid endpoint\n"), "p", "t");
        refuse(&mut tests);
        assert_eq!(tests[0].outcome, Outcome::Failed);
        assert_eq!(tests[1].outcome, Outcome::Skipped);
    }
}
