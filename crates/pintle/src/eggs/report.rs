//! What came of `enable` and `disable`: the system's part, and each user's clients.

use super::manager::ask;
use pintle_core::{Answer, Code, Failure, Outcome, Problem, View};
use pintle_register::User;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// It was done.
    Done,
    /// It was so already.
    Kept,
    /// It would be done.
    WouldDo,
    /// It failed.
    Failed,
}

/// What the helper is called in a report.
pub(crate) const HELPER: &str = "helper";
/// What the rule is called in a report.
pub(crate) const RULE: &str = "sudoers";
/// What the record of whom we touched is called in a report.
pub(crate) const RECORD: &str = "record";

/// A file of the system.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Step {
    /// `helper`, `sudoers` or `record`.
    pub(crate) what: &'static str,
    /// Its path.
    pub(crate) path: String,
    /// What came of it.
    pub(crate) state: State,
    /// Why it failed, or what a person should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hints: Vec<String>,
}

impl Step {
    pub(crate) fn new(what: &'static str, path: impl Into<String>, state: State) -> Self {
        Self { what, path: path.into(), state, note: None, hints: Vec::new() }
    }

    /// From whether something was changed.
    pub(crate) fn ended(what: &'static str, path: String, changed: Result<bool, Failure>) -> Self {
        match changed {
            Ok(true) => Self::new(what, path, State::Done),
            Ok(false) => Self::new(what, path, State::Kept),
            Err(failure) => Self {
                note: Some(failure.message.clone()),
                hints: failure.hints.clone(),
                ..Self::new(what, path, State::Failed)
            },
        }
    }
}

/// A client of a user, as `register` and `unregister` tell it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Client {
    /// The client.
    client: String,
    /// Its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    /// What came of it, in the words of `register`.
    state: String,
    /// What the client starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    /// The change of the file, as a unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Why nothing was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl Client {
    fn is_well(&self) -> bool {
        !matches!(self.state.as_str(), "failed" | "not_installed")
    }
}

/// A user with its clients.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct OfUser {
    /// The name.
    pub(crate) user: String,
    /// Each client.
    pub(crate) clients: Vec<Client>,
    /// Why there is nothing to tell of clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
}

impl OfUser {
    /// Runs `register` or `unregister` with these words as that user.
    pub(crate) async fn run(user: &User, words: &[String]) -> Self {
        #[derive(Deserialize)]
        struct Said {
            clients: Vec<Client>,
        }
        let words = [words, &["--user".to_owned(), user.name.clone(), "--yes".to_owned()]].concat();
        let mut of_user = Self { user: user.name.clone(), clients: Vec::new(), problem: None };
        match ask(user, words).await {
            Err(failure) => of_user.problem = Some(failure.message),
            Ok(asked) => {
                let said = asked.answer.and_then(|answer| serde_json::from_value::<Said>(answer).ok());
                of_user.clients = said.map(|said| said.clients).unwrap_or_default();
                // Where each client tells its own part the sum of it is not repeated.
                if !asked.ok && of_user.clients.iter().all(Client::is_well) {
                    of_user.problem = Some(asked.told.lines().next().unwrap_or("it failed without a word").to_owned());
                }
            }
        }
        of_user
    }

    fn failures(&self) -> Vec<String> {
        let of = |client: &Client| {
            let why = client.problem.as_ref().unwrap_or(&client.state);
            format!("{}: {}: {why}", self.user, client.client)
        };
        let clients = self.clients.iter().filter(|client| !client.is_well()).map(of);
        clients.chain(self.problem.iter().map(|problem| format!("{}: {problem}", self.user))).collect()
    }

    /// Whether all is well.
    pub(crate) fn is_well(&self) -> bool {
        self.problem.is_none() && self.clients.iter().all(Client::is_well)
    }

    /// What would be or was done to which file, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |client: &Client| {
            let path = client.path.as_deref().unwrap_or_default();
            format!("{}: {}: {} {path}", self.user, client.client, client.state.replace('_', " "))
        };
        let problem = self.problem.iter().map(|problem| format!("{}: {problem}", self.user));
        self.clients.iter().map(line).chain(problem).collect()
    }
}

/// All of it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// The system's part.
    pub(crate) system: Vec<Step>,
    /// Each user's part.
    pub(crate) users: Vec<OfUser>,
    /// The rule, where it was only asked for or is about to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    /// What a person should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// What failures are about, in the sum of them.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) about: &'static str,
}

