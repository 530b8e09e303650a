//! Whether the tools of a pack can work here, and what stands in their way.

use crate::{guard, host::Host, load::Loaded, places::Places, privilege};
use pintle_core::Failure;
use pintle_packfile::{Arguments, Elevate, Template};
use std::path::PathBuf;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The program that is driven; none where nothing works.
    pub program: Option<PathBuf>,
    /// What a person should know or do, the most important first.
    pub notes: Vec<String>,
}

/// Looks. The program is asked who it is; nothing else is started, nothing changed.
///
/// # Errors
/// When there is no such pack, or it does not hold together.
pub async fn health(host: &Host, name: &str) -> Result<Health, Failure> {
    let loaded = host.pack(name)?;
    let found = match host.finder().find(loaded, host.surroundings(), false).await {
        Ok(found) => found,
        Err(failure) => {
            let notes = std::iter::once(failure.message).chain(failure.hints).collect();
            return Ok(Health { program: None, notes });
        }
    };
    let mut notes = vec![match found.by_operator {
        true => format!("{}, named by the operator: never run as root through the helper", found.path.display()),
        false => found.path.display().to_string(),
    }];
    notes.extend(rights(host, loaded).await.err().map(|failure| with_hints(&failure)));
    notes.extend(guard::check(&loaded.pack.program.guard).err().map(|failure| with_hints(&failure)));
    notes.extend(stale(host, loaded));
    Ok(Health { program: Some(found.path), notes })
}

/// Whether the verbs that need root's rights would get them.
async fn rights(host: &Host, loaded: &Loaded) -> Result<(), Failure> {
    let Some(verb) = loaded.pack.elevated().next() else { return Ok(()) };
    privilege::check(host.surroundings(), loaded, verb, Elevate::Always)?;
    let found = host.finder().find(loaded, host.surroundings(), true).await?;
    privilege::way(host.surroundings(), loaded, verb, Elevate::Always, &found).map(drop)
}

/// What an earlier run left mounted.
fn stale(host: &Host, loaded: &Loaded) -> Option<String> {
    let arguments = Arguments::default();
    let places = Places::new(loaded, &arguments, host.surroundings());
    let folders = loaded.pack.verbs.values().filter_map(|verb| verb.rules.success.mounts_below.as_ref());
    let mounted = |folder: &Template| match places.mounts(folder) {
        Ok(mounts) if mounts.is_empty() => None,
        Ok(mounts) => Some(format!("left mounted by an earlier run: {}", mounts.points().join(", "))),
        Err(failure) => Some(failure.message),
    };
    folders.into_iter().find_map(mounted)
}

fn with_hints(failure: &Failure) -> String {
    std::iter::once(&failure.message).chain(&failure.hints).cloned().collect::<Vec<_>>().join("; ")
}
