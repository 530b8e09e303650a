//! What is granted now, and how that differs from what we would grant.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use pintle_core::{Code, Digest, Failure};
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{self, MODE, ROOT};
use super::place::{DOAS_RULES, FOLDER, Place};
use super::rule::{HELPER, Rule};
use super::syntax;
use super::user::UserName;

/// Whether there is a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There is none.
    Absent,
    /// It is what we would write.
    Enabled,
    /// There is one, and it is not what we would write.
    Differs,
    /// Only root can see.
    Unreadable,
}

/// A line of the rule, as sudo reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Grant {
    /// Who.
    pub user: String,
    /// As whom.
    pub runs_as: String,
    /// Whether their password is asked for.
    pub password: bool,
    /// What.
    pub commands: Vec<String>,
}

/// The helper's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HelperState {
    /// Where it has to be.
    pub path: PathBuf,
    /// Whether something is there.
    pub present: bool,
    /// SHA-256 of its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Why it must not be granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// All that is known of the grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Installed {
    /// Which file.
    pub path: PathBuf,
    /// Whether it is there.
    pub state: State,
    /// Its permission bits, as `0440`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Numbers of its owner and group, as `0:0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whether `visudo` accepts it; not known without root or `visudo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid: Option<bool>,
    /// Who may do what.
    pub grants: Vec<Grant>,
    /// What is wrong with the file itself.
    pub problems: Vec<String>,
    /// Lines we would not write (`-`) and lines that are missing (`+`), for the users that the file names.
    pub drift: Vec<String>,
    /// What the rule lets them start.
    pub helper: HelperState,
    /// Lines for doas that are not in its rules, where doas is what there is. They are for a person to add.
    pub doas: Vec<String>,
}

/// Looks, and changes nothing. A rule without users is compared for the users that the file names.
///
/// # Errors
/// Code `io` when the system fails in a way that says nothing about the grant.
pub async fn inspect(place: &Place, rule: &Rule) -> Result<Installed, Failure> {
    let mut found = Installed {
        path: place.path(FOLDER).join(rule.file()),
        state: State::Absent,
        mode: None,
        owner: None,
        valid: None,
        grants: Vec::new(),
        problems: Vec::new(),
        drift: Vec::new(),
        helper: helper(place),
        doas: doas(place, rule),
    };
    match found.path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            found.state = State::Unreadable;
            return Ok(found);
        }
        Err(error) => return Err(Failure::io(format!("looking at `{}`", found.path.display()), &error)),
        Ok(metadata) => {
            let mode = metadata.mode() & 0o7777;
            if metadata.is_file() && mode != MODE {
                found.problems.push(format!("its mode is {mode:04o}, not {MODE:04o}"));
            }
            if (metadata.uid(), metadata.gid()) != (ROOT, ROOT) {
                found.problems.push(format!("it belongs to {}:{}, not to root", metadata.uid(), metadata.gid()));
            }
            found.mode = Some(format!("{mode:04o}"));
            found.owner = Some(format!("{}:{}", metadata.uid(), metadata.gid()));
        }
    }
    found.state = State::Differs;
    match text(&found.path) {
        Ok(text) => read(place, rule, &mut found, &text).await?,
        Err(failure) if failure.code == Code::Io => found.state = State::Unreadable,
        Err(failure) => found.problems.push(failure.message),
    }
    Ok(found)
}

/// Whether sudo would read it, whom it names, and what is different.
async fn read(place: &Place, rule: &Rule, found: &mut Installed, text: &str) -> Result<(), Failure> {
    match syntax::check_text(place, text).await {
        Ok(()) => found.valid = Some(true),
        Err(failure) if failure.code == Code::Invalid => {
            found.valid = Some(false);
            found.problems.push(failure.message);
        }
        // Without visudo nobody can say.
        Err(_) => {}
    }
    if let Err(failure) = syntax::includes_folder(place) {
        found.problems.push(failure.message);
    }
    let lines = joined(text);
    found.grants = lines.iter().filter_map(|line| grant(line)).collect();
    let users = rule.user_names();
    let wanted = if users.is_empty() {
        let mut named: Vec<String> = found.grants.iter().map(|grant| grant.user.clone()).collect();
        named.retain(|name| UserName::parse(name).is_ok());
        rule.for_users(&named)?
    } else {
        rule.clone()
    };
    let wanted = joined(&wanted.sudoers()?);
    let less = lines.iter().filter(|line| !wanted.contains(line)).map(|line| format!("-{line}"));
    let more = wanted.iter().filter(|line| !lines.contains(line)).map(|line| format!("+{line}"));
    found.drift = less.chain(more).collect();
    if found.drift.is_empty() && found.problems.is_empty() && !found.grants.is_empty() {
        found.state = State::Enabled;
    }
    Ok(())
}

