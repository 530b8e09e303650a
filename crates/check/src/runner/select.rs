//! Which steps run.

use globset::Glob;
use pintle_core::nearest;

use super::options::{RunError, RunOptions};
use crate::model::{PlanSet, Step};

/// One word of `--filter`.
enum Filter {
    Verb(String),
    Ids(globset::GlobMatcher),
}

impl Filter {
    fn fits(&self, step: &Step) -> bool {
        match self {
            Self::Verb(verb) => step.verb == *verb,
            Self::Ids(glob) => glob.is_match(&step.id),
        }
    }
}

/// Positions (plan, step) of what is to run.
pub(super) fn select(set: &PlanSet, options: &RunOptions) -> Result<Vec<(usize, usize)>, RunError> {
    let filters = options.filter.iter().map(|word| filter(word, set, options)).collect::<Result<Vec<_>, _>>()?;
    if let Some(section) = &options.section {
        check_section(section, set)?;
    }
    let mut chosen = Vec::new();
    for (plan_index, plan) in set.plans.iter().enumerate() {
        for (step_index, step) in plan.steps.iter().enumerate() {
            let in_section = options.section.is_none() || options.section == step.section;
            if in_section && (filters.is_empty() || filters.iter().any(|filter| filter.fits(step))) {
                chosen.push((plan_index, step_index));
            }
        }
    }
    if chosen.is_empty() {
        let mut words = options.filter.clone();
        words.extend(options.section.iter().map(|section| format!("section {section}")));
        return Err(RunError::NothingFits(words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")));
    }
    Ok(chosen)
}

fn filter(word: &str, set: &PlanSet, options: &RunOptions) -> Result<Filter, RunError> {
    if options.registry.words().any(|verb| verb == word) {
        return Ok(Filter::Verb(word.to_owned()));
    }
    let glob = Glob::new(word).map_err(|error| RunError::Usage {
        message: format!("filter `{word}` is no glob: {error}"),
        hint: "a filter is a verb or a glob on step ids".into(),
    })?;
    let is_glob = word.contains(['*', '?', '[', '{']);
    if is_glob || set.steps().any(|step| step.id == word) {
        return Ok(Filter::Ids(glob.compile_matcher()));
    }
    let known = options.registry.words().chain(set.steps().map(|step| step.id.as_str()));
    Err(RunError::Usage {
        message: format!("filter `{word}` is neither a verb nor a step"),
        hint: match nearest(word, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("verbs: {}", options.registry.words().collect::<Vec<_>>().join(", ")),
        },
    })
}

fn check_section(section: &str, set: &PlanSet) -> Result<(), RunError> {
    const SECTIONS: [&str; 3] = ["candy", "box", "deploy"];
    if !SECTIONS.contains(&section) {
        return Err(RunError::Usage {
            message: format!("section `{section}` is none"),
            hint: "sections: candy, box, deploy".into(),
        });
    }
    if set.steps().all(|step| step.section.is_none()) {
        return Err(RunError::Usage {
            message: "the plan has no sections".into(),
            hint: "leave `--section` out: only boxes have sections".into(),
        });
    }
    Ok(())
}
