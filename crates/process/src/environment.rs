//! What a child finds in its environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// Variables that a clean environment takes over from ours; `LC_*` comes on top.
const KEPT: &[&str] = &["PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"];

/// `PATH` for a child when we have none ourselves.
const FALLBACK_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The whole environment of a child. Nothing is inherited that is not in here.
///
/// Values may be secrets, so `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// An environment without any variable.
    pub fn empty() -> Self {
        Self::default()
    }

    /// `PATH`, `HOME`, `USER`, `LANG`, `LC_*`, `TZ` and `TMPDIR` as we have them. `PATH` is always set.
    pub fn clean() -> Self {
        Self::clean_from(std::env::vars_os())
    }

    /// [`clean`](Self::clean) from given variables instead of ours.
    pub fn clean_from(ours: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut variables: BTreeMap<OsString, OsString> = ours
            .into_iter()
            .filter(|(name, _)| name.to_str().is_some_and(|name| KEPT.contains(&name) || name.starts_with("LC_")))
            .collect();
        variables.entry(OsString::from("PATH")).or_insert_with(|| OsString::from(FALLBACK_PATH));
        Self { variables }
    }

    /// Nothing of ours: a fixed `PATH` of the system's own folders and the locale `C.UTF-8`. For elevated
    /// children, which must not be steered by whoever calls.
    pub fn fixed() -> Self {
        Self::empty().set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").set("LANG", "C.UTF-8").set("LC_ALL", "C.UTF-8")
    }

    /// Asks programs for plain output: `NO_COLOR=1`, `TERM=dumb`.
    pub fn plain_output(self) -> Self {
        self.set("NO_COLOR", "1").set("TERM", "dumb")
    }

    /// Sets one variable.
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Takes one variable over from our own environment; absent there, it stays absent here.
    pub fn inherit(self, name: impl AsRef<OsStr>) -> Self {
        match std::env::var_os(name.as_ref()) {
            Some(value) => self.set(name.as_ref(), value),
            None => self,
        }
    }

    /// Takes one variable away.
    pub fn unset(mut self, name: impl AsRef<OsStr>) -> Self {
        self.variables.remove(name.as_ref());
        self
    }

    /// The value of one variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (OsString, OsString) {
        (name.into(), value.into())
    }

    #[test]
    fn clean_keeps_the_listed_variables_only() {
        let clean = Environment::clean_from([
            pair("PATH", "/bin"),
            pair("LC_TIME", "C"),
            pair("TOKEN", "hush"),
            pair("LD_PRELOAD", "/tmp/x.so"),
            pair("IFS", ":"),
        ]);
        let names: Vec<_> = clean.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["LC_TIME", "PATH"]);
    }

    #[test]
    fn clean_always_has_a_path() {
        assert_eq!(Environment::clean_from([]).get("PATH"), Some(OsStr::new(FALLBACK_PATH)));
    }

    #[test]
    fn an_3_2_fixed_holds_nothing_of_ours() {
        let fixed = Environment::fixed();
        let names: Vec<_> = fixed.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(names, ["LANG", "LC_ALL", "PATH"]);
        assert_eq!(fixed.get("LANG"), Some(OsStr::new("C.UTF-8")));
    }

    #[test]
    fn debug_shows_no_value() {
        let shown = format!("{:?}", Environment::empty().set("TOKEN", "hush"));
        assert!(shown.contains("TOKEN") && !shown.contains("hush"), "{shown}");
    }

    #[test]
    fn plain_output_asks_for_no_colour() {
        let plain = Environment::empty().plain_output();
        assert_eq!(plain.get("NO_COLOR"), Some(OsStr::new("1")));
        assert_eq!(plain.get("TERM"), Some(OsStr::new("dumb")));
    }
}
