//! Packs of the user's own, and the operations on packs.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use pintle_core::{Caller, Door, Outcome, Reply};
use pintle_dispatch::{Catalog, Request, Settings};
use pintle_pack::{Host, Surroundings, people, toolset};
use serde_json::{Value, json};
use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::Arc};

const PACK: &str = r#"format = 1
name = "teller"
summary = "Tells what it was told"
program.candidates = ["PROGRAM"]

[verb.tell]
words = ["tell"]
summary = "tells"
effects = []
elevate = "never"
dashdash = true
success = { findings = [3] }
options.code = { flag = "--code", type = "integer" }
options.words = { position = 1, type = "strings" }

[verb.rule]
words = ["rule"]
summary = "rules"
effects = ["write"]
elevate = "always"

[[tool]]
name = "teller_tell"
about = "Tells."
verb = "tell"

[[tool]]
name = "teller_rule"
about = "Rules."
verb = "rule"
"#;

/// Tells each of its arguments in a line, and ends with the code that it was given.
const PROGRAM: &str = r#"#!/bin/sh
for word in "$@"; do echo "<$word>"; done
case "$2" in --code=*) exit "${2#*=}";; esac
"#;

/// A home with the pack in its folder.
fn host(text: &str) -> (tempfile::TempDir, Arc<Host>) {
    let temp = tempfile::tempdir().unwrap();
    let program = temp.path().join("teller");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let packs = temp.path().join("packs");
    fs::create_dir(&packs).unwrap();
    let file = packs.join("teller.toml");
    fs::write(&file, text.replace("PROGRAM", program.to_str().unwrap())).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let mut all = Surroundings::of_process(None);
    all.user = Some(packs);
    all.system.clear();
    all.is_root = false;
    (temp, Arc::new(Host::new(all)))
}

#[tokio::test]
async fn relative_paths_begin_in_the_callers_folder_for_root_too() {
    for root in [false, true] {
        let mut all = Surroundings::of_process(None);
        (all.user, all.is_root) = (None, root);
        let host = Arc::new(Host::new(all));
        let catalog = Catalog::new(vec![toolset(&host, "tar", false).unwrap()], Settings::default()).unwrap();
        // Tests run in the folder of their crate: this file is there, and is no archive.
        let reply = call(&catalog, "archive_list", json!({"archive": "Cargo.toml"})).await;
        let told = reply.answer.unwrap()["stderr"].as_str().unwrap().to_owned();
        assert!(told.contains("not look like a tar archive"), "{told}");
        assert!(!told.contains("Cannot open"), "{told}");
    }
}

async fn call(catalog: &Catalog, tool: &str, arguments: Value) -> Reply {
    let caller = Caller { door: Door::People, principal: "tester".into() };
    catalog.call(Request::new(tool, arguments.as_object().unwrap().clone(), caller)).await
}

fn catalog(host: &Arc<Host>) -> Catalog {
    Catalog::new(vec![toolset(host, "teller", false).unwrap(), people(host)], Settings::default()).unwrap()
}

#[tokio::test]
async fn s_06_an_3_2_whatever_is_in_an_argument_arrives_as_one_element() {
    let (_home, host) = host(PACK);
    let catalog = catalog(&host);
    let words =
        ["a b", "$(id)", "`id`", "; reboot", "*", "~", "--help", "-", "'", "\"", "\\", "ä\u{1F600}", "a=b", "%s"];
    let reply = call(&catalog, "teller_tell", json!({"words": words})).await;
    assert!(reply.failure.is_none(), "{:?}", reply.failure);
    let told = reply.answer.unwrap()["stdout"].as_str().unwrap().to_owned();
    let wanted: Vec<String> = ["tell", "--"].iter().chain(&words).map(|word| format!("<{word}>")).collect();
    assert_eq!(told.lines().collect::<Vec<_>>(), wanted);
    let nul = call(&catalog, "teller_tell", json!({"words": ["a\u{0}b"]})).await;
    assert_eq!(nul.failure.unwrap().code.as_str(), "invalid_argument");
}

#[tokio::test]
async fn an_3_2_exit_codes_mean_what_the_pack_says() {
    let (_home, host) = host(PACK);
    let catalog = catalog(&host);
    let outcome = async |code: i32| call(&catalog, "teller_tell", json!({"code": code})).await;
    assert_eq!(outcome(0).await.outcome, Outcome::Ok);
    assert_eq!(outcome(3).await.outcome, Outcome::Findings);
    let failed = outcome(4).await;
    assert_eq!(failed.outcome, Outcome::Failed);
    assert_eq!(failed.answer.unwrap()["exit_code"], 4);
    let message = failed.failure.unwrap().message;
    assert!(message.contains("exit status 4: <--code=4>"), "the last line is told: {message}");
}

#[tokio::test]
async fn s_02_a_pack_of_a_user_never_gets_roots_rights() {
    let (_home, host) = host(PACK);
    let reply = call(&catalog(&host), "teller_rule", json!({})).await;
    let failure = reply.failure.unwrap();
    assert_eq!(failure.code.as_str(), "denied");
    assert!(failure.message.contains("never run as root"), "{}", failure.message);
}

#[tokio::test]
async fn a_pack_is_shown_with_what_it_runs_as_whom() {
    let (home, host) = host(PACK);
    let catalog = catalog(&host);
    let text = call(&catalog, "pack.show", json!({"name": "teller"})).await.view.plain();
    for shown in
        ["tell [--code=CODE] [WORDS…]", "always", "write", "read", "of this user", home.path().to_str().unwrap()]
    {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let eggs = call(&catalog, "pack.show", json!({"name": "eggs"})).await.view.plain();
    assert!(eggs.contains("built in") && eggs.contains("debug = true"), "{eggs}");
    let all = call(&catalog, "pack.show", json!({})).await.view.plain();
    assert!(all.contains("teller") && all.contains("eggs"), "{all}");
    let none = call(&catalog, "pack.show", json!({"name": "tellr"})).await.failure.unwrap();
    assert!(none.text().contains("did you mean `teller`?"), "{}", none.text());
}

#[tokio::test]
async fn a_pack_that_does_not_hold_is_told_with_line_and_column() {
    let broken =
        PACK.replace("elevate = \"always\"", "elevate = \"alwyas\"").replace("about = \"Rules.\"", "abuot = 1");
    let (home, host) = host(&broken);
    let file = home.path().join("packs/teller.toml").display().to_string();
    let catalog = Catalog::new(vec![people(&host)], Settings::default()).unwrap();
    let failure = call(&catalog, "pack.check", json!({"files": [file]})).await.failure.unwrap();
    let text = failure.text();
    assert!(failure.problems.len() >= 2 && text.contains(&format!("{file}:20:11: ")), "{text}");
    let shown = call(&catalog, "pack.show", json!({"name": "teller"})).await.failure.unwrap();
    assert_eq!(shown.code.as_str(), "invalid");
    assert!(toolset(&host, "teller", false).is_err());
    let good = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packs/eggs.toml").display().to_string();
    let reply = call(&catalog, "pack.check", json!({"files": [good]})).await;
    assert_eq!(reply.outcome, Outcome::Ok);
    assert!(reply.view.plain().contains("`eggs` holds together"), "{}", reply.view.plain());
    let missing = call(&catalog, "pack.check", json!({"files": ["/nowhere.toml"]})).await.failure.unwrap();
    assert!(missing.text().contains("/nowhere.toml: cannot be read"), "{}", missing.text());
}
