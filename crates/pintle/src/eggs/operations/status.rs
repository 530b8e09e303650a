//! `eggs mcp status`

use crate::{
    eggs::{
        grant,
        manager::{Manager, ask},
        operations::stop,
    },
    others,
    personality::Personality,
    servers::{Record, Transport},
};
use pintle_core::{Answer, Call, Code, Doors, Failure, Outcome, Query, Stop, View};
use pintle_pack::sudoers::{self, Installed, State};
use pintle_register::{Entry, User, standings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tell who may run eggs as root without a password, which MCP clients start its server, and which servers run.
///
/// With root's rights it tells of the user behind root as well.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-cli" = {"command": "mcp status"}))]
pub(crate) struct Status {
    /// Of this user; of another one only as root
    user: Vec<String>,
}

/// A server that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Server {
    /// Its process.
    pub(crate) pid: i32,
    /// When it started.
    pub(crate) started: String,
    /// What its client calls itself, once that is known; several over HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// `stdio` or `http`.
    pub(crate) transport: String,
    /// What it serves.
    pub(crate) toolsets: Vec<String>,
    /// Whose it is, where that is not the one who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
}

impl Server {
    pub(crate) const COLUMNS: [&'static str; 5] = ["PID", "STARTED", "CLIENT", "TRANSPORT", "USER"];

    pub(crate) fn of(record: &Record) -> Self {
        let transport = match record.transport {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
        };
        Self {
            pid: record.identity.pid,
            started: record.started.clone(),
            client: (!record.clients.is_empty()).then(|| record.clients.join(", ")),
            transport: transport.to_owned(),
            toolsets: record.toolsets.clone(),
            user: None,
        }
    }

    /// The cells of a row.
    pub(crate) fn cells(&self) -> [String; 5] {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        [self.pid.to_string(), self.started.clone(), text(&self.client), self.transport.clone(), text(&self.user)]
    }
}

/// An entry in the file of a client.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Client {
    #[serde(flatten)]
    entry: Entry,
    /// Whose it is, where that is not the one who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// Who may run what as root without a password, and how that differs from what `enable` writes.
    sudoers: Installed,
    /// The files of clients that are here.
    clients: Vec<Client>,
    /// The servers that run.
    servers: Vec<Server>,
    /// What could not be looked at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// The rule as people read it.
fn sudoers(found: &Installed) -> View {
    let path = found.path.display();
    let state = match found.state {
        State::Absent => "not enabled".to_owned(),
        State::Enabled => "enabled".to_owned(),
        State::Differs => "not what `eggs mcp enable` writes".to_owned(),
        State::Unreadable => "only root can see it".to_owned(),
    };
    let mut view = View::text(format!("sudoers: {state} ({path})"));
    if !found.grants.is_empty() {
        let rows = found.grants.iter().map(|grant| {
            let password = if grant.password { "asked for" } else { "not asked for" };
            vec![grant.user.clone(), grant.runs_as.clone(), password.to_owned(), grant.commands.join(", ")]
        });
        view = view.and_table(["USER", "AS", "PASSWORD", "COMMAND"], rows.collect::<Vec<_>>());
    }
    view = found.problems.iter().fold(view, |view, problem| view.and_text(format!("wrong: {problem}")));
    view = found.drift.iter().fold(view, |view, line| view.and_text(line.clone()));
    if let Some(problem) = found.helper.problem.as_ref().filter(|_| found.state != State::Absent) {
        view = view.and_text(format!("helper: {problem}"));
    }
    found.doas.iter().fold(view, |view, line| view.and_text(format!("doas lacks: {line}")))
}

impl Answer for Found {
    fn view(&self) -> View {
        let mut view = sudoers(&self.sudoers).and_text("\n");
        view = match self.clients.as_slice() {
            [] => view.and_text("clients: none is here"),
            clients => {
                let rows = clients.iter().map(|Client { entry, user }| {
                    let note = entry.note.clone().unwrap_or_default();
                    let user = user.clone().unwrap_or_default();
                    vec![entry.client.clone(), entry.state.shown().to_owned(), entry.path.clone(), user, note]
                });
                view.and_table(["CLIENT", "ENTRY", "FILE", "USER", "NOTE"], rows.collect::<Vec<_>>())
            }
        };
        view = view.and_text("\n");
        view = match self.servers.as_slice() {
            [] => view.and_text("servers: none runs"),
            servers => view
                .and_table(Server::COLUMNS, servers.iter().map(|server| server.cells().to_vec()).collect::<Vec<_>>()),
        };
        self.problems.iter().fold(view, |view, problem| view.and_text(format!("not looked at: {problem}")))
    }

    fn outcome(&self) -> Outcome {
        let granted = !matches!(self.sudoers.state, State::Differs);
        let well =
            granted && self.clients.iter().all(|client| client.entry.state.is_well()) && self.problems.is_empty();
        if well { Outcome::Ok } else { Outcome::Findings }
    }
}

impl Query for Status {
    type Host = Manager;
    type Answer = Found;
    const NAME: &'static str = "eggs.mcp.status";
    const DOORS: Doors = Doors::People;

    async fn run(self, manager: &Manager, _: &Call) -> Result<Found, Stop> {
        let mut names = self.user;
        let mut own = manager.is_meant(&names);
        if names.is_empty() && rustix::process::geteuid().is_root() {
            names.extend(others::behind_root(&manager.registrar.passwd));
            own = true;
        }
        let users = manager.others(&names)?;
        let sudoers = sudoers::inspect(&grant::place(), &grant::rule(&[])?).await?;
        let mut found = Found { sudoers, clients: Vec::new(), servers: Vec::new(), problems: Vec::new() };
        if own {
            // Root's own clients are nobody's concern while it acts for somebody.
            if users.is_empty() {
                let entries = standings(&manager.registrar, &[Personality::Eggs.toolset()])?;
                found.clients.extend(entries.into_iter().map(|entry| Client { entry, user: None }));
            }
            found.servers.extend(stop::own()?.iter().map(|server| Server::of(&server.record)));
        }
        for user in &users {
            found.add(user).await;
        }
        Ok(found)
    }
}

impl Found {
    /// What that user's own run of it tells.
    async fn add(&mut self, user: &User) {
        #[derive(Deserialize)]
        struct Said {
            clients: Vec<Client>,
            servers: Vec<Server>,
        }
        let words = ["eggs", "mcp", "status"].map(str::to_owned).to_vec();
        let said = ask(user, words).await.and_then(|asked| {
            let said = asked.answer.and_then(|answer| serde_json::from_value::<Said>(answer).ok());
            said.ok_or_else(|| Failure::new(Code::Internal, asked.told))
        });
        match said {
            Ok(said) => {
                let of = || Some(user.name.clone());
                self.clients.extend(said.clients.into_iter().map(|client| Client { user: of(), ..client }));
                self.servers.extend(said.servers.into_iter().map(|server| Server { user: of(), ..server }));
            }
            Err(failure) => self.problems.push(format!("{}: {}", user.name, failure.message)),
        }
    }
}
