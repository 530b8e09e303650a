//! What came of each client, as people and programs read it.

use pintle_core::{Answer, Code, Exit, Failure, Outcome, Problem, View};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// What came of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// The entry was written.
    Written,
    /// The entry was there already.
    Kept,
    /// The entry would be written.
    WouldWrite,
    /// The entry was taken out.
    Removed,
    /// The entry would be taken out.
    WouldRemove,
    /// There is no entry of ours.
    Absent,
    /// Nothing was changed.
    Failed,
    /// The client is not installed.
    NotInstalled,
}

impl State {
    fn shown(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Kept => "is there already",
            Self::WouldWrite => "would be written",
            Self::Removed => "taken out",
            Self::WouldRemove => "would be taken out",
            Self::Absent => "not there",
            Self::Failed => "failed",
            Self::NotInstalled => "not installed",
        }
    }

    fn is_well(self) -> bool {
        !matches!(self, Self::Failed | Self::NotInstalled)
    }
}

/// One client.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Row {
    /// The client.
    pub(crate) client: String,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// What came of it.
    pub(crate) state: State,
    /// What the client starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) command: Vec<String>,
    /// The change of the file, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// How many tools the server of the written entry lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tools: Option<usize>,
    /// Why nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) failure: Option<Failure>,
}

impl Row {
    pub(crate) fn new(client: &str, path: Option<&Path>, state: State) -> Self {
        Self {
            client: client.to_owned(),
            path: path.map(|path| path.display().to_string()),
            state,
            command: Vec::new(),
            diff: None,
            notes: Vec::new(),
            tools: None,
            problem: None,
            failure: None,
        }
    }

    pub(crate) fn failed(client: &str, path: Option<&Path>, failure: Failure) -> Self {
        let state = if failure.code == Code::Unavailable { State::NotInstalled } else { State::Failed };
        let problem = Some(failure.message.clone());
        Self { problem, failure: Some(failure), ..Self::new(client, path, state) }
    }
}

/// All of them.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Number of the act, for `register undo`; absent when nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) act: Option<u64>,
    /// Each client.
    pub(crate) clients: Vec<Row>,
    /// What it comes to when there is no client.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) nobody: Option<Failure>,
}

impl Report {
    fn failures(&self) -> impl Iterator<Item = (&Row, &Failure)> {
        self.clients.iter().filter_map(|row| Some((row, row.failure.as_ref()?)))
    }
}

impl Answer for Report {
    fn view(&self) -> View {
        if self.clients.is_empty() && self.nobody.is_none() {
            return View::text("nothing to do: no client has an entry of ours");
        }
        let mut view = View::default();
        let mut shown: Vec<&[String]> = Vec::new();
        for row in self.clients.iter().filter(|row| !row.command.is_empty()) {
            if !shown.contains(&row.command.as_slice()) {
                shown.push(&row.command);
                view = view.and_text(format!("command: {}", row.command.join(" ")));
            }
        }
        if !self.clients.is_empty() {
            let rows = self.clients.iter().map(|row| {
                let tools = row.tools.map(|tools| format!(", answers with {tools} tools")).unwrap_or_default();
                let path = row.path.clone().unwrap_or_default();
                vec![row.client.clone(), format!("{}{tools}", row.state.shown()), path]
            });
            view = view.and_table(["CLIENT", "ENTRY", "FILE"], rows.collect::<Vec<_>>());
        }
        for row in &self.clients {
            for note in &row.notes {
                view = view.and_text(format!("{}: {note}", row.client));
            }
        }
        for diff in self.clients.iter().filter_map(|row| row.diff.as_ref()) {
            view = view.and_text(diff.clone());
        }
        match self.act {
            Some(act) => view.and_text(format!("act {act}; `pintle register undo {act}` takes it back")),
            None => view,
        }
    }

    fn outcome(&self) -> Outcome {
        if self.nobody.is_some() {
            return Outcome::Failed;
        }
        let well = self.clients.iter().filter(|row| row.state.is_well()).count();
        match well {
            _ if well == self.clients.len() => Outcome::Ok,
            0 => Outcome::Failed,
            _ => Outcome::Partial,
        }
    }

    fn failure(&self) -> Option<Failure> {
        if let Some(failure) = &self.nobody {
            return Some(failure.clone());
        }
        let failures: Vec<(&Row, &Failure)> = self.failures().collect();
        let (_, first) = failures.first()?;
        if failures.len() == 1 && self.clients.len() == 1 {
            let mut failure = (*first).clone();
            // What a client's file is like is no usage error and no policy: the exit code is 1.
            if !matches!(failure.code.exit(), Exit::Failed | Exit::Unavailable) {
                failure.code = Code::Invalid;
            }
            return Some(failure);
        }
        let absent = failures.iter().all(|(_, failure)| failure.code == Code::Unavailable);
        let code = if absent && failures.len() == self.clients.len() { Code::Unavailable } else { Code::Invalid };
        let problems = failures.iter().map(|(row, failure)| {
            let problem = Problem::new(format!("{}: {}", row.client, failure.message));
            let hint = failure.hints.first().or_else(|| failure.problems.first()?.hint.as_ref());
            match hint {
                Some(hint) => problem.hint(hint.clone()),
                None => problem,
            }
        });
        let count = failures.len();
        let message = format!("{count} of {} clients were left as they were", self.clients.len());
        Some(Failure::new(code, message).problems(problems.collect::<Vec<_>>()))
    }
}
