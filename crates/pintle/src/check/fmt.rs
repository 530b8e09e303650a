//! `check fmt`: one way to write plans.

use super::plans;
use crate::{Ended, document::parsed};
use clap::{Arg, ArgAction, Command};
use pintle_cli::{Console, Options};
use pintle_core::{Code, Exit, Failure, Problem};
use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

/// Larger files are no plans, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

pub(super) fn flags() -> Command {
    Command::new("fmt").about("Write plans in one form; comments and meaning stay").arg(plans::argument()).arg(
        Arg::new("check").long("check").action(ArgAction::SetTrue).help("Only tell, with exit code 1, what differs"),
    )
}

/// 0 when all have that form now, 1 with `--check` when one has not, 64 when one is no YAML; nothing is written then.
pub(super) fn command(words: &[String]) -> Ended {
    let Some(matches) = parsed(flags(), "pintle check fmt", words)? else { return Ok(Exit::Ok.code()) };
    let console = Console::of_process(&Options::default());
    let mut files = Vec::new();
    for path in plans::paths(&matches) {
        collect(&path, true, &mut files).map_err(|error| unreadable(&path, &error))?;
    }
    let mut changed = Vec::new();
    let mut problems = Vec::new();
    for file in &files {
        let text = read(file).map_err(|error| unreadable(file, &error))?;
        match pintle_check::format(&text) {
            Ok(formatted) if formatted == text => {}
            Ok(formatted) => changed.push((file, formatted)),
            Err(found) => problems.extend(found.into_iter().map(|problem| {
                let told = Problem::new(problem.message).at(file.display().to_string(), problem.line, problem.column);
                problem.hint.into_iter().fold(told, |told, hint| told.hint(hint))
            })),
        }
    }
    if !problems.is_empty() {
        return Err(
            Failure::new(Code::InvalidArgument, "not every file is YAML; nothing was written").problems(problems)
        );
    }
    let check = matches.get_flag("check");
    for (file, text) in &changed {
        if !check {
            replace(file, text).map_err(|error| Failure::io(format!("writing `{}`", file.display()), &error))?;
        }
        console.out(&format!("{} {}\n", if check { "differs:" } else { "formatted:" }, file.display()));
    }
    if let Some(failure) = console.failure() {
        return Err(failure);
    }
    Ok(if check && !changed.is_empty() { Exit::Failed } else { Exit::Ok }.code())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::io(format!("reading `{}`", path.display()), error)
}

/// The file itself, or every plan below the folder, in order of names.
fn collect(path: &Path, named: bool, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        let plan = path.extension().is_some_and(|end| end == "yml" || end == "yaml");
        if named || plan {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    let mut entries: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // Links below folders are left to whoever owns what they point to.
        if !hidden && !entry.file_type()?.is_symlink() {
            collect(&entry.path(), false, files)?;
        }
    }
    Ok(())
}

fn read(file: &Path) -> io::Result<String> {
    let size = fs::metadata(file)?.len();
    if size > LARGEST {
        return Err(io::Error::other(format!("it has {size} bytes, more than {LARGEST} are refused")));
    }
    fs::read_to_string(file)
}

/// Whole or not at all; a link stays a link, the mode stays.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let file = fs::canonicalize(file)?;
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mode = fs::metadata(&file)?.permissions();
    let mut part = tempfile::Builder::new().prefix(".fmt-").suffix(".part").permissions(mode).tempfile_in(folder)?;
    part.write_all(text.as_bytes())?;
    part.as_file().sync_all()?;
    part.persist(&file).map(drop).map_err(|error| error.error)
}
