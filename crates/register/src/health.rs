//! How our entries fare in the files of clients, for `doctor --clients`.

use crate::{
    choose::{Goal, all_of_user, of_user},
    clients::ALL,
    edit,
    host::Host,
    plan, proof,
};
use pintle_core::Failure;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// What was found in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Health {
    /// The client.
    pub client: &'static str,
    /// Its file.
    pub path: String,
    /// Whether all is well.
    pub works: bool,
    /// What is wrong, or how many tools the server of the entry lists.
    pub note: String,
}

/// Looks into every file of the user at this end that is there, and starts what our entries start.
///
/// # Errors
/// Without a home.
pub async fn health(host: &Host) -> Result<Vec<Health>, Failure> {
    let owner = host.owner.clone()?;
    let mut found = Vec::new();
    for client in ALL {
        let usual = of_user(client, &owner).path;
        for goal in all_of_user(client, &owner) {
            let usual = goal.path == usual;
            let path = goal.path.display().to_string();
            let (works, note) = match entries(&goal) {
                Err(failure) => (false, failure.message),
                Ok(entries) => match judge(host, &goal, entries, owner.home(), usual).await {
                    Some(verdict) => verdict,
                    None => continue,
                },
            };
            found.push(Health { client: client.id, path, works, note });
        }
    }
    Ok(found)
}

/// The entries under our usual keys.
fn entries(goal: &Goal) -> Result<Vec<(&'static str, Value)>, Failure> {
    let at = goal.located()?;
    let bytes = at.read()?;
    let text = plan::text_of(&at, bytes.as_deref())?;
    let mut entries = Vec::new();
    for name in ["pintle", "penguins-eggs"] {
        let found = edit::find(text, &goal.spot(name)).map_err(|refusal| plan::refused(&at, &refusal))?;
        entries.extend(found.map(|entry| (name, entry)));
    }
    Ok(entries)
}

/// None when there is nothing to tell of the file.
async fn judge(
    host: &Host,
    goal: &Goal,
    entries: Vec<(&'static str, Value)>,
    home: &Path,
    usual: bool,
) -> Option<(bool, String)> {
    if entries.is_empty() {
        return usual.then(|| (true, "no entry of ours".to_owned()));
    }
    let (mut works, mut notes) = (true, Vec::new());
    for (name, entry) in entries {
        let mut elsewhere = String::new();
        let verdict = match goal.shape.words(&entry) {
            None => Err("the entry starts no program".to_owned()),
            Some(words) if !host.is_ours(&words) => Err("the entry is somebody else's".to_owned()),
            Some(words) => {
                if words.first().is_some_and(|word| Path::new(word) != host.program) {
                    elsewhere = format!(", of another copy: {}", words[0]);
                }
                let names = goal.client.env.names(&entry);
                proof::handshake(&words, &names, home).await.map_err(|failure| failure.message)
            }
        };
        match verdict {
            Ok(tools) => notes.push(format!("`{name}` answers with {tools} tools{elsewhere}")),
            Err(why) => {
                works = false;
                notes.push(format!("`{name}`: {why}"));
            }
        }
    }
    Some((works, notes.join("; ")))
}
