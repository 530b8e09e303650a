//! Whose files they are, and where that user's programs look for them.

use crate::clients::{Base, Candidate};
use pintle_core::{Code, Failure};
use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// The home of a user, with what the environment says of it.
#[derive(Clone, Debug)]
pub struct Owner {
    home: PathBuf,
    config: PathBuf,
    folders: Vec<(&'static str, PathBuf)>,
    path: Option<OsString>,
}

/// Variables of clients that name a folder.
const FOLDERS: [&str; 3] = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"];

impl Owner {
    /// The user at this end, as the environment tells; `record` is the home of the passwd entry, for want of `HOME`.
    ///
    /// # Errors
    /// Code `unavailable` without a home.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<OsString>,
        record: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME").or(record).ok_or_else(|| {
            Failure::new(Code::Unavailable, "no home: HOME is not set, and this user has no entry in /etc/passwd")
                .hint("set HOME, or name the user with `--user`")
        })?;
        let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let folders = FOLDERS.into_iter().filter_map(|name| Some((name, folder(name)?))).collect();
        Ok(Self { home, config, folders, path: variable("PATH") })
    }

    /// A user by the passwd entry alone; programs are looked for where ours are.
    #[must_use]
    pub fn of_record(home: PathBuf, path: Option<OsString>) -> Self {
        let config = home.join(".config");
        Self { home, config, folders: Vec::new(), path }
    }

    /// The home.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Where programs are looked for.
    pub(crate) fn path(&self) -> Option<&OsStr> {
        self.path.as_deref()
    }

    pub(crate) fn base(&self, base: Base) -> PathBuf {
        match base {
            Base::Home => self.home.clone(),
            Base::Config => self.config.clone(),
            Base::Variable(name, usual) => {
                let named = self.folders.iter().find(|(known, _)| *known == name);
                named.map_or_else(|| joined(&self.home, usual), |(_, folder)| folder.clone())
            }
        }
    }

    /// The folder beneath which links may lead: the home, or what the environment names outside of it.
    pub(crate) fn fence(&self, path: &Path) -> PathBuf {
        let named = self.folders.iter().map(|(_, folder)| folder).chain([&self.config]);
        let outside = named.filter(|folder| !folder.starts_with(&self.home));
        let found = outside.filter(|folder| path.starts_with(folder)).max_by_key(|folder| folder.as_os_str().len());
        found.unwrap_or(&self.home).clone()
    }

    /// The folder of a candidate, and its file.
    pub(crate) fn candidate(&self, candidate: &Candidate) -> (PathBuf, PathBuf) {
        let folder = joined(&self.base(candidate.base), candidate.folder);
        let file = folder.join(candidate.file);
        (folder, file)
    }
}

/// Joined without the slash that an empty part would leave.
pub(crate) fn joined(base: &Path, part: &str) -> PathBuf {
    if part.is_empty() { base.to_owned() } else { base.join(part) }
}

/// A line of the file of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The number.
    pub uid: u32,
    /// The number of the group.
    pub gid: u32,
    /// The home.
    pub home: PathBuf,
}

impl User {
    /// The user of that name in the text of `/etc/passwd`.
    ///
    /// # Errors
    /// Code `invalid_argument` when there is none, or none with a home.
    pub fn named(passwd: &str, name: &str) -> Result<Self, Failure> {
        let users = || passwd.lines().filter_map(Self::of_line);
        users().find(|user| user.name == name).ok_or_else(|| {
            let names: Vec<String> = users().map(|user| user.name).collect();
            Failure::invalid_argument("user", format!("there is no user `{name}` with a home in /etc/passwd"))
                .did_you_mean(name, names.iter().map(String::as_str))
        })
    }

    /// The user of that number.
    #[must_use]
    pub fn numbered(passwd: &str, uid: u32) -> Option<Self> {
        passwd.lines().filter_map(Self::of_line).find(|user| user.uid == uid)
    }

    fn of_line(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(':').collect();
        let &[name, _, uid, gid, _, home, ..] = fields.as_slice() else { return None };
        let home = PathBuf::from(home);
        let user = Self { name: name.to_owned(), uid: uid.parse().ok()?, gid: gid.parse().ok()?, home };
        user.home.is_absolute().then_some(user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_where_and_the_record_alone_does_not() {
        let variable = |name: &str| match name {
            "HOME" => Some("/h".into()),
            "XDG_CONFIG_HOME" => Some("/x/config".into()),
            "CODEX_HOME" => Some("/h/cx".into()),
            "COPILOT_HOME" => Some("relative".into()),
            _ => None,
        };
        let owner = Owner::of_environment(variable, None).unwrap();
        assert_eq!(owner.base(Base::Config), Path::new("/x/config"));
        assert_eq!(owner.base(Base::Variable("CODEX_HOME", ".codex")), Path::new("/h/cx"));
        assert_eq!(owner.base(Base::Variable("COPILOT_HOME", ".copilot")), Path::new("/h/.copilot"));
        assert_eq!(owner.base(Base::Variable("CLAUDE_CONFIG_DIR", "")), Path::new("/h"));
        assert_eq!(owner.fence(Path::new("/x/config/zed/settings.json")), Path::new("/x/config"));
        assert_eq!(owner.fence(Path::new("/h/cx/config.toml")), Path::new("/h"));
        let record = Owner::of_record("/r".into(), None);
        assert_eq!(record.base(Base::Config), Path::new("/r/.config"));
        assert!(Owner::of_environment(|_| None, None).is_err());
    }

    #[test]
    fn users_are_read_from_the_record() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\nweb:x:1000:1001:,,,:/home/web:/bin/sh\nno:x:7:7::home:/\n";
        let web = User::named(passwd, "web").unwrap();
        assert_eq!((web.uid, web.gid, web.home.to_str()), (1000, 1001, Some("/home/web")));
        assert_eq!(User::numbered(passwd, 0).unwrap().name, "root");
        assert_eq!(User::numbered(passwd, 7), None, "a relative home is none");
        assert!(User::named(passwd, "wbe").unwrap_err().text().contains("did you mean `web`?"));
    }
}
