//! `eggs mcp enable`

use crate::{
    eggs::{
        grant,
        journal::{Journal, Touched},
        manager::{Manager, as_root},
        report::{self, OfUser, Report, State, Step},
    },
    others,
};
use pintle_core::{Call, Change, Confirm, Digest, Doors, Effect, Failure, Lane, Permit, Prepared, Scope, Stop};
use pintle_pack::sudoers::{self, HELPER, Rule};
use pintle_register::{User, check_clients};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{path::PathBuf, time::Duration};

/// Let agents of a user drive eggs: the rule for sudo, the helper that it names, and an entry in that user's MCP clients.
///
/// Needs root. The user is the one behind root, or whoever is named. Nothing but the verbs of eggs is granted, each through
/// a helper that checks every argument. `eggs mcp disable` takes all of it back.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-cli" = {"command": "mcp enable"}))]
pub(crate) struct Enable {
    /// For this user, in place of the one behind root
    user: Vec<String>,
    /// Only these clients; every one that is found when absent
    client: Vec<String>,
    /// Only show what would be done
    dry_run: bool,
    /// Only print the rule that penguins-eggs documents, which makes every account root; it is never installed
    compat_rule: bool,
    /// Do not start what was written to see whether it answers
    no_verify: bool,
    /// Replace an entry of somebody else under our key
    force: bool,
}

/// What is about to be done.
pub(crate) enum Ready {
    /// Only a text.
    Compat(String),
    All(Box<All>),
}

/// All of it.
pub(crate) struct All {
    users: Vec<User>,
    rule: Option<Rule>,
    /// Users on record who were granted it and are no users any more.
    gone: Vec<String>,
    helper: Option<PathBuf>,
    touched: Touched,
    /// Words for each user's own `register`.
    words: Vec<String>,
    /// What that would do.
    tried: Vec<OfUser>,
    dry_run: bool,
}

/// One at a time: rule, helper and record are one each.
pub(crate) const LANE: &str = "eggs-mcp";

/// Programs that the document's rule names.
const DOCUMENTED: [&str; 4] = ["/usr/bin/eggs", "/usr/local/bin/eggs", "/usr/bin/coa", "/usr/local/bin/coa"];

impl Enable {
    fn words(&self) -> Vec<String> {
        let mut words = ["register", "--toolset", "eggs"].map(str::to_owned).to_vec();
        words.extend(self.client.iter().flat_map(|client| ["--client".to_owned(), client.clone()]));
        words.extend(self.no_verify.then(|| "--no-verify".to_owned()));
        words.extend(self.force.then(|| "--force".to_owned()));
        words
    }

    async fn prepare(self, manager: &Manager) -> Result<Prepared<Ready>, Failure> {
        if self.compat_rule {
            let text = sudoers::compat_rule(&DOCUMENTED.map(PathBuf::from))?;
            return Ok(prepared(Ready::Compat(text), Effect::READ, String::new(), manager));
        }
        as_root("enable")?;
        // A word that is wrong gives nobody root's rights.
        check_clients(&self.client)?;
        let users = self.users(manager)?;
        let words = self.words();
        let mut touched = Journal::default().read()?;
        let names = |users: &mut dyn Iterator<Item = &User>| users.map(|user| user.name.clone()).collect::<Vec<_>>();
        let all = names(&mut users.iter());
        // Root needs no grant.
        touched.add(&all, &names(&mut users.iter().filter(|user| user.uid != 0)));
        // Whoever gets the name of somebody who is gone must not get the rights with it, and sudo's rule names no nobody.
        let is_gone = |name: &mut String| User::named(&manager.registrar.passwd, name).is_err();
        let gone: Vec<String> = touched.granted.extract_if(.., is_gone).collect();
        let rule = match touched.granted.as_slice() {
            [] => None,
            granted => Some(grant::rule(granted)?),
        };
        let helper = if rule.is_some() { grant::helper()? } else { None };
        touched.helper |= helper.is_some();
        let mut tried = Vec::new();
        for user in &users {
            tried.push(OfUser::run(user, &[words.as_slice(), &["--dry-run".to_owned()]].concat()).await);
        }
        let text = rule.as_ref().map(Rule::sudoers).transpose()?.unwrap_or_default();
        let lines = tried.iter().flat_map(OfUser::lines).map(|line| line + "\n");
        let preview = text + &lines.collect::<String>();
        let effect = if self.dry_run { Effect::READ } else { Effect::WRITE };
        let all = All { users, rule, gone, helper, touched, words, tried, dry_run: self.dry_run };
        Ok(prepared(Ready::All(Box::new(all)), effect, preview, manager))
    }