fn text(path: &std::path::Path) -> Result<String, Failure> {
    match change::current(path)? {
        Some(old) => Ok(String::from_utf8_lossy(old.bytes()).into_owned()),
        None => Err(Failure::new(Code::NotFound, format!("`{}` has just been removed", path.display()))),
    }
}

/// Lines that sudo reads, those that go on joined to one.
fn joined(text: &str) -> Vec<String> {
    let whole = text.replace("\\\n", " ");
    let lines = whole.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    // A number sign begins a comment, but for includes and for users given by number.
    let comment = |line: &str| {
        line.strip_prefix('#')
            .is_some_and(|rest| !rest.starts_with("include") && !rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    lines.filter(|line| !line.is_empty() && !comment(line)).collect()
}

/// A line of the shape `USER HOST=(RUNAS) TAG: COMMAND, …`; none for anything else, which then shows as drift.
fn grant(line: &str) -> Option<Grant> {
    let (user, rest) = line.split_once(' ')?;
    let (_, rest) = rest.split_once('=')?;
    let (runs_as, mut rest) = match rest.trim_start().strip_prefix('(') {
        Some(rest) => rest.split_once(')')?,
        None => ("root", rest),
    };
    let mut password = true;
    while let Some((tag, after)) = rest.split_once(':') {
        let tag = tag.trim();
        if tag.is_empty() || !tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
            break;
        }
        password = if tag == "NOPASSWD" { false } else { password || tag == "PASSWD" };
        rest = after;
    }
    let mut commands = vec![String::new()];
    let mut letters = rest.trim().chars();
    while let Some(letter) = letters.next() {
        match (letter, commands.last_mut()) {
            (',', _) => commands.push(String::new()),
            ('\\', Some(command)) => command.extend(letters.next()),
            (_, Some(command)) => command.push(letter),
            (_, None) => {}
        }
    }
    let commands = commands.iter().map(|command| command.trim().to_owned()).collect();
    Some(Grant { user: user.to_owned(), runs_as: runs_as.trim().to_owned(), password, commands })
}

fn helper(place: &Place) -> HelperState {
    let path = place.path(HELPER);
    let present = path.symlink_metadata().is_ok();
    let problem = place.files().file(HELPER).err().map(|why| why.to_string());
    let sha256 = std::fs::read(&path).ok().map(|bytes| Digest::of(bytes).as_str().to_owned());
    HelperState { path, present, sha256, problem }
}

/// The lines for doas that its rules do not have, where there is doas and no sudo.
fn doas(place: &Place, rule: &Rule) -> Vec<String> {
    if place.sudo().is_ok() || place.doas().is_err() {
        return Vec::new();
    }
    let rules = std::fs::read_to_string(place.path(DOAS_RULES)).unwrap_or_default();
    let rules = joined(&rules);
    rule.doas().into_iter().filter(|line| !rules.contains(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rule::tests::rule;
    use super::*;

    #[test]
    fn eg_058_what_we_write_is_read_back_as_who_may_do_what() {
        let lines = joined(&rule(&["alice"]).sudoers().unwrap());
        let grants: Vec<Grant> = lines.iter().filter_map(|line| grant(line)).collect();
        assert_eq!(grants.len(), 2);
        assert_eq!((grants[0].user.as_str(), grants[0].runs_as.as_str(), grants[0].password), ("alice", "root", false));
        assert_eq!(grants[1].commands, [format!("{HELPER} run eggs.destroy")]);
    }

    #[test]
    fn eg_058_rules_of_others_are_read_as_well_as_they_are_simple() {
        let text =
            "ALL ALL=(ALL) NOPASSWD: /usr/bin/eggs, \\\n   /opt/a\\,b/eggs x\n#1000 ALL = SETENV: PASSWD: ALL\n# no\n";
        let grants: Vec<Grant> = joined(text).iter().filter_map(|line| grant(line)).collect();
        assert_eq!(grants[0].commands, ["/usr/bin/eggs", "/opt/a,b/eggs x"]);
        assert_eq!((grants[0].user.as_str(), grants[0].password), ("ALL", false));
        assert_eq!((grants[1].user.as_str(), grants[1].runs_as.as_str(), grants[1].password), ("#1000", "root", true));
        assert_eq!(grant("Defaults env_reset"), None);
    }
}
