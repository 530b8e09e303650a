//! The rule as text, in the grammars of sudoers and of doas.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pintle_core::{Code, Failure};
use pintle_packfile::Pack;

use super::user::UserName;

/// Where the helper lies.
pub const HELPER: &str = "/usr/lib/pintle/pintle-helper";

/// Bytes of a path that mean nothing to sudoers.
const PLAIN: &[u8] = b"/_-+.@%~";
/// Bytes that a backslash makes plain: those of the grammar, and those that would be a pattern.
const ESCAPED: &[u8] = b",:= #\\*?[]";

/// What is granted to whom: the elevated verbs of one pack, through the helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    file: String,
    pack: String,
    verbs: Vec<String>,
    users: Vec<UserName>,
    helper: PathBuf,
}

impl Rule {
    /// The rule for these users; with none it is what [`super::inspect`] compares with.
    ///
    /// # Errors
    /// Code `invalid_argument` for a name that sudoers would read as something else than one user, and `unavailable` when
    /// nothing in the pack is ever elevated.
    pub fn of(pack: &Pack, users: &[String]) -> Result<Self, Failure> {
        let verbs = pack.elevated().map(|verb| verb.name.clone()).collect();
        Self::new(&format!("{}-mcp", pack.server_name), &pack.name, verbs, users)
    }

    pub(super) fn new(file: &str, pack: &str, verbs: Vec<String>, users: &[String]) -> Result<Self, Failure> {
        if verbs.is_empty() {
            return Err(Failure::new(Code::Unavailable, format!("the pack `{pack}` has nothing that runs as root"))
                .hint("its tools need no grant"));
        }
        // sudo leaves out files whose names hold a dot; the rest keeps words what they are in both grammars.
        let word = |word: &str| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        if let Some(strange) = [file, pack].into_iter().chain(verbs.iter().map(String::as_str)).find(|name| !word(name))
        {
            return Err(Failure::new(Code::Invalid, format!("`{strange}` cannot be part of a rule of sudo")));
        }
        let mut users = users.iter().map(|name| UserName::parse(name)).collect::<Result<Vec<_>, _>>()?;
        users.sort();
        users.dedup();
        Ok(Self { file: file.to_owned(), pack: pack.to_owned(), verbs, users, helper: PathBuf::from(HELPER) })
    }

    /// The same rule for other users.
    ///
    /// # Errors
    /// As in [`Rule::of`].
    pub fn for_users(&self, users: &[String]) -> Result<Self, Failure> {
        Self::new(&self.file, &self.pack, self.verbs.clone(), users)
    }

    /// Who is granted it.
    pub fn users(&self) -> impl Iterator<Item = &str> {
        self.users.iter().map(UserName::as_str)
    }

    /// What is granted, as `PACK.VERB`.
    pub fn verbs(&self) -> impl Iterator<Item = String> {
        self.verbs.iter().map(|verb| format!("{}.{verb}", self.pack))
    }

    /// The name of the file in `/etc/sudoers.d`.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    pub(super) fn user_names(&self) -> &[UserName] {
        &self.users
    }

    pub(super) fn helper(&self) -> &Path {
        &self.helper
    }

    /// The whole file: one line for each user and verb.
    ///
    /// # Errors
    /// Code `invalid` when the path of the helper cannot be written in sudoers.
    pub fn sudoers(&self) -> Result<String, Failure> {
        let helper = escaped(&self.helper)?;
        let mut text = format!(
            "# Written by pintle, removed by `pintle {0} mcp disable`.\n\
             # Lets these users start the verbs of the pack `{0}` as root, through a helper that checks every argument.\n",
            self.pack,
        );
        for user in &self.users {
            for verb in self.verbs() {
                // Writing to a string does not fail.
                let _ = writeln!(text, "{user} ALL=(root) NOPASSWD: {helper} run {verb}");
            }
        }
        Ok(text)
    }

    /// The lines to add to `/etc/doas.conf`, which has no folder for rules of others and so is never edited.
    #[must_use]
    pub fn doas(&self) -> Vec<String> {
        let helper = self.helper.display();
        let line = |user: &UserName, verb: &str| format!("permit nopass {user} as root cmd {helper} args run {verb}");
        self.users.iter().flat_map(|user| self.verbs().map(move |verb| line(user, &verb))).collect()
    }
}

