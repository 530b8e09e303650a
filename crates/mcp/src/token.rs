//! Bearer tokens.

use pintle_core::{Code, Digest, Failure};
use std::{
    fs::File,
    io::Read,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

/// Shorter tokens can be guessed.
const SHORTEST: usize = 16;
/// Larger files hold something else.
const LARGEST: u64 = 64 * 1024;

/// Who called, as the transport found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal(pub(crate) String);

/// The tokens that open the door, as digests: comparing those tells nothing of the tokens.
#[derive(Debug)]
pub(crate) struct Tokens(Vec<Digest>);

impl Tokens {
    /// Reads a token file: one token a line, readable by its owner alone.
    ///
    /// # Errors
    /// When it cannot be read, others can read it, or a token in it is too short or holds blanks.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let name = format!("token file `{}`", path.display());
        let refused = |why: &str| Failure::new(Code::InvalidArgument, format!("{name}: {why}"));
        // A pipe would otherwise wait for a writer before anybody could see that it is one.
        let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = File::options()
            .read(true)
            .custom_flags(flags)
            .open(path)
            .map_err(|error| Failure::io(format!("reading {name}"), &error))?;
        let about = file.metadata().map_err(|error| Failure::io(format!("reading {name}"), &error))?;
        if !about.is_file() {
            return Err(refused("is not a file"));
        }
        if about.permissions().mode() & 0o077 != 0 {
            let fix = format!("chmod 600 '{}'", path.display());
            return Err(refused("others can read it").hint(format!("run `{fix}`, and change the token")));
        }
        let mut text = String::new();
        file.take(LARGEST + 1)
            .read_to_string(&mut text)
            .map_err(|error| Failure::io(format!("reading {name}"), &error))?;
        if text.len() as u64 > LARGEST {
            return Err(refused("is too large"));
        }
        let tokens: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if tokens.is_empty() {
            return Err(refused("is empty").hint("`openssl rand -hex 32` makes a good token"));
        }
        for token in &tokens {
            if token.len() < SHORTEST || token.chars().any(|c| c.is_whitespace() || c.is_control()) {
                return Err(refused(&format!("a token needs at least {SHORTEST} characters and no blanks"))
                    .hint("`openssl rand -hex 32` makes a good token"));
            }
        }
        Ok(Self(tokens.into_iter().map(Digest::of).collect()))
    }

    /// Who carries this `Authorization` header, if its token is one of ours.
    pub(crate) fn who(&self, authorization: Option<&str>) -> Option<Principal> {
        let (scheme, token) = authorization?.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let given = Digest::of(token.trim());
        // Every token is compared, and every byte of it, whatever was found before.
        let known = self.0.iter().fold(false, |known, token| known | same(token.as_str(), given.as_str()));
        known.then(|| Principal(format!("http:token:{}", &given.as_str()[..16])))
    }
}

fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn file(text: &str, mode: u32) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_token_opens_and_anything_else_does_not() {
        let (_folder, path) = file("0123456789abcdef\nfedcba9876543210\n", 0o600);
        let tokens = Tokens::read(&path).unwrap();
        let first = tokens.who(Some("Bearer 0123456789abcdef")).unwrap();
        let second = tokens.who(Some("bearer  fedcba9876543210")).unwrap();
        assert_ne!(first, second, "each token is a caller of its own");
        assert!(!first.0.contains("0123456789abcdef"));
        for wrong in [None, Some(""), Some("Bearer"), Some("Bearer x"), Some("Basic 0123456789abcdef")] {
            assert_eq!(tokens.who(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        assert!(Tokens::read(&pipe).unwrap_err().message.contains("is not a file"));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_and_so_is_a_poor_token() {
        for mode in [0o644, 0o640, 0o604] {
            let (_folder, path) = file("0123456789abcdef", mode);
            let failure = Tokens::read(&path).unwrap_err();
            assert!(failure.message.contains("others can read it") && failure.hints[0].contains("chmod 600"));
            assert_eq!(failure.code.exit().code(), 64);
        }
        for text in ["", "\n\n", "short", "0123456789 abcdef"] {
            let (_folder, path) = file(text, 0o600);
            assert!(Tokens::read(&path).is_err(), "{text:?}");
        }
        assert_eq!(Tokens::read(Path::new("/nonexistent")).unwrap_err().code, Code::Io);
    }
}
