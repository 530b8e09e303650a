//! `check fmt` and `check validate`.

use crate::home::Home;
use std::{fs, os::unix::fs::MetadataExt};

const ROUGH: &str = "a:\n    mcp: ping\n    check:   it answers   # really\n\n\n\nb: {check: x, mcp: ping}\n";

#[test]
fn fmt_writes_one_form_and_then_changes_nothing() {
    let home = Home::new();
    let file = home.write("work/plans/a.yml", ROUGH);
    home.write("work/plans/notes.txt", "a:   b");
    let told = home.run(["check", "fmt", "--check", "plans"]);
    assert_eq!((told.code, told.out.as_str()), (1, "differs: plans/a.yml\n"));
    assert_eq!(fs::read_to_string(&file).unwrap(), ROUGH, "only told");
    assert_eq!(home.run(["check", "fmt", "plans"]).good(), "formatted: plans/a.yml\n");
    let once = fs::read_to_string(&file).unwrap();
    assert!(once.starts_with("a:\n  check:") && once.contains("# really"), "{once}");
    let inode = fs::metadata(&file).unwrap().ino();
    assert_eq!(home.run(["check", "fmt", "plans"]).good(), "");
    assert_eq!(home.run(["check", "fmt", "--check", "plans/a.yml"]).good(), "");
    assert_eq!(fs::metadata(&file).unwrap().ino(), inode, "what is in form is not written");
    assert_eq!(fs::read_to_string(home.work().join("plans/notes.txt")).unwrap(), "a:   b");
}

#[test]
fn fmt_writes_nothing_when_one_file_is_no_yaml() {
    let home = Home::new();
    let good = home.write("work/a.yml", ROUGH);
    home.write("work/b.yml", "a: [\n");
    let ran = home.run(["check", "fmt", "a.yml", "b.yml"]);
    assert_eq!(ran.code, 64);
    assert!(ran.err.contains("b.yml:2:1:"), "{}", ran.err);
    assert_eq!(fs::read_to_string(good).unwrap(), ROUGH);
    assert_eq!(home.run(["check", "fmt", "none.yml"]).code, 1);
}

#[test]
fn fmt_follows_a_link_and_keeps_it_and_the_mode() {
    let home = Home::new();
    let file = home.write("work/real/a.yml", ROUGH);
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real/a.yml", home.work().join("link.yml")).unwrap();
    home.run(["check", "fmt", "link.yml"]).good();
    assert!(fs::symlink_metadata(home.work().join("link.yml")).unwrap().is_symlink());
    assert_ne!(fs::read_to_string(&file).unwrap(), ROUGH);
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn ch_093_ch_094_validate_tells_everything_of_every_file_and_runs_nothing() {
    let home = Home::new();
    home.write("work/a.yml", "a: {check: x, command: touch ran, stdut: x}\nb: {check: x, mcp: pong}\n");
    home.write("work/b.yml", "c:\n  check: x\n  command: touch ran\n  timeout: 5\n");
    for command in ["validate", "run"] {
        let ran = home.run(["check", command, "a.yml", "b.yml"]);
        assert_eq!(ran.code, 64, "{}", ran.err);
        for place in ["a.yml:1:", "did you mean `stdout`?", "a.yml:2:", "b.yml:4:"] {
            assert!(ran.err.contains(place), "{place}: {}", ran.err);
        }
    }
    assert!(!home.work().join("ran").exists());
    home.write("work/c.yml", "a: {check: x, command: touch ran}\n");
    assert_eq!(home.run(["check", "validate", "c.yml"]).good(), "valid: 1 step in 1 plan\n");
    assert_eq!(home.run(["check", "validate", "none.yml"]).code, 64);
    assert!(!home.work().join("ran").exists());
}
