//! What every read of lists has in common: which clusters and namespace, policy, paging, counts.

use crate::Host;
use pintle_core::{Answer, Call, CutRows, Failure, Outcome, Scope, Spellings, View};
use pintle_fleet::{
    Cause, Cluster, ClusterError, Fanned, FleetRow, Found, ListParams, ResourceType, Selection, Targets, Unnamed,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::BTreeMap;

/// Old forms that the reads of the seed accept: one cluster as a text, empty optionals.
pub(crate) const OLD_FORMS: Spellings = Spellings {
    renames: &[],
    booleans: &["previous", "timestamps"],
    empty_is_absent: &["cluster", "namespace", "label_selector", "involved_object", "container", "since", "source"],
    singles: &["clusters"],
};

/// The clusters that a call means, with its namespace looked at: whether it can be one, and whether policy lets this
/// call read it there.
///
/// # Errors
/// Code `invalid_argument` for what can be no namespace, `denied`, or what the fleet says of the targets.
pub(crate) async fn select(
    host: &Host,
    targets: &Targets,
    namespace: Option<&str>,
    call: &Call,
) -> Result<Selection, Failure> {
    if let Some(namespace) = namespace {
        check_namespace(namespace)?;
    }
    let selection = host.fleet().select(targets, Unnamed::Current, call).await?;
    if let Some(namespace) = namespace {
        for cluster in &selection.chosen {
            call.allows(&place(cluster, namespace))?;
        }
    }
    Ok(selection)
}

/// A namespace of a cluster, as policy looks at it.
pub(crate) fn place(cluster: &str, namespace: &str) -> Scope {
    Scope { namespace: Some(namespace.to_owned()), ..Scope::cluster(cluster) }
}

/// Refuses what the API could not have as a namespace (RFC 1123 label).
fn check_namespace(namespace: &str) -> Result<(), Failure> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let good = namespace.len() <= 63
        && namespace.chars().all(|c| letter(c) || c == '-')
        && namespace.starts_with(letter)
        && namespace.ends_with(letter);
    if good {
        return Ok(());
    }
    Err(Failure::invalid_argument("namespace", format!("`{}` is no name of a namespace", namespace.escape_debug()))
        .hint("lower-case letters, digits and dashes, at most 63; leave it out for all namespaces"))
}

/// A row that has a place.
pub(crate) trait Placed {
    /// The namespace it is in; empty for the cluster's own.
    fn namespace(&self) -> &str;
}

/// Lists a kind page by page and makes rows of it; only rows are kept. Rows in namespaces that policy denies are left
/// out and told, and so is a namespace that is not there.
///
/// # Errors
/// What goes wrong with the cluster.
pub(crate) async fn list_rows<T, R>(
    cluster: &Cluster,
    kind: &ResourceType,
    params: &ListParams,
    call: &Call,
    make: impl Fn(T) -> R + Send + Sync,
) -> Result<Found<R>, ClusterError>
where
    T: DeserializeOwned + Send + 'static,
    R: Placed + Send,
{
    let mut denied = Denied::new(cluster.name(), call);
    let listing = cluster
        .list_pages(kind, params, Vec::new, |rows, page: Vec<T>| {
            rows.extend(page.into_iter().map(&make).filter(|row| denied.lets(row.namespace())));
        })
        .await?;
    let mut found = Found::from(listing);
    found.notes.extend(denied.note());
    found.notes.extend(absent(cluster, params.namespace.as_deref(), found.rows.is_empty()).await);
    Ok(found)
}

/// Which namespaces policy denies to this call, asked once each.
pub(crate) struct Denied<'a> {
    cluster: &'a str,
    call: &'a Call,
    known: BTreeMap<String, bool>,
    rows: usize,
}

impl<'a> Denied<'a> {
    pub(crate) fn new(cluster: &'a str, call: &'a Call) -> Self {
        Self { cluster, call, known: BTreeMap::new(), rows: 0 }
    }

