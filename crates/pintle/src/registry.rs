//! Registering this program with MCP clients: what that acts on, and as whom.

use crate::{Ended, house, others, personality::Personality, shelf};
use pintle_cli::{Console, Options};
use pintle_core::{Code, Confirm, Exit, Failure, Toolset};
use pintle_dispatch::StateFolder;
use pintle_register::{Host, Offered, Owner, User, Writer};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The commands that act on files of a user.
const COMMANDS: [&str; 3] = ["register", "unregister", "clients"];

/// The operations of the house, with those of registering.
pub(crate) fn toolsets(state: Option<StateFolder>) -> Vec<Toolset> {
    // Where somebody can be asked, they are; elsewhere what was asked for is done.
    let asks = Console::of_process(&Options::default()).can_ask();
    let confirm = if asks { Confirm::Plan } else { Confirm::Nothing };
    let registrar = Arc::new(host(state.as_ref()));
    let packs = Arc::new(pintle_pack::Host::new(pintle_pack::Surroundings::of_process(state.clone())));
    vec![house::toolset(state), pintle_register::toolset(&registrar, confirm), pintle_pack::people(&packs)]
}

/// What registering acts on.
pub(crate) fn host(state: Option<&StateFolder>) -> Host {
    let passwd = others::passwd();
    let record = User::numbered(&passwd, rustix::process::geteuid().as_raw()).map(|user| user.home);
    let usual = shelf::usual();
    let offered = |name: &'static str| {
        let works = match Personality::ALL.into_iter().find(|personality| personality.toolset() == name) {
            Some(personality) => personality.works(),
            None => true,
        };
        Offered { name, works, usual: usual.iter().any(|usual| usual == name) }
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

/// This very program, whatever became of its name since it was started.
pub(crate) fn running_program() -> PathBuf {
    let same = |path: &PathBuf| {
        let id = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
        id(path).is_some() && id(path) == id(Path::new(RUNNING))
    };
    std::env::current_exe().ok().filter(same).unwrap_or_else(|| PathBuf::from(RUNNING))
}

/// The file that the asking process runs.
const RUNNING: &str = "/proc/self/exe";

/// This program as it was called: absolute, its links not resolved, so that an update behind a link needs no new entry.
pub(crate) fn program() -> PathBuf {
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
pub(crate) fn as_users(words: &[String]) -> Option<Ended> {
    let command = words.iter().find(|word| !word.starts_with('-'))?;
    if !COMMANDS.contains(&command.as_str()) || !rustix::process::geteuid().is_root() {
        return None;
    }
    let (mut names, rest) = split(words);
    let passwd = others::passwd();
    if names.is_empty() {
        names.extend(others::behind_root(&passwd));
    }
    let users: Result<Vec<User>, Failure> = names.iter().map(|name| User::named(&passwd, name)).collect();
    match users {
        Ok(users) if users.iter().all(|user| user.uid == 0) => None,
        Ok(users) => {
            let run = |user: &User| {
                let named = ["--user".to_owned(), user.name.clone()];
                others::run_as(user, &[rest.as_slice(), &named].concat())
            };
            Some(users.iter().map(run).collect::<Result<Vec<u8>, _>>().map(together))
        }
        Err(failure) => Some(Err(failure)),
    }
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
