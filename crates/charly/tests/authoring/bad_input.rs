//! What must be refused: with the thing, the place and a remedy named, and no file changed.

use crate::world::{PROJECT, World};
use pintle_charly::host::{Fault, Step};
use pintle_core::Code;
use serde_json::json;
use std::{fs, os::unix::fs::symlink};

#[tokio::test]
async fn ch_194_cw_35_no_path_leads_out_of_the_project() {
    let world = World::project();
    symlink("/etc", world.path("etc")).unwrap();
    symlink("../outside", world.path("up")).unwrap();
    fs::create_dir(world.root.parent().unwrap().join("outside")).unwrap();
    fs::create_dir_all(world.path(".git/hooks")).unwrap();
    symlink(".git", world.path("g")).unwrap();
    for (path, code, part) in [
        ("/etc/passwd", Code::OutsideProject, "`/etc/passwd` is absolute"),
        ("../x", Code::OutsideProject, "holds `..`"),
        ("candy/../../x", Code::OutsideProject, "holds `..`"),
        ("etc/passwd", Code::OutsideProject, "leads out of the project by a link, to `/etc/passwd`"),
        ("up/x", Code::OutsideProject, "leads out of the project by a link"),
        ("a\u{0}b", Code::InvalidArgument, "NUL"),
        ("a\nb", Code::InvalidArgument, "`a\\nb` holds a control character"),
        ("", Code::InvalidArgument, "names no file"),
    ] {
        world.refused_with("box.write", json!({"path": path, "content": "x"}), code, part).await;
        world.refused_with("box.cat", json!({"path": path}), code, part).await;
    }
    for path in [".git/hooks/post-commit", "g/hooks/post-commit", "sub/.GIT/config"] {
        world
            .refused_with("box.write", json!({"path": path, "content": "x"}), Code::OutsideProject, "git's own folder")
            .await;
    }
    assert_eq!(fs::read_dir(world.root.parent().unwrap().join("outside")).unwrap().count(), 0);
}

#[tokio::test]
async fn cw_35_a_project_file_that_is_a_link_is_edited_within_the_project_and_refused_outside() {
    let world = World::project();
    fs::rename(world.path("charly.yml"), world.path("real.yml")).unwrap();
    symlink("real.yml", world.path("charly.yml")).unwrap();
    world.ok("box.set", json!({"path": "defaults.tag", "value": "v1"})).await;
    assert!(fs::symlink_metadata(world.path("charly.yml")).unwrap().is_symlink(), "the link stays");
    assert!(world.text("real.yml").contains("tag: v1"));
    world.refused_with("box.write", json!({"path": "real.yml", "content": "web: 1"}), Code::Invalid, "would add").await;
    let outside = world.root.parent().unwrap().join("theirs.yml");
    fs::write(&outside, PROJECT).unwrap();
    fs::remove_file(world.path("charly.yml")).unwrap();
    symlink(&outside, world.path("charly.yml")).unwrap();
    world
        .refused_with("box.set", json!({"path": "defaults.tag", "value": "v2"}), Code::OutsideProject, "theirs.yml")
        .await;
    assert_eq!(fs::read_to_string(outside).unwrap(), PROJECT);
}

#[tokio::test]
async fn a_file_that_does_not_parse_is_named_with_its_place() {
    for (text, place, part) in [
        ("web:\n  box: {base: scratch\n", "charly.yml:", "does not parse"),
        (
            "web:\n  box: {base: scratch}\nweb:\n  box: {base: scratch}\n",
            "charly.yml:3:1",
            "`web` is there twice, also at 1:1",
        ),
        ("a: 1\n---\nb: 2\n", "charly.yml:2:1", "does not parse"),
        ("a: !!binary aGk=\n", "charly.yml:1:4", "does not parse"),
        ("a: 1e400\n", "charly.yml:1:4", "does not parse"),
        ("a: \t[\u{1}]\n", "charly.yml:1:", "does not parse"),
    ] {
        let world = World::of(text);
        for (tool, arguments) in [
            ("box.set", json!({"path": "defaults.tag", "value": "x"})),
            ("box.new.box", json!({"name": "x", "base": "scratch"})),
            ("box.list.boxes", json!({})),
            ("box.inspect", json!({"box": "web"})),
        ] {
            let told = world.refused_with(tool, arguments, Code::Invalid, part).await;
            assert!(told.contains(place), "{tool} on {text:?}: {told}");
        }
        let failure = world.refused("box.validate", json!({})).await;
        assert_eq!(failure.problems[0].file.as_deref(), Some("charly.yml"), "{text:?}");
        assert!(failure.problems[0].line.is_some());
    }
    let deep = World::of(&format!("a: {}{}\n", "[".repeat(1000), "]".repeat(1000)));
    deep.refused_with("box.set", json!({"path": "b", "value": "1"}), Code::Invalid, "charly.yml:1:").await;
    let not_text = World::empty();
    not_text.put("charly.yml", b"a: \xff\n");
    not_text.refused_with("box.validate", json!({}), Code::Invalid, "charly.yml:1:4").await;
}

#[tokio::test]
async fn a_project_newer_than_the_program_is_not_touched() {
    let world = World::of(&PROJECT.replace("2026.100.0000", "2999.001.0000"));
    let calls = [
        ("box.set", json!({"path": "defaults.tag", "value": "x"})),
        ("box.new.box", json!({"name": "x", "base": "scratch"})),
        ("box.write", json!({"path": "notes", "content": "x"})),
        ("box.list.boxes", json!({})),
        ("box.validate", json!({})),
    ];
    for (tool, arguments) in calls {
        let told = world.refused_with(tool, arguments, Code::Invalid, "newer than this program").await;
        assert!(told.contains("charly.yml:1:10") && told.contains("newer release"), "{told}");
    }
}

