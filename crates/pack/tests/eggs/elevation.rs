//! How verbs come by root's rights: with stand-ins for sudo and the helper.

use crate::stage::{Heard, Stage, failed, good, neighbour};
use pintle_core::Door;
use pintle_packfile::{BUILTIN, trust};
use pintle_testkit::eggs::{Installed, Orders, SudoMode, SudoOrders};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// What the helper of these tests does: it notes what it was given, and ends when its input does.
const HELPER: &str = "#!/bin/sh\nread -r line\necho \"$*\" > \"$0.words\"\necho \"$line\" > \"$0.line\"\n\
                      env | cut -d= -f1 | sort | tr '\\n' ' ' > \"$0.env\"\necho '[coa] helped'\n";

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A system of the test's own user in which eggs lies where packages put it.
fn stage(helper: Option<&str>, sudo: SudoOrders) -> (Stage, PathBuf) {
    let mut below = PathBuf::new();
    let stage = Stage::with(&Orders { euid: Some(0), ..Orders::default() }, |all, installed| {
        below = installed.folder().canonicalize().unwrap();
        fs::set_permissions(&below, fs::Permissions::from_mode(0o755)).unwrap();
        let pack = BUILTIN.iter().find(|(name, _)| *name == "eggs").unwrap().1;
        let pack = pack
            .replace("\"/usr/bin/eggs\", ", "\"/eggs\", ")
            .replace("path_variable", "#")
            .replace("root_variable", "#");
        put(&below.join("packs/eggs.toml"), &pack);
        all.system = vec!["/packs".into()];
        all.trusted = trust::Root::below(&below).owned_by(rustix::process::geteuid().as_raw());
        all.elevators = vec!["/sudo".into(), "/doas".into()];
        all.helper = "/lib/helper".into();
        if let Some(helper) = helper {
            put(&below.join("lib/helper"), helper);
        }
        with_sudo(installed, &sudo);
    });
    (stage, below)
}

fn with_sudo(installed: &Installed, orders: &SudoOrders) {
    let fake = neighbour("fake-sudo");
    if fs::hard_link(&fake, installed.sudo()).is_err() {
        fs::copy(&fake, installed.sudo()).unwrap();
    }
    installed.order_sudo(orders).unwrap();
}

fn said(below: &Path, what: &str) -> String {
    fs::read_to_string(below.join(format!("lib/helper.{what}"))).unwrap().trim().to_owned()
}

#[tokio::test]
async fn eg_016_eg_031_s_02_s_43_root_is_given_one_granted_verb_and_its_arguments_by_input() {
    let (stage, below) = stage(Some(HELPER), SudoOrders::default());
    let (reply, heard) = stage.person("eggs_tools", json!({"tool": "skel", "user": "artisan"})).await;
    let answer = good(&reply);
    assert_eq!(answer["elevated"], true);
    assert_eq!(answer["stdout"], "[coa] helped\n");
    assert_eq!(answer["argv"].as_array().unwrap()[1..], [json!("tools"), json!("skel"), json!("--user=artisan")]);
    assert!(heard.plans.lock().unwrap().is_empty());
    assert_eq!(said(&below, "words"), "run eggs.tools-skel");
    let line: Value = serde_json::from_str(&said(&below, "line")).unwrap();
    assert_eq!(line, json!({"arguments": {"user": "artisan"}}));
    let sudo = stage.installed.sudo_calls().unwrap().pop().unwrap();
    let helper = below.join("lib/helper").display().to_string();
    assert_eq!(sudo.arguments, ["-n", "--", helper.as_str(), "run", "eggs.tools-skel"]);
    assert_eq!(sudo.environment, ["LANG", "LC_ALL", "NO_COLOR", "PATH", "TERM"]);
    assert_eq!(stage.runs(), 0, "this process gives root no program of its own");
    let plan = stage.plan("eggs_remaster", json!({})).await;
    assert!(plan.preview.contains("as root, through sudo"), "{}", plan.preview);
}

