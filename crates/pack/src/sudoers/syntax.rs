//! What `visudo` says of a rule, and what sudo reads at all.

use std::path::Path;
use std::time::Duration;

use pintle_core::{Code, Failure};
use pintle_process::{Environment, Run, Spawn};

use super::place::{FOLDER, Place};

/// Time for one judgement of `visudo`.
const VISUDO_LIMIT: Duration = Duration::from_secs(30);
/// How much of `/etc/sudoers` is read.
const SUDOERS_LIMIT: u64 = 1024 * 1024;

/// Judges the text of one file.
///
/// # Errors
/// Code `invalid` with what `visudo` says.
pub(super) async fn check_text(place: &Place, text: &str) -> Result<(), Failure> {
    judged(place, &["-c", "-f", "-"], text).await
}

/// Judges everything that sudo reads.
///
/// # Errors
/// Code `invalid` with what `visudo` says.
pub(super) async fn check_all(place: &Place) -> Result<(), Failure> {
    if place.is_system() {
        return judged(place, &["-c"], "").await;
    }
    let sudoers = place.sudoers()?;
    judged(place, &["-c", "-f", &sudoers.to_string_lossy()], "").await
}

async fn judged(place: &Place, arguments: &[&str], input: &str) -> Result<(), Failure> {
    let visudo = place.visudo()?;
    let judged = Spawn::new(visudo)
        .args(arguments.iter().copied())
        .environment(Environment::fixed())
        .directory("/")
        .run(Run { input: input.as_bytes().to_vec(), timeout: Some(VISUDO_LIMIT), ..Run::default() })
        .await
        .map_err(|error| Failure::new(Code::Unavailable, format!("asking `visudo`: {error}")))?;
    if judged.exit.success() {
        return Ok(());
    }
    let said = format!("{}{}", judged.stderr.text().text, judged.stdout.text().text);
    let said: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Err(Failure::new(Code::Invalid, format!("`visudo` refuses the rules of sudo: {}", said.join("; "))))
}

/// Whether sudo reads the folder at all.
///
/// # Errors
/// Code `unavailable` when it does not.
pub(super) fn includes_folder(place: &Place) -> Result<(), Failure> {
    let sudoers = place.sudoers()?;
    let name = Path::new("/").join(sudoers.strip_prefix(place.path("/")).unwrap_or(&sudoers));
    let bytes = place
        .files()
        .read(&name, SUDOERS_LIMIT)
        .map_err(|why| super::place::refused(&why, "reading the rules of sudo"))?;
    if names_folder(&String::from_utf8_lossy(&bytes)) {
        return Ok(());
    }
    Err(Failure::new(
        Code::Unavailable,
        format!("sudo does not read `{FOLDER}`: `{}` does not include it", name.display()),
    )
    .hint(format!("add the line `@includedir {FOLDER}` with `visudo`")))
}

fn names_folder(sudoers: &str) -> bool {
    let folder = |line: &str| {
        let path = line.trim().strip_prefix("@includedir").or_else(|| line.trim().strip_prefix("#includedir"))?;
        let path = path.strip_prefix([' ', '\t'])?.trim().trim_matches('"');
        Some(matches!(path.trim_end_matches('/'), FOLDER | "sudoers.d"))
    };
    sudoers.lines().any(|line| folder(line) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_12_the_folder_is_included_in_either_spelling() {
        for line in [
            "@includedir /etc/sudoers.d",
            "#includedir /etc/sudoers.d/",
            "\t@includedir\t\"/etc/sudoers.d\"",
            "@includedir sudoers.d",
        ] {
            assert!(names_folder(&format!("Defaults env_reset\n{line}\n")), "{line}");
        }
        for line in [
            "# @includedir /etc/sudoers.d",
            "@includedir /etc/other.d",
            "@includedir/etc/sudoers.d",
            "@include /etc/sudoers.d",
        ] {
            assert!(!names_folder(line), "{line}");
        }
    }
}