    fn users(&self, manager: &Manager) -> Result<Vec<User>, Failure> {
        let passwd = &manager.registrar.passwd;
        let mut names = self.user.clone();
        if names.is_empty() {
            names.extend(others::behind_root(passwd));
        }
        if names.is_empty() {
            return Err(Failure::invalid_argument("user", "nobody is behind root here, and nobody was named")
                .hint("name the user whose agents are to drive eggs: `--user NAME`"));
        }
        let mut users: Vec<User> = Vec::new();
        for name in &names {
            let user = User::named(passwd, name)?;
            if !users.contains(&user) {
                users.push(user);
            }
        }
        Ok(users)
    }
}

fn prepared(ready: Ready, effect: Effect, preview: String, manager: &Manager) -> Prepared<Ready> {
    let changes = effect.changes();
    Prepared {
        effect,
        scopes: if changes { scopes() } else { Vec::new() },
        lanes: if changes { vec![Lane::new(LANE)] } else { Vec::new() },
        seen: Digest::of(&preview),
        preview,
        confirm: (changes && manager.asks).then_some(Confirm::Plan),
        ready,
    }
}

/// What is the system's; the files of users are changed by their own processes.
pub(crate) fn scopes() -> Vec<Scope> {
    ["/etc/sudoers.d", "/usr/lib/pintle", "/var/lib/pintle"].map(Scope::path).to_vec()
}

async fn commit(all: All, permit: &Permit) -> Result<Report, Failure> {
    let All { users, rule, gone, helper, touched, words, tried, dry_run } = all;
    let about = "could not be enabled";
    let notes: Vec<String> =
        gone.iter().map(|name| format!("{name} is no user any more: nothing is granted to that name")).collect();
    let path = rule.as_ref().map(|rule| format!("/etc/sudoers.d/{}", rule.file())).unwrap_or_default();
    if dry_run {
        let mut report = Report { users: tried, notes, about, ..Report::default() };
        report.rule = rule.as_ref().map(Rule::sudoers).transpose()?;
        report.system.extend(helper.is_some().then(|| Step::new(report::HELPER, HELPER, State::WouldDo)));
        report.system.extend(rule.is_some().then(|| Step::new(report::RULE, path, State::WouldDo)));
        return Ok(report);
    }
    for scope in scopes() {
        permit.check(Effect::WRITE, &scope)?;
    }
    // First of all: whoever is touched can be found again.
    Journal::default().write(&touched)?;
    let place = grant::place();
    let mut report = Report { notes, about, ..Report::default() };
    if let Some(source) = &helper {
        let written = sudoers::install_helper(&place, source).map(|written| written.changed);
        report.system.push(Step::ended(report::HELPER, HELPER.to_owned(), written));
    }
    if let Some(rule) = &rule {
        let written = sudoers::install(&place, rule).await.map(|written| written.changed);
        report.system.push(Step::ended(report::RULE, path, written));
    }
    for user in &users {
        report.users.push(OfUser::run(user, &words).await);
    }
    report.notes.push("`pintle eggs mcp disable`, as root, takes all of it back".to_owned());
    Ok(report)
}

impl Change for Enable {
    type Host = Manager;
    type Ready = Ready;
    type Answer = Report;
    const NAME: &'static str = "eggs.mcp.enable";
    const WORST: Effect = Effect::WRITE.idempotent();
    const DOORS: Doors = Doors::People;
    const DEADLINE: Duration = Duration::from_secs(600);

    async fn prepare(self, manager: &Manager, _: &Call) -> Result<Prepared<Ready>, Stop> {
        Ok(Self::prepare(self, manager).await?)
    }

    async fn commit(_: &Manager, ready: Ready, permit: &Permit, _: &Call) -> Result<Report, Stop> {
        Ok(match ready {
            Ready::Compat(text) => Report { rule: Some(text), ..Report::default() },
            Ready::All(all) => commit(*all, permit).await?,
        })
    }
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Compat(_) => "Compat",
            Self::All(_) => "All",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_core::Code;

    #[test]
    fn eg_062_what_was_asked_for_is_handed_on_to_each_users_own_run() {
        let enable = Enable { client: vec!["zed".into(), "cursor".into()], no_verify: true, ..Enable::default() };
        assert_eq!(enable.words().join(" "), "register --toolset eggs --client zed --client cursor --no-verify");
    }

    #[test]
    fn without_roots_rights_it_says_how() {
        if rustix::process::geteuid().is_root() {
            return assert!(as_root("enable").is_ok());
        }
        let failure = as_root("enable").unwrap_err();
        assert_eq!(failure.code, Code::Denied);
        assert!(failure.hints[0].contains("sudo pintle eggs mcp enable"));
    }
}
