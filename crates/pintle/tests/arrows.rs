//! The map of the house, and that nobody goes round the one path.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Ground floor, from left to right: a crate knows only those further right.
const GROUND: [&str; 10] =
    ["dispatch", "check", "manifest", "fleet", "client", "process", "yaml", "files", "core", "packfile"];
/// Doors and toolsets know the ground and no neighbour.
const UPPER: [&str; 7] = ["cli", "mcp", "charly", "ops", "deploy", "pack", "register"];
/// Runs as root, and so is made of as little as possible: it knows one crate.
const HELPER: (&str, &str) = ("helper", "packfile");
/// For tests: knows the ground and serves its fixture through the agents' door.
const TESTKIT: &str = "testkit";
/// Joins everything.
const BINARY: &str = "pintle";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every crate with the crates of ours that it knows, and those that only its tests know.
fn crates() -> BTreeMap<String, [Vec<String>; 2]> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    folders
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .map(|folder| {
            let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
            let ours = |sections: &[&str]| -> Vec<String> {
                let tables = sections.iter().filter_map(|section| manifest.get(*section)?.as_table());
                tables.flat_map(toml::Table::keys).filter_map(|key| Some(key.strip_prefix("pintle-")?.into())).collect()
            };
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            assert_eq!(manifest["package"]["name"].as_str().unwrap().trim_start_matches("pintle-"), name);
            assert!(!manifest.contains_key("target"), "{name}: an arrow must not hide behind a platform");
            (name, [ours(&["dependencies", "build-dependencies"]), ours(&["dev-dependencies"])])
        })
        .collect()
}

fn may(from: &str, to: &str) -> bool {
    if from == HELPER.0 {
        return to == HELPER.1;
    }
    let place = |name: &str| GROUND.iter().position(|ground| *ground == name);
    match (place(from), place(to)) {
        (Some(from), Some(to)) => from < to,
        (None, Some(_)) => UPPER.contains(&from) || from == TESTKIT || from == BINARY,
        (_, None) => (from == BINARY && UPPER.contains(&to)) || (from == TESTKIT && to == "mcp"),
    }
}

#[test]
fn eg_003_arrows_go_down_and_inside_ground_to_the_right() {
    let crates = crates();
    for (name, [known, tested]) in &crates {
        let placed = GROUND.contains(&name.as_str()) || UPPER.contains(&name.as_str());
        assert!(placed || [HELPER.0, TESTKIT, BINARY].contains(&name.as_str()), "`{name}` has no place in the map");
        for other in known {
            assert!(may(name, other), "`{name}` must not know `{other}`");
        }
        for other in tested.iter().filter(|other| *other != TESTKIT) {
            assert!(may(name, other), "the tests of `{name}` must not know `{other}`");
        }
    }
    assert!(crates[BINARY][0].contains(&"cli".to_owned()), "the crates were read");
    assert!(!may("core", "yaml") && !may("cli", "mcp") && !may("charly", "cli") && !may("mcp", "charly"));
    assert!(may("pack", "packfile") && !may("packfile", "core"));
    assert!(!may("helper", "core") && !may("pack", "helper") && !may("core", "helper"));
    assert!(!may("dispatch", "charly") && !may("process", TESTKIT) && may("dispatch", "core"));
}

#[test]
fn the_workspace_commands_know_no_crate_of_the_product() {
    let manifest = fs::read_to_string(root().join("xtask/Cargo.toml")).unwrap();
    assert!(!manifest.contains("pintle-"), "xtask builds the product and must not be built of it");
}

/// Every source file of the crates with its crate, tests at the bottom left out.
fn sources() -> Vec<(String, PathBuf, String)> {
    let mut all = Vec::new();
    for name in crates().into_keys() {
        walk(&root().join("crates").join(&name).join("src"), &mut |path, text| {
            let product = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
            all.push((name.clone(), path, product));
        });
    }
    all
}

fn walk(folder: &Path, found: &mut impl FnMut(PathBuf, String)) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found(path, text);
        }
    }
}

/// Places where `word` stands as a word of its own in code, not in a comment.
fn named(text: &str, word: &str) -> Vec<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .filter(|(_, line)| {
            line.match_indices(word).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let after = line[at + word.len()..].chars().next();
                !before.is_some_and(part) && !after.is_some_and(part)
            })
        })
        .map(|(index, _)| index + 1)
        .collect()
}

/// A permit comes from the authority, and only the dispatcher claims it.
#[test]
fn the_authority_is_named_in_core_and_dispatch_alone() {
    let mut claimed = 0;
    for (name, path, text) in sources() {
        // The authority of a URI is another one.
        for line in named(&text.replace("uri::Authority", ""), "Authority") {
            assert!(matches!(name.as_str(), "core" | "dispatch"), "{}:{line} names the authority", path.display());
            claimed += usize::from(name == "dispatch");
        }
    }
    assert!(claimed > 0, "the sources were read");
}

/// To call a tool takes a gate: who cannot make one can only pass on the dispatcher's, as a wrapper of a tool does.
#[test]
fn nobody_but_the_dispatcher_has_a_gate_of_its_own() {
    let mut gates = 0;
    for (name, path, text) in sources() {
        for line in text.lines().filter(|line| line.contains("impl") && line.contains("Gate for ")) {
            assert_eq!(name, "dispatch", "{}: {line}", path.display());
            gates += 1;
        }
        for (at, _) in text.match_indices(".call(") {
            let arguments = text[at + 6..].split(')').next().unwrap_or_default();
            let passes_gate = arguments.split(',').nth(1).is_some_and(|second| second.contains("gate"));
            let forwards = arguments.split(',').nth(1).is_some_and(|second| second.trim() == "gate");
            assert!(name == "dispatch" || !passes_gate || forwards, "{}: `.call({arguments})`", path.display());
        }
    }
    assert_eq!(gates, 1, "the sources were read");
}

/// A toolset answers with values: printing, ending the process and changing it are other people's.
#[test]
fn toolsets_and_ground_neither_print_nor_look_at_the_command_line() {
    for (name, path, text) in sources() {
        if matches!(name.as_str(), "cli" | "mcp" | "helper" | BINARY | TESTKIT)
            || path.components().any(|part| part.as_os_str() == "bin")
        {
            continue;
        }
        for word in ["println!", "eprintln!", "print!", "eprint!", "dbg!"] {
            let found = text.lines().any(|line| line.contains(word) && !line.trim_start().starts_with("//"));
            assert!(!found, "{} prints", path.display());
        }
        for word in ["std::env::args", "std::process::exit", "clap::", "rmcp::"] {
            let known = name == "client" && word == "rmcp::";
            assert!(!text.contains(word) || known, "{} uses {word}", path.display());
        }
    }
}
