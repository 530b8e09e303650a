//! What it will not do.

use crate::stage::{as_root, as_user, command, installed, run};
use pintle_testkit::eggs::Orders;
use std::{collections::BTreeSet, fs, os::unix::fs::symlink, path::Path};

#[test]
fn si_07_destroy_removes_the_work_folder_with_its_images_unless_something_is_in_use() {
    let installed = installed(&Orders { busy: true, ..as_root() });
    let root = installed.root();
    root.write("/home/eggs/egg-of-debian-bookworm-host-amd64-1.iso", "image").unwrap();
    root.write("/var/log/oa-tools.log", "log").unwrap();
    let busy = run(&installed, &["destroy"]);
    assert_eq!(busy.code, 1, "{}", busy.out);
    assert_eq!(root.images().unwrap().len(), 1, "nothing was removed");
    installed.order(&as_root()).unwrap();
    assert_eq!(run(&installed, &["kill"]).code, 0);
    assert!(!root.at("/home/eggs").exists() && !root.at("/var/log/oa-tools.log").exists());
    assert!(root.at("/etc/os-release").exists(), "nothing else goes");
}

#[test]
fn si_09_sysinstall_refuses_unless_a_folder_says_live_and_erases_nothing_that_is_there() {
    let installed = installed(&as_root());
    let root = installed.root();
    let words = ["sysinstall", "krill", "--unattended"];
    assert_eq!(run(&installed, &words).code, 1);
    root.folder("/run/live/medium").unwrap();
    let no_disk = run(&installed, &words);
    assert_eq!(no_disk.code, 1);
    assert!(no_disk.err.contains("erases no disk"), "{}", no_disk.err);
    let disk = installed.folder().join("disk");
    installed.order(&Orders { disk: Some(disk.clone()), ..as_root() }).unwrap();
    let ran = run(&installed, &["sysinstall", "--fstype", "btrfs", "--unattended"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(fs::read_to_string(&disk).unwrap(), "an installation on btrfs\n");
    assert_eq!(run(&installed, &words).code, 99, "what is there already is not opened");
    for device in ["/dev/null", "/dev/full"] {
        installed.order(&Orders { disk: Some(device.into()), ..as_root() }).unwrap();
        assert_eq!(run(&installed, &words).code, 99, "{device}");
    }
    let link = installed.folder().join("link");
    symlink("/dev/null", &link).unwrap();
    installed.order(&Orders { disk: Some(link), ..as_root() }).unwrap();
    assert_eq!(run(&installed, &words).code, 99, "nor what a link leads to");
}

#[test]
fn si_10_export_copies_to_a_folder() {
    let installed = installed(&as_user());
    let root = installed.root();
    for name in ["egg-of-debian-bookworm-host-amd64-1.iso", "egg-of-debian-bookworm-host-amd64-2.iso"] {
        root.write(&format!("/home/eggs/{name}"), name).unwrap();
        // the newest is told by its time
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(run(&installed, &["export", "iso"]).code, 0);
    let far = root.at("/exported");
    assert_eq!(names(&far), ["egg-of-debian-bookworm-host-amd64-2.iso"]);
    root.write("/var/log/oa-tools.log", "log").unwrap();
    let log = run(&installed, &["export", "log", "--clean", "-u", "eva", "-i", "10.0.0.7", "-d", "/srv"]);
    assert!(log.code == 0 && log.out.contains("eva@10.0.0.7:/srv"), "{}", log.out);
    assert_eq!(names(&far), ["oa-tools.log"], "older ones are removed when asked");
    installed.order(&Orders { transfer_fails: true, ..as_user() }).unwrap();
    let failed = run(&installed, &["export", "iso"]);
    assert!(failed.code == 0 && failed.err.starts_with("[ERROR] "), "a failure that the exit code does not tell");
    assert_eq!(run(&installed, &["export", "pkg"]).code, 1, "no package here");
}

#[test]
fn si_10_no_part_of_it_can_open_a_socket_or_run_a_program() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/stand-in-eggs");
    let mut programs = BTreeSet::new();
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for word in ["std::net", "tokio::net", "rustix::net", "UnixStream", "rustix::mount"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
        let starts = text.lines().filter(|line| line.contains("Command::new("));
        programs.extend(starts.map(|line| line.trim().to_owned()));
    }
    let itself = "let mut command = Command::new(std::env::current_exe()?);";
    assert_eq!(programs.into_iter().collect::<Vec<_>>(), [itself]);
}

#[test]
fn it_writes_nowhere_but_in_its_own_folder() {
    let installed = installed(&as_root());
    let outside = tempfile::tempdir().unwrap();
    let climbing = run(&installed, &["remaster", "--path", "/../../escape"]);
    assert_eq!(climbing.code, 99, "{}", climbing.err);
    symlink(outside.path(), installed.root().at("/home/linked")).unwrap();
    let through = run(&installed, &["remaster", "--path", "/home/linked/nest"]);
    assert_eq!(through.code, 99, "{}", through.err);
    assert_eq!(names(outside.path()), Vec::<String>::new());
    assert!(!installed.folder().join("escape").exists());
}

#[test]
fn packages_are_made_where_a_build_folder_is_and_never_by_root() {
    let installed = installed(&as_user());
    let here = tempfile::tempdir().unwrap();
    let build = || command(&installed, &["tools", "build"]).current_dir(here.path()).output().unwrap();
    assert_eq!(build().status.code(), Some(1), "no folder build");
    fs::create_dir(here.path().join("build")).unwrap();
    assert_eq!(build().status.code(), Some(0));
    assert_eq!(names(here.path()), ["build", "penguins-eggs_26.8.22_amd64.deb"]);
    installed.order(&Orders { packager_fails: true, ..as_user() }).unwrap();
    let failed = build();
    assert_eq!(failed.status.code(), Some(0), "only logged");
    assert!(failed.stderr.starts_with(b"[ERROR]"));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
