//! The helper's own file.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::Path,
};

use pintle_core::Code;
use pintle_pack::sudoers::{HELPER, Place, install, install_helper, remove, remove_helper};
use pintle_testkit::machine::ALICE;

use crate::stage::{attributes, helper, machine, names, rule};

#[tokio::test]
async fn s_08_the_helper_is_roots_alone_and_goes_in_one_step() {
    let Some(machine) = machine() else { return };
    let place = Place::system();
    fs::remove_dir_all("/usr/lib/pintle").unwrap();
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let own = machine.home(ALICE).join("built");
    fs::copy(helper(), &own).unwrap();
    chown(&own, Some(ALICE.1), Some(ALICE.1)).unwrap();
    let written = install_helper(&place, &own).unwrap();
    assert!(written.changed && written.path == Path::new(HELPER));
    assert_eq!((attributes(HELPER), attributes("/usr/lib/pintle")), ((0o755, 0, 0), (0o755, 0, 0)));
    assert!(!install_helper(&place, &own).unwrap().changed);
    fs::set_permissions(HELPER, fs::Permissions::from_mode(0o777)).unwrap();
    chown(HELPER, Some(ALICE.1), None).unwrap();
    assert!(install_helper(&place, &own).unwrap().changed);
    assert_eq!(attributes(HELPER), (0o755, 0, 0));
    assert_eq!(names("/usr/lib/pintle"), ["pintle-helper"]);

    install(&place, &rule(&[ALICE.0])).await.unwrap();
    let failure = remove_helper(&place).unwrap_err();
    assert!(failure.code == Code::Busy && failure.message.contains("penguins-eggs-mcp"), "{}", failure.text());
    remove(&place, rule(&[]).file()).unwrap();
    assert!(remove_helper(&place).unwrap().existed);
    assert!(!fs::exists("/usr/lib/pintle").unwrap());
    assert!(!remove_helper(&place).unwrap().existed);
}

#[tokio::test]
async fn s_13_the_helper_is_not_put_where_others_can_change_it_nor_through_a_link() {
    let Some(machine) = machine() else { return };
    let place = Place::system();
    let source = helper();
    let denied = || assert_eq!(install_helper(&place, &source).unwrap_err().code, Code::Denied);
    machine.write("/etc/target", "kept", 0o600).unwrap();
    fs::remove_file(HELPER).unwrap();
    symlink("/etc/target", HELPER).unwrap();
    denied();
    assert_eq!(fs::read_to_string("/etc/target").unwrap(), "kept");
    fs::remove_file(HELPER).unwrap();
    for path in ["/usr/lib/pintle", "/usr/lib"] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o775)).unwrap();
        denied();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::remove_dir("/usr/lib/pintle").unwrap();
    let own = machine.home(ALICE).join("folder");
    fs::create_dir(&own).unwrap();
    chown(&own, Some(ALICE.1), None).unwrap();
    symlink(&own, "/usr/lib/pintle").unwrap();
    denied();
    assert!(names(&own).is_empty());
    fs::remove_file("/usr/lib/pintle").unwrap();
    for (text, name) in [("#!/bin/sh\n", "script"), ("", "empty")] {
        machine.write(format!("/run/{name}"), text, 0o755).unwrap();
        assert_eq!(install_helper(&place, Path::new(&format!("/run/{name}"))).unwrap_err().code, Code::Invalid);
    }
    assert_eq!(install_helper(&place, Path::new("/usr")).unwrap_err().code, Code::Invalid);
    assert_eq!(install_helper(&place, Path::new("/nowhere")).unwrap_err().code, Code::Io);
}
