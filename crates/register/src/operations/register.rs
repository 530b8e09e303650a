//! `register`

use crate::{
    apply::{apply, scope},
    choose::{Goal, Range, Scope, choose},
    edit,
    host::{self, Host},
    journal::Kind,
    plan::{self, Pending, Planned, Wish},
    proof,
    report::{Report, Row, State},
};
use pintle_core::{Call, Change, Code, Digest, Doors, Effect, Failure, Lane, LogLevel, Permit, Prepared, Stop};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Write an entry for this program into the configuration of MCP clients.
///
/// Without `--client`, of every client whose folder is there; `pintle clients` lists them. Nothing but our entry is
/// changed, a backup is kept, and `pintle register undo` takes the last act back. On a terminal it asks first; without one it
/// writes at once, and `--dry-run` only shows what.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Register {
    /// Toolsets that the server is to have, such as charly,extra; what works here when absent
    toolset: Vec<String>,
    /// Only these clients
    client: Vec<String>,
    /// For this user, by the passwd entry; another one only as root
    user: Vec<String>,
    /// The user's own configuration, or that of a project
    scope: Option<Scope>,
    /// Folder of the project; the present one with `--scope project`
    #[schemars(extend("x-cli" = {"value": "DIR"}))]
    project: Option<String>,
    /// Key of the entry; pintle when absent, penguins-eggs for eggs alone
    name: Option<String>,
    /// Let the server see this variable, by the client's own form of reference; values are never written
    env: Vec<String>,
    /// Only show what would be done
    dry_run: bool,
    /// Do not start what was written to see whether it answers
    no_verify: bool,
    /// Replace an entry of somebody else, write files with hard links in place
    force: bool,
}

/// Entries that are ready to be written.
#[derive(Debug)]
pub(crate) struct Ready {
    wish: Wish,
    plans: Vec<Planned>,
    /// What is decided already, by its place among the plans.
    rows: Vec<(usize, Row)>,
    nobody: Option<Failure>,
    dry_run: bool,
    verify: bool,
    folder: PathBuf,
}

/// One lane for all: files of clients are few, and one may be shared by several.
pub(crate) const LANE: &str = "register";

pub(crate) fn plan_all(host: &Host, goals: Vec<Goal>, wish: &Wish) -> (Vec<Planned>, Vec<(usize, Row)>) {
    let (mut plans, mut rows, mut pending) = (Vec::new(), Vec::new(), Pending::new());
    for goal in goals {
        let (client, path) = (goal.client.id, goal.path.clone());
        match plan::put(host, goal, wish, &pending) {
            Ok(plan) => {
                pending.insert(plan.at.real(), plan.after.clone());
                plans.push(plan);
            }
            Err(failure) => rows.push((plans.len(), Row::failed(client, Some(&path), failure))),
        }
    }
    (plans, rows)
}

impl Register {
    fn prepare(self, host: &Host) -> Result<Prepared<Ready>, Failure> {
        let owner = host.owner_of(&self.user)?;
        let toolsets = host.chosen(&self.toolset)?;
        let name = host::key(self.name.as_deref(), &toolsets)?;
        if let Some(bad) = self.env.iter().find(|name| !is_variable(name)) {
            return Err(Failure::invalid_argument("env", format!("`{}` is no name of a variable", bad.escape_debug()))
                .hint("only the name is given, never the value"));
        }
        let range = Range::of(self.scope, self.project.as_deref())?;
        let wish = Wish { name, toolsets, environment: self.env, force: self.force };
        let (mut goals, mut absent) = (Vec::new(), Vec::new());
        for chosen in choose(&self.client, &range, &owner)? {
            match chosen {
                Ok(goal) => goals.push(goal),
                Err((client, failure)) => absent.push(Row::failed(client.id, None, failure)),
            }
        }
        let nobody = (goals.is_empty() && absent.is_empty()).then(|| {
            Failure::new(Code::NotFound, "no client was found here")
                .hint("name one with `--client`; `pintle clients` lists them with their folders")
        });
        let (plans, mut rows) = plan_all(host, goals, &wish);
        rows.extend(absent.into_iter().map(|row| (usize::MAX, row)));
        let changing: Vec<&Planned> = plans.iter().filter(|plan| plan.changes()).collect();
        let effect = if changing.is_empty() || self.dry_run { Effect::READ } else { Effect::WRITE };
        let preview: String = changing
            .iter()
            .map(|plan| {
                let words = host.words(&wish.toolsets, plan.goal.client.strict_names).join(" ");
                format!("{}: entry `{}` in {}\n  {words}\n", plan.client(), wish.name, plan.at.path.display())
            })
            .collect();
        let parts = plans.iter().flat_map(|plan| [plan.before.as_deref(), plan.after.as_deref()]);
        let seen = Digest::of_parts(parts.map(Option::unwrap_or_default));
        let folder = match &range {
            Range::User => owner.home().to_owned(),
            Range::Project(project) => project.clone(),
        };
        Ok(Prepared {
            effect,
            scopes: changing.iter().map(|plan| scope(plan)).collect(),
            lanes: if effect.changes() { vec![Lane::new(LANE)] } else { Vec::new() },
            preview,
            seen,
            confirm: None,
            ready: Ready { wish, plans, rows, nobody, dry_run: self.dry_run, verify: !self.no_verify, folder },
        })
    }
}

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// What the entry that now stands in the file starts, and which variables it refers to.
fn written(plan: &Planned, name: &str) -> Result<(Vec<String>, Vec<String>), Failure> {
    let bytes = plan.at.read()?;
    let text = plan::text_of(&plan.at, bytes.as_deref())?;
    let entry = edit::find(text, &plan.goal.spot(name)).map_err(|refusal| plan::refused(&plan.at, &refusal))?;
    let words = entry.as_ref().and_then(|entry| plan.goal.shape.words(entry));
    let names = entry.as_ref().map(|entry| plan.goal.client.env.names(entry)).unwrap_or_default();
    words.map(|words| (words, names)).ok_or_else(|| {
        Failure::new(Code::Moved, format!("the entry in `{}` is not there any more", plan.at.path.display()))
    })
}

