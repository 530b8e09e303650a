//! `register.undo`

use crate::{
    apply::{apply, scope},
    choose::Goal,
    clients::Client,
    edit,
    files::Located,
    host::Host,
    journal::{Act, Done, Kind},
    operations::register::LANE,
    plan::{self, Pending, Planned},
    report::{Report, Row, State},
};
use pintle_core::{Call, Change, Code, Digest, Doors, Effect, Failure, Lane, Permit, Prepared, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Take back what `register` or `unregister` did to the files of clients.
///
/// Files that are as we left them become exactly what they were; of one that was changed since only our entry changes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RegisterUndo {
    /// Number of the act; the last one that was not taken back when absent
    #[schemars(extend("x-cli" = {"positional": 1}))]
    id: Option<u64>,
    /// Only show what would be done
    dry_run: bool,
}

/// An act that is ready to be taken back.
#[derive(Debug)]
pub(crate) struct Ready {
    act: Act,
    name: String,
    plans: Vec<Planned>,
    rows: Vec<Row>,
    dry_run: bool,
}

fn find(acts: Vec<Act>, id: Option<u64>) -> Result<Act, Failure> {
    let ids: Vec<String> = acts.iter().map(|act| act.id.to_string()).collect();
    let found = match id {
        Some(id) => acts.into_iter().find(|act| act.id == id),
        None => acts.into_iter().rev().find(|act| !act.undone && act.kind != Kind::Undo),
    };
    found.ok_or_else(|| match id {
        Some(id) => Failure::new(Code::NotFound, format!("there is no act {id}")).hint(match ids.is_empty() {
            true => "nothing was registered yet".to_owned(),
            false => format!("there are {}", ids.join(", ")),
        }),
        None => Failure::new(Code::NotFound, "there is nothing to take back"),
    })
}

/// The file as it was before that change. None when it is that already.
fn plan(host: &Host, act: &Act, index: usize, done: &Done, pending: &Pending) -> Result<Option<Planned>, Failure> {
    let client = Client::of(&done.client)
        .ok_or_else(|| Failure::new(Code::NotFound, format!("there is no client `{}` any more", done.client)))?;
    let at = Located::of(&done.path, &done.fence)?;
    let now = plan::bytes_of(&at, pending)?;
    let digest = now.as_ref().map(Digest::of);
    if digest == done.before {
        return Ok(None);
    }
    let goal =
        Goal { client, path: done.path.clone(), fence: done.fence.clone(), shape: client.shape, notes: Vec::new() };
    let (after, folders, notes) = if digest == done.after {
        (host.journal()?.backup(act, index)?, done.folders.clone(), Vec::new())
    } else {
        let text = plan::text_of(&at, now.as_deref())?;
        let note = "the file was changed since: only our entry was put back".to_owned();
        (Some(only_ours(&goal, &at, done, text)?.into_bytes()), Vec::new(), vec![note])
    };
    let entry = done.earlier.clone();
    Ok(Some(Planned { goal, at, before: now, after, earlier: done.entry.clone(), entry, folders, notes }))
}

/// The text with our entry as it was before, if it is as we left it.
fn only_ours(goal: &Goal, at: &Located, done: &Done, text: &str) -> Result<String, Failure> {
    let spot = goal.spot(&done.name);
    let told = |refusal: edit::Refusal| plan::refused(at, &refusal);
    if edit::find(text, &spot).map_err(told)? != done.entry {
        let message = format!("the entry `{}` in `{}` was changed since", done.name, at.path.display());
        return Err(Failure::new(Code::Moved, message).hint("take it out with `pintle unregister`, or by hand"));
    }
    let without = edit::take_out(text, &spot).map_err(told)?.unwrap_or_else(|| text.to_owned());
    match &done.earlier {
        Some(Value::Object(earlier)) => edit::put(&without, &spot, earlier, goal.client.starter).map_err(told),
        Some(_) => Err(Failure::new(Code::Invalid, format!("the entry `{}` was no map before", done.name))),
        None => Ok(without),
    }
}

impl RegisterUndo {
    fn prepare(self, host: &Host) -> Result<Prepared<Ready>, Failure> {
        let act = find(host.journal()?.acts()?, self.id)?;
        let (mut plans, mut rows, mut pending) = (Vec::new(), Vec::new(), Pending::new());
        // Backwards: a file that several clients share was changed several times.
        for (index, done) in act.changes.iter().enumerate().rev() {
            match plan(host, &act, index, done, &pending) {
                Ok(Some(plan)) => {
                    pending.insert(plan.at.real(), plan.after.clone());
                    plans.push(plan);
                }
                Ok(None) => rows.push(Row::new(&done.client, Some(&done.path), State::Kept)),
                Err(failure) => rows.push(Row::failed(&done.client, Some(&done.path), failure)),
            }
        }
        let name = act.changes.first().map(|done| done.name.clone()).unwrap_or_default();
        let preview: String = plans
            .iter()
            .map(|plan| format!("{}: {} as before act {}\n", plan.client(), plan.at.path.display(), act.id))
            .collect();
        let effect = if plans.is_empty() || self.dry_run { Effect::READ } else { Effect::WRITE };
        let parts = plans.iter().flat_map(|plan| [plan.before.as_deref(), plan.after.as_deref()]);
        Ok(Prepared {
            effect,
            scopes: plans.iter().map(scope).collect(),
            lanes: if effect.changes() { vec![Lane::new(LANE)] } else { Vec::new() },
            preview,
            seen: Digest::of_parts(parts.map(Option::unwrap_or_default)),
            confirm: None,
            ready: Ready { act, name, plans, rows, dry_run: self.dry_run },
        })
    }
}

fn commit(host: &Host, ready: Ready, permit: &Permit) -> Result<Report, Failure> {
    let Ready { mut act, name, mut plans, rows, dry_run } = ready;
    let mut number = None;
    let mut ends: Vec<Result<(), Failure>> = plans.iter().map(|_| Ok(())).collect();
    if !plans.is_empty() && !dry_run {
        let mut applied = apply(host, Kind::Undo, &name, &mut plans, permit, &|_| Ok(None))?;
        ends = std::mem::take(&mut applied.ends);
        number = applied.finish()?;
    }
    if !dry_run && rows.iter().all(|row| row.failure.is_none()) && ends.iter().all(Result::is_ok) {
        act.undone = true;
        host.journal()?.update(&act)?;
    }
    let done = plans.iter().zip(ends).map(|(plan, end)| match end {
        Ok(()) => {
            let state = match (plan.entry.is_some(), dry_run) {
                (true, false) => State::Written,
                (true, true) => State::WouldWrite,
                (false, false) => State::Removed,
                (false, true) => State::WouldRemove,
            };
            let mut row = Row::new(plan.client(), Some(&plan.at.path), state);
            row.diff = dry_run.then(|| plan.diff());
            row.notes.clone_from(&plan.notes);
            row
        }
        Err(failure) => Row::failed(plan.client(), Some(&plan.at.path), failure),
    });
    Ok(Report { act: number, clients: done.chain(rows).collect(), nobody: None })
}

impl Change for RegisterUndo {
    type Host = Host;
    type Ready = Ready;
    type Answer = Report;
    const NAME: &'static str = "register.undo";
    const WORST: Effect = Effect::WRITE;
    const DOORS: Doors = Doors::People;

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(Self::prepare(self, host)?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, _: &Call) -> Result<Report, Stop> {
        Ok(commit(host, ready, permit)?)
    }
}