#[tokio::test]
async fn eg_032_only_wearing_is_elevated_in_the_wardrobe() {
    let (stage, below) = stage(Some(HELPER), SudoOrders::default());
    good(&stage.call("eggs_wardrobe", json!({"action": "list"})).await);
    good(&stage.call("eggs_wardrobe", json!({"action": "get"})).await);
    good(&stage.call("eggs_version", json!({})).await);
    assert!(stage.installed.sudo_calls().unwrap().is_empty());
    let uid = rustix::process::getuid().as_raw();
    assert!(stage.installed.calls().unwrap().iter().all(|call| call.ruid == uid));
    stage.person("eggs_wardrobe", json!({"action": "wear", "costume": "plain"})).await;
    assert_eq!(said(&below, "words"), "run eggs.wardrobe-wear");
}

#[tokio::test]
async fn eg_016_what_is_not_set_up_is_told_with_what_sets_it_up() {
    let password = SudoOrders { mode: SudoMode::Password, ..SudoOrders::default() };
    let refused = SudoOrders { policy: Some(vec![vec!["/bin/true".into()]]), ..SudoOrders::default() };
    for (helper, sudo, why) in [
        (None, SudoOrders::default(), "the helper is not set up"),
        (Some(HELPER), password, "root's rights were not given"),
        (Some(HELPER), refused, "root's rights were not given"),
    ] {
        let (stage, _) = stage(helper, sudo);
        let (reply, _) = stage.person("eggs_tools", json!({"tool": "clean"})).await;
        let (code, text) = failed(&reply);
        assert_eq!(code, "unavailable", "{text}");
        assert!(text.contains(why) && text.contains("sudo pintle eggs mcp enable"), "{text}");
    }
    let (without, below) = stage(Some(HELPER), SudoOrders::default());
    fs::remove_file(below.join("sudo")).unwrap();
    let (reply, _) = without.person("eggs_tools", json!({"tool": "clean"})).await;
    let (code, text) = failed(&reply);
    assert!(code == "unavailable" && text.contains("nothing gives them"), "{text}");
    let (open, below) = stage(Some(HELPER), SudoOrders::default());
    fs::set_permissions(below.join("lib"), fs::Permissions::from_mode(0o777)).unwrap();
    let (reply, _) = open.person("eggs_tools", json!({"tool": "clean"})).await;
    assert!(failed(&reply).1.contains("mode 0777"), "{:?}", reply.failure);
}

#[tokio::test]
async fn s_08_s_09_a_program_that_others_can_change_is_never_roots() {
    let (stage, below) = stage(Some(HELPER), SudoOrders::default());
    fs::set_permissions(&below, fs::Permissions::from_mode(0o777)).unwrap();
    let (reply, _) = stage.person("eggs_tools", json!({"tool": "clean"})).await;
    let (code, text) = failed(&reply);
    assert_eq!(code, "unavailable");
    assert!(text.contains("must not run as root"), "{text}");
    good(&stage.call("eggs_version", json!({})).await);
}

#[tokio::test]
async fn s_28_s_29_a_cancelled_call_ends_the_helper_by_ending_its_input() {
    let waits = "#!/bin/sh\nread -r line\ntrap '' TERM\necho '[coa] begun'\ncat > /dev/null\necho ended > \"$0.ended\"\nexit 143\n";
    let (stage, below) = stage(Some(waits), SudoOrders::default());
    let heard = Arc::new(Heard::default());
    let mut request = Stage::request("eggs_tools", json!({"tool": "clean"}), Door::People);
    request.events = Arc::clone(&heard) as _;
    let cancel = request.cancel.clone();
    let catalog = stage.catalog.clone();
    let running = tokio::spawn(async move { catalog.call(request).await });
    for _ in 0..2000 {
        if !heard.rows.lock().unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    cancel.cancel();
    let reply = running.await.unwrap();
    assert_eq!(failed(&reply).0, "cancelled");
    assert_eq!(said(&below, "ended"), "ended");
}

#[tokio::test]
async fn s_49_root_needs_no_elevator() {
    let stage = Stage::with(&Orders { euid: Some(0), ..Orders::default() }, |all, installed| {
        all.is_root = true;
        all.elevators.clear();
        with_sudo(installed, &SudoOrders::default());
    });
    let (reply, _) = stage.person("eggs_tools", json!({"tool": "clean"})).await;
    assert_eq!(good(&reply)["elevated"], false);
    assert!(stage.installed.sudo_calls().unwrap().is_empty());
    assert_eq!(stage.last_call().cwd, "/");
}
