//! `eggs mcp stop`

use crate::{
    eggs::{
        manager::{Manager, ask},
        operations::status::Server,
    },
    personality::Personality,
    servers::{Ended, Running, end, running},
};
use pintle_core::{
    Answer, Call, Change, Code, Digest, Doors, Effect, Failure, Lane, Outcome, Permit, Prepared, Problem, Scope,
    Stop as Stopped, View,
};
use pintle_register::User;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How many seconds a server may take to end.
const PATIENCE: u16 = 5;

/// Ask every server that serves eggs to end, and wait until it has.
///
/// A flight that one of them started is ended or goes on as its tool says.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-cli" = {"command": "mcp stop"}))]
pub(crate) struct Stop {
    /// Kill what has not ended by then
    force: bool,
    /// How many seconds they may take; 5 when absent
    wait: Option<u16>,
    /// The servers of this user; of another one only as root
    user: Vec<String>,
}

/// How a server took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum How {
    /// It has ended.
    Ended,
    /// It had to be killed.
    Killed,
    /// It still runs.
    Left,
}

/// One server.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Row {
    #[serde(flatten)]
    server: Server,
    /// What became of it.
    state: How,
}

/// What became of the servers.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Each of them.
    servers: Vec<Row>,
    #[serde(skip)]
    #[schemars(skip)]
    problems: Vec<Problem>,
}

impl Answer for Report {
    fn view(&self) -> View {
        if self.servers.is_empty() {
            return View::text("no server of eggs runs");
        }
        let rows = self.servers.iter().map(|row| {
            let how = match row.state {
                How::Ended => "ended",
                How::Killed => "killed",
                How::Left => "still runs",
            };
            [&[how.to_owned()], row.server.cells().as_slice()].concat()
        });
        let columns = ["STATE"].into_iter().chain(Server::COLUMNS);
        View::table(columns, rows.collect::<Vec<_>>())
    }

    fn outcome(&self) -> Outcome {
        if self.failure().is_some() { Outcome::Failed } else { Outcome::Ok }
    }

    fn failure(&self) -> Option<Failure> {
        let left: Vec<String> =
            self.servers.iter().filter(|row| row.state == How::Left).map(|row| row.server.pid.to_string()).collect();
        if left.is_empty() && self.problems.is_empty() {
            return None;
        }
        let message = match left.len() {
            0 => "not every server could be seen".to_owned(),
            1 => format!("the server {} still runs", left[0]),
            _ => format!("the servers {} still run", left.join(", ")),
        };
        let failure = Failure::new(Code::Busy, message).problems(self.problems.clone());
        Some(if left.is_empty() { failure } else { failure.hint("`--force` kills what does not end") })
    }
}

/// Servers that are about to be asked.
pub(crate) struct Ready {
    own: Vec<Running>,
    users: Vec<User>,
    patience: u16,
    force: bool,
}

/// The servers of eggs of the user at this end.
pub(crate) fn own() -> Result<Vec<Running>, Failure> {
    let all = running()?;
    Ok(all.into_iter().filter(|server| server.record.serves(Personality::Eggs.toolset())).collect())
}

fn scope(pid: i32) -> Scope {
    Scope::path(format!("/proc/{pid}"))
}

impl Change for Stop {
    type Host = Manager;
    type Ready = Ready;
    type Answer = Report;
    const NAME: &'static str = "eggs.mcp.stop";
    const WORST: Effect = Effect::WRITE.idempotent();
    const DOORS: Doors = Doors::People;
    // However long was asked for.
    const DEADLINE: Duration = Duration::from_secs(100_000);

    async fn prepare(self, manager: &Manager, _: &Call) -> Result<Prepared<Ready>, Stopped> {
        let users = manager.others(&self.user)?;
        let own = if manager.is_meant(&self.user) { own()? } else { Vec::new() };
        let lines = own.iter().map(|server| format!("TERM to {}\n", server.record.identity.pid));
        let of_users = users.iter().map(|user| format!("TERM to the servers of {}\n", user.name));
        let preview: String = lines.chain(of_users).collect();
        Ok(Prepared {
            effect: if preview.is_empty() { Effect::READ } else { Effect::WRITE },
            scopes: own.iter().map(|server| scope(server.record.identity.pid)).collect(),
            lanes: Vec::<Lane>::new(),
            seen: Digest::of(&preview),
            preview,
            confirm: None,
            ready: Ready { own, users, patience: self.wait.unwrap_or(PATIENCE), force: self.force },
        })
    }

    async fn commit(_: &Manager, ready: Ready, permit: &Permit, _: &Call) -> Result<Report, Stopped> {
        let Ready { own, users, patience, force } = ready;
        for server in &own {
            permit.check(Effect::WRITE, &scope(server.record.identity.pid))?;
        }
        let mut report = Report::default();
        let told = own.iter().map(|server| Server::of(&server.record)).collect::<Vec<_>>();
        let ends = tokio::task::spawn_blocking(move || end(&own, Duration::from_secs(patience.into()), force)).await;
        let ends = ends.map_err(|error| Failure::new(Code::Internal, error.to_string()))??;
        report.servers.extend(told.into_iter().zip(ends).map(|(server, ended)| {
            let state = match ended {
                Ended::Asked => How::Ended,
                Ended::Killed => How::Killed,
                Ended::Stayed => How::Left,
            };
            Row { server, state }
        }));
        for user in &users {
            let wait = patience.to_string();
            let words = ["eggs", "mcp", "stop", "--wait", &wait].into_iter().chain(force.then_some("--force"));
            of_user(&mut report, user, words.map(str::to_owned).collect()).await;
        }
        Ok(report)
    }
}

/// What that user's own run of it tells.
async fn of_user(report: &mut Report, user: &User, words: Vec<String>) {
    #[derive(Deserialize)]
    struct Said {
        servers: Vec<Row>,
    }
    let said = ask(user, words).await.and_then(|asked| {
        let said = asked.answer.and_then(|answer| serde_json::from_value::<Said>(answer).ok());
        said.ok_or_else(|| Failure::new(Code::Internal, asked.told))
    });
    match said {
        Ok(said) => report.servers.extend(said.servers.into_iter().map(|row| {
            let server = Server { user: Some(user.name.clone()), ..row.server };
            Row { server, ..row }
        })),
        Err(failure) => report.problems.push(Problem::new(format!("{}: {}", user.name, failure.message))),
    }
}
