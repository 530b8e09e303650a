//! What each writing tool does and refuses.

use crate::world::{CANDY, PROJECT, World};
use pintle_charly::model::fields;
use pintle_core::{Code, Notice};
use serde_json::json;
use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
};

#[tokio::test]
async fn ch_180_v21_a_new_box_is_appended_or_has_a_file_of_its_own() {
    let world = World::project();
    world.ok("box.new.box", json!({"name": "api", "base": "web", "candies": ["web-svc"]})).await;
    assert_eq!(world.text("charly.yml"), format!("{PROJECT}api:\n  box:\n    base: web\n    candy: [web-svc]\n"));
    world.ok("box.new.box", json!({"name": "db", "base": "scratch", "split": true})).await;
    assert_eq!(world.text("box/db/charly.yml"), "db:\n  box:\n    base: scratch\n");
    world.assert_valid().await;
    assert_eq!(world.shown("box.list.boxes", json!({})).await, "api [testing]\ndb [testing]\nweb [testing]");
    for name in ["web", "db"] {
        world
            .refused_with(
                "box.new.box",
                json!({"name": name, "base": "scratch"}),
                Code::AlreadyExists,
                "is there already",
            )
            .await;
    }
    world
        .refused_with("box.new.box", json!({"name": "Bad Name", "base": "x"}), Code::InvalidArgument, "is no name")
        .await;
    world
        .refused_with(
            "box.new.box",
            json!({"name": "defaults", "base": "x"}),
            Code::InvalidArgument,
            "a word of the file format",
        )
        .await;
    world
        .refused_with("box.new.box", json!({"name": "x", "base": "a b"}), Code::InvalidArgument, "no image reference")
        .await;
    let text = world
        .refused_with(
            "box.new.box",
            json!({"name": "x", "base": "web", "candies": ["web-scv"]}),
            Code::NotFound,
            "no candy",
        )
        .await;
    assert!(text.contains("did you mean `web-svc`?"), "{text}");
}

#[tokio::test]
async fn ch_181_ch_189_v16_the_stub_validates_and_its_null_list_becomes_a_real_one() {
    let world = World::project();
    world.ok("box.new.candy", json!({"name": "db"})).await;
    world.assert_valid().await;
    let stub = world.text("candy/db/charly.yml");
    assert!(stub.contains("      packages:\n"), "{stub}");
    world.ok("candy.add-rpm", json!({"name": "db", "packages": ["postgresql"]})).await;
    let after = world.text("candy/db/charly.yml");
    assert_eq!(after, stub.replace("      packages:\n", "      packages:\n        - postgresql\n"));
    world.assert_valid().await;
    world.refused_with("box.new.candy", json!({"name": "db"}), Code::AlreadyExists, "candy/db/charly.yml:1:1").await;
    world.put("candy/taken/notes", "");
    world
        .refused_with("box.new.candy", json!({"name": "taken"}), Code::AlreadyExists, "`candy/taken` is there already")
        .await;
}

#[tokio::test]
async fn ch_182_ch_183_ch_184_values_are_yaml_and_maps_on_the_way_are_made() {
    let world = World::project();
    world.ok("box.set", json!({"path": "defaults.tag", "value": "nightly"})).await;
    world.ok("box.set", json!({"path": "defaults.platform", "value": "[linux/amd64, linux/arm64]"})).await;
    world.ok("box.set", json!({"path": "web.box.uid", "value": "1001"})).await;
    world.ok("box.set", json!({"path": "web.box.security.caps", "value": "{add: [NET_ADMIN]}"})).await;
    let inspected = world.ok("box.inspect", json!({"box": "web"})).await;
    assert_eq!(inspected["tag"], "nightly");
    assert_eq!(inspected["platform"], json!(["linux/amd64", "linux/arm64"]));
    assert_eq!(inspected["uid"], 1001);
    assert_eq!(inspected["security"], json!({"caps": {"add": ["NET_ADMIN"]}}));
    world
        .refused_with(
            "box.set",
            json!({"path": "web.box.base.deeper", "value": "x"}),
            Code::Invalid,
            "`web.box.base` is text, not a map",
        )
        .await;
    world
        .refused_with(
            "box.set",
            json!({"path": "web.box.candy.deeper", "value": "x"}),
            Code::Invalid,
            "is a list, not a map",
        )
        .await;
    world.refused_with("box.set", json!({"path": "a..b", "value": "x"}), Code::InvalidArgument, "column 3").await;
    world.refused_with("box.set", json!({"path": "a", "value": "[x"}), Code::InvalidArgument, "value:1:").await;
    world.refused_with("box.set", json!({"path": "a"}), Code::InvalidArgument, "`value`: is missing").await;
    world
        .refused_with(
            "box.set",
            json!({"path": "a", "value": "1", "delete": true}),
            Code::InvalidArgument,
            "together with `delete`",
        )
        .await;
}

