//! The results of the last test run, as `target/xtask/results.json` keeps them for the coverage command.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Trouble, place::Place};

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// One test and its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// The package: `pintle-core`; `xtask` for the checks of the workspace as a whole.
    #[serde(rename = "crate")]
    pub package: String,
    /// The test program: `lib`, `doc`, the name of a file in `tests/`, or `workspace`.
    pub target: String,
    /// The path that the runner prints: `rules::pods::tests::ch_012_…`.
    pub name: String,
    pub outcome: Outcome,
    /// Why it was skipped or failed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// All tests of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Results {
    /// Whether the run took every test; a filtered run only replaces what it ran.
    pub whole: bool,
    pub tests: Vec<Tested>,
}

impl Results {
    fn path(place: &Place) -> PathBuf {
        place.own().join("results.json")
    }

    /// Reads the last results; none yet is an empty list.
    pub fn read(place: &Place) -> Result<Self, Trouble> {
        let path = Self::path(place);
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|why| Trouble::Other(format!("`{}` is not a results file: {why}", path.display()))),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(why) => Err(Trouble::file("read", &path)(why)),
        }
    }

    pub fn write(&self, place: &Place) -> Result<(), Trouble> {
        let path = Self::path(place);
        std::fs::create_dir_all(place.own()).map_err(Trouble::file("make", &place.own()))?;
        let mut text = serde_json::to_string_pretty(self).map_err(|why| Trouble::Other(why.to_string()))?;
        text.push('\n');
        std::fs::write(&path, text).map_err(Trouble::file("write", &path))
    }

    /// Takes over the tests of a filtered run and keeps the others.
    pub fn merge(&mut self, newer: Vec<Tested>) {
        for test in newer {
            let same =
                |old: &&mut Tested| old.package == test.package && old.target == test.target && old.name == test.name;
            match self.tests.iter_mut().find(same) {
                Some(old) => *old = test,
                None => self.tests.push(test),
            }
        }
    }

    /// The number of passed, failed and skipped tests.
    pub fn counts(tests: &[Tested]) -> (usize, usize, usize) {
        let count = |outcome| tests.iter().filter(|test| test.outcome == outcome).count();
        (count(Outcome::Passed), count(Outcome::Failed), count(Outcome::Skipped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, outcome: Outcome) -> Tested {
        Tested { package: "p".into(), target: "lib".into(), name: name.into(), outcome, reason: None }
    }

    #[test]
    fn a_filtered_run_replaces_what_it_ran_and_keeps_the_rest() {
        let mut results = Results { whole: true, tests: vec![test("a", Outcome::Failed), test("b", Outcome::Passed)] };
        results.merge(vec![test("a", Outcome::Passed), test("c", Outcome::Skipped)]);
        assert_eq!(
            results.tests,
            [test("a", Outcome::Passed), test("b", Outcome::Passed), test("c", Outcome::Skipped)]
        );
        assert_eq!(Results::counts(&results.tests), (2, 0, 1));
    }
}
