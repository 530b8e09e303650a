//! Shell completions and manual pages, from the same commands that are run.

use clap::Command;
use clap_complete::Shell;
use pintle_core::{Code, Failure};
use std::{fs, io, path::Path};

/// Shells that completions can be made for.
pub(crate) const SHELLS: [(&str, Shell); 3] = [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("fish", Shell::Fish)];

/// The completion script for that shell.
///
/// # Errors
/// Code `invalid_argument` for a shell that is not known.
pub fn completions(command: &mut Command, shell: &str) -> Result<Vec<u8>, Failure> {
    let (_, shell) = SHELLS.iter().find(|(name, _)| *name == shell).ok_or_else(|| {
        Failure::new(Code::InvalidArgument, format!("no completions for the shell `{shell}`"))
            .hint("there are some for bash, zsh and fish")
    })?;
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(*shell, command, name, &mut script);
    Ok(script)
}

/// The manual page of the command itself.
///
/// # Errors
/// Code `internal` when it cannot be written down.
pub fn man_page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| Failure::new(Code::Internal, format!("making a manual page: {error}")))?;
    Ok(page)
}

/// Writes a page for the command and for each one beneath it into that folder; says how many.
///
/// # Errors
/// When a file cannot be written.
pub fn man_pages(command: &Command, folder: &Path) -> Result<usize, Failure> {
    let failed = |path: &Path| {
        let what = format!("writing `{}`", path.display());
        move |error: io::Error| Failure::io(&what, &error)
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    page_of(command, command.get_name(), folder, &failed)
}

fn page_of<F: Fn(io::Error) -> Failure>(
    command: &Command,
    name: &str,
    folder: &Path,
    failed: &impl Fn(&Path) -> F,
) -> Result<usize, Failure> {
    let path = folder.join(format!("{name}.1"));
    let named = command.clone().name(name.to_owned()).display_name(name.to_owned());
    fs::write(&path, man_page(&named)?).map_err(failed(&path))?;
    let mut count = 1;
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        count += page_of(child, &format!("{name}-{}", child.get_name()), folder, failed)?;
    }
    Ok(count)
}
