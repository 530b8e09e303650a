//! `cargo xtask cluster up|down`: real Kubernetes control planes on loopback, and the same for a test run.
//!
//! Starting and stopping is done by the crate `testcluster`, building its Go program by `program`.

mod program;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use testcluster::{Plan, Set};

use crate::{End, Trouble, place::Place};

/// As many as the tests of fan-out need: each has one of the hostile names.
const FOR_TESTS: usize = testcluster::HOSTILE.len();
const NODES: usize = 3;

impl From<testcluster::Error> for Trouble {
    fn from(error: testcluster::Error) -> Self {
        Self::Other(error.to_string())
    }
}

pub fn command(place: &Place, words: &[String]) -> Result<End, Trouble> {
    let (verb, rest) = words.split_first().map_or(("", words), |(verb, rest)| (verb.as_str(), rest));
    match verb {
        "up" => up(place, &Wanted::parse(rest)?),
        "down" if rest.is_empty() => down(place),
        "down" => Err(Trouble::Usage("`cluster down` takes no argument".into())),
        _ => Err(Trouble::Usage(format!("`cluster` is followed by `up` or `down`, not by `{verb}`"))),
    }
}

/// What `up` was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    clusters: usize,
    nodes: usize,
}

impl Wanted {
    fn parse(words: &[String]) -> Result<Self, Trouble> {
        let mut wanted = Self { clusters: 1, nodes: NODES };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--nodes" {
                let count = words.next().ok_or_else(|| Trouble::Usage("`--nodes` needs a number".into()))?;
                wanted.nodes = number(count, 0)?;
            } else {
                wanted.clusters = number(word, 1)?;
            }
        }
        Ok(wanted)
    }
}

fn number(word: &str, least: usize) -> Result<usize, Trouble> {
    let count = word.parse().ok().filter(|count| *count >= least);
    count.ok_or_else(|| Trouble::Usage(format!("`{word}` is no number from {least} on")))
}

/// The folder of the clusters that `up` starts.
fn folder(place: &Place) -> PathBuf {
    place.target.join("cluster")
}

fn up(place: &Place, wanted: &Wanted) -> Result<End, Trouble> {
    let program = program::built(place, &AtomicBool::new(false))?;
    let _lock = program::locked(place)?;
    let folder = folder(place);
    if let Some(running) = Set::found(&folder)? {
        if running.contexts().len() != wanted.clusters || running.state().nodes != wanted.nodes {
            return Err(Trouble::Other(format!(
                "another set runs already, of {} with {} nodes each: end it by `cargo xtask cluster down`",
                running.contexts().len(),
                running.state().nodes
            )));
        }
        return Ok(told(&running));
    }
    let contexts = testcluster::contexts(wanted.clusters);
    let start = Instant::now();
    let set = Plan { program, folder, contexts, nodes: wanted.nodes }.detached()?;
    eprintln!("cluster: {} up in {:.1} s", wanted.clusters, start.elapsed().as_secs_f64());
    Ok(told(&set))
}

/// The contexts to people, the variable alone on stdout: `export "$(cargo xtask cluster up)"`.
fn told(set: &Set) -> End {
    for context in set.contexts() {
        eprintln!("cluster: context `{context}`");
    }
    println!("KUBECONFIG={}", set.kubeconfig().display());
    End::Good
}

fn down(place: &Place) -> Result<End, Trouble> {
    let _lock = program::locked(place)?;
    let ran = testcluster::stop(&folder(place))?;
    eprintln!("cluster: {}", if ran { "stopped" } else { "none ran" });
    Ok(End::Good)
}

/// Starts the clusters of a test run, which end with the value; none, after telling why, where tests must do without.
/// Part of the tests alone does not wait for the program's first build, but in CI, where nothing may be skipped.
/// `cancelled` ends the build.
pub fn for_tests(place: &Place, whole: bool, cancelled: &AtomicBool) -> Result<Option<Set>, Trouble> {
    let patient = whole || std::env::var_os("CI").is_some();
    if !patient && !program::is_built(place)? {
        println!("cluster: not built; tests that need clusters are skipped until `cargo xtask cluster up` was run");
        return Ok(None);
    }
    let program = match program::built(place, cancelled) {
        Err(Trouble::Missing(what)) => {
            println!("cluster: {what}; tests that need clusters are skipped");
            return Ok(None);
        }
        built => built?,
    };
    let start = Instant::now();
    let contexts = testcluster::contexts(FOR_TESTS);
    let set = Plan { program, folder: place.own().join("clusters"), contexts, nodes: NODES }.held()?;
    println!("cluster: {FOR_TESTS} up in {:.1} s", start.elapsed().as_secs_f64());
    Ok(Some(set))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Wanted, Trouble> {
        Wanted::parse(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn up_takes_a_count_and_nodes() {
        assert_eq!(parse("").unwrap(), Wanted { clusters: 1, nodes: NODES });
        assert_eq!(parse("3 --nodes 5").unwrap(), Wanted { clusters: 3, nodes: 5 });
        assert_eq!(parse("--nodes 0").unwrap(), Wanted { clusters: 1, nodes: 0 });
        for wrong in ["0", "-1", "three", "--nodes", "--nodes x", "--node 3"] {
            assert!(matches!(parse(wrong), Err(Trouble::Usage(_))), "{wrong}");
        }
    }
}
