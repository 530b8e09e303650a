//! `unregister`

use crate::{
    apply::{apply, scope},
    choose::{Goal, Range, Scope, all_of_user, named, of_project},
    clients::ALL,
    host::{self, Host},
    journal::Kind,
    operations::register::LANE,
    plan::{self, Pending, Planned},
    report::{Report, Row, State},
};
use pintle_core::{Call, Change, Code, Digest, Doors, Effect, Failure, Lane, Permit, Prepared, Stop};
use schemars::JsonSchema;
use serde::Deserialize;

/// Take our entry out of the configuration of MCP clients.
///
/// A file that is as we left it becomes exactly what it was before; of one that was changed since only our entry goes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Unregister {
    /// The entry of these toolsets alone, such as eggs
    toolset: Vec<String>,
    /// Only these clients
    client: Vec<String>,
    /// Of this user, by the passwd entry; another one only as root
    user: Vec<String>,
    /// The user's own configuration, or that of a project
    scope: Option<Scope>,
    /// Folder of the project; the present one with `--scope project`
    #[schemars(extend("x-cli" = {"value": "DIR"}))]
    project: Option<String>,
    /// Key of the entry; pintle when absent
    name: Option<String>,
    /// Only show what would be done
    dry_run: bool,
    /// Take out an entry of somebody else, write files with hard links in place
    force: bool,
}

/// Entries that are ready to be taken out.
#[derive(Debug)]
pub(crate) struct Ready {
    name: String,
    force: bool,
    asked: bool,
    plans: Vec<Planned>,
    rows: Vec<Row>,
    dry_run: bool,
}

impl Unregister {
    fn prepare(self, host: &Host) -> Result<Prepared<Ready>, Failure> {
        let owner = host.owner_of(&self.user)?;
        let toolsets: Vec<&str> = self.toolset.iter().flat_map(|list| list.split(',')).collect();
        let name = host::key(self.name.as_deref(), &toolsets)?;
        let range = Range::of(self.scope, self.project.as_deref())?;
        let asked = !self.client.is_empty();
        let clients = if asked { named(&self.client)? } else { ALL.iter().collect() };
        let (mut plans, mut rows, mut pending) = (Vec::new(), Vec::new(), Pending::new());
        for client in clients {
            let goals: Vec<Goal> = match &range {
                Range::User => all_of_user(client, &owner),
                Range::Project(project) => of_project(client, project).into_iter().collect(),
            };
            let found = plans.len() + rows.len();
            for goal in goals {
                let goal = Goal { notes: Vec::new(), ..goal };
                let path = goal.path.clone();
                match plan::take_out(host, goal, &name, self.force, asked, &pending) {
                    Ok(Some(plan)) => {
                        pending.insert(plan.at.real(), plan.after.clone());
                        plans.push(plan);
                    }
                    Ok(None) => {}
                    // A link to where we never write has nothing of ours behind it.
                    Err(failure) if failure.code == Code::Denied && !asked && !host.touched(&path, &name)? => {}
                    Err(failure) => rows.push(Row::failed(client.id, Some(&path), failure)),
                }
            }
            if asked && found == plans.len() + rows.len() {
                rows.push(Row::new(client.id, None, State::Absent));
            }
        }
        let preview: String = plans
            .iter()
            .map(|plan| format!("{}: entry `{name}` out of {}\n", plan.client(), plan.at.path.display()))
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
            ready: Ready { name, force: self.force, asked, plans, rows, dry_run: self.dry_run },
        })
    }
}

fn commit(host: &Host, ready: Ready, permit: &Permit) -> Result<Report, Failure> {
    let Ready { name, force, asked, mut plans, rows, dry_run } = ready;
    let mut act = None;
    let mut ends: Vec<Result<(), Failure>> = plans.iter().map(|_| Ok(())).collect();
    if !plans.is_empty() && !dry_run {
        let again = |plan: &Planned| plan::take_out(host, plan.goal.clone(), &name, force, asked, &Pending::new());
        let mut applied = apply(host, Kind::Unregister, &name, &mut plans, permit, &again)?;
        ends = std::mem::take(&mut applied.ends);
        act = applied.finish()?;
    }
    let done = plans.iter().zip(ends).map(|(plan, end)| match end {
        Ok(()) => {
            let state = if dry_run { State::WouldRemove } else { State::Removed };
            let mut row = Row::new(plan.client(), Some(&plan.at.path), state);
            row.diff = dry_run.then(|| plan.diff());
            row.notes.clone_from(&plan.notes);
            row
        }
        Err(failure) => Row::failed(plan.client(), Some(&plan.at.path), failure),
    });
    Ok(Report { act, clients: done.chain(rows).collect(), nobody: None })
}

impl Change for Unregister {
    type Host = Host;
    type Ready = Ready;
    type Answer = Report;
    const NAME: &'static str = "unregister";
    const WORST: Effect = Effect::WRITE.idempotent();
    const DOORS: Doors = Doors::People;

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(Self::prepare(self, host)?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, _: &Call) -> Result<Report, Stop> {
        Ok(commit(host, ready, permit)?)
    }
}
