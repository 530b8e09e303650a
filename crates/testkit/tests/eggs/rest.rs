//! Costumes, boot entries and the skeleton.

use crate::stage::{as_root, as_user, installed, run};
use pintle_testkit::eggs::Orders;
use std::fs;

#[test]
fn si_08_the_wardrobe_is_a_real_folder_of_a_given_home_and_its_list_has_escapes() {
    let installed = installed(&as_user());
    installed.root().costume("colibri", "a light desktop", &["rm -rf /"]).unwrap();
    installed.root().costume("duck", "a full one", &[]).unwrap();
    let list = run(&installed, &["wardrobe", "list"]);
    assert_eq!(list.code, 0);
    assert!(list.out.contains("\u{1b}[1;36mcolibri\u{1b}[0m") && list.out.contains("a full one"), "{:?}", list.out);
    let show = run(&installed, &["wardrobe", "show", "colibri"]);
    assert!(show.code == 0 && show.out.contains("  - rm -rf /\n"), "{}", show.out);
    assert_eq!(run(&installed, &["wardrobe", "show", "none"]).code, 1);
    assert_eq!(run(&installed, &["wardrobe", "show", "../costumes/duck"]).code, 0, "as the real one, it follows `..`");
    assert!(run(&installed, &["wardrobe", "get"]).out.contains("there already"));
    let home = tempfile::tempdir().unwrap();
    installed.order(&Orders { home: Some(home.path().into()), ..as_user() }).unwrap();
    assert_eq!(run(&installed, &["wardrobe", "get"]).code, 0);
    assert!(home.path().join(".oa-wardrobe/costumes/colibri/index.yaml").is_file());
}

#[test]
fn si_08_a_costume_s_commands_are_told_and_not_run() {
    let installed = installed(&as_root());
    let trace = installed.folder().join("trace");
    installed.root().costume("colibri", "light", &[&format!("touch {}", trace.display())]).unwrap();
    let worn = run(&installed, &["wardrobe", "wear", "--no-acc", "colibri"]);
    assert!(worn.code == 0 && worn.out.contains("would run as root: touch "), "{}", worn.out);
    assert!(!trace.exists());
    let said = fs::read_to_string(installed.root().at("/var/lib/worn")).unwrap();
    assert_eq!(said, "colibri without accessories\n");
}

#[test]
fn si_02_a_boot_entry_is_printed_or_put_between_its_markers() {
    let installed = installed(&as_root());
    let image = installed.root().write("/home/eggs/a.iso", "").unwrap().display().to_string();
    assert!(run(&installed, &["tools", "grub40", &image]).out.contains("boot=live"));
    let file = installed.root().write("/etc/grub.d/40_custom", "#!/bin/sh\n# mine\n").unwrap();
    for _ in 0..2 {
        assert_eq!(run(&installed, &["tools", "grub40", "-w", &image]).code, 0);
    }
    let text = fs::read_to_string(file).unwrap();
    assert!(text.starts_with("#!/bin/sh\n# mine\n") && text.matches("menuentry").count() == 1, "{text}");
}

#[test]
fn si_02_skel_says_the_same_whether_or_not_it_could() {
    let user = installed(&as_user());
    let root = installed(&as_root());
    let words = ["tools", "skel", "--user", "eva"];
    assert_eq!(run(&user, &words).out, run(&root, &words).out);
    assert!(!user.root().at("/etc/skel").exists());
    assert_eq!(fs::read_to_string(root.root().at("/etc/skel/.made-from")).unwrap(), "eva\n");
}

#[test]
fn the_older_program_of_the_same_name_has_no_tag() {
    let installed = installed(&Orders { legacy: true, ..as_user() });
    let version = run(&installed, &["version"]);
    assert!(version.code == 0 && version.out.starts_with("penguins-eggs/"), "{}", version.out);
    installed.order(&Orders { version: Some("development".into()), ..as_user() }).unwrap();
    assert!(run(&installed, &["version"]).out.starts_with("[coa] coa development\n"));
}