/// Shakes hands with every different server once.
async fn verify(plans: &[&Planned], name: &str, folder: &Path) -> Vec<Result<usize, Failure>> {
    let read: Vec<_> = plans.iter().map(|plan| written(plan, name)).collect();
    let mut different: Vec<&(Vec<String>, Vec<String>)> = Vec::new();
    for server in read.iter().flatten() {
        if !different.contains(&server) {
            different.push(server);
        }
    }
    let asked = different.iter().map(|(words, names)| proof::handshake(words, names, folder));
    let answers = futures::future::join_all(asked).await;
    let answer = |server: &(Vec<String>, Vec<String>)| {
        different
            .iter()
            .position(|known| *known == server)
            .map_or_else(|| Err(Failure::new(Code::Internal, "a server was not asked")), |index| answers[index].clone())
    };
    read.iter().map(|server| server.as_ref().map_err(Clone::clone).and_then(answer)).collect()
}

async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Report, Failure> {
    let Ready { wish, plans, rows, nobody, dry_run, verify: proves, folder } = ready;
    let mut row_of: Vec<Row> = plans
        .iter()
        .map(|plan| {
            let state = match (plan.changes(), dry_run) {
                (false, _) => State::Kept,
                (true, true) => State::WouldWrite,
                (true, false) => State::Written,
            };
            let mut row = Row::new(plan.client(), Some(&plan.at.path), state);
            row.command = host.words(&wish.toolsets, plan.goal.client.strict_names);
            row.diff = (plan.changes() && dry_run).then(|| plan.diff());
            row.notes.clone_from(&plan.notes);
            row
        })
        .collect();
    let mut act = None;
    let (indexes, mut changing): (Vec<usize>, Vec<Planned>) =
        plans.into_iter().enumerate().filter(|(_, plan)| plan.changes() && !dry_run).unzip();
    if !changing.is_empty() {
        for (row, plan) in indexes.iter().map(|index| &row_of[*index]).zip(&changing) {
            let text = format!("{}: {} gets `{}`", plan.client(), plan.at.path.display(), row.command.join(" "));
            call.log(LogLevel::Info, "register", text.into());
        }
        let again = |plan: &Planned| plan::put(host, plan.goal.clone(), &wish, &Pending::new()).map(Some);
        let mut applied = apply(host, Kind::Register, &wish.name, &mut changing, permit, &again)?;
        if proves {
            let held: Vec<usize> = (0..changing.len()).filter(|index| applied.ends[*index].is_ok()).collect();
            let written: Vec<&Planned> = held.iter().map(|index| &changing[*index]).collect();
            let answers = verify(&written, &wish.name, &folder).await;
            // The last one first: a file that several share goes back step by step.
            for (index, answer) in held.into_iter().zip(answers).rev() {
                match answer {
                    Ok(tools) => row_of[indexes[index]].tools = Some(tools),
                    Err(why) => applied.take_back(host, index, &changing[index], why),
                }
            }
        }
        for (index, end) in applied.ends.iter().enumerate() {
            if let Err(failure) = end {
                let row = Row::failed(changing[index].client(), Some(&changing[index].at.path), failure.clone());
                row_of[indexes[index]] = row;
            }
        }
        act = applied.finish()?;
    }
    for (at, row) in rows.into_iter().rev() {
        row_of.insert(at.min(row_of.len()), row);
    }
    Ok(Report { act, clients: row_of, nobody })
}

impl Change for Register {
    type Host = Host;
    type Ready = Ready;
    type Answer = Report;
    const NAME: &'static str = "register";
    const WORST: Effect = Effect::WRITE.idempotent();
    const DOORS: Doors = Doors::People;
    const DEADLINE: Duration = Duration::from_secs(120);

    async fn prepare(self, host: &Host, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(Self::prepare(self, host)?)
    }

    async fn commit(host: &Host, ready: Ready, permit: &Permit, call: &Call) -> Result<Report, Stop> {
        Ok(commit(host, ready, permit, call).await?)
    }
}