#[tokio::test]
async fn cw_36_unknown_missing_and_mistyped_arguments_are_named() {
    let world = World::project();
    world.refused_with("box.set", json!({"path": "a", "valeu": "x"}), Code::InvalidArgument, "valeu").await;
    world.refused_with("box.new.box", json!({"name": "x"}), Code::InvalidArgument, "base").await;
    world
        .refused_with("box.set", json!({"path": "a", "value": 5}), Code::InvalidArgument, "`value` must be a string")
        .await;
    world
        .refused_with(
            "box.write",
            json!({"path": "x", "content": "", "encoding": "hex"}),
            Code::InvalidArgument,
            "`encoding`",
        )
        .await;
    world.refused_with("box.nwe.box", json!({}), Code::UnknownTool, "did you mean `box.new.box`?").await;
    world.refused_with("box.list.boxes", json!({"project": "nowhere"}), Code::NoProject, "no such folder").await;
    let long = "x".repeat(4 * 1024 * 1024 + 1);
    world.refused_with("box.write", json!({"path": "x", "content": long}), Code::TooLarge, "larger than 4 MiB").await;
    let nested = "[".repeat(1000);
    for value in ["1e400", nested.as_str(), "a\u{1}b", "!!binary x", "a: 1\na: 2"] {
        world.refused_with("box.set", json!({"path": "a", "value": value}), Code::InvalidArgument, "value:").await;
    }
    world
        .refused_with(
            "box.set",
            json!({"path": format!("{}a", "[0]".repeat(1000)), "value": "1"}),
            Code::InvalidArgument,
            "column",
        )
        .await;
}

#[tokio::test]
async fn a_full_disk_and_a_read_only_folder_leave_everything_as_it_was() {
    let world = World::project();
    let set = json!({"path": "defaults.tag", "value": "v1"});
    for (step, number, part) in [
        (Step::Write, 28, "no space left"),
        (Step::Sync, 5, "writing `charly.yml`"),
        (Step::Create, 30, "read-only file system"),
        (Step::Rename, 13, "permission denied"),
    ] {
        world.host.writer().fail_at(step, Fault::Error(number));
        let told = world.refused_with("box.set", set.clone(), Code::Io, part).await;
        assert!(told.contains("as it was"), "{told}");
        world.host.writer().fail_at(step, Fault::Error(number));
        world.refused_with("box.new.candy", json!({"name": "fresh"}), Code::Io, "candy/fresh").await;
        world.host.writer().fail_at(step, Fault::Error(number));
        world.refused_with("box.new.project", json!({"dir": "deep/new"}), Code::Io, "charly.yml").await;
    }
    world.refused_with("box.undo", json!({}), Code::NotFound, "no edit").await;
    world.ok("box.set", set).await;
}

#[tokio::test]
async fn a_crash_between_temporary_file_and_rename_leaves_the_old_file_and_the_next_writer_tidies() {
    let world = World::project();
    let names = || fs::read_dir(&world.root).unwrap().count();
    let before = names();
    world.host.writer().fail_at(Step::Rename, Fault::Crash);
    let reply = world.call("box.set", json!({"path": "defaults.tag", "value": "v1"})).await;
    assert!(reply.is_error);
    assert_eq!(world.text("charly.yml"), PROJECT);
    assert_eq!(names(), before + 1, "a temporary file is left, as after a crash");
    world.assert_valid().await;
    world.ok("box.set", json!({"path": "defaults.tag", "value": "v2"})).await;
    assert_eq!(names(), before);
    assert!(world.text("charly.yml").contains("tag: v2"));
    world.ok("box.undo", json!({})).await;
    assert_eq!(world.text("charly.yml"), PROJECT);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ch_148_cw_33_two_writers_at_once_lose_nothing() {
    let world = World::project();
    let boxes = 12;
    let calls = (0..boxes).map(|n| {
        let (catalog, caller) =
            (world.catalog.clone(), pintle_core::Caller { door: pintle_core::Door::Agents, principal: n.to_string() });
        let arguments = json!({"name": format!("b{n:02}"), "base": "scratch"}).as_object().unwrap().clone();
        tokio::spawn(async move { catalog.call(pintle_dispatch::Request::new("box.new.box", arguments, caller)).await })
    });
    for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let reply = call.await.unwrap();
        assert!(!reply.is_error, "{}", reply.view.plain());
        let added: Vec<_> = reply.answer.as_ref().unwrap()["diff"]
            .as_str()
            .unwrap()
            .lines()
            .filter(|l| l.starts_with("+b"))
            .map(str::to_owned)
            .collect();
        assert_eq!(added, [format!("+b{n:02}:")], "each is told its own change");
    }
    world.assert_valid().await;
    assert_eq!(world.shown("box.list.boxes", json!({})).await.lines().count(), boxes + 1);
}

#[tokio::test]
async fn discover_that_finds_no_candies_is_told_before_a_file_is_lost() {
    let world = World::of("version: 2026.100.0000\ndiscover: [{path: box}]\n");
    world.refused_with("box.new.candy", json!({"name": "x"}), Code::Invalid, "names no folder for candies").await;
    world.put("charly.yml", "version: 2026.100.0000\ndiscover: [{path: layers}]\n");
    world.ok("box.new.candy", json!({"name": "x"})).await;
    assert!(world.path("layers/x/charly.yml").is_file());
    world
        .refused_with(
            "box.new.box",
            json!({"name": "b", "base": "scratch", "split": true}),
            Code::Invalid,
            "does not find `box/b/charly.yml`",
        )
        .await;
}