#[tokio::test]
async fn ch_183_v18_paths_of_older_callers_mean_the_body_of_the_box() {
    let world = World::project();
    world.ok("box.new.candy", json!({"name": "tools"})).await;
    world.ok("box.new.box", json!({"name": "far", "base": "scratch", "split": true})).await;
    world.ok("image.set", json!({"path": "images.web.layers", "value": "[web-svc, tools]"})).await;
    assert!(world.text("charly.yml").contains("    candy: [web-svc, tools]\n"));
    world.ok("box.set", json!({"path": "boxes.web.candy[1]", "delete": true})).await;
    assert_eq!(world.text("charly.yml"), PROJECT);
    world.ok("box.set", json!({"path": "boxes.far.layers[+]", "value": "tools"})).await;
    assert!(world.text("box/far/charly.yml").contains("tools"), "the body stands in a file of its own");
    world
        .refused_with("box.set", json!({"path": "boxes.wbe.base", "value": "x"}), Code::NotFound, "did you mean `web`?")
        .await;
    world
        .refused_with(
            "box.set",
            json!({"path": "web.box.layers", "value": "[]"}),
            Code::Invalid,
            "unknown key `layers`",
        )
        .await;
    world.assert_valid().await;
}

#[tokio::test]
async fn cw_31_dots_items_and_deletion() {
    let world = World::of(
        "version: 2026.100.0000\n\"a.b\":\n  box:\n    base: scratch\n    env: [A=1, B=2]\n    alias: [{name: x, command: ls}, {name: y, command: cat}]\n",
    );
    world.ok("box.set", json!({"path": "\"a.b\".box.env[1]", "value": "B=3"})).await;
    world.ok("box.set", json!({"path": "'a.b'.box.env[+]", "value": "C=4"})).await;
    world.ok("box.set", json!({"path": "'a.b'.box.alias[name=y].command", "value": "tac"})).await;
    world.ok("box.set", json!({"path": "'a.b'.box.alias[name=x]", "delete": true})).await;
    assert_eq!(
        world.text("charly.yml"),
        "version: 2026.100.0000\n\"a.b\":\n  box:\n    base: scratch\n    env: [A=1, B=3, C=4]\n    alias: [{name: y, command: tac}]\n"
    );
    let gone = world.ok("box.set", json!({"path": "'a.b'.box.network", "delete": true})).await;
    assert_eq!(gone["changed"], false, "what is not there needs no deletion");
}

#[tokio::test]
async fn ch_186_removing_what_is_absent_succeeds_and_an_unknown_box_does_not() {
    let world = World::project();
    assert_eq!(world.ok("box.rm-candy", json!({"box": "web", "candy": "absent"})).await["changed"], false);
    assert_eq!(world.ok("box.rm-candy", json!({"image": "web", "layer": "web-svc"})).await["changed"], true);
    assert_eq!(world.ok("box.inspect", json!({"box": "web"})).await["candy"], json!([]));
    world.ok("box.add-candy", json!({"box": "web", "candy": "web-svc"})).await;
    assert_eq!(world.text("charly.yml"), PROJECT);
    world
        .refused_with("box.rm-candy", json!({"box": "wbe", "candy": "x"}), Code::NotFound, "did you mean `web`?")
        .await;
}

#[tokio::test]
async fn ch_185_an_unknown_candy_is_refused_unless_it_is_of_another_repository() {
    let world = World::project();
    let text = world
        .refused_with("box.add-candy", json!({"box": "web", "candy": "web-scv"}), Code::NotFound, "no candy `web-scv`")
        .await;
    assert!(text.contains("did you mean `web-svc`?"), "{text}");
    world.ok("box.add-candy", json!({"box": "web", "candy": "@github.com/o/r/candy/x:v1"})).await;
    world.assert_valid().await;
    world
        .refused_with(
            "box.add-candy",
            json!({"box": "web", "image": "web", "candy": "x"}),
            Code::InvalidArgument,
            "both were given",
        )
        .await;
}

