//! From the words of a call to clusters.

use crate::{Identity, Kubeconfig, SectionOutcome, Targets, Unnamed, targets::ALL};
use globset::{GlobBuilder, GlobMatcher};
use pintle_core::{Call, Code, Failure, Scope, nearest};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The clusters a call is about.
#[derive(Clone, Debug)]
pub struct Selection {
    /// Contexts to ask, by name.
    pub chosen: Vec<String>,
    /// Contexts that a glob or `all` means and policy denies, with the reason.
    pub denied: Vec<(String, String)>,
    /// Contexts that are another's alias.
    pub skipped: Vec<Skipped>,
    /// The kubeconfig that was looked at: it stays the same for the whole call.
    pub(crate) kubeconfig: Arc<Kubeconfig>,
}

/// A context that a glob or `all` means and that is left out, because another one leads to the same cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// The context that is asked instead.
    pub same_as: String,
}

impl Selection {
    /// What is in the selection and not asked, with a note for people.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (String, SectionOutcome, String)> {
        let denied = self.denied.iter().map(|(name, why)| (name.clone(), SectionOutcome::Denied, why.clone()));
        let skipped = self.skipped.iter().map(|skipped| {
            let note = format!("skipped: the same server and authority as `{}`", skipped.same_as);
            (skipped.name.clone(), SectionOutcome::Skipped, note)
        });
        denied.chain(skipped)
    }

    /// Contexts asked for, whatever becomes of them.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.chosen.len() + self.denied.len() + self.skipped.len()
    }
}

/// The contexts that the targets mean. Names are exact and never merged; what only a glob or `all` brings in is merged
/// where it leads to a cluster that is in already.
///
/// # Errors
/// A name that is not there, a glob that fits nothing or is none, no current context, or a named context that policy
/// denies.
pub(crate) fn select(
    kubeconfig: &Arc<Kubeconfig>,
    targets: &Targets,
    unnamed: Unnamed,
    call: &Call,
) -> Result<Selection, Failure> {
    let mut named = BTreeSet::new();
    let mut found = BTreeSet::new();
    let words = targets.words()?;
    for word in &words {
        let several = several(kubeconfig, word)?;
        match several {
            Some(names) => found.extend(names),
            None => drop(named.insert((*word).to_owned())),
        }
    }
    if words.is_empty() {
        match unnamed {
            Unnamed::Current => drop(named.insert(current(kubeconfig)?)),
            Unnamed::All => found.extend(kubeconfig.names().map(str::to_owned)),
        }
        if kubeconfig.contexts.is_empty() {
            return Err(no_contexts(kubeconfig));
        }
    }
    for name in &named {
        // Whoever names a cluster is told no; whoever asks for all is told which.
        call.allows(&Scope::cluster(name))?;
    }
    found.retain(|name| !named.contains(name));
    let mut denied = Vec::new();
    found.retain(|name| match call.allows(&Scope::cluster(name)) {
        Ok(()) => true,
        Err(failure) => {
            denied.push((name.clone(), failure.message));
            false
        }
    });
    let skipped = merge(kubeconfig, &named, &mut found);
    let chosen = named.into_iter().chain(found).collect::<BTreeSet<_>>().into_iter().collect();
    Ok(Selection { chosen, denied, skipped, kubeconfig: Arc::clone(kubeconfig) })
}

/// The contexts that a glob or `all` means; `None` for a name that is there.
fn several(kubeconfig: &Kubeconfig, word: &str) -> Result<Option<Vec<String>>, Failure> {
    // A name is a name first, whatever characters it has: `[prod]`, `all`, `a*`.
    if kubeconfig.contexts.contains_key(word) {
        return Ok(None);
    }
    if word == ALL {
        if kubeconfig.contexts.is_empty() {
            return Err(no_contexts(kubeconfig));
        }
        return Ok(Some(kubeconfig.names().map(str::to_owned).collect()));
    }
    if !word.contains(['*', '?', '[', '{']) {
        return Err(unknown(kubeconfig, word));
    }
    let glob = glob(word)?;
    let names: Vec<String> = kubeconfig.names().filter(|name| glob.is_match(name)).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(list_names(Failure::new(Code::NotFound, format!("no context fits `{word}`")), kubeconfig));
    }
    Ok(Some(names))
}

fn glob(word: &str) -> Result<GlobMatcher, Failure> {
    // Names are no paths: a star also means the slashes of an ARN.
    let glob = GlobBuilder::new(word).literal_separator(false).backslash_escape(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| Failure::invalid_argument("clusters", format!("`{word}` is no glob: {}", error.kind())))
}

/// The current context.
pub(crate) fn current(kubeconfig: &Kubeconfig) -> Result<String, Failure> {
    if kubeconfig.contexts.is_empty() {
        return Err(no_contexts(kubeconfig));
    }
    match kubeconfig.current.as_deref().filter(|name| !name.is_empty()) {
        None => Err(list_names(
            Failure::new(Code::NotFound, "the kubeconfig has no current context")
                .hint("name one with `clusters`, or `kubectl config use-context NAME`"),
            kubeconfig,
        )),
        Some(name) if kubeconfig.contexts.contains_key(name) => Ok(name.to_owned()),
        Some(name) => Err(unknown(kubeconfig, name)),
    }
}