impl Report {
    /// What went wrong, each with what to do.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let failed = |step: &Step| {
            let told = format!("{}: {}", step.what, step.note.clone().unwrap_or_default());
            let problem = Problem::new(told);
            match step.hints.first() {
                Some(hint) => problem.hint(hint.clone()),
                None => problem,
            }
        };
        let system = self.system.iter().filter(|step| step.state == State::Failed).map(failed);
        system.chain(self.users.iter().flat_map(|user| user.failures().into_iter().map(Problem::new))).collect()
    }

    fn successes(&self) -> usize {
        // A helper that nobody is granted enables nothing.
        let system = self.system.iter().filter(|step| step.what != HELPER && step.state != State::Failed).count();
        let clients = self.users.iter().flat_map(|user| &user.clients).filter(|client| client.is_well()).count();
        system + clients
    }
}

impl Answer for Report {
    fn view(&self) -> View {
        let mut view = match &self.rule {
            Some(rule) => View::text(rule.trim_end().to_owned()),
            None => View::default(),
        };
        let shown = |state: State| match state {
            State::Done => "done",
            State::Kept => "was so already",
            State::WouldDo => "would be done",
            State::Failed => "failed",
        };
        let system = self.system.iter().map(|step| {
            [step.what, shown(step.state), &step.path, step.note.as_deref().unwrap_or_default()]
                .map(str::to_owned)
                .to_vec()
        });
        let clients = self.users.iter().flat_map(|user| {
            let row = |client: &Client| {
                let path = client.path.clone().unwrap_or_default();
                let state = client.state.replace('_', " ");
                vec![
                    format!("{} of {}", client.client, user.user),
                    state,
                    path,
                    client.problem.clone().unwrap_or_default(),
                ]
            };
            let nobody = user.problem.iter().map(|problem| {
                vec![format!("clients of {}", user.user), "failed".to_owned(), String::new(), problem.clone()]
            });
            user.clients.iter().map(row).chain(nobody).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<String>> = system.chain(clients).collect();
        if !rows.is_empty() {
            view = view.and_table(["WHAT", "STATE", "FILE", "NOTE"], rows);
        }
        for user in &self.users {
            for client in &user.clients {
                view = client
                    .notes
                    .iter()
                    .fold(view, |view, note| view.and_text(format!("{} of {}: {note}", client.client, user.user)));
                view = client.diff.iter().fold(view, |view, diff| view.and_text(diff.clone()));
            }
        }
        self.notes.iter().fold(view, |view, note| view.and_text(note.clone()))
    }

    fn outcome(&self) -> Outcome {
        match (self.problems().is_empty(), self.successes()) {
            (true, _) => Outcome::Ok,
            (false, 0) => Outcome::Failed,
            (false, _) => Outcome::Partial,
        }
    }

    fn failure(&self) -> Option<Failure> {
        let problems = self.problems();
        if problems.is_empty() {
            return None;
        }
        let count = problems.len();
        let what = if count == 1 { "one thing" } else { "several things" };
        Some(Failure::new(Code::Invalid, format!("{what} {}", self.about)).problems(problems))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(state: &str) -> Client {
        let (client, path, state) = ("cursor".to_owned(), None, state.to_owned());
        Client { client, path, state, command: Vec::new(), diff: None, notes: Vec::new(), problem: None }
    }

    #[test]
    fn s_48_all_some_and_nothing_are_told_apart() {
        let report = |steps: &[State], clients: &[&str], problem: Option<&str>| {
            let system = steps.iter().map(|state| Step::new(RULE, "/x", *state)).collect();
            let clients = clients.iter().map(|state| client(state)).collect();
            let user = OfUser { user: "amy".into(), clients, problem: problem.map(str::to_owned) };
            Report { system, users: vec![user], about: "could not be enabled", ..Report::default() }
        };
        assert_eq!(report(&[State::Done, State::Kept], &["written", "kept"], None).outcome(), Outcome::Ok);
        assert_eq!(report(&[State::Done], &[], Some("no client was found here")).outcome(), Outcome::Partial);
        assert_eq!(report(&[State::Failed], &["written"], None).outcome(), Outcome::Partial);
        assert_eq!(report(&[State::Done], &["failed", "written"], None).outcome(), Outcome::Partial);
        let mut useless = report(&[State::Done], &[], Some("no client was found here"));
        useless.system[0].what = HELPER;
        assert_eq!(useless.outcome(), Outcome::Failed, "a helper alone enables nothing");
        let nothing = report(&[State::Failed], &["not_installed"], None);
        assert_eq!(nothing.outcome(), Outcome::Failed);
        let failure = nothing.failure().unwrap();
        assert_eq!((failure.code.exit().code(), failure.problems.len()), (1, 2));
        assert!(failure.problems[1].message.contains("amy: cursor"));
    }
}