#[tokio::test]
async fn ch_187_v16_v22_v23_candy_set_goes_to_the_node_that_has_the_field() {
    let world = World::project();
    world.ok("candy.set", json!({"name": "web-svc", "path": "status", "value": "working"})).await;
    world.ok("candy.set", json!({"name": "web-svc", "path": "volumes", "value": "[{name: data, path: /data}]"})).await;
    let text = world.text("candy/web-svc/charly.yml");
    assert!(text.contains("    status: working\n    volume: "), "one spelling is written: {text}");
    assert_eq!(world.shown("box.list.boxes", json!({})).await, "web [working]");

    world.put(
        "candy/flat/charly.yml",
        "flat:\n  candy:\n    version: 2026.100.0000\n    description: flat\n  flat-env:\n    env: {A: '1'}\nflat-rpm:\n  rpm:\n    packages: [a]\nflat-volumes:\n  volumes: []\nflat-ok:\n  check: ok\n  file: /a\n",
    );
    world.ok("candy.add-rpm", json!({"name": "flat", "packages": ["b"]})).await;
    world.ok("candy.set", json!({"name": "flat", "path": "env.A", "value": "'2'"})).await;
    world.ok("candy.set", json!({"name": "flat", "path": "volume", "value": "[{name: d, path: /d}]"})).await;
    let text = world.text("candy/flat/charly.yml");
    for part in ["    packages: [a, b]\n", "   env: {A: \"2\"}\n", "  volumes: [{name: d, path: /d}]\n"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    world.ok("candy.set", json!({"name": "flat", "path": "rpm", "delete": true})).await;
    assert!(!world.text("candy/flat/charly.yml").contains("flat-rpm"), "a node that would hold nothing goes");
    world.assert_valid().await;

    world.put("candy/flat/charly.yml", text.replace("    description: flat\n", "    description: flat\n    rpm: {}\n"));
    let told = world
        .refused_with("candy.add-rpm", json!({"name": "flat", "packages": ["c"]}), Code::Invalid, "two places")
        .await;
    assert!(told.contains("candy/flat/charly.yml:5:5") && told.contains("candy/flat/charly.yml:8:1"), "{told}");
}

#[tokio::test]
async fn ch_188_ch_190_v19_v20_each_format_has_its_own_section_or_its_distribution() {
    let world = World::project();
    for format in ["rpm", "deb", "pac", "aur"] {
        world
            .ok(
                &format!("candy.add-{format}"),
                json!({"name": "web-svc", "packages": [format!("{format}-one"), "nginx", "nginx"]}),
            )
            .await;
        world.ok(&format!("layer.add-{format}"), json!({"name": "web-svc", "packages": "nginx"})).await;
    }
    let inspected = world.ok("box.inspect", json!({"box": "web"})).await;
    assert_eq!(
        inspected["packages"],
        json!({"rpm": ["nginx", "rpm-one"], "deb": ["deb-one", "nginx"], "pac": ["pac-one", "nginx"], "aur": ["aur-one", "nginx"]})
    );
    world.put(
        "candy/maps/charly.yml",
        "maps:\n  candy:\n    version: 2026.100.0000\n    description: by distribution\n    distro:\n      fedora: {package: [a]}\n      debian,ubuntu:\n        package:\nmaps-ok:\n  check: ok\n  file: /a\n",
    );
    for format in ["rpm", "deb", "pac", "aur"] {
        world.ok(&format!("candy.add-{format}"), json!({"name": "maps", "packages": ["b"]})).await;
    }
    let text = world.text("candy/maps/charly.yml");
    for part in ["fedora: {package: [a, b]}\n", "debian,ubuntu:\n        package:\n          - b\n", "arch:\n"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("rpm:") && !text.contains("packages"), "{text}");
    world.ok("box.set", json!({"path": "web.box.candy", "value": "[maps]"})).await;
    let inspected = world.ok("box.inspect", json!({"box": "web"})).await;
    assert_eq!(inspected["packages"], json!({"rpm": ["a", "b"], "deb": ["b"], "pac": ["b"], "aur": ["b"]}));
    world
        .refused_with(
            "candy.add-rpm",
            json!({"name": "web-svc", "packages": ["--root=/"]}),
            Code::InvalidArgument,
            "begins with a dash",
        )
        .await;
    world
        .refused_with("candy.add-rpm", json!({"name": "web-svc", "packages": []}), Code::InvalidArgument, "packages")
        .await;
    world
        .refused_with(
            "candy.add-rpm",
            json!({"name": "web-scv", "packages": ["a"]}),
            Code::NotFound,
            "did you mean `web-svc`?",
        )
        .await;
}

#[tokio::test]
async fn ch_193_cw_36_files_are_written_whole_added_to_and_shown_byte_for_byte() {
    let world = World::project();
    let text = "first\n\ttab \u{e4}\n\nno newline at the end";
    world.ok("box.write", json!({"path": "files/deep/notes.txt", "content": text})).await;
    assert_eq!(world.shown("box.cat", json!({"path": "files/deep/notes.txt"})).await, text);
    let cat = world.ok("image.cat", json!({"path": "./files//deep/notes.txt"})).await;
    assert_eq!((cat["content"].as_str(), cat["size"].as_u64()), (Some(text), Some(text.len() as u64)));
    world.ok("box.write", json!({"path": "files/deep/notes.txt", "content": "\nmore", "append": true})).await;
    assert_eq!(world.text("files/deep/notes.txt"), format!("{text}\nmore"));
    world
        .refused_with(
            "box.write",
            json!({"path": "files/deep/notes.txt", "content": "", "create_only": true}),
            Code::AlreadyExists,
            "already",
        )
        .await;
    world.ok("box.write", json!({"path": "run.sh", "content": "#!/bin/sh\n", "mode": "0755"})).await;
    let mode = |file: &str| fs::metadata(world.path(file)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode("run.sh"), 0o755);
    let only = world.ok("box.write", json!({"path": "run.sh", "content": "#!/bin/sh\n", "mode": "700"})).await;
    assert_eq!((mode("run.sh"), &only["changed"], &only["note"]), (0o700, &json!(true), &json!("mode becomes 0700")));
    for bad in ["0999", "u+x", "4755", "00755", ""] {
        world
            .refused_with(
                "box.write",
                json!({"path": "x", "content": "", "mode": bad}),
                Code::InvalidArgument,
                "in octal",
            )
            .await;
    }
    world.ok("box.write", json!({"path": "bin", "content": "AP/+", "encoding": "base64"})).await;
    assert_eq!(fs::read(world.path("bin")).unwrap(), [0, 255, 254]);
    world.refused_with("box.cat", json!({"path": "bin"}), Code::Invalid, "encoding: base64").await;
    assert_eq!(world.ok("box.cat", json!({"path": "bin", "encoding": "base64"})).await["content"], "AP/+");
    world
        .refused_with(
            "box.write",
            json!({"path": "x", "content": "%", "encoding": "base64"}),
            Code::InvalidArgument,
            "no base64",
        )
        .await;
    world.refused_with("box.cat", json!({"path": "files"}), Code::Invalid, "is a folder").await;
    world.refused_with("box.cat", json!({"path": "run.hs"}), Code::NotFound, "did you mean `run.sh`?").await;
}

#[tokio::test]
async fn cw_32_an_edit_that_adds_an_error_is_refused_and_a_broken_project_can_be_repaired() {
    let world = World::project();
    let text = world
        .refused_with("box.set", json!({"path": "web.box.bse", "value": "x"}), Code::Invalid, "would add an error")
        .await;
    assert!(text.contains("charly.yml:7:5: unknown key `bse`") && text.contains("did you mean `base`?"), "{text}");
    world
        .refused_with("box.set", json!({"path": "web.box.base", "delete": true}), Code::Invalid, "has no `base`")
        .await;
    world
        .refused_with(
            "candy.set",
            json!({"name": "web-svc", "path": "version", "delete": true}),
            Code::Invalid,
            "has no `version`",
        )
        .await;
    world
        .refused_with(
            "box.write",
            json!({"path": "charly.yml", "content": "a: ["}),
            Code::Invalid,
            "would add an error",
        )
        .await;
    let forced = world.ok("box.set", json!({"path": "web.box.bse", "value": "x", "force": true})).await;
    assert!(forced["warnings"][0].as_str().unwrap().contains("unknown key `bse`"), "{forced}");
    let other = world.ok("box.set", json!({"path": "defaults.tag", "value": "v1"})).await;
    assert!(other["warnings"][0].as_str().unwrap().contains("unknown key `bse`"), "old errors are warnings: {other}");
    world
        .refused_with("box.set", json!({"path": "web.box.bsf", "value": "x"}), Code::Invalid, "unknown key `bsf`")
        .await;
    let mended = world.ok("box.set", json!({"path": "web.box.bse", "delete": true})).await;
    assert_eq!(mended["warnings"], serde_json::Value::Null);
    world.assert_valid().await;
    world.put("candy/web-svc/charly.yml", "web-svc: [");
    world
        .refused_with("candy.add-rpm", json!({"name": "web-svc", "packages": ["a"]}), Code::Invalid, "does not parse")
        .await;
    world.ok("box.write", json!({"path": "candy/web-svc/charly.yml", "content": CANDY})).await;
    world.assert_valid().await;
}

#[tokio::test]
async fn cw_33_if_match_guards_against_lost_updates() {
    let world = World::project();
    let inspected = world.ok("box.inspect", json!({"box": "web"})).await;
    assert_eq!(inspected["sha256"], pintle_core::Digest::of(PROJECT).as_str(), "of the file the box stands in");
    let sha = world.ok("box.cat", json!({"path": "charly.yml"})).await["sha256"].clone();
    let first = world.ok("box.set", json!({"path": "defaults.tag", "value": "v1", "if_match": sha})).await;
    let text = world
        .refused_with(
            "box.set",
            json!({"path": "defaults.tag", "value": "v2", "if_match": sha}),
            Code::Moved,
            "if_match",
        )
        .await;
    assert!(text.contains(first["sha256"].as_str().unwrap()), "{text}");
    world.ok("box.set", json!({"path": "defaults.tag", "value": "v2", "if_match": first["sha256"]})).await;
    world
        .refused_with("box.write", json!({"path": "new", "content": "", "if_match": sha}), Code::Moved, "is not there")
        .await;
}

#[tokio::test]
async fn cw_34_a_dry_run_shows_the_diff_and_undo_restores_the_bytes() {
    let world = World::project();
    let before = world.everything();
    let dry = world.ok("box.set", json!({"path": "defaults.tag", "value": "v1", "dry_run": true})).await;
    assert_eq!(world.everything(), before);
    assert_eq!((&dry["changed"], &dry["dry_run"]), (&json!(true), &json!(true)));
    let diff = "--- a/charly.yml\n+++ b/charly.yml\n@@ -1,4 +1,4 @@\n version: 2026.100.0000\n-defaults: {registry: localhost/lab, tag: auto, build: [rpm]}\n+defaults: {registry: localhost/lab, tag: v1, build: [rpm]}\n web:\n   box:\n";
    assert_eq!(dry["diff"], diff);
    world.ok("box.new.project", json!({"dir": "other", "dry_run": true})).await;
    assert_eq!(world.everything(), before);

    let done = world.ok("box.set", json!({"path": "defaults.tag", "value": "v1"})).await;
    assert_eq!((&done["diff"], &done["sha256"]), (&json!(diff), &dry["sha256"]));
    world.ok("box.new.candy", json!({"name": "fresh"})).await;
    fs::set_permissions(world.path("charly.yml"), fs::Permissions::from_mode(0o640)).unwrap();
    world.ok("box.write", json!({"path": "charly.yml", "content": PROJECT.replace("43", "44"), "mode": "0600"})).await;
    world.ok("box.undo", json!({"dry_run": true})).await;
    let undone = world.ok("box.undo", json!({})).await;
    assert!(undone["note"].as_str().unwrap().contains("takes back `box.write`"), "{undone}");
    assert_eq!(fs::metadata(world.path("charly.yml")).unwrap().permissions().mode() & 0o777, 0o640);
    world.ok("box.undo", json!({})).await;
    assert!(!world.path("candy/fresh").exists(), "what was new is gone, with its folder");
    world.ok("box.undo", json!({})).await;
    assert_eq!(world.text("charly.yml"), PROJECT);
    world.refused_with("box.undo", json!({}), Code::NotFound, "no edit").await;

    world.ok("box.set", json!({"path": "defaults.tag", "value": "v1"})).await;
    let theirs = PROJECT.replace("auto", "theirs");
    world.put("charly.yml", &theirs);
    world.refused_with("box.undo", json!({}), Code::Moved, "was changed since `box.set` edited it").await;
    world.ok("box.undo", json!({"force": true})).await;
    assert_eq!(world.text("charly.yml"), PROJECT);
    world.ok("box.undo", json!({})).await;
    assert_eq!(world.text("charly.yml"), theirs, "what was overwritten by force can be had back");
}

#[tokio::test]
async fn a_call_that_changes_nothing_does_not_write_and_a_change_keeps_what_is_not_bytes() {
    let world = World::project();
    let path = world.path("charly.yml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    let attribute = rustix::fs::setxattr(&path, "user.note", b"mine", rustix::fs::XattrFlags::empty());
    let before = fs::metadata(&path).unwrap();
    world.ok("box.set", json!({"path": "defaults.tag", "value": "auto"})).await;
    world.ok("box.add-candy", json!({"box": "web", "candy": "web-svc"})).await;
    let same = fs::metadata(&path).unwrap();
    assert_eq!(
        (same.ino(), same.mtime_nsec(), same.ctime_nsec()),
        (before.ino(), before.mtime_nsec(), before.ctime_nsec())
    );
    world.ok("box.set", json!({"path": "defaults.tag", "value": "v1"})).await;
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    if attribute.is_ok() {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&path, "user.note", value.as_mut_slice()).unwrap();
        assert_eq!(&value[..length], b"mine");
    }
    let names: Vec<_> = fs::read_dir(&world.root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "no temporary file is left: {names:?}");
}

#[tokio::test]
async fn cw_22_edits_tell_which_resource_changed() {
    let world = World::project();
    world.ok("box.set", json!({"path": "defaults.tag", "value": "v1"})).await;
    assert_eq!(world.notices.take(), [Notice::ResourceUpdated("charly://project/charly.yml".to_owned())]);
    world.ok("box.new.candy", json!({"name": "fresh"})).await;
    assert_eq!(world.notices.take(), [Notice::ResourcesChanged]);
}

#[tokio::test]
async fn inspect_merges_what_candies_bring_and_prints_one_field_on_request() {
    let world = World::project();
    world.put(
        "candy/base-tools/charly.yml",
        "base-tools:\n  candy:\n    version: 2026.100.0000\n    description: tools\n    status: broken\n    env: {A: '1', B: '1'}\n    port: 8080\n    rpm: {packages: [curl]}\nbase-tools-ok:\n  check: ok\n  file: /a\n",
    );
    world.ok("candy.set", json!({"name": "web-svc", "path": "require", "value": "[base-tools]"})).await;
    world.ok("box.set", json!({"path": "web.box.env", "value": "[B=2]"})).await;
    let box_ = world.ok("box.inspect", json!({"box": "web", "instance": "two"})).await;
    assert_eq!(box_["candy"], json!(["base-tools", "web-svc"]), "what is required comes first");
    assert_eq!(box_["packages"], json!({"rpm": ["curl", "nginx"]}));
    assert_eq!(box_["env"], json!({"A": "1", "B": "2"}));
    assert_eq!(
        (&box_["port"], &box_["status"], &box_["container"]),
        (&json!([8080]), &json!("broken"), &json!("charly-web-two"))
    );
    assert_eq!(world.shown("box.inspect", json!({"box": "web", "format": "base"})).await, "quay.io/fedora/fedora:43");
    assert_eq!(
        world.shown("box.inspect", json!({"box": "web", "format": "candy"})).await,
        "[\"base-tools\",\"web-svc\"]"
    );
    world
        .refused_with(
            "box.inspect",
            json!({"box": "web", "format": "bsae"}),
            Code::InvalidArgument,
            "did you mean `base`?",
        )
        .await;
    world.refused_with("box.inspect", json!({"box": "wbe"}), Code::NotFound, "did you mean `web`?").await;
    assert_eq!(world.shown("box.list.boxes", json!({})).await, "web [broken]");
}

#[tokio::test]
async fn v22_each_field_is_read_in_every_spelling_and_written_in_one() {
    let values = [
        ("require", "[web-svc]"),
        ("package", "[curl]"),
        ("port", "['8080']"),
        ("volume", "[{name: data, path: /data}]"),
        ("service", "[{name: web, exec: /bin/web}]"),
        ("mcp_provide", "[{name: web, url: 'http://localhost:8080/mcp'}]"),
        ("mcp_require", "[{name: web}]"),
        ("mcp_accept", "[{name: web}]"),
        ("env_require", "[{name: A}]"),
        ("env_accept", "[{name: A}]"),
        ("secret_require", "[{name: a}]"),
        ("secret_accept", "[{name: a}]"),
        ("env_provide", "{A: '1'}"),
    ];
    let fields: Vec<_> = fields::CANDY.iter().filter(|field| !field.also.is_empty()).collect();
    assert_eq!(fields.len(), values.len(), "every field with two spellings is looked at");
    let world = World::project();
    let head = "spelt:\n  candy:\n    version: 2026.100.0000\n    description: of two spellings\n";
    let tail = "spelt-ok:\n  check: ok\n  file: /a\n";
    for (field, (name, value)) in fields.into_iter().zip(values) {
        assert_eq!(field.name, name);
        for spelling in field.also.iter().chain([&field.name]) {
            world.put("candy/spelt/charly.yml", format!("{head}    {spelling}: {value}\n{tail}"));
            world.assert_valid().await;
            world.put("candy/spelt/charly.yml", format!("{head}    {spelling}: 7.5x\n{tail}"));
            let wrong = world.call("box.validate", json!({})).await;
            assert!(wrong.is_error, "the value of `{spelling}` is looked at");
            world.put("candy/spelt/charly.yml", format!("{head}{tail}"));
            world.ok("candy.set", json!({"name": "spelt", "path": spelling, "value": value})).await;
            let text = world.text("candy/spelt/charly.yml");
            assert!(text.contains(&format!("\n    {name}: ")), "`{spelling}` is written as `{name}`: {text}");
            world.assert_valid().await;
        }
        let [other] = field.also else { panic!("{name}") };
        world.put("candy/spelt/charly.yml", format!("{head}    {name}: {value}\n    {other}: {value}\n{tail}"));
        assert!(world.call("box.validate", json!({})).await.is_error, "{name} and {other} at once");
    }
}

#[tokio::test]
async fn v23_the_parts_of_a_candy_stand_in_its_body_below_it_or_beside_it() {
    let body = "    version: 2026.100.0000\n    description: of one kind\n";
    let (packages, probe) = ("packages: [nginx]", "{check: ok, file: /a}");
    let whole = format!("web-svc:\n  candy:\n{body}    rpm: {{{packages}}}\nweb-svc-ok: {probe}\n");
    let nested = format!("web-svc:\n  candy:\n{body}  web-svc-rpm: {{rpm: {{{packages}}}}}\n  web-svc-ok: {probe}\n");
    let flat = format!("web-svc:\n  candy:\n{body}web-svc-rpm: {{rpm: {{{packages}}}}}\nweb-svc-ok: {probe}\n");
    let world = World::project();
    let mut seen = Vec::new();
    for text in [whole, nested, flat] {
        world.put("candy/web-svc/charly.yml", &text);
        world.assert_valid().await;
        let inspected = world.ok("box.inspect", json!({"box": "web"})).await;
        assert_eq!(inspected["packages"], json!({"rpm": ["nginx"]}), "{text}");
        seen.push(inspected);
        // The probe is seen wherever it stands: a wrong word in it is an error.
        world.put("candy/web-svc/charly.yml", text.replace("file: /a", "flie: /a"));
        assert!(world.call("box.validate", json!({})).await.is_error, "{text}");
        world.put("candy/web-svc/charly.yml", &text);
        world.ok("candy.add-rpm", json!({"name": "web-svc", "packages": ["curl"]})).await;
        assert_eq!(world.text("candy/web-svc/charly.yml"), text.replace("[nginx]", "[nginx, curl]"), "where it stands");
        world.assert_valid().await;
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
}
