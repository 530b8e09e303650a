//! `eggs mcp disable`

use crate::{
    eggs::{
        grant,
        journal::{Journal, Touched},
        manager::{Manager, as_root},
        operations::enable::{LANE, scopes},
        report::{self, OfUser, Report, State, Step},
    },
    others,
};
use pintle_core::{Call, Change, Confirm, Digest, Doors, Effect, Failure, Lane, Permit, Prepared, Stop};
use pintle_pack::sudoers::{self, HELPER};
use pintle_register::User;
use schemars::JsonSchema;
use serde::Deserialize;
use std::{path::Path, time::Duration};

/// Take back what `eggs mcp enable` did, for every user that it touched: the rule for sudo, the helper, the entries.
///
/// Needs root. A file of a client that is as we left it becomes exactly what it was. What cannot be undone does not keep
/// the rest from it, and is listed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-cli" = {"command": "mcp disable"}))]
pub(crate) struct Disable {
    /// Of this user as well, where it is not on record
    user: Vec<String>,
    /// Only show what would be done
    dry_run: bool,
}

/// What is about to be undone.
#[derive(Debug)]
pub(crate) struct Ready {
    users: Vec<User>,
    /// Users on record who are no users any more.
    gone: Vec<String>,
    /// What stands on record, or why nobody knows.
    record: Result<Touched, Failure>,
    /// The name of the rule's file.
    file: String,
    tried: Vec<OfUser>,
    /// Whether there is anything to undo.
    nothing: bool,
    dry_run: bool,
}

fn words(dry_run: bool) -> Vec<String> {
    let words = ["unregister", "--toolset", "eggs"].into_iter().chain(dry_run.then_some("--dry-run"));
    words.map(str::to_owned).collect()
}

fn rule_path(file: &str) -> String {
    format!("/etc/sudoers.d/{file}")
}

fn is_there(path: &str) -> bool {
    // A link counts, whatever it leads to.
    Path::new(path).symlink_metadata().is_ok()
}

impl Disable {
    async fn prepare(self, manager: &Manager) -> Result<Prepared<Ready>, Failure> {
        as_root("disable")?;
        let passwd = &manager.registrar.passwd;
        // A record that is broken does not keep the rights where they are.
        let record = Journal::default().read();
        let touched = record.as_ref().ok().cloned().unwrap_or_default();
        let mut users: Vec<User> = Vec::new();
        for name in &self.user {
            users.push(User::named(passwd, name)?);
        }
        users.extend(others::behind_root(passwd).and_then(|name| User::named(passwd, &name).ok()));
        let mut gone = Vec::new();
        for name in &touched.users {
            match User::named(passwd, name) {
                Ok(user) => users.push(user),
                Err(_) => gone.push(name.clone()),
            }
        }
        users.sort_by(|a, b| a.name.cmp(&b.name));
        users.dedup();
        let mut tried = Vec::new();
        for user in &users {
            tried.push(OfUser::run(user, &words(true)).await);
        }
        let file = grant::file();
        let rule = rule_path(&file);
        let system = [rule.as_str()].into_iter().chain(touched.helper.then_some(HELPER)).filter(|path| is_there(path));
        let system = system.map(|path| format!("remove {path}\n")).collect::<Vec<_>>();
        let idle = tried.iter().all(|user| user.lines().is_empty());
        let nothing = system.is_empty() && matches!(&record, Ok(touched) if *touched == Touched::default()) && idle;
        let lines = tried.iter().flat_map(OfUser::lines).map(|line| line + "\n");
        let preview: String = system.into_iter().chain(lines).collect();
        let effect = if self.dry_run || nothing { Effect::READ } else { Effect::WRITE };
        let changes = effect.changes();
        Ok(Prepared {
            effect,
            scopes: if changes { scopes() } else { Vec::new() },
            lanes: if changes { vec![Lane::new(LANE)] } else { Vec::new() },
            seen: Digest::of(&preview),
            preview,
            confirm: (changes && manager.asks).then_some(Confirm::Plan),
            ready: Ready { users, gone, record, file, tried, nothing, dry_run: self.dry_run },
        })
    }
}

async fn commit(ready: Ready, permit: &Permit) -> Result<Report, Failure> {
    let Ready { users, gone, record, file, tried, nothing, dry_run } = ready;
    let mut report = Report { about: "could not be undone", ..Report::default() };
    report.notes.extend(gone.iter().map(|name| format!("{name} is no user any more: nothing was undone there")));
    if nothing {
        report.notes.push("nothing is enabled".to_owned());
        return Ok(report);
    }
    let rule = rule_path(&file);
    let is_known = record.is_ok();
    let mut touched = match record {
        Ok(touched) => touched,
        Err(failure) => {
            report.system.push(Step::ended(report::RECORD, Journal::PATH.to_owned(), Err(failure)));
            Touched::default()
        }
    };
    if dry_run {
        report.users = tried;
        let system = [(report::RULE, rule.as_str(), true), (report::HELPER, HELPER, touched.helper)];
        let there = system.into_iter().filter(|(_, path, ours)| *ours && is_there(path));
        report.system.extend(there.map(|(what, path, _)| Step::new(what, path, State::WouldDo)));
        return Ok(report);
    }
    for scope in scopes() {
        permit.check(Effect::WRITE, &scope)?;
    }
    let place = grant::place();
    // The grant first: the most dangerous part goes even if nothing else does.
    let removed = sudoers::remove(&place, &file).map(|removed| removed.existed);
    if removed.is_ok() {
        touched.granted.clear();
    }
    report.system.push(Step::ended(report::RULE, rule, removed));
    if touched.helper {
        let removed = sudoers::remove_helper(&place).map(|removed| removed.existed);
        touched.helper = removed.is_err();
        report.system.push(Step::ended(report::HELPER, HELPER.to_owned(), removed));
    } else if is_there(HELPER) {
        let came = match is_known {
            true => "it came with a package, and is no use without the rule",
            false => "nobody knows whether a package brought it; it is no use without the rule",
        };
        report.system.push(Step { note: Some(came.to_owned()), ..Step::new(report::HELPER, HELPER, State::Kept) });
    }
    for user in &users {
        report.users.push(OfUser::run(user, &words(false)).await);
    }
    let left = |name: &String| report.users.iter().any(|user| user.user == *name && !user.is_well());
    touched.users.retain(left);
    // What cannot be read may still tell a person whose clients have an entry.
    if is_known {
        Journal::default().write(&touched)?;
    }
    Ok(report)
}

impl Change for Disable {
    type Host = Manager;
    type Ready = Ready;
    type Answer = Report;
    const NAME: &'static str = "eggs.mcp.disable";
    const WORST: Effect = Effect::WRITE.idempotent();
    const DOORS: Doors = Doors::People;
    const DEADLINE: Duration = Duration::from_secs(600);

    async fn prepare(self, manager: &Manager, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(Self::prepare(self, manager).await?)
    }

    async fn commit(_: &Manager, ready: Ready, permit: &Permit, _: &Call) -> Result<Report, Stop> {
        Ok(commit(ready, permit).await?)
    }
}
