//! Plans carried out: written down first, then done one after the other, each all or nothing.

use crate::{
    host::Host,
    journal::{Act, Journal, Kind},
    plan::Planned,
};
use pintle_core::{Code, Effect, Failure, Permit, Scope};

/// What came of the plans.
pub(crate) struct Applied {
    journal: Journal,
    act: Act,
    /// One for each plan.
    pub(crate) ends: Vec<Result<(), Failure>>,
}

/// How often a file that somebody else is changing is looked at again.
const TRIES: usize = 3;

/// Carries the plans out. `again` makes the plan of that index anew, for a file that was changed in between.
///
/// # Errors
/// When the journal cannot be written; then nothing was changed. What fails of a single file is in its end.
pub(crate) fn apply(
    host: &Host,
    kind: Kind,
    name: &str,
    plans: &mut [Planned],
    permit: &Permit,
    again: &dyn Fn(&Planned) -> Result<Option<Planned>, Failure>,
) -> Result<Applied, Failure> {
    for plan in plans.iter() {
        permit.check(Effect::WRITE, &scope(plan))?;
    }
    let journal = host.journal()?;
    let changes = plans.iter().map(|plan| (plan.done(name), plan.before.clone())).collect();
    let mut act = journal.begin(kind, changes)?;
    let mut ends = Vec::new();
    for (index, plan) in plans.iter_mut().enumerate() {
        let mut end = carry_out(host, plan);
        for _ in 1..TRIES {
            if !end.as_ref().is_err_and(|failure| failure.code == Code::Moved) {
                break;
            }
            let Ok(Some(fresh)) = again(plan) else { break };
            if fresh.at.real() != plan.at.real() {
                break;
            }
            *plan = fresh;
            if let Some(bytes) = &plan.before {
                journal.back_up(&act, index, bytes)?;
            }
            act.changes[index] = plan.done(name);
            journal.update(&act)?;
            end = carry_out(host, plan);
        }
        match end {
            Ok(folders) => {
                act.changes[index].folders = folders;
                ends.push(Ok(()));
            }
            Err(failure) => {
                let done = &mut act.changes[index];
                done.after.clone_from(&done.before);
                done.entry.clone_from(&done.earlier);
                ends.push(Err(failure));
            }
        }
    }
    Ok(Applied { journal, act, ends })
}

impl Applied {
    /// Puts a file back to what it was, since what was done to it does not hold.
    pub(crate) fn take_back(&mut self, host: &Host, index: usize, plan: &Planned, why: Failure) {
        let folders = self.act.changes[index].folders.clone();
        let back = match (&plan.before, &plan.after) {
            (Some(before), Some(after)) => host.writer.write(&plan.at, before, Some(after)).map(drop),
            (None, Some(after)) => host.writer.remove(&plan.at, after, &folders),
            (before, None) => host.writer.write(&plan.at, before.as_deref().unwrap_or_default(), None).map(drop),
        };
        let done = &mut self.act.changes[index];
        let told = match back {
            Ok(()) => {
                done.after.clone_from(&done.before);
                done.entry.clone_from(&done.earlier);
                why.hint("the file is as it was before")
            }
            Err(failure) => {
                why.hint(format!("the file could not be put back ({failure}); `pintle register undo` does it"))
            }
        };
        self.ends[index] = Err(told);
    }

    /// Writes down what came of it; gives the number of the act, if anything did.
    pub(crate) fn finish(self) -> Result<Option<u64>, Failure> {
        if self.act.changes.iter().all(|done| done.before == done.after) {
            self.journal.forget(&self.act)?;
            return Ok(None);
        }
        self.journal.update(&self.act)?;
        Ok(Some(self.act.id))
    }
}

/// Where a plan acts.
pub(crate) fn scope(plan: &Planned) -> Scope {
    Scope::path(plan.at.real().to_string_lossy())
}

fn carry_out(host: &Host, plan: &Planned) -> Result<Vec<std::path::PathBuf>, Failure> {
    match (&plan.before, &plan.after) {
        (before, Some(after)) => host.writer.write(&plan.at, after, before.as_deref()),
        (Some(before), None) => host.writer.remove(&plan.at, before, &plan.folders).map(|()| Vec::new()),
        (None, None) => Ok(Vec::new()),
    }
}
