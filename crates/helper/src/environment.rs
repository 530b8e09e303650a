//! Who called, and the environment of what runs for them.

use std::env;

/// Everything the program gets beside who called.
const FIXED: [(&str, &str); 5] = [
    ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"),
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    // Plain output, in colours for nobody.
    ("NO_COLOR", "1"),
    ("TERM", "dumb"),
];

/// Whoever called, as sudo or doas says: the only part of the environment that is looked at.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Invoker {
    pub user: Option<String>,
    pub uid: Option<u32>,
    gid: Option<u32>,
    doas: bool,
}

impl Invoker {
    pub fn of_environment() -> Self {
        Self::of(|name| env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let user = |name: &str| variable(name).filter(|user| is_name(user));
        let number = |name: &str| variable(name).and_then(|number| number.parse().ok());
        match user("SUDO_USER") {
            Some(name) => Self { user: Some(name), uid: number("SUDO_UID"), gid: number("SUDO_GID"), doas: false },
            None => Self { user: user("DOAS_USER"), doas: true, ..Self::default() },
        }
    }

    /// The whole environment of the program. It learns who called as sudo would say it, also where it was doas: programs that
    /// look know that name, and would otherwise take whom they find first.
    pub fn environment(&self) -> Vec<(String, String)> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut all: Vec<(String, String)> = FIXED.into_iter().map(owned).collect();
        if let Some(user) = &self.user {
            all.push(owned(("SUDO_USER", user)));
            if self.doas {
                all.push(owned(("DOAS_USER", user)));
            }
        }
        let numbers = [("SUDO_UID", self.uid), ("SUDO_GID", self.gid)];
        all.extend(numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number?.to_string()))));
        all
    }
}

/// Nothing in it can be an option, a path or a word of a shell.
fn is_name(user: &str) -> bool {
    (1..=256).contains(&user.len())
        && user.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.@+".contains(&byte))
        && !user.starts_with(['-', '.', '+', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &[(&str, &str)]) -> Invoker {
        Invoker::of(|name| given.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn s_43_nothing_of_whoever_calls_reaches_the_program_but_who_they_are() {
        let invoker =
            of(&[("SUDO_USER", "alice"), ("SUDO_UID", "1000"), ("SUDO_GID", "x"), ("LD_PRELOAD", "/tmp/x.so")]);
        let names: Vec<String> = invoker.environment().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "LANG", "LC_ALL", "NO_COLOR", "TERM", "SUDO_USER", "SUDO_UID"]);
    }

    #[test]
    fn s_12_doas_says_who_called_as_sudo_does() {
        let environment = of(&[("DOAS_USER", "bob")]).environment();
        assert!(["SUDO_USER", "DOAS_USER"].iter().all(|name| environment.contains(&((*name).into(), "bob".into()))));
        for strange in ["", "-x", "a b", "a;b", "../x", "a/b", "a\nb", "$(x)"] {
            assert_eq!(of(&[("SUDO_USER", strange)]).user, None, "{strange:?}");
        }
    }
}
