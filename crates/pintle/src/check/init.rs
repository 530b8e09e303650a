//! `check init`: a first plan, from what a server lists.

use super::{run::runtime, server, signals::Signals};
use crate::{Ended, document::parsed};
use clap::{Arg, ArgAction, Command, ValueHint};
use pintle_cli::{Console, Options, show_failure};
use pintle_core::{Code, Exit, Failure};
use std::{
    fs::Permissions,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const LIMIT: Duration = Duration::from_secs(30);

pub(super) fn flags() -> Command {
    Command::new("init")
        .about("Write a first plan from what a server lists; no tool is called")
        .arg(
            Arg::new("out")
                .short('o')
                .long("out")
                .value_name("FILE")
                .value_hint(ValueHint::FilePath)
                .action(ArgAction::Set)
                .help("Write the plan there instead of printing it"),
        )
        .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).requires("out").help("Replace that file"))
        .arg(super::run::deadline_flag("Give up after this long [default: 30s]"))
        .args(server::flags())
}

pub(super) fn command(words: &[String]) -> Ended {
    let Some(matches) = parsed(flags(), "pintle check init", words)? else { return Ok(Exit::Ok.code()) };
    let console = Console::of_process(&Options::default());
    let written = server::demanded(&matches)?;
    let (resolved, redactor) = server::resolved(&written)?;
    let limit = super::run::deadline(&matches)?.unwrap_or(LIMIT);
    let out = matches.get_one::<String>("out").map(PathBuf::from);
    let force = matches.get_flag("force");
    if let Some(out) = out.as_deref().filter(|out| !force && out.symlink_metadata().is_ok()) {
        return Err(there(out));
    }
    let runtime = runtime()?;
    let cancel = CancellationToken::new();
    let listed = runtime.block_on(async {
        let signals = Signals::listen()?;
        Ok::<_, Failure>(tokio::select! {
            plan = pintle_check::init(&written, &resolved, limit, &cancel) => Some(plan),
            () = signals.twice(cancel.clone(), || {}) => None,
        })
    })?;
    runtime.shutdown_background();
    let plan = match listed {
        None => return Ok(Exit::Interrupted.code()),
        Some(Ok(plan)) => plan,
        Some(Err(error)) => {
            let (failure, exit) = server::failed(&error, &redactor);
            show_failure(&console, &failure);
            return Ok(exit);
        }
    };
    // A server may list what it was told.
    let plan = redactor.text(&plan);
    match out {
        None => console.out(&plan),
        Some(out) => {
            write(&out, &plan, force).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => there(&out),
                _ => Failure::io(format!("writing `{}`", out.display()), &error),
            })?;
            console.err(&format!("written; `pintle check run {}` runs it\n", out.display()));
        }
    }
    console.failure().map_or(Ok(Exit::Ok.code()), Err)
}

fn there(out: &Path) -> Failure {
    Failure::new(Code::AlreadyExists, format!("`{}` is there already", out.display()))
        .hint("choose another file, or `--force` to replace it")
}

/// Whole or not at all; never over a file unless forced.
fn write(out: &Path, text: &str, force: bool) -> io::Result<()> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = tempfile::Builder::new()
        .prefix(".init-")
        .suffix(".part")
        // As any program makes a file: the umask takes away.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    part.write_all(text.as_bytes())?;
    part.as_file().sync_all()?;
    let kept = if force { part.persist(out) } else { part.persist_noclobber(out) };
    kept.map(drop).map_err(|error| error.error)
}
