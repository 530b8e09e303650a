//! Users as sudoers can name them.

use std::fmt;

use pintle_core::{Code, Failure};
use pintle_process::{Environment, Run, Spawn};

use super::place::Place;

/// A name that sudoers and doas read as one user and as nothing else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UserName(String);

impl UserName {
    /// Letters, digits, `_`, `-` and `.`, as `useradd` makes them. Without a lower-case letter sudoers would read the name of
    /// an alias, `ALL` among them; groups, numbers, netgroups and negations begin with a sign.
    ///
    /// # Errors
    /// Code `invalid_argument`.
    pub(super) fn parse(name: &str) -> Result<Self, Failure> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let fits = name.len() <= 64
            && name.bytes().all(plain)
            && name.bytes().any(|byte| byte.is_ascii_lowercase())
            && name.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
        if fits {
            return Ok(Self(name.to_owned()));
        }
        Err(Failure::invalid_argument("user", format!("`{}` is not the name of one user", name.escape_debug()))
            .hint("name the account that runs the agent; groups and `ALL` are not granted anything"))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is such a user, and one that needs a grant.
    ///
    /// # Errors
    /// Code `not_found`, and `invalid_argument` for root.
    pub(super) async fn known(&self, place: &Place) -> Result<(), Failure> {
        let record = place.path("/etc/passwd");
        let passwd = std::fs::read_to_string(&record)
            .map_err(|error| Failure::io(format!("reading `{}`", record.display()), &error))?;
        let uid = match number(&passwd, &self.0) {
            // A directory may know users that the file does not have.
            None if place.is_system() => self.asked(place).await?,
            found => found,
        };
        match uid {
            Some(0) => Err(Failure::invalid_argument("user", format!("`{self}` is root and needs no grant"))),
            Some(_) => Ok(()),
            None => {
                let names: Vec<&str> = passwd.lines().filter_map(|line| line.split(':').next()).collect();
                Err(Failure::new(Code::NotFound, format!("there is no user `{self}`")).did_you_mean(&self.0, names))
            }
        }
    }

    /// What the system's own look-up says.
    async fn asked(&self, place: &Place) -> Result<Option<u32>, Failure> {
        let Ok(getent) = place.getent() else { return Ok(None) };
        let asked = Spawn::new(getent)
            .args(["passwd", self.as_str()])
            .environment(Environment::fixed())
            .directory("/")
            .run(Run { timeout: Some(std::time::Duration::from_secs(10)), ..Run::default() })
            .await
            .map_err(|error| Failure::new(Code::Unavailable, format!("looking for user `{self}`: {error}")))?;
        Ok(number(&asked.stdout.text().text, &self.0))
    }
}

impl fmt::Display for UserName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The number of a user in lines of the form of `/etc/passwd`.
fn number(passwd: &str, name: &str) -> Option<u32> {
    let mut users = passwd.lines().map(|line| line.split(':'));
    users.find_map(|mut fields| if fields.next() == Some(name) { fields.nth(1)?.parse().ok() } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whole() {
        let passwd = "root:x:0:0::/root:/bin/sh\nweb:x:1000:1000::/home/web:/bin/sh\nbad:x\n";
        assert_eq!(number(passwd, "web"), Some(1000));
        assert_eq!((number(passwd, "we"), number(passwd, "bad")), (None, None));
        for name in ["alice", "www-data", "_apt", "j.doe", "Alice"] {
            assert_eq!(UserName::parse(name).unwrap().as_str(), name);
        }
    }

    #[tokio::test]
    async fn s_01_a_user_must_exist_and_not_be_root() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::create_dir(temp.path().join("etc")).unwrap();
        std::fs::write(temp.path().join("etc/passwd"), "root:x:0:0::/:/x\nalice:x:1000:1000::/:/x\n").unwrap();
        let place = Place::below(temp.path(), "/");
        UserName::parse("alice").unwrap().known(&place).await.unwrap();
        let failure = UserName::parse("alicf").unwrap().known(&place).await.unwrap_err();
        assert_eq!(failure.code, Code::NotFound);
        assert!(failure.text().contains("did you mean `alice`?"), "{}", failure.text());
        assert_eq!(UserName::parse("root").unwrap().known(&place).await.unwrap_err().code, Code::InvalidArgument);
    }
}
