//! Registering this program with MCP clients: what that acts on, and as whom.

use crate::{Ended, house, personality::Personality, shelf};
use pintle_cli::{Console, Options};
use pintle_core::{Code, Confirm, Exit, Failure, Toolset};
use pintle_dispatch::StateFolder;
use pintle_register::{Host, Offered, Owner, User, Writer};
use std::{
    ffi::OsString,
    fs,
    os::unix::{fs::MetadataExt, process::CommandExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

/// The commands that act on files of a user.
const COMMANDS: [&str; 3] = ["register", "unregister", "clients"];

/// What a user's process gets of ours. Nothing of root's own belongs there.
const PASSED_ON: [&str; 7] = ["PATH", "TERM", "LANG", "LC_ALL", "TZ", "NO_COLOR", "COLUMNS"];

/// The operations of the house, with those of registering.
pub(crate) fn toolsets(state: Option<StateFolder>) -> Vec<Toolset> {
    // Where somebody can be asked, they are; elsewhere what was asked for is done.
    let asks = Console::of_process(&Options::default()).can_ask();
    let confirm = if asks { Confirm::Plan } else { Confirm::Nothing };
    let registrar = Arc::new(host(state.as_ref()));
    vec![house::toolset(state), pintle_register::toolset(&registrar, confirm)]
}

/// What registering acts on.
pub(crate) fn host(state: Option<&StateFolder>) -> Host {
    // A system without that file has no users to name, which is told when one is named.
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let record = User::numbered(&passwd, rustix::process::geteuid().as_raw()).map(|user| user.home);
    let offered = |name: &'static str| {
        let works = match Personality::ALL.into_iter().find(|personality| personality.toolset() == name) {
            Some(personality) => personality.works(),
            None => true,
        };
        Offered { name, works, usual: shelf::usual().iter().any(|usual| usual == name) }
    };
    Host {
        program: program(),
        toolsets: shelf::NAMES.into_iter().map(offered).collect(),
        owner: Owner::of_environment(|name| std::env::var_os(name), record),
        passwd,
        state: state.map(|state| state.path().to_owned()),
        writer: Writer::default(),
    }
}

/// This program as it was called: absolute, its links not resolved, so that an update behind a link needs no new entry.
fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("pintle"));
    let typed = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    let found = if typed.components().count() > 1 {
        std::path::absolute(&typed).ok()
    } else {
        pintle_process::find_program(&typed, std::env::var_os("PATH").as_deref(), Path::new("/")).ok()
    };
    let id = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    // Under another name it would serve another toolset.
    let plain =
        |path: &PathBuf| Personality::of_program(&path.file_name().unwrap_or_default().to_string_lossy()).is_none();
    found.filter(|found| plain(found) && id(found).is_some() && id(found) == id(&own)).unwrap_or(own)
}

/// Runs these words as the users that they are about, if that is somebody else: as root, whoever is named with `--user`,
/// else whoever took root's rights. None when they are about the user at this end.
///
/// A process of that user does all of it, from the first look at a file: root neither reads nor writes in a home.
pub(crate) fn as_users(words: &[String]) -> Option<Ended> {
    let command = words.iter().find(|word| !word.starts_with('-'))?;
    if !COMMANDS.contains(&command.as_str()) || !rustix::process::geteuid().is_root() {
        return None;
    }
    let (mut names, rest) = split(words);
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    if names.is_empty() {
        names.extend(behind_root(&passwd).filter(|name| name != "root"));
    }
    let users: Result<Vec<User>, Failure> = names.iter().map(|name| User::named(&passwd, name)).collect();
    match users {
        Ok(users) if users.iter().all(|user| user.uid == 0) => None,
        Ok(users) => Some(users.iter().map(|user| run_as(user, &rest)).collect::<Result<Vec<u8>, _>>().map(together)),
        Err(failure) => Some(Err(failure)),
    }
}

/// Who took root's rights, as the programs for that tell.
fn behind_root(passwd: &str) -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok();
    let number = || variable("PKEXEC_UID")?.parse().ok();
    variable("SUDO_USER")
        .or_else(|| variable("DOAS_USER"))
        .or_else(|| number().and_then(|uid| User::numbered(passwd, uid)).map(|user| user.name))
}

/// The values of `--user`, and the other words.
fn split(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut names, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.strip_prefix("--user") {
            Some("") => names.extend(words.next().cloned()),
            Some(value) if value.starts_with('=') => names.push(value[1..].to_owned()),
            _ => rest.push(word.clone()),
        }
    }
    (names, rest)
}

fn run_as(user: &User, words: &[String]) -> Result<u8, Failure> {
    let program = program();
    let mut command = Command::new(&program);
    command.args(words).args(["--user", &user.name]).env_clear();
    let kept = PASSED_ON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let own: [(&str, OsString); 3] =
        [("HOME", user.home.clone().into()), ("USER", user.name.clone().into()), ("LOGNAME", user.name.clone().into())];
    // With a user, the groups of root are dropped before the program starts.
    command.envs(kept).envs(own).gid(user.gid).uid(user.uid);
    let status = command.status().map_err(|error| {
        Failure::io(format!("running `{}` as `{}`", program.display(), user.name), &error)
            .hint("that user must be able to read and run it; clients could not start it either")
    })?;
    let signal = status.signal().map_or(1, |signal| 128 + signal);
    Ok(u8::try_from(status.code().unwrap_or(signal)).unwrap_or(1))
}

/// One exit code for several users.
fn together(codes: Vec<u8>) -> u8 {
    match codes.as_slice() {
        [first, rest @ ..] if rest.iter().all(|code| code == first) => *first,
        codes if codes.contains(&Exit::Ok.code()) => Exit::Partial.code(),
        _ => Code::Invalid.exit().code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eg_047_users_are_taken_out_of_the_words_and_their_ends_put_together() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (names, rest) = split(&words("register --user a --client cursor --user=b --yes"));
        assert_eq!((names, rest), (words("a b"), words("register --client cursor --yes")));
        assert_eq!((together(vec![0, 0]), together(vec![69, 69])), (0, 69));
        assert_eq!((together(vec![0, 1]), together(vec![1, 69])), (3, 1));
    }
}
