//! What only shows when all steps are known: identities, dependencies, variables, servers, assertions.

use std::collections::HashMap;

use pintle_core::{Problem, nearest};
use pintle_yaml::Place;

use super::Dialect;
use super::plan::{Plan, PlanSet};
use super::step::Step;

fn at(plan: &Plan, place: Place, message: String) -> Problem {
    Problem::new(message).at(&plan.file, place.line, place.column)
}

/// Problems between the steps of a run.
pub(crate) fn between_steps(set: &PlanSet) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known: HashMap<&str, (&Plan, &Step)> = HashMap::new();
    for plan in &set.plans {
        for step in &plan.steps {
            if let Some((other, first)) = known.get(step.id.as_str()) {
                let place = format!("{}:{}", other.file, first.place);
                let problem = at(plan, step.place, format!("the id `{}` is there twice, also at {place}", step.id));
                problems.push(problem.hint("give one of them an `id:` of its own"));
            } else {
                known.insert(&step.id, (plan, step));
            }
        }
    }
    for plan in &set.plans {
        for step in &plan.steps {
            dependencies(plan, step, &known, &mut problems);
            if plan.dialect == Dialect::Plan {
                variables(set, plan, step, &mut problems);
                server(plan, step, &mut problems);
            }
        }
    }
    if problems.is_empty() {
        problems.extend(cycle(set, &known));
    }
    problems
}

fn dependencies(plan: &Plan, step: &Step, known: &HashMap<&str, (&Plan, &Step)>, problems: &mut Vec<Problem>) {
    for (id, place) in &step.modifiers.depends_on {
        if known.contains_key(id.as_str()) {
            continue;
        }
        let problem = at(plan, *place, format!("`{}` depends on `{id}`, which is no step", step.id));
        problems.push(match nearest(id, known.keys().copied()) {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem,
        });
    }
}

/// Every variable must be defined by the plan or captured by some step.
fn variables(set: &PlanSet, plan: &Plan, step: &Step, problems: &mut Vec<Problem>) {
    for (name, place) in &step.uses {
        let captured = || set.steps().flat_map(|other| other.captures()).any(|capture| capture.name == *name);
        if plan.vars.iter().any(|(known, _)| known == name) || captured() {
            continue;
        }
        let known = plan.vars.iter().map(|(known, _)| known.as_str());
        let captures = set.steps().flat_map(|other| other.captures()).map(|capture| capture.name.as_str());
        let near = nearest(name, known.chain(captures));
        let problem = at(plan, *place, format!("step `{}` uses `${{{name}}}`, which nothing defines", step.id));
        problems.push(problem.hint(match near {
            Some(near) => format!("did you mean `${{{near}}}`?"),
            None => format!("add it to `vars`, `capture` it, or write `${{env:{name}}}`"),
        }));
    }
}

/// A server named by a step must be one that the plan declares, where it declares any.
fn server(plan: &Plan, step: &Step, problems: &mut Vec<Problem>) {
    let Some((name, place)) = &step.names_server else { return };
    if plan.servers.is_empty() || plan.servers.iter().any(|server| server.name == *name) || name.contains("${") {
        return;
    }
    let names: Vec<&str> = plan.servers.iter().map(|server| server.name.as_str()).collect();
    let problem = at(plan, *place, format!("step `{}` names the server `{name}`, which is not declared", step.id));
    problems.push(match nearest(name, names.iter().copied()) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("available: {}", names.join(", "))),
    });
}

/// The first ring of steps that wait for each other, by `depends_on` or by what they capture and use.
fn cycle(set: &PlanSet, known: &HashMap<&str, (&Plan, &Step)>) -> Option<Problem> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        Open,
        Done,
    }
    let mut givers: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for (index, step) in set.steps().enumerate() {
        positions.insert(&step.id, index);
        for capture in step.captures() {
            givers.entry(&capture.name).or_default().push((index, &step.id));
        }
    }
    let needs = |step: &Step| -> Vec<&str> {
        let named = step.modifiers.depends_on.iter().filter_map(|(id, _)| known.get(id.as_str()));
        let mut ids: Vec<&str> = named.map(|(_, other)| other.id.as_str()).collect();
        let own = positions.get(step.id.as_str()).copied().unwrap_or_default();
        for (name, _) in &step.uses {
            let all = givers.get(name.as_str()).map_or(&[][..], Vec::as_slice);
            // As in the order of the run: what was captured before is what is meant.
            let earlier = all.partition_point(|(index, _)| *index < own);
            let meant = if earlier > 0 { &all[..earlier] } else { all };
            ids.extend(meant.iter().filter(|(index, _)| *index != own).map(|(_, id)| *id));
        }
        ids
    };
    let mut marks: HashMap<&str, Mark> = HashMap::new();
    for first in set.steps() {
        // Depth first, without recursion: a chain may be as long as a plan.
        let mut path: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut enter = Some(first.id.as_str());
        loop {
            if let Some(id) = enter.take() {
                match marks.get(id) {
                    Some(Mark::Done) => {}
                    Some(Mark::Open) => {
                        let from = path.iter().position(|(open, _)| *open == id).unwrap_or_default();
                        let ring: Vec<&str> = path[from..].iter().map(|(open, _)| *open).chain([id]).collect();
                        let (plan, step) = known.get(id)?;
                        let message = format!("steps wait for each other: {}", ring.join(" → "));
                        return Some(at(plan, step.place, message));
                    }
                    None => {
                        let (_, step) = known.get(id)?;
                        marks.insert(step.id.as_str(), Mark::Open);
                        path.push((&step.id, needs(step)));
                    }
                }
            }
            let Some((id, rest)) = path.last_mut() else { break };
            match rest.pop() {
                Some(next) => enter = known.get(next).map(|(_, step)| step.id.as_str()),
                None => {
                    marks.insert(id, Mark::Done);
                    path.pop();
                }
            }
        }
    }
    None
}

/// A plan that asserts nothing can only ever pass.
pub(crate) fn asserts(root: &Plan, with_included: &[&Plan]) -> Option<Problem> {
    if with_included.iter().flat_map(|plan| &plan.steps).any(|step| step.asserts()) {
        return None;
    }
    let place = Place { line: 1, column: 1 };
    let problem = at(root, place, "the plan asserts nothing: no `check:` step is left".to_owned());
    Some(problem.hint("add a `check:` step that is not skipped"))
}