    /// Whether a row of that namespace may be shown.
    pub(crate) fn lets(&mut self, namespace: &str) -> bool {
        if namespace.is_empty() {
            return true;
        }
        let allowed = match self.known.get(namespace) {
            Some(allowed) => *allowed,
            None => {
                let allowed = self.call.allows(&place(self.cluster, namespace)).is_ok();
                self.known.insert(namespace.to_owned(), allowed);
                allowed
            }
        };
        self.rows += usize::from(!allowed);
        allowed
    }

    /// What was left out, if anything.
    pub(crate) fn note(&self) -> Option<String> {
        let namespaces: Vec<&str> =
            self.known.iter().filter(|(_, allowed)| !**allowed).map(|(name, _)| name.as_str()).collect();
        (self.rows > 0).then(|| format!("{} left out: policy denies {}", self.rows, namespaces.join(", ")))
    }
}

/// What is to be said of a namespace in which nothing was found: a list in one that is not there is empty, too.
pub(crate) async fn absent(cluster: &Cluster, namespace: Option<&str>, empty: bool) -> Option<String> {
    let namespace = namespace.filter(|_| empty)?;
    match cluster.has_namespace(namespace).await {
        Ok(true) => None,
        Ok(false) => Some(format!("namespace `{namespace}` does not exist")),
        Err(ClusterError { cause: Cause::Forbidden { .. }, .. }) => {
            Some(format!("whether namespace `{namespace}` exists is not ours to know: reading namespaces is forbidden"))
        }
        Err(error) => Some(format!("whether namespace `{namespace}` exists is not known: {}", error.cause)),
    }
}

/// A row that counts under a word.
pub(crate) trait Grouped: FleetRow {
    /// What rows are called: `pods`.
    const NOUN: &'static str;
    /// The word: a status, a type.
    fn group(&self) -> &str;
}

/// Rows of many clusters, and first how many there are of each sort.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Counted<R> {
    /// How many of each sort, over all clusters and before any is left off
    counts: BTreeMap<String, usize>,
    #[serde(flatten)]
    found: Fanned<R>,
}

impl<R: Grouped> From<Fanned<R>> for Counted<R> {
    fn from(found: Fanned<R>) -> Self {
        let mut counts = BTreeMap::new();
        for found in found.rows.iter() {
            match counts.get_mut(found.row.group()) {
                Some(count) => *count += 1,
                None => drop(counts.insert(found.row.group().to_owned(), 1)),
            }
        }
        Self { counts, found }
    }
}

impl<R: Grouped> Answer for Counted<R> {
    fn view(&self) -> View {
        let whole = self.found.view();
        if self.counts.is_empty() {
            return whole;
        }
        let mut sorted: Vec<_> = self.counts.iter().collect();
        sorted.sort_by_key(|(word, count)| (std::cmp::Reverse(**count), *word));
        let sorts: Vec<String> = sorted.into_iter().map(|(word, count)| format!("{count} {word}")).collect();
        let rows = self.found.totals.rows;
        let noun = if rows == 1 { R::NOUN.trim_end_matches('s') } else { R::NOUN };
        let mut view = View::text(format!("{rows} {noun}: {}", sorts.join(", ")));
        view.blocks.extend(whole.blocks);
        view
    }

    fn outcome(&self) -> Outcome {
        self.found.outcome()
    }

    fn failure(&self) -> Option<Failure> {
        self.found.failure()
    }

    fn rows(&mut self) -> Option<&mut dyn CutRows> {
        self.found.rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_no_namespace_is_refused_and_system_namespaces_are_not() {
        for good in ["a", "kube-system", "openshift-monitoring", "team-00"] {
            assert!(check_namespace(good).is_ok(), "{good}");
        }
        for bad in ["-a", "a-", "A", "a/b", "a_b", "..", &"x".repeat(64)] {
            assert!(check_namespace(bad).is_err(), "{bad}");
        }
    }
}
