//! Which program is driven.

use crate::stage::{Stage, failed, good};
use pintle_pack::health;
use pintle_testkit::eggs::{Fault, Orders};
use serde_json::json;
use std::{fs, os::unix::fs::PermissionsExt, path::Path};

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every tool with arguments that it takes.
fn every() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("eggs_remaster", json!({})),
        ("eggs_wardrobe", json!({"action": "list"})),
        ("eggs_sysinstall", json!({})),
        ("eggs_export", json!({"target": "iso"})),
        ("eggs_tools", json!({"tool": "clean"})),
        ("eggs_destroy", json!({})),
        ("eggs_version", json!({})),
        ("eggs_exec", json!({"command": "version"})),
    ]
}

#[tokio::test]
async fn eg_015_without_eggs_every_tool_is_there_and_says_where_it_looked() {
    let stage = Stage::with(&Orders::default(), |all, installed| {
        all.variables.retain(|name, _| name.to_str() == Some("PATH"));
        all.trusted = pintle_packfile::trust::Root::below(installed.folder().join("nowhere"));
    });
    assert_eq!(stage.catalog.names().count(), 8);
    for (tool, arguments) in every() {
        let reply = stage.call(tool, arguments).await;
        let (code, text) = failed(&reply);
        assert_eq!(code, "unavailable", "{tool}: {text}");
        for path in ["/usr/bin/eggs", "/usr/local/bin/eggs", "/usr/bin/coa", "/usr/local/bin/coa"] {
            assert!(text.contains(path), "{tool}: {text}");
        }
        assert!(text.contains("PINTLE_EGGS_PATH") && reply.is_error, "{text}");
    }
}

#[tokio::test]
async fn eg_015_what_is_no_eggs_is_refused_with_the_reason() {
    let stage = Stage::new();
    let at = |name: &str| stage.installed.folder().join(name);
    script(&at("failing"), "#!/bin/sh\necho '[coa] 1'\nexit 3\n");
    script(&at("shim"), "#!/bin/sh\nexec pintle eggs \"$@\"\n");
    script(&at("quiet"), "#!/bin/sh\n");
    fs::write(at("data"), "[coa]").unwrap();
    for (path, why) in [
        (at("none"), "is not there"),
        (at("data"), "is not a program"),
        (at("failing"), "exit status 3"),
        (at("quiet"), "another program"),
        (at("shim"), "this program itself"),
        (std::env::current_exe().unwrap(), "this program itself"),
        ("eggs".into(), "not an absolute path"),
    ] {
        let other = Stage::with(&Orders::default(), |all, _| {
            all.variables.insert("PINTLE_EGGS_PATH".into(), path.clone().into());
        });
        let reply = other.call("eggs_version", json!({})).await;
        let (code, text) = failed(&reply);
        assert_eq!(code, "unavailable");
        assert!(text.contains(why), "{}: {text}", path.display());
    }
    let legacy = Stage::ordered(&Orders { legacy: true, ..Orders::default() });
    let (code, text) = failed(&legacy.call("eggs_version", json!({})).await);
    assert!(code == "unavailable" && text.contains("another program"), "{text}");
    let slow = Stage::ordered(&Orders::default().fault("version", Fault { hang: true, ..Fault::default() }));
    let (code, text) = failed(&slow.call("eggs_wardrobe", json!({})).await);
    assert!(code == "unavailable" && text.contains("within 5 s"), "{text}");
}

#[tokio::test]
async fn eg_015_a_program_is_asked_once_for_each_state_of_its_file() {
    let says = |more: &str| format!("#!/bin/sh\necho \"$1\" >> \"$0.calls\"\necho '[coa] 1'\n{more}");
    let mut program = std::path::PathBuf::new();
    let stage = Stage::with(&Orders::default(), |all, installed| {
        program = installed.folder().join("other");
        script(&program, &says(""));
        all.variables.insert("PINTLE_EGGS_PATH".into(), program.clone().into());
    });
    let calls = || fs::read_to_string(program.with_file_name("other.calls")).unwrap().replace('\n', " ");
    for _ in 0..3 {
        good(&stage.call("eggs_wardrobe", json!({})).await);
    }
    assert_eq!(calls(), "version wardrobe wardrobe wardrobe ");
    script(&program, &says("# newer\n"));
    good(&stage.call("eggs_wardrobe", json!({})).await);
    assert_eq!(calls(), "version wardrobe wardrobe wardrobe version wardrobe ");
}

#[tokio::test]
async fn eg_015_s_40_what_stands_in_the_way_is_told_before_anything_is_tried() {
    let stage = Stage::new();
    let well = health(&stage.host, "eggs").await.unwrap();
    assert_eq!(well.program.as_deref(), Some(stage.installed.eggs().as_path()));
    assert!(well.notes[0].contains("named by the operator"), "{:?}", well.notes);
    stage.installed.root().mount("/home/eggs/mnt").unwrap();
    let stale = health(&stage.host, "eggs").await.unwrap();
    assert!(stale.notes.iter().any(|note| note.contains("/home/eggs/mnt")), "{:?}", stale.notes);
    let without = Stage::with(&Orders::default(), |all, installed| {
        all.variables.insert("PINTLE_EGGS_PATH".into(), installed.folder().join("none").into());
    });
    let none = health(&without.host, "eggs").await.unwrap();
    assert!(none.program.is_none() && none.notes[0].contains("is not there"), "{:?}", none.notes);
}
