//! Acting as another user: root starts this program anew, with that user's rights and nothing of its own.
//!
//! Whatever is done in a home is done by a process of its owner, from the first look at a file: root neither reads nor
//! writes there.

use crate::registry;
use pintle_core::{Code, Failure};
use pintle_register::User;
use rustix::process::{Gid, Uid};
use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What a user's process gets of ours. Nothing of root's own belongs there.
const PASSED_ON: [&str; 7] = ["PATH", "TERM", "LANG", "LC_ALL", "TZ", "NO_COLOR", "COLUMNS"];

/// The users of this system. One without the file has no users to name, which is told when one is named.
pub(crate) fn passwd() -> String {
    fs::read_to_string("/etc/passwd").unwrap_or_default()
}

/// Who took root's rights, as the programs for that tell; root itself is nobody behind root.
pub(crate) fn behind_root(passwd: &str) -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok();
    let number = || variable("PKEXEC_UID")?.parse().ok();
    variable("SUDO_USER")
        .or_else(|| variable("DOAS_USER"))
        .or_else(|| number().and_then(|uid| User::numbered(passwd, uid)).map(|user| user.name))
        .filter(|name| name != "root")
}

/// Runs this program with these words as that user, at our terminal; gives its exit code.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run_as(user: &User, words: &[String]) -> Result<u8, Failure> {
    use std::os::unix::process::ExitStatusExt as _;
    let status = as_user(user, words, Command::status)?;
    let signal = status.signal().map_or(1, |signal| 128 + signal);
    Ok(u8::try_from(status.code().unwrap_or(signal)).unwrap_or(1))
}

/// What such a run says as JSON: its answer, else why there is none.
///
/// # Errors
/// When it cannot be started or says nothing that can be read.
pub(crate) fn ask_as(user: &User, words: &[&str]) -> Result<Asked, Failure> {
    let words: Vec<String> = words.iter().copied().chain(["--output", "json"]).map(str::to_owned).collect();
    let output = as_user(user, &words, |command| command.stdin(Stdio::null()).output())?;
    let said = serde_json::from_slice::<serde_json::Value>(&output.stdout).ok();
    let code = output.status.code();
    // Where something is to be decided the whole envelope comes, else the answer alone.
    let envelope = said.as_ref().is_some_and(|said| said.get("outcome").is_some());
    let answer =
        if envelope { said.and_then(|mut said| said.get_mut("answer").map(serde_json::Value::take)) } else { said };
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if answer.is_none() && code == Some(0) {
        let message = format!("`{}` as `{}` said nothing that can be read", words.join(" "), user.name);
        return Err(Failure::new(Code::Internal, message));
    }
    Ok(Asked { answer, ok: code == Some(0), told: told.trim().trim_start_matches("error: ").to_owned() })
}

/// What came of a run as another user.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) answer: Option<serde_json::Value>,
    pub(crate) ok: bool,
    /// Its standard error.
    pub(crate) told: String,
}

fn as_user<T: Send>(
    user: &User,
    words: &[String],
    run: impl FnOnce(&mut Command) -> io::Result<T> + Send,
) -> Result<T, Failure> {
    let program = registry::program();
    let mut command = command(&program, user, words);
    let groups = groups(&fs::read_to_string("/etc/group").unwrap_or_default(), user);
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    // A child has the rights of the thread that starts it, and this thread keeps them to its end.
    let started = || -> io::Result<T> {
        rustix::thread::set_thread_groups(&groups)?;
        rustix::thread::set_thread_res_gid(gid, gid, gid)?;
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
        run(&mut command)
    };
    let done = std::thread::scope(|scope| scope.spawn(started).join());
    let done = done.unwrap_or_else(|_| Err(io::Error::other("the thread that starts it has ended")));
    done.map_err(|error| {
        Failure::io(format!("running `{}` as `{}`", program.display(), user.name), &error)
            .hint("that user must be able to read and run it; clients could not start it either")
    })
}

fn command(program: &Path, user: &User, words: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(words).env_clear();
    let kept = PASSED_ON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let own: [(&str, OsString); 3] =
        [("HOME", user.home.clone().into()), ("USER", user.name.clone().into()), ("LOGNAME", user.name.clone().into())];
    command.envs(kept).envs(own);
    // Where that user's programs keep what runs, if the user is here.
    let runtime = PathBuf::from(format!("/run/user/{}", user.uid));
    if fs::metadata(&runtime).is_ok_and(|at| at.is_dir() && at.uid() == user.uid) {
        command.env("XDG_RUNTIME_DIR", runtime);
    }
    command
}

/// Every group of that user, as at a login: a file may be shared by one of them.
fn groups(text: &str, user: &User) -> Vec<Gid> {
    let of_line = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let &[_, _, number, members, ..] = fields.as_slice() else { return None };
        members.split(',').any(|member| member == user.name).then(|| number.parse().ok())?
    };
    let mut numbers: Vec<u32> = text.lines().filter_map(of_line).chain([user.gid]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(Gid::from_raw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eg_055_a_user_has_the_groups_of_a_login() {
        let user = User { name: "web".into(), uid: 7, gid: 70, home: "/home/web".into() };
        let text = "root:x:0:\nshared:x:50:amy,web\nother:x:51:webber\nbroken\nweb:x:70:\nlast:x:9:web\n";
        let numbers: Vec<u32> = groups(text, &user).into_iter().map(Gid::as_raw).collect();
        assert_eq!(numbers, [9, 50, 70]);
    }
}
