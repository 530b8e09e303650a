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

fn no_contexts(kubeconfig: &Kubeconfig) -> Failure {
    let files: Vec<String> = kubeconfig.files.iter().map(|file| file.display().to_string()).collect();
    let message = if files.is_empty() {
        "no kubeconfig: there is no context to ask".to_owned()
    } else {
        format!("no context in {}", files.join(", "))
    };
    Failure::new(Code::Unavailable, message)
        .hint("set KUBECONFIG, or give --kubeconfig FILE; inside a pod, mount its service account")
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
