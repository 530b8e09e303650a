//! How an entry stands in the file of each client, told without starting anything.

use crate::{
    choose::{Goal, all_of_user, has_folder, has_program, of_user},
    clients::{ALL, Client},
    edit::{self, Spot},
    host::Host,
    plan,
};
use pintle_core::{Digest, Failure, Foreign};
use pintle_process::find_program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

/// How an entry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It starts this program with the words that `register` writes.
    Enabled,
    /// There is no entry.
    Disabled,
    /// The file does not parse.
    Malformed,
    /// The file cannot be read, or is not where it may be written.
    Unreadable,
    /// There is an entry where the client does not look for one.
    WrongKey,
    /// What it starts is not there.
    MissingCommand,
    /// What it starts cannot be run.
    NotExecutable,
    /// It starts a program of the same name that is not this one, or gives it other words.
    Altered,
    /// It starts something else.
    Foreign,
}

impl Standing {
    /// Whether there is nothing to put right.
    #[must_use]
    pub fn is_well(self) -> bool {
        matches!(self, Self::Enabled | Self::Disabled)
    }

    /// In words.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Disabled => "disabled",
            Self::Malformed => "malformed file",
            Self::Unreadable => "unreadable file",
            Self::WrongKey => "under the wrong key",
            Self::MissingCommand => "command missing",
            Self::NotExecutable => "command not executable",
            Self::Altered => "altered",
            Self::Foreign => "somebody else's entry",
        }
    }
}

/// An entry in the file of one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// The client.
    pub client: String,
    /// Its file.
    pub path: String,
    /// How the entry stands.
    pub state: Standing,
    /// What it starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What a person should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The entry for these toolsets in every file of every client that is here, of the user at this end.
///
/// # Errors
/// Without a home.
pub fn standings(host: &Host, toolsets: &[&str]) -> Result<Vec<Entry>, Failure> {
    let owner = host.owner.clone()?;
    let name = crate::host::key(None, toolsets)?;
    let mut found = Vec::new();
    for client in ALL {
        let mut goals = all_of_user(client, &owner);
        if goals.is_empty() && (has_folder(client, &owner) || has_program(client, &owner)) {
            goals.push(of_user(client, &owner));
        }
        let usual = of_user(client, &owner).path;
        for goal in goals {
            let verdict = judge(host, &goal, &name, toolsets);
            // Of the files that a client had in former times only those tell anything that have an entry.
            if verdict.state == Standing::Disabled && goal.path != usual {
                continue;
            }
            let path = goal.path.display().to_string();
            let Verdict { state, command, note } = verdict;
            let command = command.iter().map(|word| Foreign::one_line(word)).collect();
            found.push(Entry { client: client.id.to_owned(), path, state, command, note });
        }
    }
    Ok(found)
}

struct Verdict {
    state: Standing,
    command: Vec<String>,
    note: Option<String>,
}

impl Verdict {
    fn new(state: Standing, note: impl Into<Option<String>>) -> Self {
        Self { state, command: Vec::new(), note: note.into() }
    }
}

fn judge(host: &Host, goal: &Goal, name: &str, toolsets: &[&str]) -> Verdict {
    let read = goal.located().and_then(|at| Ok((at.read()?, at)));
    let (bytes, at) = match read {
        Ok((Some(bytes), at)) => (bytes, at),
        Ok((None, _)) => return Verdict::new(Standing::Disabled, "there is no file yet".to_owned()),
        Err(failure) => return Verdict::new(Standing::Unreadable, failure.message),
    };
    let malformed = |failure: Failure| Verdict::new(Standing::Malformed, failure.message);
    let text = match plan::text_of(&at, Some(&bytes)) {
        Ok(text) => text,
        Err(failure) => return malformed(failure),
    };
    match edit::find(text, &goal.spot(name)) {
        Err(refusal) => malformed(plan::refused(&at, &refusal)),
        Ok(Some(entry)) => judge_entry(host, goal, &entry, toolsets),
        Ok(None) => match misplaced(goal, text, name) {
            Some(key) => {
                let looks = goal.client.key.join(".");
                let told = format!("it stands below `{key}`; {} looks below `{looks}`", goal.client.name);
                Verdict::new(Standing::WrongKey, told)
            }
            None => Verdict::new(Standing::Disabled, None),
        },
    }
}

/// The key of some other client below which the entry stands.
fn misplaced(goal: &Goal, text: &str, name: &str) -> Option<String> {
    let mut keys: Vec<&'static [&'static str]> = Vec::new();
    for Client { key, .. } in ALL {
        if *key != goal.client.key && !keys.contains(key) {
            keys.push(key);
        }
    }
    let is_there = |container: &[&str]| {
        let spot = Spot { format: goal.format(), container, name, listed: false };
        matches!(edit::find(text, &spot), Ok(Some(_)))
    };
    keys.into_iter().find(|key| is_there(key)).map(|key| key.join("."))
}

fn judge_entry(host: &Host, goal: &Goal, entry: &Value, toolsets: &[&str]) -> Verdict {
    let Some(words) = goal.shape.words(entry) else {
        return Verdict::new(Standing::Foreign, "it starts no program".to_owned());
    };
    let (state, note) = judge_words(host, goal, &words, toolsets);
    Verdict { state, command: words, note }
}