pub(crate) fn unknown(kubeconfig: &Kubeconfig, word: &str) -> Failure {
    if kubeconfig.contexts.is_empty() {
        return no_contexts(kubeconfig);
    }
    let failure = Failure::new(Code::NotFound, format!("no context `{word}` in the kubeconfig"));
    match nearest(word, kubeconfig.names()) {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => list_names(failure, kubeconfig),
    }
}

/// Most names that a hint lists.
const LISTED: usize = 10;

fn list_names(failure: Failure, kubeconfig: &Kubeconfig) -> Failure {
    let names: Vec<String> = kubeconfig.names().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = kubeconfig.contexts.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    failure.hint(format!("the contexts are {}{more}", names.join(", ")))
}

impl Kubeconfig {
    /// What is to be said where it has no context: code `unavailable`, with what to do.
    #[must_use]
    pub fn without_contexts(&self) -> Failure {
        no_contexts(self)
    }

    /// Whether there is nothing at all to look at: no file, and no service account of a pod.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.contexts.is_empty() && self.files.is_empty()
    }
}

fn no_contexts(kubeconfig: &Kubeconfig) -> Failure {
    let files: Vec<String> = kubeconfig.files.iter().map(|file| file.display().to_string()).collect();
    let message = if files.is_empty() {
        "no kubeconfig: there is no context to ask".to_owned()
    } else {
        format!("no context in {}", files.join(", "))
    };
    Failure::new(Code::Unavailable, message).hint(
        "set KUBECONFIG, or write `--kubeconfig FILE` before the command; inside a pod, mount its service account",
    )
}