/// The rule of the document that pintle's eggs pack follows, for whoever asks to see it: root without a password for every
/// account of the machine. It is never installed.
///
/// # Errors
/// Code `invalid` when a path cannot be written in sudoers.
pub fn compat_rule(programs: &[PathBuf]) -> Result<String, Failure> {
    let programs = programs.iter().map(|path| escaped(path)).collect::<Result<Vec<_>, _>>()?;
    Ok(format!(
        "# WARNING: this makes every account of this machine root, services among them: it limits neither who may start\n\
         # these programs nor their arguments, and they run what they are told to run. pintle does not install it.\n\
         ALL ALL=(ALL) NOPASSWD: {}\n",
        programs.join(", ")
    ))
}

/// A path of a command as sudoers spells it.
fn escaped(path: &Path) -> Result<String, Failure> {
    let refused = |why: &str| {
        Failure::new(Code::Invalid, format!("`{}` cannot be granted in sudoers: {why}", path.display()))
            .hint("move the program to a folder with a plain name")
    };
    if !path.is_absolute() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(refused("it is not the absolute path of a file"));
    }
    let text = path.to_str().ok_or_else(|| refused("it is not UTF-8"))?;
    let mut spelled = String::with_capacity(text.len());
    for part in text.chars() {
        match u8::try_from(part) {
            Ok(byte) if byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) => {}
            Ok(byte) if ESCAPED.contains(&byte) => spelled.push('\\'),
            _ => return Err(refused(&format!("it holds {part:?}"))),
        }
        spelled.push(part);
    }
    Ok(spelled)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn rule(users: &[&str]) -> Rule {
        let users: Vec<String> = users.iter().map(|&user| user.to_owned()).collect();
        Rule::new("penguins-eggs-mcp", "eggs", vec!["remaster".into(), "destroy".into()], &users).unwrap()
    }

    #[test]
    fn eg_045_s_02_the_file_is_a_comment_and_one_exact_argument_list_per_user_and_verb() {
        let text = rule(&["bob", "alice", "bob"]).sudoers().unwrap();
        let (comments, lines): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with('#'));
        assert_eq!(comments.len(), 2);
        assert_eq!(
            lines,
            [
                "alice ALL=(root) NOPASSWD: /usr/lib/pintle/pintle-helper run eggs.remaster",
                "alice ALL=(root) NOPASSWD: /usr/lib/pintle/pintle-helper run eggs.destroy",
                "bob ALL=(root) NOPASSWD: /usr/lib/pintle/pintle-helper run eggs.remaster",
                "bob ALL=(root) NOPASSWD: /usr/lib/pintle/pintle-helper run eggs.destroy",
            ]
        );
    }

    #[test]
    fn s_01_no_rule_is_made_for_all_a_group_a_number_or_an_alias() {
        for name in ["ALL", "%wheel", "#0", "+net", "!bob", "ADMINS", "", "a b", "a,b", "bob=", "x\nALL", "-x"] {
            let failure = Rule::new("f", "eggs", vec!["x".into()], &[name.to_owned()]).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument, "{name:?}");
        }
    }

    #[test]
    fn s_10_what_means_something_to_sudoers_is_escaped_and_what_cannot_be_is_refused() {
        let spelled = escaped(Path::new("/opt/a, b:c=d#e\\f*?[g]/h")).unwrap();
        assert_eq!(spelled, r"/opt/a\,\ b\:c\=d\#e\\f\*\?\[g\]/h");
        for path in ["relative", "/folder/", "/a\nb", "/a\tb", "/a\"b", "/a'b", "/a!b", "/a(b", "/é", "/a^b", "/a$b"] {
            assert_eq!(escaped(Path::new(path)).unwrap_err().code, Code::Invalid, "{path:?}");
        }
    }

    #[test]
    fn s_02_names_that_would_be_a_pattern_never_get_into_a_rule() {
        for (file, pack, verb) in [("a.b", "eggs", "x"), ("f", "eg gs", "x"), ("f", "eggs", "*"), ("f", "eggs", "^x$")]
        {
            assert!(Rule::new(file, pack, vec![verb.into()], &[]).is_err(), "{file} {pack} {verb}");
        }
        assert_eq!(Rule::new("f", "ls", Vec::new(), &[]).unwrap_err().code, Code::Unavailable);
    }

    #[test]
    fn eg_045_the_rule_of_the_document_is_shown_with_a_warning() {
        let text = compat_rule(&["/usr/bin/eggs".into(), "/opt/a,b/eggs".into()]).unwrap();
        assert!(text.starts_with("# WARNING"));
        assert!(text.ends_with("ALL ALL=(ALL) NOPASSWD: /usr/bin/eggs, /opt/a\\,b/eggs\n"));
    }

    #[test]
    fn s_12_the_lines_for_doas_name_each_verb_too() {
        assert_eq!(
            rule(&["bob"]).doas()[0],
            "permit nopass bob as root cmd /usr/lib/pintle/pintle-helper args run eggs.remaster"
        );
    }
}
