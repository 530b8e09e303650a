//! Managing what serves eggs to agents: for people only.

use super::operations;
use crate::{others, registry};
use pintle_cli::{Console, Options};
use pintle_core::{Code, Confirm, Failure, Toolset, change, query};
use pintle_dispatch::StateFolder;
use pintle_register::User;
use std::sync::Arc;

/// What the commands act on.
pub(crate) struct Manager {
    /// What registering acts on, for the user at this end.
    pub(crate) registrar: pintle_register::Host,
    /// Whether somebody can be asked before the system is changed.
    pub(crate) asks: bool,
}

/// The commands. None of them asks before it acts unless it says so itself.
pub(crate) fn toolset(state: Option<&StateFolder>) -> Toolset {
    let asks = Console::of_process(&Options::default()).can_ask();
    let manager = Arc::new(Manager { registrar: registry::host(state), asks });
    let tools = vec![
        change::<operations::disable::Disable>(&manager),
        change::<operations::enable::Enable>(&manager),
        query::<operations::status::Status>(&manager),
        change::<operations::stop::Stop>(&manager),
    ];
    Toolset {
        name: "eggs-mcp",
        server_name: "penguins-eggs",
        summary: "Serve eggs to agents",
        instructions: "",
        confirm: Confirm::Nothing,
        tools,
        resources: None,
        prompts: Vec::new(),
        completions: None,
    }
}

impl Manager {
    /// The users of those names, each once, who are somebody else than the one at this end.
    ///
    /// # Errors
    /// Code `denied` for another user without root's rights, `invalid_argument` for one that is not there.
    pub(crate) fn others(&self, names: &[String]) -> Result<Vec<User>, Failure> {
        let ours = rustix::process::geteuid().as_raw();
        let mut users: Vec<User> = Vec::new();
        for name in names {
            let user = User::named(&self.registrar.passwd, name)?;
            if user.uid != ours && ours != 0 {
                return Err(Failure::new(Code::Denied, format!("what `{name}` runs and has is not this user's"))
                    .hint(format!("run it as `{name}`, or as root")));
            }
            if user.uid != ours && !users.contains(&user) {
                users.push(user);
            }
        }
        Ok(users)
    }

    /// Whether the user at this end is meant beside those.
    pub(crate) fn is_meant(&self, names: &[String]) -> bool {
        let ours = rustix::process::geteuid().as_raw();
        let is_ours = |name: &String| User::named(&self.registrar.passwd, name).is_ok_and(|user| user.uid == ours);
        names.is_empty() || names.iter().any(is_ours)
    }
}

/// Refuses what only root may do.
///
/// # Errors
/// Code `denied`.
pub(crate) fn as_root(command: &str) -> Result<(), Failure> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Failure::new(Code::Denied, format!("`eggs mcp {command}` changes what may run as root, which only root may"))
        .hint(format!("run `sudo pintle eggs mcp {command}`"))
        .hint("`pintle register --toolset eggs` only gives your own clients the entry"))
}

/// Runs this program as that user, on a thread that may wait for it.
///
/// # Errors
/// As [`others::ask_as`].
pub(crate) async fn ask(user: &User, words: Vec<String>) -> Result<others::Asked, Failure> {
    let user = user.clone();
    let asked = move || others::ask_as(&user, &words.iter().map(String::as_str).collect::<Vec<_>>());
    let joined = tokio::task::spawn_blocking(asked).await;
    joined.unwrap_or_else(|error| Err(Failure::new(Code::Internal, error.to_string())))
}
