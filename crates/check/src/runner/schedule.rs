//! The loop that starts steps and takes their outcomes: one place knows what runs, what waits and what is done.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::attempt::{Deadline, Shared};
use super::options::{Event, Events, RunError, RunOptions};
use super::{order, outcome, select};
use crate::model::duration::Shown;
use crate::model::{Dialect, Plan, PlanSet, Step};
use crate::outcome::{PlanOutcome, RunOutcome, Status, StepOutcome};

/// What is said of a step that was cut short or never started.
const INTERRUPTED: &str = "interrupted";
/// How long steps may take to end once the run is cancelled.
const PATIENCE: Duration = Duration::from_secs(6);

/// Runs plans. Steps start in the order of the plans, `jobs` at once; the report has their order in any case.
///
/// Cancelling ends what runs and skips the rest; nothing is left behind then, either.
///
/// # Errors
/// When nothing can be run at all; see [`RunError`].
pub async fn run(
    set: PlanSet,
    options: RunOptions,
    events: Events,
    cancel: CancellationToken,
) -> Result<RunOutcome, RunError> {
    let chosen = select::select(&set, &options)?;
    needs_server(&set, &options, &chosen)?;
    let began = Instant::now();
    let began_at = jiff::Timestamp::now();
    let target_name = options.target.name();
    let deadline =
        options.deadline.map(|span| Deadline { at: began + span, of: format!("the {} of the run", Shown(span)) });
    let shared = Arc::new(Shared {
        sessions: options.reuse_sessions.then(Default::default),
        distro: options.target.distro(),
        target_name: target_name.clone(),
        redactor: Default::default(),
        captures: Default::default(),
        cancel: cancel.child_token(),
        set,
        options,
        events,
    });
    (shared.events)(&Event::Began { total: chosen.len() });
    let before = order::predecessors(&shared.set, &chosen);
    let mut schedule = Schedule::new(shared.clone(), chosen, before, deadline);
    let interrupted = schedule.go(&cancel).await;
    (shared.events)(&Event::Finished);
    let mut outcomes = schedule.finish();
    if let Some(sessions) = &shared.sessions {
        let odd = sessions.close().await;
        if let Some(last) = outcomes.iter_mut().rev().find(|(_, step)| step.verb == "mcp") {
            last.1.warnings.extend(odd);
        }
    }
    shared.options.target.close().await;
    let redactor = shared.redactor();
    let mut plans: Vec<PlanOutcome> = shared
        .set
        .plans
        .iter()
        .map(|plan| PlanOutcome { file: plan.file.clone(), source: plan.source.clone(), steps: Vec::new() })
        .collect();
    for (plan, mut step) in outcomes {
        // A later step may have met a secret that an earlier one showed.
        outcome::redact(&mut step, &redactor);
        plans[plan].steps.push(step);
    }
    plans.retain(|plan| !plan.steps.is_empty());
    let target = shared.options.server.as_ref().map_or(target_name, crate::model::Server::endpoint);
    Ok(RunOutcome {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        target: redactor.text(&target).into_owned(),
        began: began_at.to_string(),
        elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        interrupted,
        plans,
    })
}

/// A step that needs a server where none is given would only fail one by one.
fn needs_server(set: &PlanSet, options: &RunOptions, chosen: &[(usize, usize)]) -> Result<(), RunError> {
    if options.server.is_some() {
        return Ok(());
    }
    for (plan, step) in chosen {
        let plan = &set.plans[*plan];
        let step = &plan.steps[*step];
        // A box without servers says so itself, step by step.
        let talks = plan.dialect == Dialect::Plan
            && step.verb == "mcp"
            && step.method.as_deref() != Some("servers")
            && step.modifiers.skip.is_none();
        if talks && plan.servers.is_empty() {
            return Err(RunError::Usage {
                message: format!("step `{}` of {} needs an mcp server", step.id, plan.file),
                hint: "give `--stdio CMD` or `--url U`, or declare `servers:` in the plan".into(),
            });
        }
    }
    Ok(())
}

/// What is to run, what runs, and what became of it. Positions are those in `chosen`.
struct Schedule {
    shared: Arc<Shared>,
    chosen: Vec<(usize, usize)>,
    before: Vec<Vec<usize>>,
    started: Vec<bool>,
    done: Vec<Option<StepOutcome>>,
    deadline: Option<Deadline>,
    plan_deadlines: HashMap<usize, Deadline>,
    running: JoinSet<StepOutcome>,
    /// Which position a task works on.
    tasks: HashMap<tokio::task::Id, usize>,
    /// A step was failed because its time was over before it started; the others are skipped.
    told_late: bool,
}

impl Schedule {
    fn new(
        shared: Arc<Shared>,
        chosen: Vec<(usize, usize)>,
        before: Vec<Vec<usize>>,
        deadline: Option<Deadline>,
    ) -> Self {
        Self {
            started: vec![false; chosen.len()],
            done: vec![None; chosen.len()],
            shared,
            chosen,
            before,
            deadline,
            plan_deadlines: HashMap::new(),
            running: JoinSet::new(),
            tasks: HashMap::new(),
            told_late: false,
        }
    }