/// Takes out of `found` what leads to a cluster that is in already: one that was named, else the current context, else
/// the first by name.
fn merge(kubeconfig: &Kubeconfig, named: &BTreeSet<String>, found: &mut BTreeSet<String>) -> Vec<Skipped> {
    let identity = |name: &str| kubeconfig.cluster_of(name).and_then(Identity::of);
    let mut holders: BTreeMap<Identity, String> = BTreeMap::new();
    let current = kubeconfig.current.iter().filter(|current| found.contains(*current));
    for name in named.iter().chain(current).chain(found.iter()) {
        if let Some(identity) = identity(name) {
            holders.entry(identity).or_insert_with(|| name.clone());
        }
    }
    let mut skipped = Vec::new();
    found.retain(|name| match identity(name).and_then(|identity| holders.get(&identity)) {
        Some(holder) if holder != name => {
            skipped.push(Skipped { name: name.clone(), same_as: holder.clone() });
            false
        }
        _ => true,
    });
    skipped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClusterEntry, ContextEntry};
    use pintle_core::{BoxFuture, CallPort, Caller, Door, InputRequest, InputResponse, LogLevel, Notice, Stop};
    use serde_json::Value;
    use std::time::Instant;

    const ARN: &str = "arn:aws:eks:eu-west-1:1:cluster/prod";

    /// A kubeconfig of contexts and their servers; the first is the current one.
    fn kubeconfig(contexts: &[(&str, &str)]) -> Arc<Kubeconfig> {
        let mut config =
            Kubeconfig { current: contexts.first().map(|(name, _)| (*name).to_owned()), ..Kubeconfig::default() };
        for (name, server) in contexts {
            let context = ContextEntry { cluster: (*server).to_owned(), ..ContextEntry::default() };
            config.contexts.insert((*name).to_owned(), context);
            let server = ClusterEntry { server: format!("https://{server}"), ..ClusterEntry::default() };
            config.clusters.insert(server.server["https://".len()..].to_owned(), server);
        }
        Arc::new(config)
    }

    fn usual() -> Arc<Kubeconfig> {
        kubeconfig(&[("dev", "d"), (ARN, "p"), ("prod eu", "e"), ("a*", "s"), ("prod eu admin", "e"), ("zeta", "d")])
    }

    fn targets(words: &[&str]) -> Targets {
        Targets { clusters: words.iter().map(|word| (*word).to_owned()).collect(), cluster: None }
    }

    fn chosen(words: &[&str]) -> Vec<String> {
        select(&usual(), &targets(words), Unnamed::Current, &Call::detached()).unwrap().chosen
    }

    fn refused(config: &Arc<Kubeconfig>, words: &[&str]) -> Failure {
        select(config, &targets(words), Unnamed::Current, &Call::detached()).unwrap_err()
    }

    #[test]
    fn kw_62_kw_57_names_are_exact_and_globs_and_all_mean_many() {
        assert_eq!(chosen(&[]), ["dev"], "the current context");
        assert_eq!(chosen(&[ARN]), [ARN]);
        assert_eq!(chosen(&["a*"]), ["a*"], "a name is a name first");
        assert_eq!(chosen(&["arn:*"]), [ARN], "a star means slashes too");
        assert_eq!(chosen(&["prod*", "dev"]), ["dev", "prod eu"], "in order, the alias left out");
        assert_eq!(chosen(&["all"]), ["a*", ARN, "dev", "prod eu"]);
        let all = select(&usual(), &Targets::default(), Unnamed::All, &Call::detached()).unwrap();
        assert_eq!(all.chosen.len(), 4);
        let one = Targets { cluster: Some("zeta".to_owned()), ..Targets::default() };
        assert_eq!(select(&usual(), &one, Unnamed::All, &Call::detached()).unwrap().chosen, ["zeta"]);
    }

    #[test]
    fn kw_25_aliases_are_merged_unless_named_and_told() {
        let all = select(&usual(), &targets(&["*"]), Unnamed::Current, &Call::detached()).unwrap();
        assert_eq!(
            all.skipped,
            [
                Skipped { name: "prod eu admin".to_owned(), same_as: "prod eu".to_owned() },
                Skipped { name: "zeta".to_owned(), same_as: "dev".to_owned() },
            ]
        );
        assert_eq!(all.asked(), 6);
        assert_eq!(chosen(&["prod eu admin", "prod eu"]), ["prod eu", "prod eu admin"], "names are never merged");
        assert_eq!(chosen(&["prod eu admin", "prod*"]), ["prod eu admin"], "what is named stands for its aliases");
        let config = kubeconfig(&[("z", "one"), ("a", "one")]);
        let kept = select(&config, &Targets::all(), Unnamed::Current, &Call::detached()).unwrap().chosen;
        assert_eq!(kept, ["z"], "the current context first, whatever its name");
    }

    #[test]
    fn kw_41_a_wrong_name_is_an_error_that_helps() {
        let near = refused(&usual(), &["deb"]);
        assert_eq!((near.code, near.hints[0].as_str()), (Code::NotFound, "did you mean `dev`?"));
        let far = refused(&usual(), &["staging-us"]);
        assert!(far.hints[0].starts_with("the contexts are `a*`, `arn:aws"), "{far:?}");
        assert_eq!(refused(&usual(), &["x*"]).message, "no context fits `x*`");
        assert_eq!(refused(&usual(), &["x[*"]).code, Code::InvalidArgument);
        assert_eq!(refused(&usual(), &["dev", "nope"]).code, Code::NotFound, "one wrong name fails the call");
        let empty = refused(&kubeconfig(&[]), &[]);
        assert_eq!(
            (empty.code, empty.message.as_str()),
            (Code::Unavailable, "no kubeconfig: there is no context to ask")
        );
        assert_eq!(refused(&kubeconfig(&[]), &["all"]).code, Code::Unavailable);
        let mut config = (*usual()).clone();
        config.current = Some(String::new());
        assert_eq!(refused(&Arc::new(config.clone()), &[]).message, "the kubeconfig has no current context");
        config.current = Some("dew".to_owned());
        assert_eq!(refused(&Arc::new(config), &[]).hints[0], "did you mean `dev`?");
    }

    /// Denies one cluster.
    struct Strict;

    impl CallPort for Strict {
        fn cancelled(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::pending())
        }
        fn is_cancelled(&self) -> bool {
            false
        }
        fn deadline(&self) -> Option<Instant> {
            None
        }
        fn progress(&self, _: f64, _: Option<f64>, _: &str) {}
        fn emit(&self, _: Value) {}
        fn log(&self, _: LogLevel, _: &str, _: Value) {}
        fn register_secret(&self, _: &str, _: &str) {}
        fn ask(&self, _: Vec<InputRequest>) -> BoxFuture<'_, Result<Vec<InputResponse>, Stop>> {
            Box::pin(async { Ok(Vec::new()) })
        }
        fn notify(&self, _: Notice) {}
        fn allows(&self, scope: &Scope) -> Result<(), Failure> {
            match scope.cluster.as_deref() {
                Some("prod eu") => Err(Failure::new(Code::Denied, "policy does not allow it")),
                _ => Ok(()),
            }
        }
    }

    #[test]
    fn a_denied_name_fails_and_a_denied_match_is_listed() {
        let caller = Caller { door: Door::Agents, principal: "test".to_owned() };
        let call = Call::new(Arc::new(Strict), caller, None, None);
        let named = select(&usual(), &targets(&["prod eu"]), Unnamed::Current, &call).unwrap_err();
        assert_eq!(named.code, Code::Denied);
        let all = select(&usual(), &targets(&["all"]), Unnamed::Current, &call).unwrap();
        assert_eq!(all.denied, [("prod eu".to_owned(), "policy does not allow it".to_owned())]);
        let left_out: Vec<_> = all.left_out().map(|(name, outcome, _)| (name, outcome)).collect();
        assert_eq!(left_out[0], ("prod eu".to_owned(), SectionOutcome::Denied));
        assert!(!all.chosen.contains(&"prod eu".to_owned()));
    }
}
