//! Which step waits for which.

use std::collections::HashMap;

use crate::model::{Keyword, PlanSet};

/// For each chosen step, the chosen steps that must end before it starts. Steps that are not related at all form the
/// groups that may run at once.
///
/// A step waits for what it depends on, for what captures a variable that it uses, and, within its plan, for every
/// `run:` before it; a `run:` waits for everything before it.
pub(super) fn predecessors(set: &PlanSet, chosen: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let step = |at: (usize, usize)| &set.plans[at.0].steps[at.1];
    let by_id: HashMap<&str, usize> =
        chosen.iter().enumerate().map(|(index, at)| (step(*at).id.as_str(), index)).collect();
    let mut givers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, at) in chosen.iter().enumerate() {
        for capture in step(*at).captures() {
            givers.entry(&capture.name).or_default().push(index);
        }
    }
    let mut last_run: HashMap<usize, usize> = HashMap::new();
    let mut all = Vec::with_capacity(chosen.len());
    for (index, at) in chosen.iter().enumerate() {
        let this = step(*at);
        let mut before: Vec<usize> =
            this.modifiers.depends_on.iter().filter_map(|(id, _)| by_id.get(id.as_str()).copied()).collect();
        for (name, _) in &this.uses {
            let all = givers.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            let earlier = all.partition_point(|giver| *giver < index);
            // What was captured before is what is meant; only where nothing was, the step waits for later ones.
            before.extend(if earlier > 0 { &all[..earlier] } else { all });
        }
        if this.keyword == Keyword::Run {
            let same_plan = chosen[..index].iter().enumerate().filter(|(_, other)| other.0 == at.0);
            before.extend(same_plan.map(|(other, _)| other));
            last_run.insert(at.0, index);
        } else {
            before.extend(last_run.get(&at.0).copied());
        }
        before.retain(|other| *other != index);
        before.sort_unstable();
        before.dedup();
        all.push(before);
    }
    all
}