fn judge_words(host: &Host, goal: &Goal, words: &[String], toolsets: &[&str]) -> (Standing, Option<String>) {
    if !host.is_ours(words) {
        return (Standing::Foreign, None);
    }
    let typed = words.first().map(Path::new).unwrap_or(Path::new(""));
    let path = host.owner.as_ref().ok().and_then(|owner| owner.path());
    let program = if typed.is_absolute() { Ok(typed.to_owned()) } else { find_program(typed, path, Path::new("/")) };
    let found = program.as_ref().ok().map(fs::metadata);
    let metadata = match found {
        Some(Ok(metadata)) => metadata,
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
            return (Standing::MissingCommand, Some(Failure::io("looking at it", &error).message));
        }
        _ => return (Standing::MissingCommand, Some(format!("`{}` is not there", typed.display()))),
    };
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return (Standing::NotExecutable, Some(format!("`{}` cannot be run", typed.display())));
    }
    let wanted = host.words(toolsets, goal.client.strict_names);
    if words[1..] != wanted[1..] {
        return (Standing::Altered, Some(format!("`register` would write `{}`", wanted.join(" "))));
    }
    if program.is_ok_and(|program| program == host.program || is_same(&program, &host.program)) {
        return (Standing::Enabled, None);
    }
    let owner = host.passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(metadata.uid())).then(|| name.to_owned())
    });
    let owner = owner.unwrap_or_else(|| metadata.uid().to_string());
    (
        Standing::Altered,
        Some(format!("another program than this one, `{}`; it belongs to {owner}", host.program.display())),
    )
}

/// Whether two paths lead to one file, or to two with the same bytes.
fn is_same(a: &Path, b: &Path) -> bool {
    let metadata = |path: &Path| fs::metadata(path).ok();
    let (Some(first), Some(second)) = (metadata(a), metadata(b)) else { return false };
    if (first.dev(), first.ino()) == (second.dev(), second.ino()) {
        return true;
    }
    let digest = |path: &Path| fs::read(path).ok().map(Digest::of);
    first.len() == second.len() && digest(a).is_some_and(|digest_a| digest(b) == Some(digest_a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{host::Offered, owner::Owner, writer::Writer};

    fn host(home: &Path) -> Host {
        let program = home.join("bin/pintle");
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Host {
            program,
            toolsets: vec![Offered { name: "eggs", works: true, usual: true }],
            owner: Ok(Owner::of_record(home.to_owned(), None)),
            passwd: String::new(),
            state: Some(home.join("state")),
            writer: Writer::default(),
        }
    }

    fn write(home: &Path, file: &str, text: &str) {
        fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        fs::write(home.join(file), text.replace("HOME", &home.display().to_string())).unwrap();
    }

    #[test]
    fn eg_059_s_46_every_way_in_which_an_entry_can_stand_is_told_apart() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let host = host(home);
        let args = r#""args": ["eggs", "mcp", "start"]"#;
        let stands = |text: &str| {
            write(home, ".cursor/mcp.json", text);
            let found = standings(&host, &["eggs"]).unwrap();
            assert_eq!((found.len(), found[0].client.as_str()), (1, "cursor"));
            found[0].clone()
        };
        let entry = |command: &str, args: &str| {
            stands(&format!(r#"{{"mcpServers": {{"penguins-eggs": {{"command": "{command}", {args}}}}}}}"#))
        };
        let good = entry("HOME/bin/pintle", args);
        assert_eq!((good.state, good.command.len()), (Standing::Enabled, 4));
        assert_eq!(stands("{}").state, Standing::Disabled);
        assert_eq!(stands(r#"{"mcpServers": {"pintle": {}}}"#).state, Standing::Disabled, "another key of ours");
        let malformed = stands("{\n\"mcpServers\": [}");
        assert_eq!(malformed.state, Standing::Malformed);
        assert!(malformed.note.unwrap().contains("mcp.json:2:"));
        let wrong = stands(&format!(r#"{{"servers": {{"penguins-eggs": {{"command": "HOME/bin/pintle", {args}}}}}}}"#));
        assert_eq!(wrong.state, Standing::WrongKey);
        assert!(wrong.note.unwrap().contains("below `servers`; Cursor looks below `mcpServers`"));
        assert_eq!(entry("HOME/gone/pintle", args).state, Standing::MissingCommand);
        write(home, "plain/pintle", "");
        assert_eq!(entry("HOME/plain/pintle", args).state, Standing::NotExecutable);
        assert_eq!(entry("HOME/bin", args).state, Standing::Foreign);
        assert_eq!(entry("/usr/bin/eggs", r#""args": ["mcp", "start"]"#).state, Standing::Foreign);
        assert_eq!(stands(r#"{"mcpServers": {"penguins-eggs": {"url": "http://x"}}}"#).state, Standing::Foreign);
        let altered = entry("HOME/bin/pintle", r#""args": ["eggs", "mcp", "start", "--eggs", "/tmp/x"]"#);
        assert_eq!(altered.state, Standing::Altered);
        write(home, "evil/pintle", "#!/bin/sh\nother\n");
        fs::set_permissions(home.join("evil/pintle"), fs::Permissions::from_mode(0o755)).unwrap();
        let evil = entry("HOME/evil/pintle", args);
        assert_eq!(evil.state, Standing::Altered);
        assert!(evil.note.unwrap().contains("another program"));
        fs::copy(home.join("bin/pintle"), home.join("evil/pintle")).unwrap();
        assert_eq!(entry("HOME/evil/pintle", args).state, Standing::Enabled, "a copy with the same bytes");
    }

    #[test]
    fn eg_059_a_client_without_a_file_and_a_file_out_of_reach_are_told() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path();
        let host = host(home);
        fs::create_dir_all(home.join(".junie")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", home.join(".cursor")).unwrap();
        fs::create_dir_all(home.join(".kiro/settings/mcp.json")).unwrap();
        let found = standings(&host, &["eggs"]).unwrap();
        let state = |client: &str| found.iter().find(|entry| entry.client == client).map(|entry| entry.state);
        assert_eq!(state("junie"), Some(Standing::Disabled));
        assert_eq!(state("kiro"), Some(Standing::Unreadable));
        assert_eq!(state("zed"), None, "it is not here");
    }
}