    fn at(&self, index: usize) -> (&Plan, &Arc<Step>) {
        let (plan, step) = self.chosen[index];
        let plan = &self.shared.set.plans[plan];
        (plan, &plan.steps[step])
    }

    /// Runs everything. True when it was cancelled.
    async fn go(&mut self, cancel: &CancellationToken) -> bool {
        loop {
            while !cancel.is_cancelled()
                && self.running.len() < self.shared.options.jobs.max(1)
                && let Some(index) = self.ready()
            {
                self.start(index);
            }
            if cancel.is_cancelled() {
                self.interrupt().await;
                return true;
            }
            if self.running.is_empty() {
                return false;
            }
            tokio::select! {
                joined = self.running.join_next_with_id() => self.joined(joined),
                () = cancel.cancelled() => {}
            }
        }
    }

    /// The first step that waits for nothing.
    fn ready(&self) -> Option<usize> {
        let free = |index: &usize| {
            !self.started[*index] && self.before[*index].iter().all(|before| self.done[*before].is_some())
        };
        (0..self.chosen.len()).find(free)
    }

    fn start(&mut self, index: usize) {
        self.started[index] = true;
        if let Some(why) = self.reason_to_skip(index) {
            let (plan, step) = self.at(index);
            let skipped = outcome::skipped(plan, step, &self.shared.target_name, &why);
            self.end(index, skipped);
            return;
        }
        let deadline = self.deadline_of(index);
        if let Some(deadline) = &deadline
            && Instant::now() >= deadline.at
        {
            let (plan, step) = self.at(index);
            let why = format!("not started: {} are over", deadline.of);
            let mut late = outcome::skipped(plan, step, &self.shared.target_name, &why);
            if !std::mem::replace(&mut self.told_late, true) {
                late.status = Status::Failed;
            }
            self.end(index, late);
            return;
        }
        let (plan, step) = self.chosen[index];
        let task = self.running.spawn(self.shared.clone().carry_out(plan, step, deadline));
        self.tasks.insert(task.id(), index);
    }

    fn reason_to_skip(&self, index: usize) -> Option<String> {
        let (_, step) = self.at(index);
        if let Some(why) = self.shared.left_out(step) {
            return Some(why);
        }
        for (id, _) in &step.modifiers.depends_on {
            let found = self.done.iter().flatten().find(|done| done.id == *id);
            let how = match found.map(|done| done.status) {
                Some(Status::Failed | Status::Error) => "failed",
                Some(Status::Skipped) => "was skipped",
                _ => continue,
            };
            return Some(format!("depends on `{id}`, which {how}"));
        }
        None
    }

    /// The nearer of the run's and the plan's deadline; a plan's time starts with its first step.
    fn deadline_of(&mut self, index: usize) -> Option<Deadline> {
        let plan = self.chosen[index].0;
        if let Some(span) = self.shared.set.plans[plan].timeout {
            self.plan_deadlines.entry(plan).or_insert_with(|| Deadline {
                at: Instant::now() + span,
                of: format!("the {} of the plan", Shown(span)),
            });
        }
        [self.deadline.as_ref(), self.plan_deadlines.get(&plan)]
            .into_iter()
            .flatten()
            .min_by_key(|deadline| deadline.at)
            .cloned()
    }

    fn joined(&mut self, joined: Option<Result<(tokio::task::Id, StepOutcome), tokio::task::JoinError>>) {
        match joined {
            Some(Ok((task, outcome))) => {
                if let Some(index) = self.tasks.remove(&task) {
                    self.end(index, outcome);
                }
            }
            Some(Err(error)) => {
                if let Some(index) = self.tasks.remove(&error.id()) {
                    let (plan, step) = self.at(index);
                    let mut broken =
                        outcome::skipped(plan, step, &self.shared.target_name, "a fault of ours: the step panicked");
                    broken.status = Status::Failed;
                    self.end(index, broken);
                }
            }
            None => {}
        }
    }

    fn end(&mut self, index: usize, mut outcome: StepOutcome) {
        if self.shared.cancel.is_cancelled() && !matches!(outcome.status, Status::Passed | Status::Skipped) {
            // It was cut short: that says nothing about what it checks.
            let (plan, step) = self.at(index);
            outcome = outcome::skipped(plan, step, &self.shared.target_name, INTERRUPTED);
        }
        (self.shared.events)(&Event::Ended(Box::new(outcome.clone())));
        self.done[index] = Some(outcome);
    }

    /// Waits for what runs to end, within reason.
    async fn interrupt(&mut self) {
        let end = Instant::now() + PATIENCE;
        while !self.running.is_empty() {
            match tokio::time::timeout_at(end, self.running.join_next_with_id()).await {
                Ok(joined) => self.joined(joined),
                Err(_) => return self.running.shutdown().await,
            }
        }
    }

    /// Every outcome with the position of its plan, in report order.
    fn finish(mut self) -> Vec<(usize, StepOutcome)> {
        let done = std::mem::take(&mut self.done);
        done.into_iter()
            .enumerate()
            .map(|(index, done)| {
                let (plan, step) = self.at(index);
                let missing = || outcome::skipped(plan, step, &self.shared.target_name, INTERRUPTED);
                (self.chosen[index].0, done.unwrap_or_else(missing))
            })
            .collect()
    }
}
