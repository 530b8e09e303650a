//! Paths that a program trusts although others can make them first.
//!
//! The helper checks them again, and makes what is missing; here the same holds for a server that is root itself.

use pintle_core::{Code, Failure};
use std::{fs, os::unix::fs::MetadataExt};

/// Whether each of these paths is absent, or root's and nobody else's to change.
///
/// # Errors
/// Code `denied` with the first that is not.
pub(crate) fn check(paths: &[String]) -> Result<(), Failure> {
    paths.iter().try_for_each(|path| {
        let about = match fs::symlink_metadata(path) {
            Ok(about) => about,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Failure::io(format!("looking at `{path}`"), &error)),
        };
        judge(path, about.uid(), about.mode(), about.is_symlink())
    })
}

fn judge(path: &str, owner: u32, mode: u32, link: bool) -> Result<(), Failure> {
    let why = match (link, owner, mode & 0o022) {
        (true, ..) => "is a link".to_owned(),
        (false, 0, 0) => return Ok(()),
        (false, 0, _) => format!("can be written by others than root (mode {:04o})", mode & 0o7777),
        (false, owner, _) => format!("belongs to user {owner}"),
    };
    Err(Failure::new(Code::Denied, format!("`{path}` {why}, and root would use what is in it"))
        .hint(format!("look who put it there, and remove it: `{path}` must be root's or absent")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use super::*;

    #[test]
    fn s_40_what_others_made_first_is_refused() {
        judge("/tmp/coa", 0, 0o40755, false).unwrap();
        for (owner, mode, link, why) in [
            (1000, 0o40755, false, "belongs to user 1000"),
            (0, 0o41777, false, "mode 1777"),
            (0, 0o40775, false, "mode 0775"),
            (0, 0o120777, true, "is a link"),
        ] {
            let failure = judge("/tmp/coa", owner, mode, link).unwrap_err();
            assert_eq!(failure.code, Code::Denied);
            assert!(failure.message.contains(why) && failure.hints[0].contains("/tmp/coa"), "{failure:?}");
        }
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name).display().to_string();
        std::os::unix::fs::symlink("/root", at("link")).unwrap();
        check(&[at("none")]).unwrap();
        assert!(check(&[at("none"), at("link")]).is_err());
    }
}
