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
    touched: Touched,
    file: String,
    tried: Vec<OfUser>,
    dry_run: bool,
}

fn words(dry_run: bool) -> Vec<String> {
    let words = ["unregister", "--toolset", "eggs"].into_iter().chain(dry_run.then_some("--dry-run"));
    words.map(str::to_owned).collect()
}

fn is_there(path: &str) -> bool {
    // A link counts, whatever it leads to.
    Path::new(path).symlink_metadata().is_ok()
}

impl Disable {
    async fn prepare(self, manager: &Manager) -> Result<Prepared<Ready>, Failure> {
        as_root("disable")?;
        let passwd = &manager.registrar.passwd;
        let touched = Journal::default().read()?;
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
        let file = format!("/etc/sudoers.d/{}", grant::rule(&[])?.file());
        let system = [file.as_str()].into_iter().chain(touched.helper.then_some(HELPER)).filter(|path| is_there(path));
        let system = system.map(|path| format!("remove {path}\n")).collect::<Vec<_>>();
        let nothing = system.is_empty()
            && touched == Touched::default()
            && tried.iter().all(|user| user.lines().next().is_none());
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
            ready: Ready { users, gone, touched, file, tried, dry_run: self.dry_run },
        })
    }
}

async fn commit(ready: Ready, permit: &Permit) -> Result<Report, Failure> {
    let Ready { users, gone, mut touched, file, tried, dry_run } = ready;
    let mut report = Report { about: "could not be undone", ..Report::default() };
    report.notes.extend(gone.iter().map(|name| format!("{name} is no user any more: nothing was undone there")));
    let system = |path: &str| is_there(path);
    let idle =
        !system(&file) && !(touched.helper && system(HELPER)) && tried.iter().all(|user| user.lines().next().is_none());
    if idle && touched == Touched::default() {
        report.notes.push("nothing is enabled".to_owned());
        return Ok(report);
    }
    if dry_run {
        report.users = tried;
        report.system.extend(system(&file).then(|| Step::new(report::RULE, file.clone(), State::WouldDo)));
        report
            .system
            .extend((touched.helper && system(HELPER)).then(|| Step::new(report::HELPER, HELPER, State::WouldDo)));
        return Ok(report);
    }
    for scope in scopes() {
        permit.check(Effect::WRITE, &scope)?;
    }
    let place = grant::place();
    // The grant first: the most dangerous part goes even if nothing else does.
    let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let removed = sudoers::remove(&place, &name).map(|removed| removed.existed);
    if removed.is_ok() {
        touched.granted.clear();
    }
    report.system.push(Step::ended(report::RULE, file, removed));
    if touched.helper {
        let removed = sudoers::remove_helper(&place).map(|removed| removed.existed);
        touched.helper = removed.is_err();
        report.system.push(Step::ended(report::HELPER, HELPER.to_owned(), removed));
    } else if is_there(HELPER) {
        let came = "it came with a package, and is no use without the rule".to_owned();
        report.system.push(Step { note: Some(came), ..Step::new(report::HELPER, HELPER, State::Kept) });
    }
    for user in &users {
        report.users.push(OfUser::run(user, &words(false)).await);
    }
    let left = |name: &String| report.users.iter().any(|user| user.user == *name && !user.is_well());
    touched.users.retain(left);
    Journal::default().write(&touched)?;
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
