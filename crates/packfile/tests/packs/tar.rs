//! The pack of tar: nothing in this crate is special to eggs.

use pintle_packfile::{Confirm, OnEof};
use serde_json::json;

use super::{argv, ask, refusals, whole};

#[test]
fn tar_is_called_as_its_manual_says() {
    let pack = whole("tar");
    assert_eq!(
        argv(&pack, "archive_list", json!({"archive": "host:a.tar", "members": ["-x", "b"]})),
        ["--list", "--force-local", "--file=host:a.tar", "--", "-x", "b"]
    );
    assert_eq!(
        argv(&pack, "archive_create", json!({"archive": "a.tar.gz", "exclude": ["*.o", "t"], "paths": ["src"]})),
        [
            "--create",
            "--force-local",
            "--auto-compress",
            "--file=a.tar.gz",
            "--exclude=*.o",
            "--exclude=t",
            "--",
            "src"
        ]
    );
    assert_eq!(
        argv(&pack, "archive_extract", json!({"archive": "a.tar", "directory": "d", "strip": 1, "keep": true})),
        [
            "--extract",
            "--force-local",
            "--no-same-owner",
            "--file=a.tar",
            "--directory=d",
            "--strip-components=1",
            "--skip-old-files",
        ]
    );
    assert_eq!(refusals(&pack, "archive_create", json!({"archive": "a"})), ["/paths: `paths` is required"]);
    assert_eq!(refusals(&pack, "archive_create", json!({"archive": "a", "paths": []})), ["/paths: must be at least 1"]);
}

#[test]
fn rules_depend_on_what_is_asked() {
    let pack = whole("tar");
    let tool = pack.tool("archive_extract").unwrap();
    let rules = |keep: bool| {
        let (verb, arguments) =
            ask(&pack, "archive_extract", json!({"archive": "a", "directory": "d", "keep": keep})).unwrap();
        tool.rules(verb, &arguments)
    };
    assert_eq!((rules(false).confirm, rules(true).confirm), (Confirm::Plan, Confirm::Nothing));
    assert_eq!(rules(false).preview.run.as_deref(), Some("list"));
    assert!(rules(true).effects.idempotent && !rules(false).effects.idempotent);
    assert_eq!(tool.job(&pack), Some(OnEof::Kill));
    assert_eq!(pack.elevated().count(), 0);
    assert!(pack.tool("archive_list").unwrap().worst(&pack).is_read());
}

/// Really called, where tar is.
#[test]
fn a_real_tar_takes_what_is_made_for_it() {
    let Some(tar) = whole("tar").program.candidates.into_iter().find(|path| std::path::Path::new(path).exists()) else {
        return;
    };
    let folder = std::env::temp_dir().join(format!("pintle-packfile-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("in")).unwrap();
    std::fs::write(folder.join("in/-x; id"), "text").unwrap();
    let run = |tool: &str, arguments: serde_json::Value| {
        let output = std::process::Command::new(&tar)
            .args(argv(&whole("tar"), tool, arguments))
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    run("archive_create", json!({"archive": "a:b.tar", "directory": "in", "paths": ["-x; id"]}));
    assert_eq!(run("archive_list", json!({"archive": "a:b.tar"})), "-x; id\n");
    std::fs::create_dir(folder.join("out")).unwrap();
    run("archive_extract", json!({"archive": "a:b.tar", "directory": "out", "members": ["-x; id"]}));
    assert_eq!(std::fs::read_to_string(folder.join("out/-x; id")).unwrap(), "text");
    std::fs::remove_dir_all(folder).unwrap();
}
