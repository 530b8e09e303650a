//! From records to what happened to each step over the runs. Pure.

use super::{Record, StepRecord};
use crate::outcome::Status;
use std::collections::HashMap;

/// Changes between passed and failed from which on a step counts as flaky: once it breaks, once it is mended.
const FLAKY: usize = 2;
/// Runs before the last one that a time is compared to, at least.
const TIMES: usize = 4;
/// A step is slower when it took this many times its usual time …
const SLOWER: u64 = 2;
/// … and this much more, in ms: short times jump.
const NOTICED: u64 = 50;

/// One step over all runs.
pub(super) struct Trend<'r> {
    pub(super) id: &'r str,
    pub(super) plan: &'r str,
    pub(super) verb: &'r str,
    pub(super) method: Option<&'r str>,
    /// For each run, the oldest first; none where the run had no such step.
    pub(super) runs: Vec<Option<&'r StepRecord>>,
}

/// What is worth knowing of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Passed and failed in turn.
    Flaky,
    /// Passed before, fails now.
    Broke,
    /// Failed before, passes now.
    Mended,
    /// Passed, but not at once, in so many runs.
    Retried(usize),
    /// The last time is far above the usual one.
    Slower,
    /// Not in the last run.
    Gone,
}

/// Every step of the runs: those of the last run in its order, then those that only earlier ones had.
pub(super) fn trends(records: &[Record]) -> Vec<Trend<'_>> {
    let mut trends: Vec<Trend<'_>> = Vec::new();
    let mut known: HashMap<(&str, &str), usize> = HashMap::new();
    for (number, record) in records.iter().enumerate().rev() {
        for step in &record.steps {
            let index = *known.entry((step.plan.as_str(), step.id.as_str())).or_insert_with(|| {
                trends.push(Trend {
                    id: &step.id,
                    plan: &step.plan,
                    verb: &step.verb,
                    method: step.method.as_deref(),
                    runs: vec![None; records.len()],
                });
                trends.len() - 1
            });
            trends[index].runs[number] = Some(step);
        }
    }
    trends
}

impl<'r> Trend<'r> {
    /// Every time it was judged: whether it passed, and the record.
    fn judged(&self) -> impl DoubleEndedIterator<Item = (bool, &'r StepRecord)> {
        self.runs.iter().flatten().filter_map(|step| match step.status {
            Status::Passed => Some((true, *step)),
            Status::Failed | Status::Error => Some((false, *step)),
            Status::Skipped => None,
        })
    }

    /// How often it passed, and how often it was judged.
    pub(super) fn passed(&self) -> (usize, usize) {
        self.judged().fold((0, 0), |(passed, all), (is, _)| (passed + usize::from(is), all + 1))
    }

    /// The last record.
    pub(super) fn last(&self) -> Option<&'r StepRecord> {
        self.runs.iter().rev().find_map(|step| *step)
    }

    /// Milliseconds of the middle one of all times that it passed; none when it never did.
    pub(super) fn usual(&self) -> Option<u64> {
        middle(self.judged().filter(|(passed, _)| *passed).map(|(_, step)| step.elapsed_ms).collect())
    }

    pub(super) fn signs(&self) -> Vec<Sign> {
        let judged: Vec<_> = self.judged().collect();
        let mut signs = Vec::new();
        let changes = judged.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        if changes >= FLAKY {
            signs.push(Sign::Flaky);
        }
        if let [.., (before, _), (now, _)] = judged.as_slice()
            && before != now
        {
            signs.push(if *now { Sign::Mended } else { Sign::Broke });
        }
        let retried = judged.iter().filter(|(passed, step)| *passed && step.attempts > 1).count();
        if retried > 0 {
            signs.push(Sign::Retried(retried));
        }
        let times: Vec<u64> = judged.iter().filter(|(passed, _)| *passed).map(|(_, step)| step.elapsed_ms).collect();
        if let Some((last, earlier)) = times.split_last()
            && earlier.len() >= TIMES
            && let Some(usual) = middle(earlier.to_vec())
            && *last > usual.saturating_mul(SLOWER)
            && *last > usual + NOTICED
        {
            signs.push(Sign::Slower);
        }
        if self.runs.last().is_some_and(Option::is_none) {
            signs.push(Sign::Gone);
        }
        signs
    }
}

fn middle(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{run, step};
    use super::*;

    /// Runs of one step, `.` passed, `x` failed, `s` skipped, `r` passed at the second try, blank absent.
    fn signs(runs: &str, times: &[u64]) -> Vec<Sign> {
        let records: Vec<Record> = runs
            .chars()
            .enumerate()
            .map(|(number, letter)| {
                let status = match letter {
                    'x' => Status::Failed,
                    's' => Status::Skipped,
                    _ => Status::Passed,
                };
                let mut step = step("a", status, times.get(number).copied().unwrap_or(5));
                step.attempts = if letter == 'r' { 2 } else { 1 };
                Record::of(&run(1, if letter == ' ' { Vec::new() } else { vec![step] }))
            })
            .collect();
        trends(&records)[0].signs()
    }

    #[test]
    fn cw_52_flaky_broken_and_mended_steps_are_told_apart() {
        for (runs, wanted) in [
            (".", vec![]),
            ("...", vec![]),
            ("xxx", vec![]),
            ("..x", vec![Sign::Broke]),
            ("xx.", vec![Sign::Mended]),
            ("..xs", vec![Sign::Broke]),
            (".x.", vec![Sign::Flaky, Sign::Mended]),
            (".x..", vec![Sign::Flaky]),
            ("r..r", vec![Sign::Retried(2)]),
            (".. ", vec![Sign::Gone]),
        ] {
            assert_eq!(signs(runs, &[]), wanted, "{runs:?}");
        }
    }

    #[test]
    fn cw_52_a_step_is_slower_than_its_usual_time() {
        assert_eq!(signs(".....", &[100, 110, 100, 90, 260]), [Sign::Slower]);
        assert_eq!(signs(".....", &[100, 110, 100, 90, 190]), [], "not twice as long");
        assert_eq!(signs(".....", &[1, 1, 1, 1, 40]), [], "not by as much as one notices");
        assert_eq!(signs("....", &[100, 100, 100, 900]), [], "too few to know what is usual");
    }

    #[test]
    fn steps_of_the_last_run_come_first_in_its_order() {
        let records = [
            Record::of(&run(1, vec![step("old", Status::Passed, 1), step("b", Status::Passed, 1)])),
            Record::of(&run(2, vec![step("b", Status::Passed, 3), step("a", Status::Skipped, 0)])),
        ];
        let trends = trends(&records);
        assert_eq!(trends.iter().map(|trend| trend.id).collect::<Vec<_>>(), ["b", "a", "old"]);
        assert_eq!(trends[0].passed(), (2, 2));
        assert_eq!((trends[0].usual(), trends[1].usual()), (Some(3), None));
        assert_eq!(trends[1].passed(), (0, 0));
    }
}
